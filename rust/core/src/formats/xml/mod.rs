//! Calls in tags: `<name>`, an element for each argument, `</name>`.

pub(crate) mod body;

use std::sync::Arc;

use std::ops::Range;

use crate::arguments::elements::{ElementWriter, is_nestable};
use crate::arguments::{CallWriter, Context, is_field};
use crate::formats::attempt::Attempt;
use crate::formats::body::{Body, Form, Opening, recycle};
use crate::formats::named_tags::{self as tags, Opener, bad_name, closes, opener};
use crate::formats::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use crate::formats::results::ResultForm;
use crate::formats::settings::{FormatInfo, Settings};
use crate::formats::spec::Row;
use crate::formats::teaching::{Examples, Prompt, Teacher};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS, RECURSION};
use crate::schema::{Choice, Schema};
use crate::syntax::json::{Member, Value, parse, write_object};
use crate::syntax::scan::{
    Candidates, Delimiters, Scan, first_chars, has_line_break, is_ws, neutralise_marks, starts, window, ws_run,
};
use crate::syntax::xml::{For, escape, is_name, name_length};
use crate::tools::{Syntax, Tool, Tools};
use body::ElementsBody;

pub(crate) const ROW: Row = Row { aliases: &["morph-xml"], ..Row::new("xml", || Arc::new(Xml)) };

#[derive(Debug)]
pub(crate) struct Xml;

/// The tool's name, if it is alone on a line and begins a call.
fn line(tools: &Tools, text: &str, last: bool) -> Scan<Range<usize>> {
    let lead = usize::from(text.starts_with('\n'));
    let name = &text[lead..];
    // The maximum length of a tool's name.
    let longest = first_chars(name, NAME_CHARS + 1);
    let Some(length) = name[..longest].bytes().position(|byte| is_ws(byte) || byte == b'<') else {
        return if tools.begins_name(name) { Scan::at_end(last) } else { Scan::NoMatch };
    };
    let Some(tool) = tools.get(&name[..length]) else { return Scan::NoMatch };
    let (text, last) = window(text, ATTEMPT_CHARS, last);
    let name = lead..lead + length;
    let next = ws_run(text, name.end);
    let (rest, broken) = (&text[next..], has_line_break(&text[name.end..next]));
    starts(rest, "<", last).and_then(|()| {
        let field = name_length(&rest[1..]);
        match 1 + field == rest.len() && !last {
            _ if !broken => Scan::NoMatch,
            true => Scan::Incomplete,
            false => Scan::some(is_field(&tool.schema, &rest[1..1 + field]).then_some(name)),
        }
    })
}

/// Whether the text after the opening tag of this tool belongs to a call.
fn behind(tools: &Tools, tool: &Tool, text: &str, tag: &Opener, last: bool) -> Scan {
    let name = &text[tag.name.clone()];
    let most = first_chars(text, ATTEMPT_CHARS + name.len());
    let (text, last) = (&text[..most.max(tag.end)], last || most < text.len());
    let next = ws_run(text, tag.end);
    match text.as_bytes().get(next) {
        None => return Scan::at_end(last),
        Some(b'{') => return Scan::Match(()),
        Some(_) => {}
    }
    // Text belongs to a call only if it is closed or fields follow.
    let mut from = next;
    while let Some(offset) = memchr::memchr(b'<', &text.as_bytes()[from..]) {
        let rest = &text[from + offset..];
        let first = from + offset == next;
        let child = &rest[1..1 + name_length(&rest[1..])];
        // The name may continue.
        let cut = 1 + child.len() == rest.len();
        if cut && !last {
            return Scan::Incomplete;
        }
        if child.is_empty() {
            let special = [starts(rest, "<![CDATA[", last), starts(rest, "<!--", last)];
            match closes(rest, name, last).void() {
                Scan::NoMatch if first && special.contains(&Scan::Match(())) => return Scan::Match(()),
                Scan::NoMatch if special.contains(&Scan::Incomplete) => return Scan::Incomplete,
                Scan::NoMatch => {}
                mark => return mark,
            }
        } else if !cut && is_field(&tool.schema, child) {
            return Scan::Match(());
        } else if tools.find(child).is_some() {
            return Scan::NoMatch;
        } else if first {
            return Scan::Match(());
        }
        from += offset + 1;
    }
    Scan::at_end(last)
}

impl CallWriter for Xml {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        out.push('<');
        out.push_str(cx.tool);
        if arguments.is_empty() {
            return out.push_str("/>");
        }
        out.push('>');
        // The tag of a tool in place of the first field begins a call, unless the field is declared.
        let first = arguments.first().map_or("", |(name, _)| name);
        let is_call = !is_field(cx.schema, first) && cx.tools.is_some_and(|tools| tools.find(first).is_some());
        if cx.syntax == Some(Syntax::Json) || is_call || !is_nestable(cx.schema, cx.schema.root, arguments) {
            write_object(arguments, out);
        } else {
            out.push('\n');
            ElementWriter { cx, whom: For::Us, out }.members(cx.schema.root, arguments, 1);
        }
        out.push_str("</");
        out.push_str(cx.tool);
        out.push('>');
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let name = field.rsplit('.').next().unwrap_or(field);
        let name = name.split('[').next().unwrap_or(name);
        if !is_name(name) {
            return format!("{field}: {value}");
        }
        let mut text = String::new();
        match parse(value, RECURSION) {
            Ok(Value::String(string)) => escape(&string, For::Us, &mut text),
            _ => escape(value, For::Us, &mut text),
        }
        format!("<{name}>{text}</{name}>")
    }
}

impl Protocol for Xml {
    fn info(&self) -> FormatInfo {
        FormatInfo::new("<call>", "</call>", "elements")
            .fixed("xml writes calls in tags with the tools' names, so it has no delimiters")
    }

    fn candidates(&self, _: &Delimiters) -> Candidates {
        Candidates::none().with_byte(b'<').with_byte(b'\n')
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        bad_name(name)
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        let root = schema.node(schema.root);
        if root.union {
            Some("its parameters are a union")
        } else {
            let object = root.is_unknown() || root.choices == [Choice::Object];
            (!object).then_some("its parameters are not an object")
        }
    }
}

impl CallReader for Xml {
    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        if tools.is_empty() {
            return Attempt::text(text);
        }
        if !text.starts_with('<') {
            return match line(tools, text, last) {
                Scan::NoMatch => Attempt::text(text),
                Scan::Incomplete => Attempt::Incomplete,
                Scan::Match(name) => {
                    let (lead, end, lookup) = (name.start, name.end, tools.lookup(&text[name.clone()]));
                    let opening = Opening::Own { form: Form::Line, json: false };
                    Attempt::Call { lead, open: end, name: Some((name, lookup)), body: end, opening, style: None }
                }
            };
        }
        tags::attempt(tools, text, last, |tool, tag| {
            let end = tag.end;
            let call = match tag.form {
                Form::Empty | Form::Line => Scan::Match(()),
                Form::Open => behind(tools, tool, text, tag, last),
                Form::Broken => {
                    let field = name_length(text.get(end + 1..).unwrap_or(""));
                    match text.as_bytes().get(end) {
                        Some(b'{') => Scan::Match(()),
                        Some(b'<') if end + 1 + field == text.len() && !last => Scan::Incomplete,
                        Some(b'<') if is_field(&tool.schema, &text[end + 1..end + 1 + field]) => Scan::Match(()),
                        _ => Scan::NoMatch,
                    }
                }
            };
            call.map(|()| (end, end, false))
        })
    }

    fn body(&self, _: &Context<'_>, form: Form, _: bool, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, ElementsBody::default, |body| body.reset(name, form))
    }

    fn fits(&self, text: &str) -> Scan {
        if !text.starts_with('<') {
            return Scan::Match(());
        }
        let Scan::Match(Opener { form: Form::Open, end, .. }) = opener(text, false) else { return Scan::Match(()) };
        match text.as_bytes().get(ws_run(text, end)) {
            Some(b'<' | b'{') => Scan::Match(()),
            None => Scan::Incomplete,
            Some(_) => Scan::NoMatch,
        }
    }

    fn is_mark(&self, tools: &Tools, _: &Settings, text: &str) -> bool {
        if text.starts_with('<') { tags::is_mark(tools, text) } else { line(tools, text, true).is_match() }
    }

    fn neutralise(&self, tools: &Tools, settings: &Settings, text: &str) -> String {
        let neutral = neutralise_marks(text, &settings.candidates, |rest| self.is_mark(tools, settings, rest));
        // The first line may be the name of a call.
        match line(tools, &neutral, true) {
            Scan::Match(Range { start: 0, .. }) => neutralise_first(&neutral),
            _ => neutral,
        }
    }
}

impl MessageWriter for Xml {
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        ResultForm::Elements.write(prompt, result)
    }
}

impl Teacher for Xml {
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        let mut out = String::from(
            "To call a tool, write a tag with its name, and in it one tag for each parameter that you give. Example:\n",
        );
        out.push_str(&examples.any(self));
        out.push_str(
            "\nParameters without ? are required; use the exact names and types. Write text as it is, but & as &amp; and < as &lt;. \
             For a list, repeat the tag; for an object, put tags in its tag. Any value that is not a string can be JSON. ",
        );
        if prompt.tools.iter().any(|tool| tool.syntax == Syntax::Json) {
            out.push_str("In the tag of a tool marked \"as JSON\", write one JSON object instead. ");
        }
        out.push_str(
            "You can write several calls in a row. End your message after them: results come as <tool_response>; never write \
             one.\nTools (? optional, string by default):",
        );
        out
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        tags::signature(self, prompt, tool)
    }
}

/// Puts a visible backslash after the first character.
fn neutralise_first(text: &str) -> String {
    let at = text.chars().next().map_or(0, char::len_utf8);
    format!("{}\\{}", &text[..at], &text[at..])
}
