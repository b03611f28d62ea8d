//! Calls in tags with YAML between them: `<name>`, a line for each argument, `</name>`.

pub(crate) mod mapping;

use std::borrow::Cow;
use std::sync::Arc;

use crate::arguments::{CallWriter, Context, is_field, is_misnamed};
use crate::formats::attempt::Attempt;
use crate::formats::body::{Body, Form, recycle};
use crate::formats::named_tags::{self, Opener, bad_name, closer, is_mark, opener, signature};
use crate::formats::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use crate::formats::results::ResultForm;
use crate::formats::settings::{FormatInfo, Settings};
use crate::formats::spec::Row;
use crate::formats::teaching::{Examples, Prompt, Teacher};
use crate::limits::{ATTEMPT_CHARS, KEY_CHARS, RECURSION};
use crate::schema::{NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Member, Value, parse, write_object};
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::{Candidates, Delimiters, Scan, first_chars, starts, ws_run};
use crate::syntax::yaml::{NoSurroundings, document_mark, plain_key, quoted_key, write_key, write_value};
use crate::tools::{Syntax, Tool, Tools};
use mapping::Mapping;

pub(crate) const ROW: Row = Row { aliases: &["yaml-xml"], ..Row::new("yaml", || Arc::new(Yaml)) };

#[derive(Debug)]
pub(crate) struct Yaml;

/// Scans for a key or a closing tag after the opening, which ends at byte `end`. Without one, the opening is prose. Finds where the
/// body starts, and whether it is a JSON object.
fn behind(tools: &Tools, tool: &Tool, text: &str, tag: &Opener, end: usize, last: bool) -> Scan<(usize, bool)> {
    let name = &text[tag.name.clone()];
    let most = first_chars(text, ATTEMPT_CHARS + name.len()).max(end);
    let full = most < text.len();
    let (text, last) = (&text[..most], last || full);
    let (bytes, need, lines) = (text.as_bytes(), Scan::at_end(last), Scan::Match((end, false)));
    let mut at = end;
    let mut line = false;
    loop {
        let next = ws_run(text, at);
        line |= text[at..next].contains(['\n', '\r']);
        at = next;
        // Comments, and document marks.
        let mark = if line { document_mark(&text[at..], last) } else { Scan::NoMatch };
        match (bytes.get(at), mark) {
            (None, _) | (_, Scan::Incomplete) => return need,
            (Some(b'#'), _) if line => {}
            (Some(b'-'), Scan::Match(())) => {}
            _ => break,
        }
        let Some(offset) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) else { return need };
        at += offset;
    }
    let rest = &text[at..];
    let ahead = match bytes[at] {
        b'{' => {
            return match bytes.get(ws_run(text, at + 1)) {
                None => need,
                Some(b'"' | b'\'' | b'}') if !opens_quote(&text[end..at]) => Scan::Match((at, true)),
                Some(_) => lines,
            };
        }
        // A colon at the end of the message does not make a key, because the next character would decide it.
        b'"' | b'\'' => quoted_key(rest, full, &mut 0),
        // The closing tag is found below.
        b'<' => Scan::NoMatch,
        _ if line => plain_key(rest, full, &NoSurroundings, &mut 0),
        // On the line of the tag, only a declared key counts, and a tag after it is prose.
        _ => match memchr::memchr(b'<', rest.as_bytes()) {
            Some(tag) => plain_key(&rest[..=tag], true, &NoSurroundings, &mut 0),
            None => plain_key(rest, full, &NoSurroundings, &mut 0),
        },
    };
    match ahead {
        Scan::Incomplete => return need,
        Scan::Match((length, _)) if line || is_field(&tool.schema, rest[..length].trim_matches(['"', '\''])) => {
            return lines;
        }
        Scan::Match(_) | Scan::NoMatch => {}
    }
    let mut from = at;
    if tag.form == Form::Broken {
        match starts(rest, "/>", last) {
            Scan::NoMatch => {}
            mark => return mark.and_then(|()| lines),
        }
    }
    let mut quotes = Alternation::START;
    while let Some(offset) = memchr::memchr(b'<', &bytes[from..]) {
        quotes.run(&text[from..from + offset]);
        from += offset;
        // A tag in quotes is text.
        if quotes.open().is_some() {
            quotes.step(b'<');
            from += 1;
            continue;
        }
        match (closer(&text[from..], name, last), opener(&text[from..], last)) {
            (Scan::Match(_), _) => return lines,
            (Scan::Incomplete, _) | (_, Scan::Incomplete) => return need,
            (_, Scan::Match(other)) if tools.find(&text[from..][other.name.clone()]).is_some() => return Scan::NoMatch,
            _ => {
                quotes.step(b'<');
                from += 1;
            }
        }
    }
    need
}

/// Whether a quote is open after these comments, so that the text after them may be quoted.
fn opens_quote(comments: &str) -> bool {
    let mut quotes = Alternation::START;
    quotes.run(comments);
    quotes.open().is_some()
}

/// Whether a list or object is in a place where only a string is allowed. In lines, it would be read as verbatim text.
fn is_lettered(schema: &Schema, id: NodeId, value: &Value<'_>) -> bool {
    let node = schema.node(id);
    let text = node.takes_string() && !node.takes_container();
    match value {
        Value::Array(items) => {
            text || items.iter().enumerate().any(|(at, item)| is_lettered(schema, schema.item(id, at), item))
        }
        Value::Object(members) => {
            text || members
                .iter()
                .any(|(key, value)| is_lettered(schema, schema.member(id, key).unwrap_or(UNKNOWN), value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

impl CallWriter for Yaml {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let name = cx.tool;
        out.push('<');
        out.push_str(name);
        if arguments.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        let start = out.len();
        out.push('\n');
        for (at, (key, value)) in arguments.iter().enumerate() {
            let begin = out.len();
            write_key(key, is_misnamed(cx.schema, cx.schema.root, key), out);
            // The first key must be within the characters that are scanned, because it makes the text a call.
            let long = at == 0 && first_chars(&out[begin..], KEY_CHARS) < out.len() - begin;
            let id = cx.schema.member(cx.schema.root, key).unwrap_or(UNKNOWN);
            if long || cx.syntax == Some(Syntax::Json) || is_lettered(cx.schema, id, value) {
                out.truncate(start);
                write_object(arguments, out);
                break;
            }
            out.push(':');
            write_value(value, 0, out);
        }
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let mut out = format!("{field}:");
        match parse(value, RECURSION) {
            Ok(Value::String(text)) => write_value(&Value::String(text), 0, &mut out),
            _ => out.push_str(&format!(" {value}")),
        }
        out.truncate(out.trim_end().len());
        out
    }
}

impl Protocol for Yaml {
    fn info(&self) -> FormatInfo {
        FormatInfo::new("<call>", "</call>", "lines")
            .fixed("yaml writes calls in tags with the tools' names, so it has no delimiters")
    }

    fn candidates(&self, _: &Delimiters) -> Candidates {
        Candidates::none().with_byte(b'<')
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        bad_name(name)
    }
}

impl CallReader for Yaml {
    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        if !text.starts_with('<') {
            return Attempt::text(text);
        }
        named_tags::attempt(tools, text, last, |tool, tag| {
            // The indentation of the first line counts.
            let open = if tag.form == Form::Broken { tag.name.end } else { tag.end };
            let found = match tag.form {
                Form::Empty => Scan::Match((open, false)),
                _ => behind(tools, tool, text, tag, open, last),
            };
            found.map(|(body, json)| (open, body, json))
        })
    }

    fn body(&self, _: &Context<'_>, form: Form, json: bool, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, Mapping::default, |body| body.reset(name, form, json))
    }

    fn fits(&self, text: &str) -> Scan {
        if !text.starts_with('<') {
            return Scan::Match(());
        }
        let Scan::Match(Opener { form: Form::Open, end, .. }) = opener(text, false) else { return Scan::Match(()) };
        // A tag before anything else means xml.
        match &text.as_bytes()[ws_run(text, end)..] {
            [b'<'] => return Scan::Incomplete,
            [b'<', second, ..] if *second != b'/' => return Scan::NoMatch,
            _ => {}
        }
        // Text on the line of the tag is prose, unless its first word is a key.
        let line = text[end..].trim_start_matches([' ', '\t']);
        match line.find([' ', '\t', '\n', '\r', ':', '<', '{', '#', '"', '\'']) {
            None => Scan::Incomplete,
            Some(0) => Scan::Match(()),
            Some(at) if line[at..].starts_with(':') || !line[..at].contains(char::is_alphanumeric) => Scan::Match(()),
            Some(_) => Scan::NoMatch,
        }
    }

    fn is_mark(&self, tools: &Tools, _: &Settings, text: &str) -> bool {
        text.starts_with('<') && is_mark(tools, text)
    }
}

impl MessageWriter for Yaml {
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        ResultForm::Elements.write(prompt, result)
    }
}

impl Teacher for Yaml {
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        let mut out = String::from(
            "To call a tool, write a tag with its name on a line of its own, below it one line of YAML for each parameter that you \
             give, and the closing tag. Example:\n",
        );
        out.push_str(&examples.any(self));
        out.push_str(
            "\nParameters without ? are required; use the exact names and types. Write text of several lines after `key: |-`, on \
             lines indented by two spaces. Put text in double quotes, with \\\" and \\\\ as escapes, if it contains \": \" or \" #\", starts \
             with a symbol, or looks like a number, true, false or null. Write lists as indented \"- item\" lines and objects as indented \
             keys, or both as JSON. ",
        );
        if prompt.tools.iter().any(|tool| tool.syntax == Syntax::Json) {
            out.push_str("In the tag of a tool marked \"as JSON\", write one JSON object. ");
        }
        out.push_str(
            "You can write several calls in a row. End your message after them: results come as <tool_response>; never write \
             one.\nTools (? optional, string by default):",
        );
        out
    }

    /// The last string shows how several lines are written.
    fn shown_arguments(&self, schema: &Schema, members: &[Member<'static>]) -> Option<Vec<Member<'static>>> {
        let properties = &schema.node(schema.root).object.as_ref()?.properties;
        let is_plain = |id: NodeId| schema.node(id).is_string() && schema.node(id).sample.is_none();
        let (key, _) = properties.iter().filter(|(_, id)| is_plain(**id)).last()?;
        let others = members.iter().filter(|(name, _)| name != key).cloned();
        let text = Value::String(Cow::Borrowed("some text\nof two lines"));
        Some(others.chain([(Cow::Owned(key.to_owned()), text)]).collect())
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        signature(self, prompt, tool)
    }
}
