//! Whole documents, and documents in parts: text in, typed JSON out.

use std::sync::Arc;

use crate::arguments::elements::{ElementReader, ElementWriter, Fault, Halt, Rules, UNCLOSED, is_member, is_nestable};
use crate::arguments::tree::ValuePath;
use crate::arguments::{Context, Lists, Report, TreeWriter};
use crate::error::{EncodeError, SchemaError, SyntaxError};
use crate::formats::Xml;
use crate::limits::{Limits, RECURSION};
use crate::schema::{Schema, SchemaDocument, UNKNOWN, compile, read_schema};
use crate::syntax::json::{Value, json_string};
use crate::syntax::position::Position;
use crate::syntax::scan::Delimiters;
use crate::syntax::tree::UntypedValue;
use crate::syntax::xml::{For, is_name};

/// The type of a document, compiled once.
#[derive(Clone, Debug)]
pub struct XmlSchema(Arc<Schema>);

impl XmlSchema {
    /// Compiles the JSON text of a schema; without one, values have no types.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or not a schema that can be used.
    pub fn new(schema: Option<&str>) -> Result<Self, SchemaError> {
        let Some(text) = schema else { return Ok(XmlSchema(Arc::new(Schema::unknown()))) };
        let fault = |(pointer, message)| SchemaError { pointer, message };
        let value = read_schema(text).map_err(fault)?;
        let document = SchemaDocument::new(&value).map_err(fault)?;
        Ok(XmlSchema(Arc::new(compile(&document).map_err(fault)?)))
    }
}

/// What typing needs to know about a document.
fn context<'a>(schema: &'a Schema, strict: bool, delimiters: &'a Delimiters, limits: &'a Limits) -> Context<'a> {
    Context {
        writer: &Xml,
        tools: None,
        schema,
        syntax: None,
        strict,
        any_style: false,
        near_misses: true,
        result_marks: &[],
        delimiters,
        limits,
        tool: "",
    }
}

/// Maximum number of faults that are listed. Every character of a document could be one.
const FAULTS: usize = 100;

/// Reads one document in parts.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use wirecall_core::{Document, Limits, XmlSchema};
///
/// let schema = XmlSchema::new(Some(r#"{"properties": {"days": {"type": "integer"}}}"#))?;
/// let mut document = Document::new(&schema, false, Limits::default());
/// document.feed("<trip><days>3</da")?;
/// document.feed("ys></trip>")?;
/// assert_eq!(document.finish()?, r#"{"days":3}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    schema: Arc<Schema>,
    limits: Limits,
    reader: ElementReader,
    buffer: String,
    /// Bytes that were read, and the place after the consumed part.
    bytes: usize,
    place: Position,
    notes: Notes,
}

/// What is wrong with it.
#[derive(Clone, Debug)]
struct Notes {
    repair: bool,
    faults: Vec<SyntaxError>,
    failed: Option<SyntaxError>,
}

impl Notes {
    /// Notes a fault. Returns false if it is an error.
    fn fault(&mut self, message: &str, place: Position) -> bool {
        if !self.repair {
            self.fail(message, place);
        } else if self.faults.len() < FAULTS {
            self.faults.push(place.error(message.to_owned()));
        }
        self.repair
    }

    fn fail(&mut self, message: &str, place: Position) {
        self.failed.get_or_insert_with(|| place.error(message.to_owned()));
    }

    fn state(&self) -> Result<(), SyntaxError> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

impl Document {
    /// `repair`: faults are repaired and listed, instead of being errors. Of the `limits`, only `call_bytes` and `depth` are used.
    pub fn new(schema: &XmlSchema, repair: bool, limits: Limits) -> Self {
        Document {
            schema: schema.0.clone(),
            limits: Limits { depth: limits.depth.min(RECURSION), ..limits },
            reader: ElementReader::document(&schema.0),
            buffer: String::new(),
            bytes: 0,
            place: Position::START,
            notes: Notes { repair, faults: Vec::new(), failed: None },
        }
    }

    /// The faults in the text so far that were repaired.
    pub fn faults(&self) -> &[SyntaxError] {
        &self.notes.faults
    }

    /// Reads the next part of the document.
    ///
    /// # Errors
    ///
    /// What is wrong with the document so far, at the latest when the fault is complete.
    pub fn feed(&mut self, text: &str) -> Result<(), SyntaxError> {
        self.bytes += text.len();
        if self.bytes > self.limits.call_bytes {
            let message = format!("the document has more than {} bytes", self.limits.call_bytes);
            self.notes.fail(&message, self.place);
        }
        self.notes.state()?;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.push_str(text);
        let read = self.run(&buffer, false);
        buffer.drain(..read);
        self.buffer = buffer;
        self.notes.state()
    }

    /// Ends the document. Returns the JSON of its value.
    ///
    /// # Errors
    ///
    /// What is wrong with the document.
    pub fn finish(&mut self) -> Result<String, SyntaxError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            self.notes.state()?;
            self.run(&buffer, true);
            // A string that is never closed contains the rest of the text. The rest is read again, by its tags.
            let Some(source) = self.notes.repair.then(|| self.reader.reopen(&self.schema)).flatten() else { break };
            self.notes.fault(UNCLOSED, self.place);
            buffer = source;
        }
        self.value()
    }

    /// The value of what was read.
    fn value(&mut self) -> Result<String, SyntaxError> {
        let Document { reader, schema, place, notes, .. } = self;
        notes.state()?;
        let tree = reader.finish(schema, &mut |fault, _| notes.fault(fault.what(), *place));
        notes.state()?;
        self.typed(&tree.unwrap_or(UntypedValue::Map(Vec::new())))
    }

    /// The JSON of the value so far, as if the text ended here; `None` before the first element.
    pub fn partial(&self) -> Option<Result<String, SyntaxError>> {
        let mut document = self.clone();
        document.notes.repair = true;
        // Text that is held back is still undecided.
        document.buffer.clear();
        self.reader.has_begun().then(|| document.value())
    }

    /// Reads what can be decided. Returns the number of bytes consumed.
    fn run(&mut self, window: &str, last: bool) -> usize {
        let Document { schema, limits, reader, place, notes, .. } = self;
        let (mut at, mut counted) = (0, 0);
        let faults = &mut |fault: Fault, at| {
            *place = place.after(&window[counted..at]);
            counted = at;
            notes.fault(fault.what(), *place)
        };
        let outcome = reader.feed(&mut Rules { schema, depth: limits.depth, faults }, window, &mut at, last);
        *place = place.after(&window[counted..at]);
        if outcome == Err(Halt::TooDeep) {
            notes.fail(&format!("elements are nested more than {} levels deep", limits.depth), *place);
        }
        at
    }

    fn typed(&mut self, tree: &UntypedValue) -> Result<String, SyntaxError> {
        let (delimiters, mut report) = (Delimiters::default(), Report::default());
        let Document { schema, limits, place, notes, .. } = self;
        let cx = context(schema, !notes.repair, &delimiters, limits);
        // The root is a member, even if its name is `item`, which would be a list.
        let (above, tree) = match tree {
            UntypedValue::Map(members) if schema.node(schema.root).is_unknown() && members.len() == 1 => {
                report.args.json = format!("{{{}:", json_string(&members[0].0));
                (1, &members[0].1)
            }
            tree => (0, tree),
        };
        let mut writer = TreeWriter { cx: &cx, report: &mut report, lists: Lists::Elements };
        if let Err((_, message)) = writer.value(&ValuePath::root(schema.root, above), tree) {
            notes.fail(&message, *place);
        }
        report.args.json.push_str(if above > 0 { "}" } else { "" });
        for problem in &report.problems {
            notes.fault(&problem.message, *place);
        }
        notes.state()?;
        Ok(report.args.json)
    }
}

/// Writes a value as elements, one on each line. Values that elements cannot hold are written as JSON. The root element is `root`,
/// or else the only member of the value.
///
/// # Errors
///
/// The root is not a name of an element, or is a member of the value; or there is no root.
pub fn format_xml(value: &Value<'_>, schema: &XmlSchema, root: Option<&str>) -> Result<String, EncodeError> {
    let (delimiters, limits, mut out) = (Delimiters::default(), Limits::default(), String::new());
    let XmlSchema(schema) = schema;
    let fault = |message| Err(EncodeError(message));
    let cx = context(schema, true, &delimiters, &limits);
    let mut writer = ElementWriter { cx: &cx, whom: For::Anyone, out: &mut out };
    let typed = !schema.node(schema.root).is_unknown();
    match (root, value) {
        (Some(name), _) if !is_name(name) => return fault(format!("{name:?} is not a valid element name")),
        (Some(name), _) if typed && is_member(schema, name) => {
            return fault(format!("the root cannot be {name:?}: the value has a member of this name"));
        }
        (Some(name), _) => writer.element(name, schema.root, value, 0),
        (None, Value::Object(members))
            if is_nestable(schema, schema.root, members) && members.len() == 1 && is_member(schema, &members[0].0) =>
        {
            let (name, value) = &members[0];
            writer.element(name, schema.member(schema.root, name).unwrap_or(UNKNOWN), value, 0);
        }
        (None, _) => return fault("only an object with one member has its own root; pass root=".to_owned()),
    }
    out.truncate(out.trim_end_matches('\n').len());
    Ok(out)
}

/// Reads a whole document, as [`Document`] does: the JSON of its value, and the faults that were repaired.
pub fn parse_xml(
    text: &str,
    schema: &XmlSchema,
    repair: bool,
    limits: Limits,
) -> (Result<String, SyntaxError>, Vec<SyntaxError>) {
    let mut document = Document::new(schema, repair, limits);
    let read = document.feed(text).and_then(|()| document.finish());
    (read, document.notes.faults)
}
