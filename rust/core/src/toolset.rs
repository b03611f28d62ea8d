//! A toolset: tools, a protocol and its settings, compiled once and shared by all parsers.

use std::borrow::Cow;
use std::sync::Arc;

use crate::arguments::Context;
use crate::error::ToolError;
use crate::formats::layout::ReasoningMarks;
use crate::formats::parts::{Header, PartsFrame};
use crate::formats::registry::{Protocols, Reads, Recover, custom, described, named};
use crate::formats::teaching::Neutralise;
use crate::formats::{Attempt, Custom, Format, Prompt, Protocol, Settings};
use crate::limits::Limits;
use crate::schema::{Descriptions, Field};
use crate::syntax::json;
use crate::syntax::scan::{Delimiters, Scan, ws_run};
use crate::tools::{Definition, Fallback, Syntax, Tool, Tools, WritingRules};

/// What the openings of calls and results mean inside Markdown code: fences and inline code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeMode {
    /// The same as elsewhere.
    Call,
    /// Text.
    Text,
}

/// What becomes of calls of tools that the toolset does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownTools {
    /// [`Error`](Self::Error) with tools, and [`Forward`](Self::Forward) without any.
    Auto,
    /// They are errors.
    Error,
    /// They are calls, whose arguments have no types. A name that no tool would have is an error.
    Forward,
    /// Nothing is a call, and the text is unchanged, except that reasoning is separated from it. Only for toolsets without tools.
    Text,
}

/// What becomes of definitions that cannot work as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidTools {
    /// The first one is an error.
    Error,
    /// Arguments of a tool whose schema cannot be compiled have no types. Of several tools with one name, the first counts. Calls of
    /// a tool with a name that the protocol cannot write are not written. See [`Toolset::invalid_tools`].
    Untyped,
}

/// The tags around reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningTags {
    /// Those of the native format; `<think>` and `</think>` in others.
    Own,
    /// There is no reasoning.
    None,
    /// These two.
    Tags(String, String),
}

/// How a [`Toolset`] reads and writes calls.
///
/// ```
/// let mut options = wirecall_core::Options::default();
/// options.protocol = "hermes".into();
/// options.limits.calls = 32;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How calls are written: a name of [`protocols`](crate::protocols), or `auto` to read the protocol of each message's
    /// first call and write the first of them.
    pub protocol: String,
    /// A format, used instead of `protocol`.
    pub format: Option<Format>,
    /// A protocol of the host, used instead of both.
    pub custom: Option<Custom>,
    /// Also read calls in other formats until there is one in the protocol's own. Ignored in strict mode.
    pub recover: bool,
    /// With `recover`: the names of these formats. If there are none, all that are not only native, and JSON objects without
    /// markers.
    pub recover_from: Vec<String>,
    /// How calls are written.
    pub syntax: Syntax,
    /// What happens to tools whose calls cannot be written well as pairs.
    pub fallback: Fallback,
    /// Report near misses as errors instead of repairing them.
    pub strict: bool,
    /// What becomes of calls of tools that the toolset does not have.
    pub unknown_tools: UnknownTools,
    /// What becomes of definitions that cannot work as they are.
    pub invalid_tools: InvalidTools,
    /// Validate arguments against the whole schema, and report calls with problems as errors. Needs the feature `validate`.
    pub validate: bool,
    /// What calls inside Markdown code are.
    pub code: CodeMode,
    /// Which descriptions the manual contains.
    pub descriptions: Descriptions,
    /// Whether signatures show bounds, patterns, formats and examples.
    pub constraints: bool,
    /// What opens and closes a call; `None` for the protocol's own.
    pub delimiters: Option<(String, String)>,
    /// The tags around reasoning, in which there are no calls, except for formats in which a call ends it.
    pub reasoning: ReasoningTags,
    /// Whether reasoning is separated from the text; `None` if only in native formats.
    pub separate_reasoning: Option<bool>,
    /// What a message may cost.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            protocol: "wire".into(),
            format: None,
            custom: None,
            recover: false,
            recover_from: Vec::new(),
            syntax: Syntax::Wire,
            fallback: Fallback::Complex,
            strict: false,
            unknown_tools: UnknownTools::Auto,
            invalid_tools: InvalidTools::Error,
            validate: false,
            code: CodeMode::Call,
            descriptions: Descriptions::Full,
            constraints: true,
            delimiters: None,
            reasoning: ReasoningTags::Own,
            separate_reasoning: None,
            limits: Limits::default(),
        }
    }
}

/// Compiled tools with a protocol. Immutable: any number of threads and parsers can share one, in an [`Arc`].
#[derive(Clone, Debug)]
pub struct Toolset {
    pub(crate) tools: Arc<Tools>,
    pub(crate) protocol: Arc<dyn Protocol>,
    pub(crate) settings: Settings,
    /// The same tools in the other protocols in which calls are read.
    pub(crate) others: Arc<[Toolset]>,
    /// True for another spelling of the format of the toolset that has this one in `others`. Anything but a call in it is text.
    pub(crate) spelling: bool,
    pub(crate) reads: Reads,
    /// For a toolset that is only read with: the one that writes calls.
    pub(crate) writer: Option<Arc<Toolset>>,
    pub(crate) code: CodeMode,
    /// The tags around reasoning. Only native formats have more than one pair.
    pub(crate) reasoning: Vec<(String, String)>,
    /// Reasoning and its tags are not part of the text.
    pub(crate) separates: bool,
    /// The protocol is a native format.
    pub(crate) native: bool,
    /// What stop tokens begin with in a native format.
    pub(crate) stop: u8,
}

impl Options {
    /// The settings of a protocol in a toolset with these options.
    fn settings(&self, protocol: &dyn Protocol, delimiters: Option<(&str, &str)>) -> Result<Settings, String> {
        let info = protocol.info();
        let delimiters = match (delimiters, info.fixed) {
            (Some(_), Some(why)) => return Err(why.into()),
            (Some((open, close)), None) => protocol.delimiters(open, close)?,
            (None, _) => Delimiters::of(&info.delimiters.0, &info.delimiters.1),
        };
        Ok(Settings {
            info,
            candidates: protocol.candidates(&delimiters),
            marks: protocol.marks(),
            delimiters,
            strict: self.strict,
            any_style: false,
            forwards_unknown: self.unknown_tools == UnknownTools::Forward,
            descriptions: self.descriptions,
            constraints: self.constraints,
            limits: self.limits,
        })
    }
}

impl Options {
    /// The name of the protocol, for errors.
    fn name(&self) -> &str {
        match (&self.custom, &self.format) {
            (Some(_), _) => "the protocol",
            (None, Some(format)) => format.name(),
            (None, None) => &self.protocol,
        }
    }

    /// Why one of the options cannot work in this protocol, with what to do instead.
    fn misfit(&self, protocol: &dyn Protocol, recovers: bool) -> Option<String> {
        let (own, layout, info) = (self.name(), protocol.layout(), protocol.info());
        // Rows with repairs are also for prompting: their manual can ask for JSON.
        if layout.native && !info.near_misses && self.syntax == Syntax::Json && info.encoding != "json" {
            return Some(format!("{own} has one way to write calls, which is not JSON; leave out syntax=\"json\""));
        }
        layout.parts?;
        if recovers {
            return Some(format!(
                "{own} divides whole messages into parts, so no other format can be read with it; leave out recover"
            ));
        }
        (self.reasoning != ReasoningTags::Own).then(|| {
            format!("{own} divides whole messages into parts, so its reasoning has no other tags; leave out reasoning")
        })
    }
}

impl Toolset {
    /// Compiles the tools. Without any, the toolset is open: it accepts any name, with arguments of any type, unless
    /// [`Options::unknown_tools`] says otherwise.
    ///
    /// # Errors
    ///
    /// The first tool that cannot be used, or an option that cannot be.
    pub fn new(definitions: Vec<Definition>, options: Options) -> Result<Self, ToolError> {
        let recover = match &*options.recover_from {
            _ if options.strict => Recover::Nothing,
            _ if !options.recover => Recover::Spellings,
            [] => Recover::Usual,
            names => Recover::Named(names),
        };
        let Protocols { own: protocol, spellings, others, reads } = match (&options.custom, &options.format) {
            (Some(parts), _) => custom(parts.clone(), recover),
            (None, Some(format)) => described(format.described(), recover),
            (None, None) => named(&options.protocol, recover),
        }
        .map_err(ToolError::new)?;
        let recovers = matches!(recover, Recover::Usual | Recover::Named(_)) || reads == Reads::First;
        if let Some(why) = options.misfit(&*protocol, recovers) {
            return Err(ToolError::new(why));
        }
        let (spellings, others, reads) = match options.unknown_tools {
            UnknownTools::Text if !definitions.is_empty() => {
                return Err(ToolError::new(
                    "unknown_tools=\"text\" is for a toolset without tools; use \"forward\" or \"error\"",
                ));
            }
            UnknownTools::Text => (Vec::new(), Vec::new(), Reads::Nothing),
            _ => (spellings, others, reads),
        };
        let layout = protocol.layout();
        let native = layout.native;
        let stop = layout.stops.first().and_then(|stop| stop.bytes().next()).unwrap_or(b'<');
        let pair = |(open, close): (&str, &str)| (open.to_owned(), close.to_owned());
        let reasoning = match &options.reasoning {
            ReasoningTags::None => Vec::new(),
            ReasoningTags::Tags(open, close) => vec![(open.clone(), close.clone())],
            ReasoningTags::Own => layout.reasoning.iter().flat_map(ReasoningMarks::pairs).map(pair).collect::<Vec<_>>(),
        };
        let given = options.delimiters.as_ref().map(|(open, close)| (open.as_str(), close.as_str()));
        let mut settings = options.settings(&*protocol, given).map_err(ToolError::new)?;
        if native {
            let marks = reasoning.iter().flat_map(|(open, close)| [open, close]);
            settings.candidates = marks.fold(settings.candidates, |known, mark| known.with_text(mark));
        }
        let rules = WritingRules {
            syntax: options.syntax,
            fallback: options.fallback,
            validate: options.validate,
            depth: options.limits.depth,
            accept_invalid: options.invalid_tools == InvalidTools::Untyped,
            open: options.unknown_tools != UnknownTools::Error,
            bad_name: &|name| protocol.bad_name(name, &settings.delimiters),
            complexity: &|schema| protocol.complexity(schema),
            encoding: settings.info.encoding,
        };
        let tools = Arc::new(Tools::new(definitions, &rules)?);
        let set = |protocol: Arc<dyn Protocol>, settings: Settings, writer: Option<Arc<Toolset>>| Toolset {
            tools: tools.clone(),
            protocol,
            settings,
            others: Arc::new([]),
            spelling: false,
            reads: Reads::Own,
            writer,
            code: options.code,
            reasoning: reasoning.clone(),
            separates: options.separate_reasoning.unwrap_or(native),
            native,
            stop,
        };
        let writer = Some(Arc::new(set(protocol.clone(), settings.clone(), None)));
        let names: Vec<_> = others.iter().map(|(name, _)| *name).collect();
        let same = |(other, spelling): (Arc<dyn Protocol>, bool)| {
            let own = options.settings(&*other, None).map_err(ToolError::new)?;
            settings.candidates = settings.candidates.clone().and(&own.candidates);
            Ok(Toolset { spelling, ..set(other, own, writer.clone()) })
        };
        let others = others.into_iter().map(|(_, other)| (other, false));
        let others = others
            .chain(spellings.into_iter().map(|spelling| (spelling, true)))
            .map(same)
            .collect::<Result<Arc<[_]>, _>>()?;
        let made = Toolset { others, reads, ..set(protocol, settings, None) };
        if let Recover::Named(_) = recover {
            made.check_openings(options.name(), &names).map_err(ToolError::new)?;
        }
        Ok(made)
    }

    /// Whether the calls of all formats that are read can be told apart by how they begin; or a sentence about two that cannot.
    fn check_openings(&self, own: &str, names: &[&str]) -> Result<(), String> {
        let name = self.tools().next().map_or("name", |tool| &tool.name);
        let member = (Cow::Borrowed("a"), json::Value::String(Cow::Borrowed("b")));
        let sample = |set: &Toolset| {
            let mut call = String::new();
            let written = set.encode_members(name, std::slice::from_ref(&member), &mut call);
            written.map(|()| call.trim_start().to_owned()).unwrap_or_default()
        };
        let sets = std::iter::once((own, self)).chain(names.iter().copied().zip(&*self.others));
        if let Some((name, _)) = sets.clone().find(|(_, set)| set.protocol.layout().parts.is_some()) {
            return Err(format!("{name} divides whole messages into parts, so no other format can be read with it"));
        }
        let mut known: Vec<(&str, &Toolset, String)> = Vec::new();
        for (name, set) in sets {
            let call = sample(set);
            let same = |(_, other, written): &&(&str, &Toolset, String)| other.opens(&call) || set.opens(written);
            if let Some((other, ..)) = known.iter().find(same) {
                return Err(format!("{other} and {name} begin calls in the same way, so they cannot be read together"));
            }
            known.push((name, set, call));
        }
        Ok(())
    }

    /// Whether a call, or a section, of this protocol begins at the start of the text.
    fn opens(&self, text: &str) -> bool {
        if let Some(section) = &self.protocol.layout().section {
            return text.starts_with(section.begin);
        }
        self.protocol.fits(text) != Scan::NoMatch
            && matches!(self.protocol.attempt(&self.tools, &self.settings, text, true), Attempt::Call { .. })
    }

    /// Whether the format is a native one: its calls are where the official template writes them.
    pub fn is_native(&self) -> bool {
        self.native
    }

    /// The tags around reasoning, whether or not it is separated from the text.
    pub fn reasoning_tags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.reasoning.iter().map(|(open, close)| (open.as_str(), close.as_str()))
    }

    /// The tools, in the given order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// The definitions that could not work as they are, with what is wrong, if [`InvalidTools::Untyped`] has accepted them.
    pub fn invalid_tools(&self) -> &[ToolError] {
        self.tools.invalid()
    }

    /// What a body needs to know about a call with this name. `at` is the position of its tool.
    pub(crate) fn context<'a>(&'a self, at: Option<usize>, name: &'a str) -> Context<'a> {
        self.settings.context(&*self.protocol, &self.tools, at, name)
    }

    /// What the protocol needs to write the manual and results.
    pub(crate) fn prompt(&self) -> Prompt<'_> {
        Prompt { tools: &self.tools, settings: &self.settings, marks: self }
    }

    /// Why no call can be written with this name.
    pub(crate) fn bad_name(&self, name: &str) -> Option<&'static str> {
        self.protocol.bad_name(name, &self.settings.delimiters)
    }

    /// The tool with exactly this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// The form in which a tool's calls are written.
    pub fn encoding(&self, tool: &Tool) -> &'static str {
        if tool.syntax == Syntax::Json { "json" } else { self.settings.info.encoding }
    }

    /// What begins a result. Use them as stop sequences, because models invent results.
    pub fn result_marks(&self) -> impl Iterator<Item = &str> {
        self.settings.info.result_marks.iter().map(|mark| &**mark)
    }

    /// Whether reasoning is separated from the text.
    pub fn separates_reasoning(&self) -> bool {
        self.separates
    }

    /// What opens and what closes a call.
    pub fn delimiters(&self) -> (&str, &str) {
        (&self.settings.delimiters.open, &self.settings.delimiters.close)
    }

    /// What a message may cost.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// The same toolset with its own protocol only, and with values and keys in any style.
    pub(crate) fn any_style(&self) -> Toolset {
        let settings = Settings { any_style: true, ..self.settings.clone() };
        Toolset { settings, others: Arc::new([]), reads: Reads::Own, ..self.clone() }
    }

    /// The text with a backslash in everything that could be read as a mark. See section 10 of the format.
    pub fn neutralise(&self, text: &str) -> String {
        let neutral = self.neutralise_inside(text);
        // A call that is a whole message has no marker, and a message may begin with half a header.
        let begins = |set: &Toolset| {
            let bad = |frame: &dyn PartsFrame| {
                let blanks = if frame.skips_whitespace() { ws_run(&neutral, 0) } else { 0 };
                matches!(frame.header(&set.tools, &neutral[blanks..], true, true), Header::Bad(..))
            };
            set.protocol.layout().parts.is_some_and(bad)
                || (set.settings.info.begins_message && set.protocol.is_mark(&set.tools, &set.settings, &neutral))
        };
        let whole = begins(self) || self.others.iter().any(begins);
        if whole { format!("\\{neutral}") } else { neutral }
    }

    /// The same for text with other text before it.
    pub(crate) fn neutralise_inside(&self, text: &str) -> String {
        // It must not be read as a call in any of the protocols.
        let neutral = |text: &str, by: &Toolset| by.protocol.neutralise(&by.tools, &by.settings, text);
        self.others.iter().fold(neutral(text, self), |text, other| neutral(&text, other))
    }

    /// The keys of a tool's calls, as the encoder writes them.
    pub fn fields(&self, tool: &Tool) -> Vec<Field> {
        crate::schema::fields(&tool.schema, &self.settings.delimiters)
    }

    /// The part of a [`Problem::field`](crate::Problem) that the tool's schema declares, from its beginning. What follows, such as an
    /// unknown field, is what the model wrote, so hosts that log no content log only this part.
    pub fn declared_field(&self, tool: &Tool, field: &str) -> String {
        crate::arguments::declared_part(&tool.schema, field)
    }

    /// One tool's line of the manual.
    pub fn signature(&self, tool: &Tool) -> String {
        self.protocol.signature(&self.prompt(), tool)
    }
}

impl Neutralise for Toolset {
    fn neutralise(&self, text: &str) -> String {
        Toolset::neutralise(self, text)
    }
}
