//! Custom protocols: markers around the bodies of a built-in protocol, or around bodies that an application reads itself.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

pub(crate) mod body;

use super::attempt::Attempt;
use super::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use super::settings::{FormatInfo, Settings};
use super::teaching::{Examples, LISTED, Prompt, Teacher};
use crate::arguments::{CallWriter, Context};
use crate::formats::body::{Body, Form, Opening};
use crate::limits::NAME_CHARS;
use crate::schema::Schema;
use crate::syntax::json::{Member, json_string, write_object};
use crate::syntax::scan::{Candidates, Delimiters, Scan, first_chars, starts, starts_ignoring_case};
use crate::tools::{Tool, Tools};
use body::CustomBody;

/// The parts of a protocol that the host implements. The host must record its own failures; its return values are always used.
pub trait Host: Send + Sync + Debug {
    /// Whether a call begins before `head`, the first characters after OPEN up to CLOSE.
    fn begins(&self, head: &str) -> bool;
    /// Reads the text between OPEN and a CLOSE, which may be inside the call.
    fn read(&self, body: &str) -> Reading;
    /// The text between OPEN and CLOSE. `arguments` is JSON text.
    fn write_call(&self, name: &str, arguments: &str) -> String;
    /// The text between the marks of a result.
    fn write_result(&self, name: &str, content: &str, error: bool, number: Option<u64>) -> String;
}

/// What the host read in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// The call continues after this CLOSE.
    More,
    /// A complete call.
    Call {
        /// The tool's name, as written.
        name: String,
        /// The JSON text of an object.
        arguments: String,
    },
    /// The call ends here, but cannot be executed; a sentence for the model says why.
    Bad(String),
}

/// The parts of a custom protocol.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Custom {
    /// What opens a call: OPEN.
    pub open: String,
    /// What closes a call: CLOSE.
    pub close: String,
    /// What begins and ends a result.
    pub result: (String, String),
    /// The text above the tools in the manual.
    pub header: Option<String>,
    /// What the host implements.
    pub host: Arc<dyn Host>,
    /// The host decides where calls begin.
    pub begins: bool,
    /// The host writes results.
    pub results: bool,
}

impl Custom {
    /// A protocol of which the host reads and writes the bodies of calls, and nothing else. `delimiters` open and close a call,
    /// `result` begins and ends a result.
    pub fn new(
        delimiters: (impl Into<String>, impl Into<String>),
        result: (impl Into<String>, impl Into<String>),
        host: Arc<dyn Host>,
    ) -> Self {
        Custom {
            open: delimiters.0.into(),
            close: delimiters.1.into(),
            result: (result.0.into(), result.1.into()),
            header: None,
            host,
            begins: false,
            results: false,
        }
    }
}

/// Characters after OPEN that the host gets to decide whether a call begins.
const HEAD_CHARS: usize = 64;

/// The protocol of a host, or the markers of a description around the bodies of a built-in protocol.
#[derive(Debug)]
pub(crate) struct CustomProtocol {
    markers: CustomMarkers,
    info: FormatInfo,
    bodies: Bodies,
}

/// What reads and writes the bodies of calls.
#[derive(Debug)]
enum Bodies {
    Host(Custom),
    BuiltIn(Arc<dyn Protocol>),
}

/// What is around calls and results.
#[derive(Clone, Debug)]
struct CustomMarkers {
    open: String,
    close: String,
    result: (String, String),
}

impl CustomProtocol {
    /// The protocol of a host, or a sentence that says what is wrong with its markers.
    pub(crate) fn hosted(host: Custom) -> Result<Self, String> {
        let Custom { open, close, result, .. } = host.clone();
        Self::new(CustomMarkers { open, close, result }, Bodies::Host(host))
    }

    /// Markers around the bodies of a built-in protocol, and around results; or a sentence that says what is wrong with them.
    pub(crate) fn around(
        base: Arc<dyn Protocol>,
        (open, close): (&str, &str),
        (begin, end): (&str, &str),
    ) -> Result<Self, String> {
        let result = (begin.to_owned(), end.to_owned());
        Self::new(CustomMarkers { open: open.to_owned(), close: close.to_owned(), result }, Bodies::BuiltIn(base))
    }

    /// What is around calls, and around results.
    pub(crate) fn markers(&self) -> [(&str, &str); 2] {
        let CustomMarkers { open, close, result: (begin, end) } = &self.markers;
        [(open, close), (begin, end)]
    }

    /// The built-in protocol of the bodies.
    fn base(&self) -> Option<&dyn Protocol> {
        match &self.bodies {
            Bodies::Host(_) => None,
            Bodies::BuiltIn(base) => Some(&**base),
        }
    }

    fn new(markers: CustomMarkers, bodies: Bodies) -> Result<Self, String> {
        let (result, close) = (&markers.result, &markers.close);
        let marks = [&markers.open, &result.0, &result.1];
        for mark in marks {
            // A single character cannot be neutralised.
            if mark.chars().count() < 2 {
                return Err(format!("the mark {mark:?} must have at least two characters"));
            }
            if mark.contains('\\') {
                return Err(format!("the mark {mark:?} may not contain a backslash"));
            }
        }
        if close.is_empty() {
            return Err("`close` is empty".into());
        }
        let begins = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
        for (a, b) in [(marks[0], marks[1]), (marks[0], marks[2]), (marks[0], close), (marks[1], marks[2])] {
            if begins(a, b) {
                return Err(format!("one of the marks {a:?} and {b:?} is the beginning of the other"));
            }
        }
        // Otherwise a mark could form where the content of a result meets its marks.
        let touches = |a: &str, b: &str| a.char_indices().skip(1).any(|(at, _)| b.starts_with(&a[at..]));
        for (a, b) in marks.iter().flat_map(|a| marks[1..].iter().map(move |b| (*a, *b))) {
            if a != b && (touches(a, b) || touches(b, a)) {
                return Err(format!("one of the marks {a:?} and {b:?} ends with the beginning of the other"));
            }
        }
        let (info, delimiters) = match &bodies {
            Bodies::Host(_) => (FormatInfo::new("", "", "own"), Delimiters::of(&markers.open, close)),
            Bodies::BuiltIn(base) => {
                let info = base.info();
                if let Some(why) = info.fixed {
                    return Err(why.into());
                }
                (info, base.delimiters(&markers.open, close)?)
            }
        };
        let info = FormatInfo {
            delimiters: (Cow::Owned(delimiters.open), Cow::Owned(delimiters.close)),
            fixed: Some("the protocol defines its own delimiters"),
            hosted: true,
            result_marks: Cow::Owned(vec![Cow::Owned(result.0.clone())]),
            ..info
        };
        Ok(CustomProtocol { markers, info, bodies })
    }

    fn opened(host: &Custom, text: &str, last: bool) -> Attempt {
        let Custom { open, close, host, begins, .. } = host;
        let length = open.len();
        let behind = &text[length..];
        let shown = &behind[..first_chars(behind, HEAD_CHARS)];
        let head = match shown.find(close.as_str()) {
            Some(end) => &shown[..end],
            None if shown.len() < behind.len() || last => shown,
            None if *begins => return Attempt::Incomplete,
            None => shown,
        };
        if *begins && !host.begins(head) {
            return Attempt::Text(length);
        }
        Attempt::call(length, length, Opening::OWN)
    }
}

impl CallWriter for CustomProtocol {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        match &self.bodies {
            Bodies::BuiltIn(base) => base.write_call(cx, arguments, out),
            Bodies::Host(Custom { open, close, host, .. }) => {
                let mut json = String::new();
                write_object(arguments, &mut json);
                out.extend([open, &host.write_call(cx.tool, &json), close].map(String::as_str));
            }
        }
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        match self.base() {
            Some(base) => base.field_example(field, value),
            None => format!("{}: {value}", json_string(field)),
        }
    }
}

impl Protocol for CustomProtocol {
    fn info(&self) -> FormatInfo {
        self.info.clone()
    }

    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        let CustomMarkers { open, result, .. } = &self.markers;
        let base = self.base().map_or_else(Candidates::none, |base| base.candidates(delimiters));
        [open, &result.0, &result.1].iter().fold(base, |all, mark| all.with_text(mark))
    }

    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str> {
        match self.base() {
            Some(base) => base.bad_name(name, delimiters),
            None => {
                let fits =
                    !name.is_empty() && name.chars().count() <= NAME_CHARS && !name.chars().any(char::is_control);
                (!fits).then_some("it must have 1 to 128 characters, and no control characters")
            }
        }
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        self.base().and_then(|base| base.complexity(schema))
    }
}

impl CallReader for CustomProtocol {
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt {
        let host = match &self.bodies {
            Bodies::BuiltIn(base) => return base.attempt(tools, settings, text, last),
            Bodies::Host(host) => host,
        };
        match starts(text, &host.open, last) {
            Scan::Match(()) => Self::opened(host, text, last),
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => Attempt::text(text),
        }
    }

    fn body(&self, cx: &Context<'_>, form: Form, json: bool, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        match &self.bodies {
            Bodies::BuiltIn(base) => base.body(cx, form, json, name, recycled),
            Bodies::Host(custom) => Box::new(CustomBody::new(custom.host.clone())),
        }
    }

    fn fits(&self, text: &str) -> Scan {
        self.base().map_or(Scan::Match(()), |base| base.fits(text))
    }

    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool {
        let CustomMarkers { open, result, .. } = &self.markers;
        // Results have their own marks, so the base's marks are text.
        let tag = text.strip_prefix('<').map_or("", |tag| tag.strip_prefix('/').unwrap_or(tag));
        let is_result = |mark: &Cow<'_, str>| starts_ignoring_case(tag, mark.trim_start_matches('<'));
        let opens = |base: &dyn Protocol| {
            base.is_mark(tools, settings, text) && !base.info().result_marks.iter().any(is_result)
        };
        [open, &result.0, &result.1].iter().any(|mark| starts_ignoring_case(text, mark))
            || self.base().is_some_and(opens)
    }
}

impl MessageWriter for CustomProtocol {
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        let CustomMarkers { open: begin, result: (open, close), .. } = &self.markers;
        let CallResult { name, content, error, number, .. } = *result;
        // The only mark in the content may be in the example of an error. It is replaced by a placeholder.
        let mut word = String::from("qOPENz");
        while content.contains(&word) || name.contains(&word) {
            word.insert(1, 'O');
        }
        let held = content.replace(begin, &word);
        let (name, content) = (&*prompt.neutralise(name), held.as_str());
        let written = match &self.bodies {
            Bodies::Host(Custom { host, results: true, .. }) => host.write_result(name, content, error, number),
            Bodies::Host(_) | Bodies::BuiltIn(_) => {
                let kind = if error { "error" } else { "content" };
                let number = number.map_or(String::new(), |number| format!(",\"number\":{number}"));
                format!("{{\"name\":{}{number},\"{kind}\":{}}}", json_string(name), json_string(content))
            }
        };
        // The text around the content is neutralised, too.
        format!("{open}{}{close}", self.neutralise(prompt.tools, prompt.settings, &written).replace(&word, begin))
    }
}

impl Teacher for CustomProtocol {
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        if let Bodies::Host(Custom { header: Some(header), .. }) = &self.bodies {
            return header.clone();
        }
        let example = examples.any(self);
        let (open, close) = &self.markers.result;
        let (rules, listed) = self.base().map_or((String::new(), LISTED), |base| base.rules(prompt.tools));
        format!(
            "To call tools, write calls as plain text, one or more in a row:\n{example}\n\
             {rules}Results come between {open} and {close}; never write one.\n{listed}"
        )
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        if let Some(base) = self.base() {
            return base.signature(prompt, tool);
        }
        format!("{}{}{}", tool.name, prompt.shape(tool), prompt.description(tool))
    }
}
