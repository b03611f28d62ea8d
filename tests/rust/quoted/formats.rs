//! The formats of the law: in which of them strings are in quotes, how they are read, and what their encoders write.

use std::ops::Range;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use wirecall_core::{CodeMode, Options, PastMessage, PastToolCall, Toolset, parse_json};

use super::openings::listed;
use crate::support::every::{all, with_laws};
use crate::support::reading::{calls, read};
use crate::support::toolsets::{definition, options_of};

/// A text that every format puts in quotes, if it has quotes.
const PLACEHOLDER: &str = "a place: b";

/// A call up to the quote before a text, and what is after the closing quote.
#[derive(Debug)]
pub(crate) struct Written {
    pub before: String,
    pub after: String,
    /// The name of the tool.
    pub name: Range<usize>,
    /// Where the key of the text begins, or what is in its place.
    pub binding: usize,
    /// The places for slips: outside of quotes, and not before what begins a call.
    pub outside: Vec<usize>,
    /// What comes between the name and the arguments.
    pub separator: Option<String>,
}

/// A mode, what reads in it, and openings that are listed.
#[derive(Debug)]
pub(crate) struct Setting {
    pub name: String,
    pub tools: Toolset,
    pub openings: Vec<&'static str>,
    /// Elements and parameters of other formats are read, in which quotes are text.
    pub elements: bool,
}

#[derive(Debug)]
pub(crate) struct Format {
    pub name: &'static str,
    pub settings: Vec<Setting>,
    pub written: Vec<Written>,
    /// What encoders write around strings.
    pub quote: String,
    /// The last bracket ends a call, so nothing tells that it came too early.
    pub by_bracket: bool,
    /// Complete calls of `rm`.
    pub rm: Vec<String>,
    /// What opens and what ends a call.
    pub opener: String,
    pub end: String,
}

fn toolset(options: Options) -> Option<Toolset> {
    let text = json!({"type": "string"});
    let save = json!({"type": "object", "properties": {
        "title": text, "body": text, "days": {"type": "integer"}, "tags": {"type": "array", "items": text},
        "opts": {"type": "object", "additionalProperties": text}}});
    let rm = json!({"type": "object", "properties": {"path": text}});
    let tools = vec![definition("save", &save), definition("rm", &rm), definition("ping", &json!({"type": "object"}))];
    Toolset::new(tools, options).ok()
}

fn settings(protocol: &'static str) -> Vec<Setting> {
    type Change = fn(&mut Options, &'static str);
    const MODES: [(&str, Change); 5] = [
        ("lenient", |_, _| {}),
        ("strict", |options, _| options.strict = true),
        // The openings are outside of code.
        ("without code", |options, _| options.code = CodeMode::Text),
        ("recovers", |options, _| options.recover = true),
        ("read by wire", |options, own| {
            options.recover = true;
            options.recover_from = vec![own.into()];
            options.protocol = "wire".into();
        }),
    ];
    let setting = |(mode, change): &(&str, Change)| {
        let mut options = options_of(protocol, false);
        change(&mut options, protocol);
        let recovers = *mode == "recovers";
        let openings = if recovers { listed("recover") } else { listed(protocol) };
        let elements = recovers || protocol == "auto" || *mode == "read by wire";
        Some(Setting { name: format!("{protocol} {mode}"), tools: toolset(options)?, openings, elements })
    };
    // `auto` recovers nothing. What cannot be recovered from is refused.
    MODES.iter().filter(|(mode, _)| protocol != "auto" || *mode != "recovers").filter_map(setting).collect()
}

fn parsed(arguments: &Value) -> wirecall_core::Value<'static> {
    parse_json(&arguments.to_string(), 64).expect("it is JSON")
}

/// The message with a text before the call, another call before it, both, or neither.
fn message(tools: &Toolset, name: &str, text: bool, other: bool, arguments: &Value) -> Option<String> {
    let (arguments, none) = (parsed(arguments), parsed(&json!({})));
    if !text && !other {
        return tools.encode(name, &arguments).ok();
    }
    let call =
        |name, arguments| wirecall_core::Value::as_object(arguments).map(|members| PastToolCall::new(name, members));
    let calls: Vec<_> =
        other.then(|| call("ping", &none)).into_iter().chain([call(name, &arguments)]).collect::<Option<_>>()?;
    let mut message = PastMessage::default();
    message.content = if text { "I look." } else { "" };
    message.calls = &calls;
    tools.encode_message(&message).ok()
}

/// What is around the placeholder on both sides: a quote, unless it is whitespace.
fn quote_around(message: &str) -> Option<String> {
    let (before, after) = message.split_once(PLACEHOLDER)?;
    let lengths = (1..=before.len().min(after.len())).filter(|length| {
        before.is_char_boundary(before.len() - length)
            && after.is_char_boundary(*length)
            && before.ends_with(&after[..*length])
    });
    lengths.last().map(|length| after[..length].to_owned()).filter(|quote| !quote.trim().is_empty())
}

/// The places outside of quotes.
fn outside_of(text: &str, quote: &str) -> Vec<usize> {
    let (mut out, mut open, mut at) = (Vec::new(), None, 0);
    while at < text.len() {
        if open.is_none() {
            out.push(at);
        }
        let found = [quote, "\"", "'"]
            .into_iter()
            .find(|quote| text[at..].starts_with(quote) && open.is_none_or(|open| open == *quote));
        if let Some(quote) = found {
            open = if open.is_none() { Some(quote) } else { None };
            at += quote.len();
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    out
}

fn written(tools: &Toolset, quote: &str) -> Vec<Written> {
    let others = [
        ("title", json!("two words")),
        ("days", json!(2)),
        ("tags", json!(["a", "b c"])),
        ("opts", json!({"k": "v w"})),
        ("body", json!("c d")),
    ];
    let places = [
        ("body", json!(PLACEHOLDER)),
        ("title", json!(PLACEHOLDER)),
        ("tags", json!([PLACEHOLDER])),
        ("opts", json!({"k": PLACEHOLDER})),
    ];
    let mut out = Vec::new();
    for (key, place) in &places {
        for mask in 0..32_usize {
            let given = others.iter().enumerate().filter(|(at, (other, _))| mask >> at & 1 == 1 && other != key);
            if mask.count_ones() as usize != given.clone().count() {
                continue;
            }
            let mut arguments: Map<String, Value> =
                given.map(|(_, (key, value))| ((*key).to_owned(), value.clone())).collect();
            arguments.insert((*key).to_owned(), place.clone());
            for (text, other) in [(false, false), (true, false), (false, true), (true, true)] {
                out.extend(
                    message(tools, "save", text, other, &arguments.clone().into())
                        .and_then(|message| split(tools, &message, key, quote)),
                );
            }
        }
    }
    out
}

/// A message that is read as what was written, divided at its placeholder.
fn split(tools: &Toolset, message: &str, key: &str, quote: &str) -> Option<Written> {
    let seen = read(tools, message, Some(false));
    if !calls(&seen).any(|call| call.name == "save" && call.arguments.contains(PLACEHOLDER)) {
        return None;
    }
    let (before, after) = message.split_once(PLACEHOLDER)?;
    let (before, after) = (before.strip_suffix(quote)?.to_owned(), after.strip_prefix(quote)?.to_owned());
    let at = before.find("save")?;
    let name = at..at + 4;
    let quoted_name = before[name.end..].starts_with(['"', '\'']);
    let name = if quoted_name { at - 1..name.end + 1 } else { name };
    // Where a call of JSON begins, unless that is the beginning of the message.
    let brace = before[..at].rfind('{').filter(|brace| !before[*brace..at].contains(['>', '|']));
    let marked = !before.trim_start().starts_with(['{', '[']) || before.trim_start().starts_with("[TOOL");
    let begin = brace.filter(|_| marked && quoted_name).unwrap_or(name.end);
    let key_at = before.rfind(key).filter(|at| *at >= name.end)?;
    let binding = if before[..key_at].ends_with(['"', '\'']) { key_at - 1 } else { key_at };
    let outside = outside_of(&before, quote).into_iter().filter(|at| (begin..=binding).contains(at)).collect();
    let arguments = before[name.end..].find(['{', '(']).map(|length| before[name.end..name.end + length].to_owned());
    let separator = arguments.filter(|text| text.contains(char::is_alphanumeric) && !quoted_name);
    Some(Written { before, after, name, binding, outside, separator })
}

fn format(protocol: &'static str) -> Format {
    let settings = settings(protocol);
    let tools = &settings[0].tools;
    let quote = message(tools, "save", false, false, &json!({"body": PLACEHOLDER})).as_deref().and_then(quote_around);
    let written = quote.as_ref().map_or_else(Vec::new, |quote| written(tools, quote));
    let rm = |text, arguments: &Value| message(tools, "rm", text, false, arguments);
    let empty = rm(false, &json!({})).expect("it can be written");
    let bracket = empty.rfind(['}', ')', ']']).map_or(0, |at| at + 1);
    let by_bracket = calls(&read(tools, &empty[..bracket], Some(true))).count() > 0;
    let saved = message(tools, "save", false, false, &json!({"body": PLACEHOLDER})).unwrap_or_default();
    let end = saved
        .split_once(PLACEHOLDER)
        .map_or("", |(_, after)| after.strip_prefix(quote.as_deref().unwrap_or_default()).unwrap_or(after));
    // With a text before it, all that begins a call is written.
    let rm =
        [Some(empty.clone()), rm(false, &json!({"path": "x"})), rm(true, &json!({}))].into_iter().flatten().collect();
    let quote = quote.unwrap_or_else(|| "\"".into());
    let opener = tools.delimiters().0.to_owned();
    Format { name: protocol, opener, end: end.to_owned(), written, quote, by_bracket, rm, settings }
}

/// All formats of the registry in this order, each with what it needs.
static ALL: LazyLock<Vec<Format>> = LazyLock::new(|| all().map(format).collect());

/// All formats: what is in a quoted text may be a call in any of them.
pub(crate) fn everything() -> &'static [Format] {
    &ALL
}

/// The formats that write strings in quotes, and those that read calls with quotes as repairs.
pub(crate) fn quoting() -> impl Iterator<Item = &'static Format> {
    ALL.iter().filter(|format| {
        !format.written.is_empty() || with_laws().any(|name| name == format.name) || format.name == "auto"
    })
}
