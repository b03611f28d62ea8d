//! Tools, compiled once, and their lookup by name. They do not depend on a protocol.

use std::sync::OnceLock;

use crate::error::ToolError;
use crate::keymap::KeyMap;
use crate::limits::NAME_CHARS;
use crate::schema::{
    Json, Schema, SchemaDocument, SchemaFault, Validator, compile, fold, read_schema, without_required_defaults,
};
use crate::syntax::scan::first_chars;
use crate::syntax::word_quotes::in_quotes;

/// How a tool's calls are written. Both forms are always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// `key=value` pairs.
    Wire,
    /// One JSON object.
    Json,
}

/// What happens to a tool whose parameters cannot be written well as pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fallback {
    /// Its calls are written as JSON.
    Complex,
    /// It is an error.
    Error,
    /// Its calls are written as pairs.
    Force,
}

/// A tool as the caller defines it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The name that calls use.
    pub name: String,
    /// What the manual says about the tool.
    pub description: Option<String>,
    /// The JSON text of its parameters' schema.
    pub parameters: String,
    /// Validate this tool's calls, even if the toolset does not validate. Needs the feature `validate`.
    pub strict: bool,
}

impl Definition {
    /// A tool without a description. `parameters` is the JSON text of its parameters' schema.
    pub fn new(name: impl Into<String>, parameters: impl Into<String>) -> Self {
        Definition { name: name.into(), description: None, parameters: parameters.into(), strict: false }
    }
}

/// A compiled tool.
#[derive(Debug)]
pub struct Tool {
    /// The name that calls use.
    pub name: String,
    /// What the manual says about the tool.
    pub description: Option<String>,
    /// The schema of its parameters, in which fields with a default are not required.
    pub(crate) parameters: Json,
    pub(crate) schema: Schema,
    /// How its calls are written.
    pub syntax: Syntax,
    /// Why its calls are written as JSON, if the host has not chosen it.
    pub reason: Option<&'static str>,
    pub(crate) validator: Option<Validator>,
    /// The example call for its errors, made when first needed; `None` if none can be made.
    pub(crate) example: OnceLock<Option<String>>,
}

/// The tool that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Exact(usize),
    /// The only tool with this name after folding, or behind a namespace that models put before it.
    Folded(usize),
    /// There are no tools, so any name is allowed.
    Open,
    Unknown,
}

impl Lookup {
    /// The declared tool.
    pub(crate) fn tool(self) -> Option<usize> {
        match self {
            Lookup::Exact(at) | Lookup::Folded(at) => Some(at),
            Lookup::Open | Lookup::Unknown => None,
        }
    }
}

/// The tools, with an index of their names.
#[derive(Debug)]
pub(crate) struct Tools {
    list: Vec<Tool>,
    names: KeyMap<usize>,
    /// `None` if two names are equal after folding.
    folded: KeyMap<Option<usize>>,
    /// The bytes with which the name of a tool may begin, in any spelling.
    firsts: [bool; 256],
    /// The type of the arguments of undeclared tools.
    unknown: Schema,
    /// Without tools, any name is allowed.
    open: bool,
    /// The definitions that were accepted although they cannot work, and why.
    invalid: Vec<ToolError>,
}

/// How the calls of tools are to be written, and which of them a protocol can write so.
pub(crate) struct WritingRules<'a> {
    pub syntax: Syntax,
    pub fallback: Fallback,
    /// Validate the calls of all tools.
    pub validate: bool,
    /// Nesting of JSON values that is allowed in calls.
    pub depth: usize,
    /// Accept definitions that cannot work as they are.
    pub accept_invalid: bool,
    /// Without tools, any name is allowed.
    pub open: bool,
    /// What is wrong with a tool's name, if calls cannot be written with it.
    pub bad_name: &'a dyn Fn(&str) -> Option<&'static str>,
    /// Why the calls of a tool must be written as JSON objects.
    pub complexity: &'a dyn Fn(&Schema) -> Option<&'static str>,
    /// The name of the form of calls that are not JSON objects.
    pub encoding: &'static str,
}

impl Tools {
    pub(crate) fn new(definitions: Vec<Definition>, rules: &WritingRules<'_>) -> Result<Self, ToolError> {
        let mut tools = Tools {
            list: Vec::with_capacity(definitions.len()),
            names: KeyMap::default(),
            folded: KeyMap::default(),
            // Folding removes `_` and `-`, and maps other characters to ASCII.
            firsts: std::array::from_fn(|byte| byte > 127 || matches!(byte as u8, b'_' | b'-')),
            unknown: Schema::unknown(),
            open: rules.open,
            invalid: Vec::new(),
        };
        for definition in definitions {
            tools.add(definition, rules)?;
        }
        Ok(tools)
    }

    fn add(&mut self, definition: Definition, rules: &WritingRules<'_>) -> Result<(), ToolError> {
        let name = definition.name.clone();
        if self.names.get(&name).is_some() {
            let message = "two tools have this name; rename one".to_owned();
            return self.refuse(ToolError { tool: Some(name), pointer: None, message }, rules);
        }
        if let Some(why) = (rules.bad_name)(&name) {
            self.refuse(unwritable(&name, why), rules)?;
        }
        let tool = match compiled(&definition, rules) {
            Ok(tool) => tool,
            Err(error) => {
                self.refuse(error, rules)?;
                let untyped = Definition { parameters: "{}".to_owned(), strict: false, ..definition };
                let fallback = if rules.fallback == Fallback::Error { Fallback::Complex } else { rules.fallback };
                compiled(&untyped, &WritingRules { fallback, validate: false, ..*rules })?
            }
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
        self.names.push(name.into(), at);
        self.list.push(tool);
        Ok(())
    }

    /// A definition cannot work as it is.
    fn refuse(&mut self, error: ToolError, rules: &WritingRules<'_>) -> Result<(), ToolError> {
        if !rules.accept_invalid {
            return Err(error);
        }
        self.invalid.push(error);
        Ok(())
    }

    /// The definitions that were accepted although they cannot work, and why.
    pub(crate) fn invalid(&self) -> &[ToolError] {
        &self.invalid
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.list.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The tool at this position.
    pub(crate) fn at(&self, at: usize) -> &Tool {
        &self.list[at]
    }

    /// The position of the tool with exactly this name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The tool with exactly this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.position(name).map(|at| self.at(at))
    }

    /// The position of the declared tool that this name means.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.lookup(name).tool()
    }

    /// The type of the arguments of the tool at this position, or of an undeclared tool.
    pub(crate) fn schema(&self, at: Option<usize>) -> &Schema {
        at.map_or(&self.unknown, |at| &self.at(at).schema)
    }

    /// Whether the name of a declared tool may begin with this byte, in any spelling.
    #[inline]
    pub(crate) fn may_begin_name(&self, byte: u8) -> bool {
        self.firsts[byte as usize]
    }

    /// Whether the name of a declared tool begins with this text.
    pub(crate) fn begins_name(&self, text: &str) -> bool {
        self.iter().any(|tool| tool.name.starts_with(text))
    }

    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        if self.list.is_empty() {
            return if self.open { Lookup::Open } else { Lookup::Unknown };
        }
        if name.bytes().next().is_some_and(|first| !self.may_begin_name(first)) {
            return Lookup::Unknown;
        }
        if let Some(at) = self.names.get(name) {
            return Lookup::Exact(*at);
        }
        match self.folded.get(&fold(name)) {
            Some(Some(at)) => Lookup::Folded(*at),
            Some(None) | None => Lookup::Unknown,
        }
    }

    /// The tool that a call has named, perhaps in quotes or in a namespace.
    pub(crate) fn called(&self, name: &str) -> Lookup {
        match self.lookup(name) {
            Lookup::Unknown => {
                let bare = in_quotes(name).unwrap_or(name);
                let inner = without_namespace(bare).unwrap_or(bare);
                if inner.len() == name.len() { None } else { self.find(inner) }.map_or(Lookup::Unknown, Lookup::Folded)
            }
            found => found,
        }
    }
}

/// What models put before the names of tools, from formats in which tools are the functions of a namespace.
const NAMESPACES: [&str; 6] = ["functions.", "function.", "tools.", "default_api.", "tool:", "call:"];

/// The text after the namespace that it begins with.
pub(crate) fn without_namespace(text: &str) -> Option<&str> {
    NAMESPACES.iter().find_map(|namespace| text.strip_prefix(namespace))
}

/// The error of a name that calls cannot be written with.
pub(crate) fn unwritable(name: &str, why: &str) -> ToolError {
    let message = format!("a call cannot be written with this name: {why}");
    ToolError { tool: Some(name.to_owned()), pointer: None, message }
}

/// Whether a tool may have this name: an identifier, perhaps with a namespace. Other text after an opener is prose.
pub(crate) fn is_plausible_name(name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    begins && name.chars().all(is_name) && first_chars(name, NAME_CHARS) == name.len()
}

/// Compiles one tool.
fn compiled(definition: &Definition, rules: &WritingRules<'_>) -> Result<Tool, ToolError> {
    let Definition { name, description, parameters, strict } = definition;
    let WritingRules { syntax, fallback, validate, depth, .. } = *rules;
    let fault = |pointer: Option<String>, message: String| ToolError { tool: Some(name.clone()), pointer, message };
    let error = |pointer: String, message: String| fault(Some(pointer), message);
    let bad = |(pointer, message): SchemaFault| error(pointer, message);
    let value = read_schema(parameters).map_err(bad)?;
    let document = SchemaDocument::new(&value).map_err(bad)?;
    let schema = compile(&document).map_err(bad)?;
    let relaxed = without_required_defaults(&document);
    if value == Json::Bool(false) || !schema.node(schema.root).takes_object() {
        return Err(error(String::new(), "the parameters of a tool must allow an object".into()));
    }
    let reason = (rules.complexity)(&schema);
    let syntax = match (syntax, reason, fallback) {
        (Syntax::Json, _, _) => Syntax::Json,
        (Syntax::Wire, None, _) | (Syntax::Wire, Some(_), Fallback::Force) => Syntax::Wire,
        (Syntax::Wire, Some(_), Fallback::Complex) => Syntax::Json,
        (Syntax::Wire, Some(reason), Fallback::Error) => {
            return Err(fault(None, format!("its calls cannot be written as {}: {reason}", rules.encoding)));
        }
    };
    let validator = (*strict || validate).then(|| Validator::new(&document, relaxed.as_ref(), depth));
    let validator = validator.transpose().map_err(|(pointer, message)| fault(pointer, message))?;
    let reason = reason.filter(|_| fallback != Fallback::Force);
    let example = OnceLock::new();
    let parameters = relaxed.unwrap_or(value);
    let (name, description) = (name.clone(), description.clone());
    Ok(Tool { name, description, parameters, schema, syntax, reason, validator, example })
}
