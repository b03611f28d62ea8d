//! The content of elements, as trees. The schema says which of them are strings: their content is text, whatever is in it.

use crate::arguments::coercion;
use crate::schema::{Additional, Choice, Node, NodeId, Schema, UNKNOWN};
use crate::syntax::json::json_string;
use crate::syntax::scan::trim;
use crate::syntax::tree::UntypedValue;
use crate::syntax::xml::{XmlLexeme, XmlLexer, attributes, decode};

/// A fault that does not prevent reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// XML forbids it, but the meaning is clear: a character that is not escaped, a name of digits.
    Xml(&'static str),
    /// Tags that do not match, or attributes that are not allowed.
    Markup(&'static str),
}

impl Fault {
    pub(crate) fn what(self) -> &'static str {
        let (Fault::Xml(what) | Fault::Markup(what)) = self;
        what
    }
}

pub(crate) const UNCLOSED: &str = "an element is not closed";

/// Called with each fault and its place. Returns whether to continue.
pub(crate) type Faults<'f> = &'f mut dyn FnMut(Fault, usize) -> bool;

/// Why an element is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// More text is needed.
    Incomplete,
    TooDeep,
    /// A fault was refused.
    RejectedText,
}

/// What decides how elements are read.
pub(crate) struct Rules<'r, 'f> {
    pub schema: &'r Schema,
    /// How many elements may contain each other.
    pub depth: usize,
    pub faults: Faults<'f>,
}

impl Rules<'_, '_> {
    fn tell(&mut self, fault: Fault, at: usize) -> Result<(), Halt> {
        if (self.faults)(fault, at) { Ok(()) } else { Err(Halt::RejectedText) }
    }
}

#[derive(Clone, Debug)]
struct ElementFrame {
    name: String,
    node: NodeId,
    /// The content is text up to the closing tag.
    raw: bool,
    text: String,
    /// The content as in the source, if it may turn out to be a string.
    source: Option<String>,
    children: Vec<(String, UntypedValue)>,
}

/// What contains the element that is read.
#[derive(Clone, Debug)]
enum Outer {
    /// A document, which is the frame at the bottom.
    Document { unwrapped: bool },
    /// An element of this name, and of this type.
    Element(String, NodeId),
}

/// Reads one element, from after its opening tag, or a document.
#[derive(Clone, Debug)]
pub(crate) struct ElementReader {
    lexer: XmlLexer,
    frames: Vec<ElementFrame>,
    /// Those that keep their source.
    sources: usize,
    outer: Outer,
    /// A string was never closed: strings end at whatever closes something around them, too.
    balance: bool,
}

impl ElementReader {
    pub(crate) fn element(schema: &Schema, name: &str, id: NodeId, outer: (&str, NodeId)) -> Self {
        ElementReader::new(schema, name, id, Outer::Element(outer.0.to_owned(), outer.1))
    }

    pub(crate) fn document(schema: &Schema) -> Self {
        let mut reader = ElementReader::new(schema, "", schema.root, Outer::Document { unwrapped: false });
        reader.frames[0].raw = false;
        reader
    }

    fn new(schema: &Schema, name: &str, id: NodeId, outer: Outer) -> Self {
        let (lexer, frames) = (XmlLexer::default(), Vec::new());
        let mut reader = ElementReader { lexer, frames, sources: 0, outer, balance: false };
        reader.push(schema, name, id);
        reader
    }

    /// A lexer that continues from here with other rules.
    pub(crate) fn lexer(&self) -> XmlLexer {
        self.lexer.fresh()
    }

    fn in_document(&self) -> bool {
        matches!(self.outer, Outer::Document { .. })
    }

    /// Adds the attributes of the tag that has opened the element.
    pub(crate) fn attributes(&mut self, rules: &mut Rules<'_, '_>, source: &str, at: usize) -> Result<(), Halt> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        for (name, value, fine) in attributes(source) {
            let key = format!("@_{name}");
            let again = frame.children.iter().any(|(known, _)| *known == key);
            let full = frame.children.len() >= ATTRIBUTES;
            let fault = match (fine, again, full) {
                (false, _, _) => Some("an attribute must be written name=\"value\", with & and < escaped"),
                (true, true, _) => Some("an attribute is given twice"),
                (true, false, true) => Some("an element has too many attributes"),
                (true, false, false) => None,
            };
            fault.map_or(Ok(()), |fault| rules.tell(Fault::Markup(fault), at))?;
            if !name.is_empty() && !again && !full {
                let value = decode(value).replace(['\t', '\n', '\r'], " ");
                frame.children.push((key, UntypedValue::Scalar { text: value, quoted: false }));
            }
        }
        Ok(())
    }

    fn push(&mut self, schema: &Schema, name: &str, id: NodeId) {
        let node = schema.node(id);
        let text = is_text(node);
        let raw = text && !self.balance;
        let items = node.has(&Choice::Array) && !node.takes_object() && is_text(schema.node(schema.item(id, 0)));
        let source = items || (text && (self.balance || self.in_document()));
        self.sources += usize::from(source);
        self.frames.push(ElementFrame {
            name: name.to_owned(),
            node: id,
            raw,
            text: String::new(),
            source: source.then(String::new),
            children: Vec::new(),
        });
    }

    /// Reads to the end of the element. If its closing tag is missing where it must be, the text there is not consumed.
    pub(crate) fn feed(
        &mut self,
        rules: &mut Rules<'_, '_>,
        window: &str,
        at: &mut usize,
        last: bool,
    ) -> Result<UntypedValue, Halt> {
        let schema = rules.schema;
        loop {
            let (before, open) = (*at, self.frames.len());
            let Some(frame) = self.frames.last_mut() else { return Err(Halt::Incomplete) };
            let raw = frame.raw.then_some(frame.name.as_str());
            let lexeme = self.lexer.next(window, at, last, raw);
            if let Some(fault) = self.lexer.fault
                && raw.is_none()
            {
                rules.tell(Fault::Xml(fault), before)?;
            }
            match lexeme {
                XmlLexeme::Need => return Err(Halt::Incomplete),
                XmlLexeme::Text(text) | XmlLexeme::Cdata(text) | XmlLexeme::Stray(text) => frame.text.push_str(text),
                XmlLexeme::Char(c) => frame.text.push(c),
                XmlLexeme::Ignored => {}
                XmlLexeme::Open { name, attributes, empty } => {
                    let opened = self.open(rules, name, before);
                    if opened != Ok(true) {
                        *at = before;
                        return opened.map(|_| self.take(schema));
                    }
                    self.attributes(rules, attributes, before)?;
                    if empty {
                        self.close(schema);
                    }
                }
                XmlLexeme::Close(name) => match self.closing(name) {
                    Closes::Frame(position) => {
                        if position + 1 < self.frames.len() {
                            rules.tell(Fault::Markup(UNCLOSED), before).inspect_err(|_| *at = before)?;
                        }
                        while self.frames.len() > position {
                            if position == 0 && self.frames.len() == 1 {
                                return Ok(self.take(schema));
                            }
                            self.close(schema);
                        }
                    }
                    Closes::Outer => {
                        *at = before;
                        rules.tell(Fault::Markup(UNCLOSED), before)?;
                        return Ok(self.take(schema));
                    }
                    Closes::Nothing => rules.tell(Fault::Markup("a closing tag has no opening tag"), before)?,
                },
            }
            if self.sources > 0 {
                let kept = open.min(self.frames.len());
                for source in self.frames[..kept].iter_mut().filter_map(|frame| frame.source.as_mut()) {
                    source.push_str(&window[before..*at]);
                }
            }
        }
    }

    fn closing(&self, name: &str) -> Closes {
        let bottom = usize::from(self.in_document());
        let known = self.frames.iter().skip(bottom).rposition(|frame| frame.name == name);
        match (known, &self.outer) {
            (Some(position), _) => Closes::Frame(position + bottom),
            (None, Outer::Element(outer, _)) if outer == name => Closes::Outer,
            (None, _) => Closes::Nothing,
        }
    }
}

enum Closes {
    /// The element at this position, and those in it.
    Frame(usize),
    /// What contains the element that is read.
    Outer,
    Nothing,
}

/// Attributes of one element; each is compared with all before it.
const ATTRIBUTES: usize = 64;

impl ElementReader {
    /// An opening tag. False: the element that is read ends before it.
    fn open(&mut self, rules: &mut Rules<'_, '_>, name: &str, at: usize) -> Result<bool, Halt> {
        let schema = rules.schema;
        // An element without members ends before a member of what contains it.
        while let Some(frame) = self.frames.last()
            && is_scalar(schema.node(frame.node))
        {
            let around = match (self.frames.len().checked_sub(2).map(|below| self.frames[below].node), &self.outer) {
                (Some(node), _) => node,
                (None, Outer::Element(_, node)) => *node,
                (None, Outer::Document { .. }) => break,
            };
            if !schema.declares(around, name) {
                break;
            }
            rules.tell(Fault::Markup(UNCLOSED), at)?;
            if self.frames.len() == 1 {
                return Ok(false);
            }
            self.close(schema);
        }
        if self.frames.len() >= rules.depth + usize::from(self.in_document()) {
            return Err(Halt::TooDeep);
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            rules.tell(Fault::Xml("the name of an element cannot begin with a digit"), at)?;
        }
        let id = match (&mut self.outer, &self.frames[..]) {
            (Outer::Document { unwrapped }, [bottom]) => {
                if !bottom.children.is_empty() {
                    rules.tell(Fault::Markup("there is more than one root element"), at)?;
                }
                *unwrapped = bottom.children.is_empty() && !is_member(schema, name);
                if *unwrapped { schema.root } else { member(schema, schema.root, name) }
            }
            (_, [.., parent]) => member(schema, parent.node, name),
            (_, []) => UNKNOWN,
        };
        self.push(schema, name, id);
        Ok(true)
    }

    /// The innermost element is complete: it becomes a child of the next one.
    fn close(&mut self, schema: &Schema) {
        let Some(frame) = self.frames.pop() else { return };
        self.sources -= usize::from(frame.source.is_some());
        if let Some(parent) = self.frames.last_mut() {
            parent.children.push(frame.tree(schema));
        }
    }

    /// All that is open is complete, and this is it.
    pub(crate) fn take(&mut self, schema: &Schema) -> UntypedValue {
        while self.frames.len() > 1 {
            self.close(schema);
        }
        let frame = self.frames.pop();
        frame.map_or(UntypedValue::Map(Vec::new()), |frame| frame.tree(schema).1)
    }

    /// Whether an element has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.frames.len() > 1 || self.frames.iter().any(|frame| !frame.children.is_empty())
    }

    /// A document that has ended: its value, and what is wrong with the end.
    pub(crate) fn finish(&mut self, schema: &Schema, faults: Faults<'_>) -> Option<UntypedValue> {
        let open = self.frames.len() > 1 || self.lexer.is_inside();
        if open && !faults(Fault::Markup(UNCLOSED), 0) {
            return None;
        }
        while self.frames.len() > 1 {
            self.close(schema);
        }
        let mut bottom = self.frames.pop()?;
        if bottom.children.is_empty() {
            return faults(Fault::Markup("there is no element"), 0).then(|| bottom.tree(schema).1);
        }
        if !trim(&bottom.text).is_empty() && !faults(Fault::Markup("there is text outside of the root element"), 0) {
            return None;
        }
        match (&self.outer, &bottom.children[..]) {
            (Outer::Document { unwrapped: true }, [_]) => bottom.children.pop().map(|(_, tree)| tree),
            _ => Some(UntypedValue::Map(bottom.children)),
        }
    }

    /// Where a string that was never closed may have ended: gives back the source from there, to be read again.
    pub(crate) fn reopen(&mut self, schema: &Schema) -> Option<String> {
        let top = self.frames.last_mut().filter(|frame| frame.raw)?;
        let source = top.source.take()?;
        self.balance = true;
        self.lexer = XmlLexer::default();
        let (name, node) = (std::mem::take(&mut top.name), top.node);
        self.frames.pop();
        self.sources -= 1;
        self.push(schema, &name, node);
        Some(source)
    }
}

impl ElementFrame {
    fn tree(self, schema: &Schema) -> (String, UntypedValue) {
        let ElementFrame { name, node: id, raw, text, source, mut children } = self;
        let node = schema.node(id);
        let is_text = is_text(node);
        let blank = trim(&text).is_empty();
        let attributes_only = children.iter().all(|(key, _)| key.starts_with("@_"));
        let tree = if is_text {
            // Where strings end at other tags, their content is still text.
            let text = if raw { text } else { source.as_deref().map_or(text, content) };
            string(schema, id, text)
        } else if children.is_empty() || (is_scalar(node) && attributes_only) {
            UntypedValue::Scalar { text, quoted: false }
        } else if let (false, Some(source)) = (blank, source) {
            UntypedValue::Scalar { text: content(&source), quoted: true }
        } else {
            if !blank {
                children
                    .push(("#text".to_owned(), UntypedValue::Scalar { text: trim(&text).to_owned(), quoted: false }));
            }
            UntypedValue::Map(children)
        };
        (name, tree)
    }
}

/// The content of an element that is a string, or a scalar that can be one: verbatim, unless it is meant as something else.
fn string(schema: &Schema, id: NodeId, text: String) -> UntypedValue {
    let node = schema.node(id);
    let trimmed = trim(&text);
    let quoted = node.is_string()
        || (node.has(&Choice::String) && !trimmed.starts_with('"') && {
            let mut json = String::new();
            let outcome = coercion::scalar(schema, id, trimmed, false, &mut json);
            !outcome.converted && json == json_string(trimmed)
        });
    UntypedValue::Scalar { text, quoted }
}

/// The text of a source whose tags are content.
pub(crate) fn content(source: &str) -> String {
    let (mut lexer, mut at, mut out) = (XmlLexer::default(), 0, String::new());
    loop {
        // No element has this name, so nothing closes.
        match lexer.next(source, &mut at, true, Some("\0")) {
            XmlLexeme::Text(text) | XmlLexeme::Cdata(text) | XmlLexeme::Stray(text) => out.push_str(text),
            XmlLexeme::Char(c) => out.push(c),
            XmlLexeme::Open { .. } | XmlLexeme::Close(_) | XmlLexeme::Ignored | XmlLexeme::Need => return out,
        }
    }
}

/// Whether the value can be a string, but nothing that has members.
pub(crate) fn is_text(node: &Node) -> bool {
    !node.is_unknown() && node.takes_string() && !node.takes_container()
}

fn is_scalar(node: &Node) -> bool {
    !node.is_unknown() && !node.takes_container()
}

/// Whether the root element of this name is a member of the value, and not the value itself.
pub(crate) fn is_member(schema: &Schema, name: &str) -> bool {
    let root = schema.node(schema.root);
    match &root.object {
        Some(object) if object.properties.is_empty() => {
            !matches!(object.additional, Additional::Open(id) if id != UNKNOWN)
        }
        Some(object) => object.properties.get(name).is_some() || object.folded(name).is_some(),
        None => root.is_unknown() || root.has(&Choice::Object),
    }
}

/// The type of an element in one of type `id`.
pub(crate) fn member(schema: &Schema, id: NodeId, name: &str) -> NodeId {
    let node = schema.node(id);
    let own = |id: NodeId| {
        let object = schema.node(id).object.as_ref()?;
        let folded = || object.folded(name).map(|(_, node)| node);
        object.properties.get(name).copied().or_else(|| object.member(name).filter(|id| *id != UNKNOWN)).or_else(folded)
    };
    let index = if name == "item" { Some(0) } else { name.parse().ok() };
    match (own(id), index) {
        (Some(member), _) => member,
        (None, index) if node.has(&Choice::Array) => {
            let item = schema.item(id, index.unwrap_or(0));
            match (own(item), index) {
                (Some(member), _) => member,
                (None, Some(_)) => item,
                (None, None) => UNKNOWN,
            }
        }
        (None, _) => UNKNOWN,
    }
}
