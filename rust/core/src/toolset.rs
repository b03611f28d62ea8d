//! Tools, compiled once; immutable, and shared by all parsers.

use std::borrow::Cow;
use std::sync::Arc;

use crate::arguments::Context;
use crate::error::{EncodeError, ToolError};
use crate::limits::Limits;
use crate::protocols::registry::custom;
use crate::protocols::{Custom, Protocol, Reads, named, write_result};
use crate::schema::{Descriptions, Field, Shown, one_line, signature};
use crate::syntax::json;
use crate::syntax::scan::{Candidates, Delimiters};
use crate::tools::{Definition, Fallback, Lookup, Syntax, Tool, Tools, Writing};

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

#[derive(Clone, Debug)]
pub struct Toolset {
    pub(crate) tools: Arc<Tools>,
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
            Some(parts) => custom(parts.clone(), recovers),
            None => named(&options.protocol, recovers),
        }
        .map_err(fault)?;
        let delimiters = options.delimiters.as_ref().map(|(open, close)| (open.as_str(), close.as_str()));
        let delimiters = protocol.delimiters(delimiters).map_err(fault)?;
        let writing = Writing {
            syntax: options.syntax,
            fallback: options.fallback,
            validate: options.validate,
            depth: limits.depth,
            bad_name: &|name| protocol.bad_name(name, &delimiters),
            complexity: &|schema| protocol.complexity(schema),
            encoding: protocol.encoding(),
        };
        let tools = Tools::new(definitions, &writing)?;
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
        self.tools.iter()
    }

    pub(crate) fn tool(&self, at: usize) -> &Tool {
        self.tools.at(at)
    }

    /// What a body needs to know of a call with this name, whose tool is `at`.
    pub(crate) fn context<'a>(&'a self, at: Option<usize>, name: &'a str) -> Context<'a> {
        Context {
            writer: &*self.protocol,
            tools: Some(&self.tools),
            schema: self.tools.schema(at),
            syntax: at.map(|at| self.tool(at).syntax),
            strict: self.strict,
            any_style: self.any_style,
            near_misses: self.protocol.near_misses(),
            result_marks: self.protocol.result_marks(),
            delimiters: &self.delimiters,
            limits: &self.limits,
            tool: name,
        }
    }

    /// The tool of exactly that name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// Whether the name of a declared tool may begin with this byte, in any spelling.
    #[inline]
    pub(crate) fn may_begin_name(&self, byte: u8) -> bool {
        self.tools.may_begin_name(byte)
    }

    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        self.tools.lookup(name)
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
        let at = self.tools.position(name);
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
