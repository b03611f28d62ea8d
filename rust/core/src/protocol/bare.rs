//! Calls that models write without any markers: a JSON object, or a list of them, that begins a line or stands in a fence, and
//! names a declared tool first. Read only where other formats are read as repairs.

use std::borrow::Cow;

use super::{Attempt, Protocol};
use crate::body::{BodyKind, Context};
use crate::json::Member;
use crate::limits::ATTEMPT_CHARS;
use crate::scan::{Candidates, Delimiters, Mark, first_chars, neutralise_marks, starts, ws_run};
use crate::schema::Schema;
use crate::toolset::{Tool, Toolset};

const FENCE: &str = "```";
const NAME_KEYS: [&str; 3] = ["\"name\"", "\"tool\"", "\"function\""];

#[derive(Debug)]
pub struct Bare;

/// Does an object, or a list of them, that names a declared tool begin at `at`?
fn names_a_tool(tools: &Toolset, text: &str, at: usize, last: bool) -> Mark {
    let more = |at: usize| if at == text.len() && !last { Mark::Partial } else { Mark::No };
    let mut at = at;
    for bracket in ["[", "{"] {
        match text[at..].strip_prefix(bracket) {
            Some(_) => at = ws_run(text, at + 1),
            None if bracket == "{" => return more(at),
            None => {}
        }
    }
    let keys = NAME_KEYS.map(|key| (key, starts(&text[at..], key, last)));
    let Some((key, _)) = keys.into_iter().find(|(_, mark)| *mark == Mark::Yes) else {
        return if keys.iter().any(|(_, mark)| *mark == Mark::Partial) { Mark::Partial } else { Mark::No };
    };
    at = ws_run(text, at + key.len());
    if !text[at..].starts_with(':') {
        return more(at);
    }
    at = ws_run(text, at + 1);
    let Some(name) = text[at..].strip_prefix('"') else { return more(at) };
    match name.find('"') {
        Some(end) if tools.lookup(&name[..end]).tool().is_some() => Mark::Yes,
        None if !last => Mark::Partial,
        Some(_) | None => Mark::No,
    }
}

impl Protocol for Bare {
    fn delimiters(&self, _given: Option<(&str, &str)>) -> Result<Delimiters, String> {
        Ok(Delimiters::of(FENCE, FENCE))
    }

    fn candidates(&self, _delimiters: &Delimiters) -> [u8; 3] {
        [b'`', b'\n', b'\n']
    }

    fn result_marks(&self) -> &[Cow<'static, str>] {
        &[]
    }

    fn bad_name(&self, _name: &str, _delimiters: &Delimiters) -> Option<&'static str> {
        None
    }

    fn complexity(&self, _schema: &Schema) -> Option<&'static str> {
        None
    }

    fn encoding(&self) -> &'static str {
        "json"
    }

    fn attempt(&self, tools: &Toolset, text: &str, last: bool) -> Attempt {
        let end = first_chars(text, ATTEMPT_CHARS);
        let (text, last) = (&text[..end], last || end < text.len());
        let fence = starts(text, FENCE, last);
        let lead = match fence {
            Mark::Partial => return Attempt::Need,
            Mark::Yes => 0,
            // A line, of which the break is text.
            Mark::No => usize::from(text.starts_with('\n')),
        };
        let open = match fence {
            Mark::Yes => FENCE.len() + text[FENCE.len()..].bytes().take_while(u8::is_ascii_alphanumeric).count(),
            Mark::Partial | Mark::No => lead,
        };
        let body = ws_run(text, open);
        let lead = if lead < open { lead } else { body };
        match text.as_bytes().get(body) {
            Some(b'{' | b'[') => {}
            None if !last => return Attempt::Need,
            _ => return Attempt::Text(text.chars().next().map_or(1, char::len_utf8)),
        }
        match names_a_tool(tools, text, body, last) {
            Mark::Yes => {}
            Mark::Partial => return Attempt::Need,
            Mark::No => return Attempt::Text(text.chars().next().map_or(1, char::len_utf8)),
        }
        let kind = if fence == Mark::Yes { BodyKind::Envelope(None) } else { BodyKind::Bare };
        Attempt::Call { lead, open: open.max(body + 1), name: None, body, kind }
    }

    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        super::Hermes::tags().write_call(cx, arguments, out);
    }

    fn wrap_result(&self, tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        super::Hermes::tags().wrap_result(tools, name, content, error, number)
    }

    fn is_mark(&self, tools: &Toolset, text: &str) -> bool {
        matches!(self.attempt(tools, text, true), Attempt::Call { .. })
    }

    fn neutralise(&self, tools: &Toolset, text: &str) -> String {
        let candidates = Candidates::new(self.candidates(&tools.delimiters));
        let neutral = neutralise_marks(text, &candidates, |rest| self.is_mark(tools, rest));
        // The first line has no break in front of it.
        if self.is_mark(tools, &neutral) { format!("\\{neutral}") } else { neutral }
    }

    fn header(&self, tools: &Toolset) -> String {
        super::Hermes::tags().header(tools)
    }

    fn signature(&self, tools: &Toolset, tool: &Tool) -> String {
        super::Hermes::tags().signature(tools, tool)
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        super::Hermes::tags().field_example(field, value)
    }
}
