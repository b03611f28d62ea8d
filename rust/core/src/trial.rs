//! Formats at run time are tried before they are given out: the calls that a format writes, it must read.

use std::sync::Arc;

use crate::error::{EncodeError, ToolError};
use crate::event::{Event, Item, fold};
use crate::formats::Format;
use crate::message::parse;
use crate::parser::Parser;
use crate::past::{PastMessage, PastToolCall};
use crate::syntax::json::{Member, Value, parse as parse_json, write_object};
use crate::tools::Definition;
use crate::toolset::{Options, Toolset};

/// The tools of the trial, with their parameters, and the arguments of one call of each.
const TOOLS: [(&str, &str, &str); 2] = [
    (
        "find",
        r#"{"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}, "required": ["q"]}"#,
        r#"{"q": "New York", "n": 3}"#,
    ),
    ("ping", r#"{"type": "object", "properties": {}}"#, "{}"),
];

/// The content of a message, and the positions of its calls.
const MESSAGES: [(&str, &[usize]); 4] = [("", &[0]), ("", &[1]), ("So.", &[0]), ("", &[0, 1])];

impl Format {
    /// From a description in JSON: see `docs/formats.md`. The same description is only made once in a process.
    ///
    /// # Errors
    ///
    /// The field that is wrong, and what it must be; or a call that the format writes, and does not read. Also if it has more than
    /// 16 KiB, or all different ones together more than 16 MiB.
    pub fn new(description: &str) -> Result<Format, ToolError> {
        let format = Format::described_by(description)?;
        let mut options = Options::default();
        (options.format, options.strict) = (Some(format.clone()), true);
        let definitions = TOOLS.map(|(name, parameters, _)| Definition::new(name, parameters));
        let tools = Arc::new(Toolset::new(definitions.into(), options)?);
        match MESSAGES.iter().map(|(content, calls)| tried(&tools, content, calls)).collect::<Result<Vec<_>, _>>() {
            Err(wrong) => Err(ToolError::new(format!("format: {wrong}"))),
            Ok(written) if written.contains(&true) => Ok(format),
            Ok(_) => Err(ToolError::new("format: no call can be written in it; see call and message")),
        }
    }
}

/// Writes a message, and reads it whole and by characters. False if the format cannot hold it.
fn tried(tools: &Arc<Toolset>, content: &str, calls: &[usize]) -> Result<bool, String> {
    let members: Vec<Vec<Member<'_>>> = TOOLS.iter().map(|(_, _, arguments)| object(arguments)).collect();
    let named = calls.iter().filter_map(|at| Some((TOOLS.get(*at)?.0, members.get(*at)?)));
    let past: Vec<_> = named.map(|(name, arguments)| PastToolCall { name, arguments, id: None }).collect();
    let message = PastMessage { content, calls: &past, native: true, ..PastMessage::default() };
    let text = match tools.encode_message(&message) {
        Ok(text) => text,
        // Such as two calls, or calls beside content.
        Err(EncodeError(_)) => return Ok(false),
    };
    let whole = parse(tools, &text, Some(false), Some(false));
    let mut pieces = Vec::new();
    let mut on_event = |event: Event<'_>| fold(&mut pieces, event);
    let mut parser = Parser::new(tools.clone(), Some(false));
    text.char_indices().for_each(|(at, c)| parser.feed(&text[at..at + c.len_utf8()], &mut on_event));
    parser.finish(Some(false), &mut on_event);
    match [whole, pieces].iter().all(|items| is_read(items, &text, content, &past)) {
        true => Ok(true),
        false => {
            Err(format!("the text that it writes for {} is not read as the same calls: {text:?}", described(&past)))
        }
    }
}

fn object(json: &str) -> Vec<Member<'static>> {
    match parse_json(json, 1) {
        Ok(Value::Object(members)) => members,
        _ => Vec::new(),
    }
}

fn described(calls: &[PastToolCall<'_>]) -> String {
    let names: Vec<_> = calls.iter().map(|call| format!("{}{}", call.name, json(call))).collect();
    names.join(" and ")
}

fn json(call: &PastToolCall<'_>) -> String {
    let mut json = String::new();
    write_object(call.arguments, &mut json);
    json
}

/// Whether the items are this content and these calls, and nothing else that a host sees.
fn is_read(items: &[Item], text: &str, content: &str, calls: &[PastToolCall<'_>]) -> bool {
    let mut expected = calls.iter();
    let mut said = String::new();
    let all = items.iter().all(|item| match item {
        Item::Text(bytes) => {
            said.push_str(&text[bytes.clone()]);
            true
        }
        Item::Framing(_) => true,
        Item::Call(read) => expected.next().is_some_and(|call| call.name == read.name && same(call, &read.arguments)),
        Item::Reasoning(_) | Item::Error(_) => false,
    });
    all && expected.next().is_none() && said.trim() == content
}

/// Whether arguments are the same. Some formats sort keys.
fn same(call: &PastToolCall<'_>, read: &str) -> bool {
    let given = Value::Object(call.arguments.to_vec());
    parse_json(read, 1).is_ok_and(|read| read.equals(&given))
}
