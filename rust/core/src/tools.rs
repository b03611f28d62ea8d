//! Tools, compiled once, and how they are found by name: the same in every protocol.

use std::sync::OnceLock;

use serde_json::Value;

use crate::error::ToolError;
use crate::keymap::KeyMap;
use crate::limits::RECURSION;
use crate::schema::{Schema, SchemaDocument, SchemaFault, Validator, compile, fold, without_required_defaults};

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
pub struct Tools {
    list: Vec<Tool>,
    names: KeyMap<usize>,
    /// `None` where two names fold alike.
    folded: KeyMap<Option<usize>>,
    /// The bytes that a name of one of the tools may begin with, in any spelling.
    firsts: [bool; 256],
    /// The type of the arguments of tools that nothing is known of.
    unknown: Schema,
}

/// How the calls of tools are to be written, and how far that is possible in a protocol.
pub struct WritingRules<'a> {
    pub syntax: Syntax,
    pub fallback: Fallback,
    /// Validate the calls of all tools.
    pub validate: bool,
    /// Nesting of JSON values that is allowed in calls.
    pub depth: usize,
    /// What is wrong with a tool's name, if calls cannot be written with it.
    pub bad_name: &'a dyn Fn(&str) -> Option<&'static str>,
    /// Why the calls of a tool are written as JSON objects, whatever the rest is written as.
    pub complexity: &'a dyn Fn(&Schema) -> Option<&'static str>,
    /// The name of the form in which calls are written that are not JSON objects.
    pub encoding: &'static str,
}

impl Tools {
    pub fn new(definitions: Vec<Definition>, rules: &WritingRules<'_>) -> Result<Self, ToolError> {
        let mut tools = Tools {
            list: Vec::with_capacity(definitions.len()),
            names: KeyMap::default(),
            folded: KeyMap::default(),
            // Folding drops these, and makes ASCII of others.
            firsts: std::array::from_fn(|byte| byte > 127 || matches!(byte as u8, b'_' | b'-')),
            unknown: Schema::unknown(),
        };
        for definition in definitions {
            tools.add(definition, rules)?;
        }
        Ok(tools)
    }

    fn add(&mut self, definition: Definition, rules: &WritingRules<'_>) -> Result<(), ToolError> {
        let Definition { name, description, parameters, strict } = definition;
        let WritingRules { syntax, fallback, validate, depth, .. } = *rules;
        let fault = |pointer: Option<String>, message: String| ToolError { tool: name.clone(), pointer, message };
        let error = |pointer: String, message: String| fault(Some(pointer), message);
        if let Some(why) = (rules.bad_name)(&name) {
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
        let reason = (rules.complexity)(&schema);
        let syntax = match (syntax, reason, fallback) {
            (Syntax::Json, _, _) => Syntax::Json,
            (Syntax::Wire, None, _) | (Syntax::Wire, Some(_), Fallback::Force) => Syntax::Wire,
            (Syntax::Wire, Some(_), Fallback::Complex) => Syntax::Json,
            (Syntax::Wire, Some(reason), Fallback::Error) => {
                return Err(fault(None, format!("its calls cannot be written as {}: {reason}", rules.encoding)));
            }
        };
        if (strict || validate) && depth > RECURSION {
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
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.list.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The tool at this position.
    pub fn at(&self, at: usize) -> &Tool {
        &self.list[at]
    }

    /// The position of the tool of exactly this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.position(name).map(|at| self.at(at))
    }

    /// The declared tool that this name means.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.lookup(name).tool()
    }

    /// The type of the arguments of the tool at this position; without one nothing is known of it.
    pub fn schema(&self, at: Option<usize>) -> &Schema {
        at.map_or(&self.unknown, |at| &self.at(at).schema)
    }

    /// Whether the name of a declared tool may begin with this byte, in any spelling.
    #[inline]
    pub fn may_begin_name(&self, byte: u8) -> bool {
        self.firsts[byte as usize]
    }

    /// Whether the name of a declared tool begins so.
    pub fn begins_name(&self, text: &str) -> bool {
        self.iter().any(|tool| tool.name.starts_with(text))
    }

    pub fn lookup(&self, name: &str) -> Lookup {
        if self.list.is_empty() {
            return Lookup::Open;
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
}
