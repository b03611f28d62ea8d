//! The wire format: `<call>name key=value</call>`, or with one JSON object for a body.

use std::borrow::Cow;

use super::{Attempt, Bad, Protocol, bad, misspelled};
use crate::body::{BodyKind, Context, NAMELESS, Wrapper, is_declared, write_pairs};
use crate::json::{Member, json_string, write_object};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::pairs::{Ahead, Next};
use crate::scan::{Candidates, Closers, Delimiters, Mark, RESULT_MARKS, first_chars, starts, ws_run};
use crate::schema::{Schema, one_line, signature};
use crate::spelled::{self, Behind, Meant, goes_on, is_mark, meant, neutralise};
use crate::toolset::{Syntax, Tool, Toolset};

static MARKS: [Cow<'static, str>; 2] = [Cow::Borrowed(RESULT_MARKS[0]), Cow::Borrowed(RESULT_MARKS[1])];

#[derive(Debug)]
pub struct Wire;

/// Can a tool of this name be called? Then the reader finds it behind OPEN.
fn is_writable_name(name: &str, delimiters: &Delimiters) -> bool {
    !name.is_empty()
        && name.chars().count() <= NAME_CHARS
        && delimiters.name_run(name) == name.len()
        && !name.chars().any(char::is_control)
}

/// Is a call of an undeclared tool of this name a call even without a body?
fn is_plain_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'/' | b'-'))
}

/// What stands where a body could start.
enum Look {
    Need,
    No,
    Object(usize, Option<Wrapper>),
}

/// An object, in a wrapper or not, at `at`.
fn object(text: &str, at: usize, last: bool) -> Look {
    let rest = &text[at..];
    let behind = |length: usize, wrapper: Wrapper| {
        let bracket = ws_run(text, at + length);
        match text.as_bytes().get(bracket) {
            Some(b'{') => Look::Object(bracket, Some(wrapper)),
            None if !last => Look::Need,
            _ => Look::No,
        }
    };
    if rest.starts_with('{') {
        return Look::Object(at, None);
    }
    match (starts(rest, "<json>", last), starts(rest, "```", last)) {
        (Mark::Yes, _) => behind(6, Wrapper::Json),
        (_, Mark::Yes) => {
            let language = rest[3..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            behind(3 + language, Wrapper::Fence)
        }
        (Mark::Partial, _) | (_, Mark::Partial) => Look::Need,
        (Mark::No, Mark::No) => Look::No,
    }
}

impl Wire {
    /// Looks at what stands behind OPEN, which ends at byte `open`. Within the text, offsets count from there.
    fn behind(&self, tools: &Toolset, text: &str, open: usize) -> Attempt {
        let delimiters = &tools.delimiters;
        let end = first_chars(text, ATTEMPT_CHARS);
        let (text, last) = (&text[..end], end < text.len());
        let need = if last { Attempt::Text(open) } else { Attempt::Need };
        let bytes = text.as_bytes();
        let start = ws_run(text, 0);
        let json = match bytes.get(start) {
            None => return need,
            Some(b'{') => true,
            Some(b'[') => match bytes.get(ws_run(text, start + 1)) {
                None => return need,
                Some(byte) => *byte == b'{',
            },
            Some(_) => false,
        };
        if json {
            let bad = Bad { open, tool: None, message: NAMELESS.into(), closers: Closers::Own };
            return Attempt::Bad(Box::new(bad));
        }
        let length = delimiters.name_run(&text[start..]);
        let name = start..start + length;
        let behind = bytes.get(name.end).copied();
        let written = &text[name.clone()];
        let long = first_chars(written, NAME_CHARS) < length;
        if length > 0 && behind.is_none() && !long {
            return need;
        }
        let lookup = tools.lookup(written);
        let tool = |name: &str| tools.lookup(name).tool();
        let direct = length == 0 || matches!(behind, Some(b'=' | b'"' | b'\''));
        let meant = if lookup.tool().is_none() || direct { meant(text, last, delimiters, &tool) } else { Meant::Prose };
        match meant {
            Meant::Need => return need,
            Meant::Call(tool) => return bad(tools, open, tool, Closers::Own),
            Meant::Prose if direct || long => return Attempt::Text(open),
            Meant::Prose => {}
        }
        let token = ws_run(text, name.end);
        if token == bytes.len() {
            return need;
        }
        let call = |at: usize, kind: BodyKind| {
            let named = (open + name.start..open + name.end, lookup);
            Attempt::Call { lead: 0, open, name: Some(named), body: open + at, kind }
        };
        match object(text, token, last) {
            Look::Need => return Attempt::Need,
            Look::Object(at, wrapper) => return call(at, BodyKind::Object(wrapper)),
            Look::No => {}
        }
        if token > name.end && bytes[token] != b',' {
            match Ahead::default().look(&text[token..], last, delimiters) {
                Next::Need => return need,
                // As in Python.
                Next::Pair { .. } if bytes[token] == b'(' && lookup.tool().is_some() => {}
                Next::Pair { length, direct, .. } => {
                    let schema = lookup.tool().map(|at| &tools.tool(at).schema);
                    if direct || schema.is_some_and(|schema| is_declared(schema, &text[token..token + length])) {
                        return call(name.end, BodyKind::Pairs);
                    }
                }
                _ => {}
            }
        }
        // What names a declared tool and goes on like a call is one, or an error.
        if let Some(tool) = lookup.tool() {
            match goes_on(text, name.end, last, delimiters) {
                Behind::Need => return need,
                Behind::Call if bytes[token] == b'(' => return bad(tools, open, tool, Closers::Own),
                Behind::Call => return call(name.end, BodyKind::Pairs),
                Behind::Prose => {}
            }
        }
        // Prose, unless it is closed like a call.
        let mut at = name.end;
        while let Some(offset) = text[at..].find(|c| delimiters.is_first(c)) {
            at += offset;
            let rest = &text[at..];
            match (starts(rest, &delimiters.open, last), delimiters.closes(rest, last).0) {
                (Mark::Yes, _) => return Attempt::Text(open),
                (_, Mark::Yes) => {
                    let known = lookup.tool().is_some() || (start == 0 && is_plain_name(written));
                    return if known { call(name.end, BodyKind::Pairs) } else { Attempt::Text(open) };
                }
                (Mark::Partial, _) | (_, Mark::Partial) => return need,
                (Mark::No, Mark::No) => at += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
        need
    }
}

impl Protocol for Wire {
    fn delimiters(&self, given: Option<(&str, &str)>) -> Result<Delimiters, String> {
        given.map_or_else(|| Ok(Delimiters::default()), |(open, close)| Delimiters::new(open, close))
    }

    fn result_marks(&self) -> &[Cow<'static, str>] {
        &MARKS
    }

    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str> {
        (!is_writable_name(name, delimiters))
            .then_some("it must have 1 to 128 characters, and no blanks, control characters, quotes or any of < { =")
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        schema.complexity()
    }

    fn near_misses(&self) -> bool {
        false
    }

    fn encoding(&self) -> &'static str {
        "pairs"
    }

    /// What the end of the message leaves undecided stays so.
    fn attempt(&self, tools: &Toolset, text: &str, _last: bool) -> Attempt {
        let open = &tools.delimiters.open;
        match starts(text, open, false) {
            Mark::Yes => self.behind(tools, &text[open.len()..], open.len()),
            Mark::Partial => Attempt::Need,
            Mark::No if tools.delimiters.open == spelled::OPEN => misspelled(tools, &spelled::WIRE, text, false),
            // A byte that only looked like a marker's first; never inside a character, so go behind it.
            Mark::No => Attempt::Text(text.chars().next().map_or(1, char::len_utf8)),
        }
    }

    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let Delimiters { open, close, .. } = cx.delimiters;
        out.push_str(open);
        out.push_str(cx.tool);
        let length = out.len();
        if cx.syntax == Some(Syntax::Json) || write_pairs(cx.schema, cx.delimiters, arguments, out).is_none() {
            out.truncate(length);
        }
        // Of a tool that nobody knows, a name alone is a call only where it is plain.
        let alone = arguments.is_empty() && (cx.syntax.is_some() || is_plain_name(cx.tool));
        if out.len() == length && !alone {
            out.push(' ');
            write_object(arguments, out);
        }
        out.push_str(close);
    }

    fn wrap_result(&self, tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        let tag = if error { "tool-error" } else { "tool-result" };
        let name = tools.neutralise(&json_string(name));
        let number = number.map_or(String::new(), |number| format!(" number=\"{number}\""));
        format!("<{tag} name={name}{number}>{content}</{tag}>")
    }

    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        spelled::candidates(delimiters)
    }

    fn is_mark(&self, tools: &Toolset, text: &str) -> bool {
        is_mark(text, &tools.delimiters)
    }

    fn neutralise(&self, tools: &Toolset, text: &str) -> String {
        neutralise(text, &tools.delimiters)
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        format!("{field}={value}")
    }

    fn header(&self, tools: &Toolset) -> String {
        default_header(tools)
    }

    fn signature(&self, tools: &Toolset, tool: &Tool) -> String {
        let json = tool.syntax == Syntax::Json;
        let mut out = tool.name.clone();
        out.push_str(&signature(&tool.schema, &tools.delimiters, tools.descriptions, json));
        let described = tools.descriptions != crate::schema::Descriptions::None;
        if let Some(description) = tool.description.as_deref().filter(|_| described) {
            let line = one_line(description, &tools.delimiters);
            if !line.is_empty() {
                out.push_str(" - ");
                out.push_str(&line);
            }
        }
        out
    }
}

/// What the manual says of a call's body.
pub fn rules(tools: &Toolset) -> String {
    let mut out = String::new();
    let json = tools.tools().any(|tool| tool.syntax == Syntax::Json);
    if tools.tools().any(|tool| tool.syntax == Syntax::Wire) || !json {
        out.push_str(
            "Quote values with spaces; in quotes, escape with \\\" \\\\ \\n. Lists are JSON; nested keys use dots. ",
        );
        if json {
            out.push_str("Tools shown with {…} take one JSON object. ");
        }
    }
    out
}

fn default_header(tools: &Toolset) -> String {
    let Delimiters { open, close, .. } = &tools.delimiters;
    let json = tools.tools().any(|tool| tool.syntax == Syntax::Json);
    let pairs = tools.tools().any(|tool| tool.syntax == Syntax::Wire) || !json;
    let mut out = String::from("To call tools, write calls as plain text; several may follow each other:\n");
    if pairs {
        out.push_str(&format!(
            "{open}sendMail to=ann@x.org text=\"Two words, \\\"quoted\\\"\" tags=[\"a\",\"b\"] opts.draft=true{close}\n"
        ));
    }
    if json {
        out.push_str(&format!("{open}name {{\"text\":\"Two words\",\"count\":2}}{close}\n"));
    }
    out.push_str(&rules(tools));
    out.push_str("Results come as <tool-result>; never write one.\nTools (? optional, string by default):");
    out
}
