//! Toolsets: compiled tools, and everything that needs no stream.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyString, PyTuple};
use wirecall_core::{self as core, Descriptions, Fallback};

use crate::events::CallError;
use crate::exclusive::Exclusive;
use crate::format::Format;
use crate::grammar::WrittenGrammar;
use crate::ids::Ids;
use crate::message::Message;
use crate::options::{GivenTool, Reasoning, Recover, UNKNOWN_TOOLS, definition, limits, one_of};
use crate::parallel::parse_many;
use crate::parser::Parser;
use crate::plan::{Field, Plan};
use crate::{convert, errors, protocol};

/// Compiled tools. Immutable: one toolset can be used by any number of threads at once.
///
/// `wirecall.Toolset` is the public class; it accepts the many forms of definitions and documents the
/// options. Sections are those of docs/wire-format.md.
#[pyclass(frozen, subclass, module = "wirecall._core")]
#[derive(Debug)]
pub struct Toolset {
    tools: Arc<core::Toolset>,
    /// What `encode` writes into.
    text: Exclusive<String>,
    /// Whether reading and writing call methods of the host.
    is_custom: bool,
}

impl Toolset {
    fn written<'py>(
        &self,
        py: Python<'py>,
        reasoning: Option<&str>,
        content: &str,
        calls: &[core::PastToolCall<'_>],
        calls_before: usize,
        native: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let mut message = core::PastMessage::default();
        (message.reasoning, message.content, message.calls) = (reasoning, content, calls);
        (message.calls_before, message.native) = (calls_before, native);
        let text = self.tools.encode_message(&message).map_err(|error| errors::encode_error(&error));
        protocol::raised().and(text).map(|text| PyString::new(py, &text))
    }

    fn tool(&self, py: Python<'_>, name: &str) -> PyResult<&core::Tool> {
        self.tools.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.tools.tools().map(|tool| tool.name.as_str()).collect();
            errors::no_tool(py, name, &names)
        })
    }
}

#[pymethods]
impl Toolset {
    #[new]
    #[pyo3(signature = (tools, /, *, protocol, recover=Recover::All(false), syntax="wire", fallback_to_json="complex", strict=false,
        unknown_tools="auto", invalid_tools="error", validate="report", code="call", descriptions="full", constraints=true, delimiters=None,
        reasoning=Some(Reasoning::Mode("auto".into())), limits=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        tools: Vec<GivenTool>,
        protocol: &Bound<'_, PyAny>,
        recover: Recover,
        syntax: &str,
        fallback_to_json: &str,
        strict: bool,
        unknown_tools: &str,
        invalid_tools: &str,
        validate: &str,
        code: &str,
        descriptions: &str,
        constraints: bool,
        delimiters: Option<(String, String)>,
        reasoning: Option<Reasoning>,
        limits: Option<HashMap<String, Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let mut options = core::Options::default();
        if let Ok(name) = protocol.cast::<PyString>() {
            options.protocol = convert::clean(name)?.into_owned();
        } else if let Ok(format) = protocol.cast::<Format>() {
            options.format = Some(format.get().format.clone());
        } else {
            options.custom = Some(protocol::custom(protocol)?);
        }
        let is_custom = options.custom.is_some();
        let fallbacks = [("complex", Fallback::Complex), ("error", Fallback::Error), ("force", Fallback::Force)];
        let shown = [("full", Descriptions::Full), ("tools", Descriptions::Tools), ("none", Descriptions::None)];
        match recover {
            Recover::All(all) => options.recover = all,
            Recover::Named(names) => (options.recover, options.recover_from) = (!names.is_empty(), names),
        }
        options.syntax = one_of("syntax", syntax, &[("wire", core::Syntax::Wire), ("json", core::Syntax::Json)])?;
        options.fallback = one_of("fallback_to_json", fallback_to_json, &fallbacks)?;
        options.strict = strict;
        options.unknown_tools = one_of("unknown_tools", unknown_tools, &UNKNOWN_TOOLS)?;
        let invalid = [("error", core::InvalidTools::Error), ("untyped", core::InvalidTools::Untyped)];
        options.invalid_tools = one_of("invalid_tools", invalid_tools, &invalid)?;
        options.validate = one_of("validate", validate, &[("report", false), ("error", true)])?;
        options.code = one_of("code", code, &[("call", core::CodeMode::Call), ("text", core::CodeMode::Text)])?;
        options.descriptions = one_of("descriptions", descriptions, &shown)?;
        options.constraints = constraints;
        options.delimiters = delimiters;
        (options.reasoning, options.separate_reasoning) = Reasoning::options(reasoning)?;
        options.limits = self::limits(py, limits)?;
        let definitions = tools.into_iter().map(definition).collect();
        let tools = core::Toolset::new(definitions, options).map_err(|error| errors::tool_error(py, &error))?;
        Ok(Toolset { tools: Arc::new(tools), text: Exclusive::default(), is_custom })
    }

    /// The text of a grammar, and what it does not enforce: tool, field and keyword.
    #[pyo3(name = "_grammar", signature = (kind, /, *, tool_choice, parallel, longest))]
    fn write_grammar(
        &self,
        py: Python<'_>,
        kind: &str,
        tool_choice: &str,
        parallel: bool,
        longest: Option<usize>,
    ) -> PyResult<WrittenGrammar> {
        crate::grammar::write(py, &self.tools, kind, tool_choice, parallel, longest)
    }

    /// The part of a problem's field that the tool's schema declares: the rest is what the model wrote.
    #[pyo3(name = "_declared_field", signature = (name, field, /))]
    fn declared_field(&self, name: &str, field: &str) -> String {
        self.tools.get(name).map(|tool| self.tools.declared_field(tool, field)).unwrap_or_default()
    }

    /// The tools' names, in the given order.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tools.tools().map(|tool| tool.name.as_str()).collect::<Vec<_>>())
    }

    /// The definitions that `invalid_tools="untyped"` has accepted: tool, pointer and message of each.
    #[getter]
    #[pyo3(name = "_invalid_tools")]
    fn invalid_tools(&self) -> Vec<(String, Option<String>, String)> {
        let invalid = self.tools.invalid_tools().iter().cloned();
        let fault = |core::ToolError { tool, pointer, message, .. }| (tool.unwrap_or_default(), pointer, message);
        invalid.map(fault).collect()
    }

    /// The beginnings of tool results. Use them as stop sequences, because models invent results.
    #[getter]
    fn result_marks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tools.result_marks().collect::<Vec<_>>())
    }

    /// Whether reasoning is separate from the text, as the option `reasoning` says.
    #[getter]
    fn separates_reasoning(&self) -> bool {
        self.tools.separates_reasoning()
    }

    /// Whether calls are written where the official template of a native format has them.
    #[getter]
    #[pyo3(name = "_is_native")]
    fn is_native(&self) -> bool {
        self.tools.is_native()
    }

    /// Pairs of what opens and closes reasoning.
    #[getter]
    #[pyo3(name = "_reasoning_tags")]
    fn reasoning_tags(&self) -> Vec<(&str, &str)> {
        self.tools.reasoning_tags().collect()
    }

    /// Parse a whole message, with the same result as a parser.
    ///
    /// Args:
    ///     text: The message. Lone surrogates become U+FFFD.
    ///     truncated: False only if the message is known to be complete; then a last call without CLOSE may
    ///         be repaired (`missing_close`, section 5). True if it is known to be cut off; then an opening
    ///         that may become a call is an `incomplete_call`, not text.
    ///     in_reasoning: Whether the message begins inside reasoning, because the prompt ends there; None for
    ///         the protocol's default.
    ///
    /// Returns:
    ///     Texts, reasoning, calls and errors. The model's mistakes are errors in the message, not
    ///     exceptions.
    #[pyo3(signature = (text, /, *, truncated=None, in_reasoning=None))]
    fn parse(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        truncated: Option<&Bound<'_, PyAny>>,
        in_reasoning: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Message> {
        let truncated = convert::perhaps("truncated", truncated)?;
        let in_reasoning = convert::perhaps("in_reasoning", in_reasoning)?;
        let text = convert::backed(text)?;
        let items = core::parse(&self.tools, &text, truncated, in_reasoning);
        protocol::raised()?;
        Message::new(text.as_py_str().bind(py), &items, Ids::new())
    }

    /// Parse many whole messages without the GIL.
    ///
    /// Args:
    ///     texts: The messages.
    ///     threads: The number of threads, at most 256; None for one per processor.
    ///     truncated: As in `parse`, for all messages.
    ///     in_reasoning: As in `parse`, for all messages.
    ///
    /// Returns:
    ///     One message for each text, in order.
    ///
    /// Raises:
    ///     TypeError: A text is not a str, or `texts` is a single str.
    ///     ValueError: `threads` is less than 1, or out of range.
    #[pyo3(signature = (texts, /, *, threads=None, truncated=None, in_reasoning=None))]
    fn parse_many(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
        truncated: Option<&Bound<'_, PyAny>>,
        in_reasoning: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Message>> {
        let truncated = convert::perhaps("truncated", truncated)?;
        let in_reasoning = convert::perhaps("in_reasoning", in_reasoning)?;
        if texts.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("parse_many takes a list of str; for one str use parse"));
        }
        let mut borrowed: Vec<PyBackedStr> = Vec::new();
        for text in texts.try_iter()? {
            borrowed.push(convert::backed(text?.cast::<PyString>()?)?);
        }
        let threads = match threads {
            Some(threads) => convert::positive("threads", threads)?,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let read = |text: &PyBackedStr| core::parse(&self.tools, text, truncated, in_reasoning);
        // A thread that waits for the interpreter's lock would only wait for this one.
        let threads = if self.is_custom { 1 } else { threads };
        let messages = parse_many(py, &borrowed, threads, &read)?;
        protocol::raised().map(|()| messages)
    }

    /// A parser for one stream.
    ///
    /// Args:
    ///     ids: Called for the id of each call that starts. Without it, an id is `call_` and 24 random
    ///         letters and digits.
    ///     in_reasoning: Whether the message begins inside reasoning, because the prompt ends there; None for
    ///         the protocol's default.
    ///
    /// Raises:
    ///     TypeError: `ids` is not callable.
    #[pyo3(signature = (*, ids=None, in_reasoning=None))]
    fn parser(
        &self,
        py: Python<'_>,
        ids: Option<Py<PyAny>>,
        in_reasoning: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Parser> {
        let in_reasoning = convert::perhaps("in_reasoning", in_reasoning)?;
        if ids.as_ref().is_some_and(|ids| !ids.bind(py).is_callable()) {
            return Err(PyTypeError::new_err("ids must be a callable without arguments that returns a str"));
        }
        Ok(Parser::new(self.tools.clone(), ids, in_reasoning))
    }

    /// The canonical text of a call (section 8). In both modes, it parses as the same JSON.
    ///
    /// Args:
    ///     name: A tool's name. Without tools, any name: the call is written without types.
    ///     arguments: A mapping with str keys and JSON values (lists, tuples, mappings, and subclasses of str
    ///         and int), or the JSON text of an object, whose digits are kept. They may violate the schema;
    ///         violations are parsed as the schema requires (`1` as `"1"` for a string).
    ///     native: Raise an error if a native format cannot hold the call. Otherwise, it is written as one
    ///         JSON object if the format reads that, or as a note, which is not a call.
    ///
    /// Raises:
    ///     ToolError: There are tools, and none has this name. (`encode_message` writes past calls of tools
    ///         that no longer exist.)
    ///     TypeError: `arguments` is neither a mapping nor JSON text, a key is not a str, or a value is not
    ///         JSON.
    ///     ValueError: The JSON text is not an object; a value is NaN, an infinity or a lone surrogate, or is
    ///         nested deeper than `depth` (or cyclic); no call can have the name; or, with `native`, the
    ///         native format cannot hold the arguments.
    #[pyo3(signature = (name, arguments, /, *, native=false))]
    fn encode<'py>(&self, name: &str, arguments: &Bound<'py, PyAny>, native: bool) -> PyResult<Bound<'py, PyString>> {
        if self.tools.tools().next().is_some() {
            self.tool(arguments.py(), name)?;
        }
        if native {
            let depth = self.tools.limits().depth;
            let members = convert::members(arguments, depth)?;
            let calls = [core::PastToolCall::new(name, &members)];
            return self.written(arguments.py(), None, "", &calls, 0, true);
        }
        let text = convert::encode(&self.tools, name, arguments, &self.text);
        protocol::raised().and(text)
    }

    /// A whole message of the model, in a native format as the official template writes it.
    ///
    /// Args:
    ///     content: The text. The format decides whether it is before or after the calls. Lone surrogates
    ///         become U+FFFD.
    ///     calls: Tuples of a name, the arguments as in `encode`, and optionally an id, which some formats
    ///         write.
    ///     reasoning: The reasoning; "" for an empty one, None for none. Formats without reasoning leave it
    ///         out.
    ///     calls_before: The number of calls in earlier messages, for native formats that number calls.
    ///     native: As in `encode`.
    ///
    /// Raises:
    ///     TypeError: A call is not such a tuple, or its arguments are wrong as in `encode`.
    ///     ValueError: Arguments are wrong as in `encode`; no call of a prompted protocol can have the name;
    ///         with `native`, the format cannot hold a call, or both the text and calls.
    #[pyo3(signature = (content, calls=None, /, *, reasoning=None, calls_before=None, native=false),
        text_signature = "($self, content, calls=(), /, *, reasoning=None, calls_before=0, native=False)")]
    fn encode_message<'py>(
        &self,
        content: &Bound<'py, PyString>,
        calls: Option<&Bound<'py, PyAny>>,
        reasoning: Option<&Bound<'py, PyString>>,
        calls_before: Option<&Bound<'py, PyAny>>,
        native: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let (py, depth) = (content.py(), self.tools.limits().depth);
        let content = convert::clean(content)?;
        let reasoning = reasoning.map(|reasoning| convert::clean(reasoning)).transpose()?;
        let parts = |call: &Bound<'py, PyAny>| {
            let call = call.cast::<PyTuple>().ok().filter(|call| (2..=3).contains(&call.len()));
            let what = "a call must be a tuple of a name, arguments and maybe an id";
            let call = call.ok_or_else(|| PyTypeError::new_err(what))?;
            let id = if call.len() == 3 { call.get_item(2)?.extract::<Option<String>>()? } else { None };
            Ok((call.get_item(0)?.extract::<String>()?, call.get_item(1)?, id))
        };
        let calls = calls.map_or_else(
            || Ok(Vec::new()),
            |calls| {
                let list = calls.extract::<Vec<Bound<'py, PyAny>>>();
                list.map_err(|_| errors::wrong_type("calls must be a list of tuples", calls))
            },
        )?;
        let calls_before = convert::count("calls_before", calls_before)?;
        let given = calls.iter().map(parts).collect::<PyResult<Vec<_>>>()?;
        let members = given.iter().map(|(_, arguments, _)| convert::members(arguments, depth));
        let members = members.collect::<PyResult<Vec<_>>>()?;
        let past = given.iter().zip(&members).map(|((name, _, id), members)| {
            let mut call = core::PastToolCall::new(name, members);
            call.id = id.as_deref();
            call
        });
        let past = past.collect::<Vec<_>>();
        self.written(py, reasoning.as_deref(), &content, &past, calls_before, native)
    }

    /// As `encode_result` of `wirecall.Toolset`, but `content` is not the result of `run`.
    #[pyo3(signature = (name, content, /, *, error=false, number=None, id=None, index=None, calls_before=None),
        text_signature = "($self, name, content, /, *, error=False, number=None, id=None, index=0, calls_before=0)")]
    #[allow(clippy::too_many_arguments)]
    fn encode_result(
        &self,
        name: Option<&Bound<'_, PyString>>,
        content: &Bound<'_, PyAny>,
        error: bool,
        number: Option<&Bound<'_, PyAny>>,
        id: Option<&str>,
        index: Option<&Bound<'_, PyAny>>,
        calls_before: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let (index, calls_before) = (convert::count("index", index)?, convert::count("calls_before", calls_before)?);
        let number = number.map(|number| convert::positive("number", number)).transpose()?.map(|number| number as u64);
        let name = name.map(|name| convert::clean(name)).transpose()?;
        if let Ok(failed) = content.cast::<CallError>() {
            let failed = failed.get();
            let text = self.tools.encode_parts_of_error(name.as_deref(), &failed.sentence, failed.example.as_deref());
            return protocol::raised().map(|()| text);
        }
        let name = name.as_deref().unwrap_or("unknown");
        let content = convert::content(content, self.tools.limits().depth)?;
        let mut result = core::PastResult::default();
        (result.name, result.content, result.error, result.number) = (name, &content, error, number);
        (result.id, result.index, result.calls_before) = (id, index, calls_before);
        let text = self.tools.encode_past_result(&result);
        protocol::raised().map(|()| text)
    }

    /// Text of a user, in which nothing can be parsed as a tag of wirecall (section 10).
    ///
    /// Everything that could open or end a result, and OPEN, gets a visible backslash; nothing else is
    /// changed. In native formats, the other markers and special tokens get one, too (docs/protocols.md,
    /// "Results").
    ///
    /// Args:
    ///     text: Any text. Lone surrogates become U+FFFD.
    ///
    /// Returns:
    ///     `text` itself if nothing needs to be changed.
    #[pyo3(signature = (text, /))]
    fn neutralise<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let clean = convert::clean(text)?;
        let neutral = self.tools.neutralise(&clean);
        if *neutral == *clean && matches!(clean, Cow::Borrowed(_)) {
            return Ok(text.clone());
        }
        Ok(PyString::new(text.py(), &neutral))
    }

    /// The manual for the model: a header, and one line for each tool (section 9).
    ///
    /// Args:
    ///     header: Text that replaces the built-in header; "" for only the tools' lines.
    #[pyo3(signature = (*, header=None))]
    fn manual(&self, header: Option<&str>) -> PyResult<String> {
        let text = self.tools.manual(header);
        protocol::raised().map(|()| text)
    }

    /// The example calls in the manual's built-in header: usually one call, of a declared tool.
    fn examples(&self) -> PyResult<Vec<String>> {
        let examples = self.tools.examples();
        protocol::raised().map(|()| examples)
    }

    /// One tool's line in the manual.
    ///
    /// Raises:
    ///     ToolError: There is no such tool.
    #[pyo3(signature = (name, /))]
    fn signature(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        Ok(self.tools.signature(self.tool(py, name)?))
    }

    /// How a tool's calls are written (section 8).
    ///
    /// Raises:
    ///     ToolError: There is no such tool.
    #[pyo3(signature = (name, /))]
    fn plan(&self, py: Python<'_>, name: &str) -> PyResult<Plan> {
        let tool = self.tool(py, name)?;
        let fields = self.tools.fields(tool).into_iter();
        Ok(Plan {
            name: tool.name.clone(),
            encoding: self.tools.encoding(tool).into(),
            fields: fields.map(|core::Field { key, r#type, required, .. }| Field { key, r#type, required }).collect(),
            reason: tool.reason.map(str::to_owned),
        })
    }

    /// The exact substrings of a message that are calls: those that `parse` returns as `CallEnd`.
    #[pyo3(signature = (text, /))]
    fn segments(&self, text: &Bound<'_, PyString>) -> PyResult<Vec<String>> {
        let segments = self.tools.segments(&convert::clean(text)?).into_iter().map(str::to_owned).collect();
        protocol::raised().map(|()| segments)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let names: Vec<&str> = slf.get().tools.tools().map(|tool| tool.name.as_str()).collect();
        Ok(format!("{}([{}])", slf.get_type().name()?, names.join(", ")))
    }
}
