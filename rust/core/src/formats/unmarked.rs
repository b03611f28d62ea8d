//! Calls without markers: a JSON object, or a list of them, at the start of a line or in a fence, that first names a declared tool
//! and then gives its arguments. They are read only if other formats are read as repairs. A possible tool definition is text.

use std::borrow::Cow;

use crate::arguments::{CallWriter, Context};
use crate::formats::attempt::Attempt;
use crate::formats::bodies::json::unmarked::{UnmarkedObject, look};
use crate::formats::body::{Markers, Opening};
use crate::formats::call::json_field_example;
use crate::formats::frames::envelope as format;
use crate::formats::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use crate::formats::results::ResultForm;
use crate::formats::settings::{FormatInfo, Settings};
use crate::formats::teaching::{Examples, Prompt, Teacher};
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::json::Member;
use crate::syntax::scan::{Candidates, Delimiters, Scan, has_line_break, neutralise_marks, starts, window, ws_run};
use crate::tools::{Tool, Tools};

const FENCE: &str = "```";
#[derive(Debug)]
pub(crate) struct UnmarkedCalls;

impl CallWriter for UnmarkedCalls {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        format::write_call(cx, arguments, out);
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        json_field_example(field, value)
    }
}

impl Protocol for UnmarkedCalls {
    fn info(&self) -> FormatInfo {
        FormatInfo { result_marks: Cow::Borrowed(&[]), ..FormatInfo::new(FENCE, FENCE, "json") }
    }

    fn candidates(&self, _delimiters: &Delimiters) -> Candidates {
        Candidates::none().with_text(FENCE).with(b'\n', *b" \t\r\n{[")
    }

    fn bad_name(&self, _: &str, _: &Delimiters) -> Option<&'static str> {
        None
    }
}

impl CallReader for UnmarkedCalls {
    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let (text, last) = window(text, ATTEMPT_CHARS, last);
        let fence = starts(text, FENCE, last);
        let lead = match fence {
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::Match(()) => 0,
            // The line break before a line is text.
            Scan::NoMatch => usize::from(text.starts_with('\n')),
        };
        let open = match fence {
            Scan::Match(()) => FENCE.len() + text[FENCE.len()..].bytes().take_while(u8::is_ascii_alphanumeric).count(),
            Scan::Incomplete | Scan::NoMatch => lead,
        };
        let step = Attempt::text(text);
        let body = ws_run(text, open);
        // An indented object may belong to the text around it.
        let placed = match fence {
            Scan::Match(()) => has_line_break(&text[open..body]),
            Scan::Incomplete | Scan::NoMatch => lead == 0 || text[..body].ends_with('\n'),
        };
        let lead = if lead < open { lead } else { body };
        match text.as_bytes().get(body) {
            Some(b'{' | b'[') if placed => {}
            None if !last => return Attempt::Incomplete,
            _ => return step,
        }
        match look(tools, &text[body..], last) {
            UnmarkedObject::Call { body: inner, wrapped } => {
                let fenced = fence == Scan::Match(());
                let markers = if fenced { Markers::Fence { wrapped } } else { Markers::Bracket { wrapped } };
                let opening = Opening::Envelope(None, markers);
                let (open, body) = (open.max(body + 1), body + inner);
                Attempt::Call { lead, open, name: None, body, opening, style: None }
            }
            UnmarkedObject::Need => Attempt::Incomplete,
            UnmarkedObject::Text | UnmarkedObject::Unknown | UnmarkedObject::Broken => step,
        }
    }

    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool {
        matches!(self.attempt(tools, settings, text, true), Attempt::Call { .. })
    }

    fn neutralise(&self, tools: &Tools, settings: &Settings, text: &str) -> String {
        let neutral = neutralise_marks(text, &settings.candidates, |rest| self.is_mark(tools, settings, rest));
        // There is no line break before the first line.
        if self.is_mark(tools, settings, &neutral) { format!("\\{neutral}") } else { neutral }
    }
}

impl MessageWriter for UnmarkedCalls {
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        ResultForm::Json.write(prompt, result)
    }
}

impl Teacher for UnmarkedCalls {
    fn header(&self, _: &Prompt<'_>, examples: &Examples<'_>) -> String {
        format::header(self, false, examples)
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        format::signature(prompt, tool)
    }
}
