//! Tools, compiled once; immutable, and shared by all parsers.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::body::Context;
use crate::error::{EncodeError, ToolError};
use crate::keymap::KeyMap;
use crate::limits::{Limits, RECURSION};
use crate::protocol::{Custom, Own, Protocol, Reads, named, write_result};
use crate::schema::Validator;
use crate::schema::{
    Descriptions, Field, Schema, SchemaDocument, SchemaFault, Shown, compile, fold, one_line, signature,
    without_required_defaults,
};
use crate::syntax::json;
use crate::syntax::scan::{Candidates, Delimiters};

/// How a tool's calls are written. Both are read, whatever is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `key=value` pairs.
    Wire,
    /// One JSON object.
    Json,
}

/// What happens to a tool whose parameters pairs do not suit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It is written as JSON.
    Complex,
    /// It is an error.
    Error,
    /// It is written as pairs all the same.
    Force,
}

/// What the openings of calls and results are inside of Markdown's code: fences, and inline code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeMode {
    /// The same as elsewhere.
    Call,
    /// Text.
    Text,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub protocol: String,
    /// The host's own protocol, instead.
    pub custom: Option<Custom>,
    /// Read calls in other formats, too, while there was none in the own one; never in strict mode.
    pub recover: bool,
    pub syntax: Syntax,
    pub fallback: Fallback,
    pub strict: bool,
    /// Check the whole vocabulary, and refuse calls with problems.
    pub validate: bool,
    pub code: CodeMode,
    pub descriptions: Descriptions,
    /// Whether signatures show bounds, patterns, formats and examples.
    pub constraints: bool,
    /// `None`: those of the protocol.
    pub delimiters: Option<(String, String)>,
    /// Around reasoning; `None` where there is none.
    pub reasoning: Option<(String, String)>,
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            protocol: "wire".into(),
            custom: None,
            recover: false,
            syntax: Syntax::Wire,
            fallback: Fallback::Complex,
            strict: false,
            validate: false,
            code: CodeMode::Call,
            descriptions: Descriptions::Full,
            constraints: true,
            delimiters: None,
            reasoning: Some(("<think>".into(), "</think>".into())),
            limits: Limits::default(),
        }
    }
}

/// A tool as the caller defines it.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub description: Option<String>,
    /// The JSON text of its parameters' schema.
    pub parameters: String,
    /// Validate this tool's calls, whatever the toolset does.
    pub strict: bool,
}

/// A compiled tool.
#[derive(Debug)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// The schema of its parameters, in which fields with a default are not required.
    pub(crate) parameters: Value,
    pub(crate) schema: Schema,
    pub syntax: Syntax,
    /// Why it is written as JSON, where it is not by choice.
    pub reason: Option<&'static str>,
    pub(crate) validator: Option<Validator>,
    /// The example call of its errors, made when first needed; `None` if there is none.
    pub(crate) example: OnceLock<Option<String>>,
}

/// Which tool a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    Exact(usize),
    /// Only after folding, but uniquely.
    Folded(usize),
    /// The toolset is open: any name will do.
    Open,
    Unknown,
}

impl Lookup {
    /// The declared tool.
    pub fn tool(self) -> Option<usize> {
        match self {
            Lookup::Exact(at) | Lookup::Folded(at) => Some(at),
            Lookup::Open | Lookup::Unknown => None,
        }
    }
}

/// The tools themselves, and how they are found: the same in every protocol.
#[derive(Debug)]
struct Tools {
    list: Vec<Tool>,
    names: KeyMap<usize>,
    /// `None` where two names fold alike.
    folded: KeyMap<Option<usize>>,
    /// The bytes that a name of one of the tools may begin with, in any spelling.
    firsts: [bool; 256],
    /// The type of the arguments of tools that nothing is known of.
    unknown: Schema,
}

impl Tools {
    fn new(
        definitions: Vec<Definition>,
        protocol: &dyn Protocol,
        delimiters: &Delimiters,
        options: &Options,
    ) -> Result<Self, ToolError> {
        let mut tools = Tools {
            list: Vec::with_capacity(definitions.len()),
            names: KeyMap::default(),
            folded: KeyMap::default(),
            // Folding drops these, and makes ASCII of others.
            firsts: std::array::from_fn(|byte| byte > 127 || matches!(byte as u8, b'_' | b'-')),
            unknown: Schema::unknown(),
        };
        for definition in definitions {
            tools.add(definition, protocol, delimiters, options)?;
        }
        Ok(tools)
    }

    fn add(
        &mut self,
        definition: Definition,
        protocol: &dyn Protocol,
        delimiters: &Delimiters,
        options: &Options,
    ) -> Result<(), ToolError> {
        let Definition { name, description, parameters, strict } = definition;
        let Options { syntax, fallback, validate, limits, .. } = options;
        let (syntax, fallback, validate) = (*syntax, *fallback, *validate);
        let fault = |pointer: Option<String>, message: String| ToolError { tool: name.clone(), pointer, message };
        let error = |pointer: String, message: String| fault(Some(pointer), message);
        if let Some(why) = protocol.bad_name(&name, delimiters) {
            return Err(fault(None, format!("a call cannot be written with this name: {why}")));
        }
        if self.names.get(&name).is_some() {
            return Err(fault(None, "two tools have this name; rename one".into()));
        }
        let value: Value = serde_json::from_str(&parameters)
            .map_err(|e| error(String::new(), format!("the schema is not valid JSON: {e}")))?;
        let bad = |(pointer, message): SchemaFault| error(pointer, message);
        let document = SchemaDocument::new(&value).map_err(bad)?;
        let schema = compile(&document).map_err(bad)?;
        let relaxed = without_required_defaults(&document);
        if value == Value::Bool(false) || !schema.node(schema.root).takes_object() {
            return Err(error(String::new(), "the parameters of a tool must allow an object".into()));
        }
        let reason = protocol.complexity(&schema);
        let syntax = match (syntax, reason, fallback) {
            (Syntax::Json, _, _) => Syntax::Json,
            (Syntax::Wire, None, _) | (Syntax::Wire, Some(_), Fallback::Force) => Syntax::Wire,
            (Syntax::Wire, Some(_), Fallback::Complex) => Syntax::Json,
            (Syntax::Wire, Some(reason), Fallback::Error) => {
                let form = protocol.encoding();
                return Err(fault(None, format!("its calls cannot be written as {form}: {reason}")));
            }
        };
        if (strict || validate) && limits.depth > RECURSION {
            let message = format!("its calls cannot be validated with a limit of depth over {RECURSION}");
            return Err(fault(None, message));
        }
        let validator = match strict || validate {
            true => Some(Validator::new(&value, relaxed.as_ref()).map_err(bad)?),
            false => None,
        };
        let at = self.list.len();
        let folded = fold(&name);
        if let Some(first) = folded.bytes().next() {
            self.firsts[first as usize] = true;
            self.firsts[first.to_ascii_uppercase() as usize] = true;
        }
        match self.folded.position(&folded) {
            Some(seen) => *self.folded.value_mut(seen) = None,
            None => self.folded.push(folded.into(), Some(at)),
        }
        self.names.push(name.as_str().into(), at);
        let reason = reason.filter(|_| fallback != Fallback::Force);
        let example = OnceLock::new();
        let parameters = relaxed.unwrap_or(value);
        self.list.push(Tool { name, description, parameters, schema, syntax, reason, validator, example });
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub struct Toolset {
    tools: Arc<Tools>,
    pub(crate) protocol: Arc<dyn Protocol>,
    /// The same tools in other protocols, in which calls are read, too, while none of the own was.
    pub(crate) others: Arc<[Toolset]>,
    pub(crate) reads: Reads,
    /// Of one that only reads: the one that writes the calls.
    pub(crate) writer: Option<Arc<Toolset>>,
    /// Where calls and results may begin, in whichever protocol.
    pub(crate) candidates: Candidates,
    pub(crate) strict: bool,
    /// Strict, but for how values and keys are written.
    any_style: bool,
    pub(crate) code: CodeMode,
    pub(crate) descriptions: Descriptions,
    constraints: bool,
    pub delimiters: Delimiters,
    pub(crate) reasoning: Option<(String, String)>,
    pub(crate) limits: Limits,
}

impl Toolset {
    pub fn new(definitions: Vec<Definition>, options: Options) -> Result<Self, ToolError> {
        let Options { strict, code, descriptions, constraints, reasoning, limits, .. } = options.clone();
        let fault = |message: String| ToolError { tool: String::new(), pointer: None, message };
        let recovers = options.recover && !strict;
        let (protocol, others, reads) = match &options.custom {
            Some(parts) => Own::with_others(parts.clone(), recovers),
            None => named(&options.protocol, recovers),
        }
        .map_err(fault)?;
        let delimiters = options.delimiters.as_ref().map(|(open, close)| (open.as_str(), close.as_str()));
        let delimiters = protocol.delimiters(delimiters).map_err(fault)?;
        let tools = Tools::new(definitions, &*protocol, &delimiters, &options)?;
        let mut set = Toolset {
            tools: Arc::new(tools),
            others: Arc::new([]),
            reads,
            writer: None,
            candidates: protocol.candidates(&delimiters),
            protocol,
            strict,
            any_style: false,
            code,
            descriptions,
            constraints,
            delimiters,
            reasoning,
            limits,
        };
        let writer = Some(Arc::new(Toolset { reads: Reads::Own, ..set.clone() }));
        let mut same = |protocol: Arc<dyn Protocol>| {
            let delimiters = protocol.delimiters(None).map_err(fault)?;
            let candidates = protocol.candidates(&delimiters);
            set.candidates = set.candidates.clone().and(&candidates);
            Ok(Toolset { protocol, delimiters, candidates, reads: Reads::Own, writer: writer.clone(), ..set.clone() })
        };
        let others = others.into_iter().map(&mut same).collect::<Result<Vec<_>, _>>()?;
        set.others = others.into();
        Ok(set)
    }

    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.list.iter()
    }

    pub(crate) fn tool(&self, at: usize) -> &Tool {
        &self.tools.list[at]
    }

    /// What a body needs to know of a call with this name, whose tool is `at`.
    pub(crate) fn context<'a>(&'a self, at: Option<usize>, name: &'a str) -> Context<'a> {
        Context {
            protocol: &*self.protocol,
            tools: Some(self),
            schema: at.map_or(&self.tools.unknown, |at| &self.tool(at).schema),
            syntax: at.map(|at| self.tool(at).syntax),
            strict: self.strict,
            any_style: self.any_style,
            delimiters: &self.delimiters,
            limits: &self.limits,
            tool: name,
        }
    }

    /// The tool of exactly that name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.names.get(name).map(|at| self.tool(*at))
    }

    /// Whether the name of a declared tool may begin with this byte, in any spelling.
    #[inline]
    pub(crate) fn may_begin_name(&self, byte: u8) -> bool {
        self.tools.firsts[byte as usize]
    }

    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        if self.tools.list.is_empty() {
            return Lookup::Open;
        }
        if name.bytes().next().is_some_and(|first| !self.may_begin_name(first)) {
            return Lookup::Unknown;
        }
        if let Some(at) = self.tools.names.get(name) {
            return Lookup::Exact(*at);
        }
        match self.tools.folded.get(&fold(name)) {
            Some(Some(at)) => Lookup::Folded(*at),
            Some(None) | None => Lookup::Unknown,
        }
    }

    /// The form in which a tool's calls are written.
    pub fn encoding(&self, tool: &Tool) -> &'static str {
        if tool.syntax == Syntax::Json { "json" } else { self.protocol.encoding() }
    }

    /// What begins a result.
    pub fn result_marks(&self) -> &[Cow<'static, str>] {
        self.protocol.result_marks()
    }

    /// The same, reading its own protocol only, with values and keys in any style.
    pub(crate) fn any_style(&self) -> Toolset {
        Toolset { any_style: true, others: Arc::new([]), reads: Reads::Own, ..self.clone() }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The canonical text of a call. An undeclared tool is written as if nothing were known of it.
    pub fn encode(&self, name: &str, arguments: &json::Value<'_>) -> Result<String, EncodeError> {
        match arguments {
            json::Value::Object(members) => {
                let mut out = String::new();
                self.encode_members(name, members, &mut out).map(|()| out)
            }
            _ => Err(EncodeError(format!("the arguments of {name:?} are not a JSON object"))),
        }
    }

    /// Appends the same, of the members of the arguments.
    pub fn encode_members(
        &self,
        name: &str,
        arguments: &[json::Member<'_>],
        out: &mut String,
    ) -> Result<(), EncodeError> {
        let at = self.tools.names.get(name).copied();
        if at.is_none() && self.protocol.bad_name(name, &self.delimiters).is_some() {
            return Err(EncodeError(format!("a call cannot be written with the name {name:?}")));
        }
        self.protocol.write_call(&self.context(at, name), arguments, out);
        Ok(())
    }

    /// The text of a result; nothing in it can be taken for a tag of ours.
    pub fn encode_result(&self, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        write_result(self, name, content, error, number)
    }

    /// The text with a backslash in whatever could be taken for a tag; see section 10.
    pub fn neutralise(&self, text: &str) -> String {
        // In whichever protocol calls are read, none may be made of it.
        let own = self.protocol.neutralise(self, text);
        self.others.iter().fold(own, |text, other| other.protocol.neutralise(other, &text))
    }

    /// The keys of a tool's calls, as the encoder writes them.
    pub fn fields(&self, tool: &Tool) -> Vec<Field> {
        crate::schema::fields(&tool.schema, &self.delimiters)
    }

    /// One tool's line of the manual.
    pub fn signature(&self, tool: &Tool) -> String {
        self.protocol.signature(self, tool)
    }

    /// The parameters of a tool in its line of the manual, as fields or as one object; a space in front.
    pub(crate) fn parameters(&self, tool: &Tool, json: bool) -> String {
        let is_safe = |text: &str| {
            let breaks = |c: char| c.is_control() || matches!(c, '<' | '\u{2028}' | '\u{2029}');
            !text.contains(breaks) && !self.may_hold_mark(text)
        };
        let constraints = self.constraints.then_some(&is_safe as &dyn Fn(&str) -> bool);
        let shown = Shown { descriptions: self.descriptions, constraints };
        signature(&tool.schema, &self.delimiters, shown, json)
    }

    /// The description of a tool in its line of the manual, after a dash.
    pub(crate) fn description(&self, tool: &Tool) -> String {
        let description = tool.description.as_deref().filter(|_| self.descriptions != Descriptions::None);
        match description.map(|text| one_line(text, &self.delimiters)) {
            Some(line) if !line.is_empty() => format!(" - {line}"),
            _ => String::new(),
        }
    }

    /// Whether this text could open or close a call or a result in any format, read here or not. May say yes too often.
    pub(crate) fn may_hold_mark(&self, text: &str) -> bool {
        let tag = |rest: &str| {
            let rest = rest.trim_start();
            !rest.is_empty() && !rest.starts_with(|c: char| c.is_ascii_digit() || "=<>-".contains(c))
        };
        let lower = text.to_ascii_lowercase();
        text.match_indices('<').any(|(at, _)| tag(&text[at + 1..]))
            || ["&lt;", "&#", "```", "[call", "[/call", "[tool_", "[/tool_"].iter().any(|mark| lower.contains(mark))
            || ["name", "tool", "function"].iter().any(|key| text.contains('{') && lower.contains(key))
            || text.contains(&self.delimiters.open)
            || text.contains(&self.delimiters.close)
            || self.neutralise(text) != text
    }
}
