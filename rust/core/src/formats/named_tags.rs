//! Tags with a tool's name, which open and close calls in xml and yaml.

use std::ops::Range;

use crate::arguments::is_field;
use crate::formats::attempt::Attempt;
use crate::formats::body::{Form, Opening};
use crate::formats::commitment::bad;
use crate::formats::protocol::{Protocol, is_result_tag};
use crate::formats::settings::Settings;
use crate::formats::teaching::Prompt;
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::schema::{begins_folded, fold};
use crate::syntax::misspelled::{self, meant};
use crate::syntax::quoting::{Alternation, is_blank, opens_after};
use crate::syntax::scan::{Closers, Scan, first_chars, has_line_break, is_ws, starts, window, ws_run};
use crate::syntax::tags::{ElementRow, OpenTag, OpenerAttributes, QWEN3CODER, begins, one_of, own_tag, word_end};
use crate::syntax::xml::name_length;
use crate::tools::{Syntax, Tool, Tools};

/// An opening tag in one of the forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    pub name: Range<usize>,
    pub form: Form,
    /// Where it ends.
    pub end: usize,
}

/// Scans an opening tag without attributes. The text starts with `<`; at most [`ATTEMPT_CHARS`] of it are scanned.
pub(crate) fn opener(text: &str, last: bool) -> Scan<Opener> {
    let (text, last) = window(text, ATTEMPT_CHARS, last);
    let (bytes, need) = (text.as_bytes(), Scan::at_end(last));
    let start = ws_run(text, 1);
    let ends_name = |byte: &u8| is_ws(*byte) || matches!(byte, b'>' | b'<' | b'&' | b'"' | b'\'');
    let Some(length) = bytes[start.min(bytes.len())..].iter().position(ends_name) else { return need };
    // `<name/>`, but a slash may be part of a name.
    let closes = bytes[start + length] == b'>' && text[..start + length].ends_with('/');
    let name = start..start + length - usize::from(closes);
    let next = ws_run(text, name.end);
    let tag = |form: Form, end: usize| Scan::Match(Opener { name: name.clone(), form, end });
    match (bytes.get(next), bytes.get(next + 1)) {
        _ if name.is_empty() => Scan::NoMatch,
        _ if closes => tag(Form::Empty, start + length + 1),
        (None, _) | (Some(b'/'), None) => need,
        (Some(b'>'), _) => tag(Form::Open, next + 1),
        (Some(b'/'), Some(b'>')) => tag(Form::Empty, next + 2),
        _ if has_line_break(&text[name.end..next]) => tag(Form::Broken, next),
        _ => Scan::NoMatch,
    }
}

/// Whether this ends a name in a tag that no reader accepts.
fn ends_name(c: char) -> bool {
    is_blank(c) || "<>&\"'`(){}[]|,;:=\\".contains(c)
}

/// Scans a tag that no reader accepts. It is a bad call if it has a declared tool's name, ignoring case, and values follow in the
/// tag or in the text after it.
fn near(tools: &Tools, text: &str, last: bool) -> Attempt {
    let step = Attempt::text(text);
    // One byte is enough to reject most tags and other signs.
    let first = text.bytes().skip(1).take(ATTEMPT_CHARS).find(|byte| !is_ws(*byte));
    if first.is_some_and(|byte| !tools.may_begin_name(byte)) {
        return step;
    }
    let (text, last) = window(text, ATTEMPT_CHARS, last);
    let start = ws_run(text, 1);
    let Some(length) = text[start..].find(ends_name) else {
        let begins = tools.iter().any(|tool| begins_folded(&tool.name, text[start..].trim_end_matches('/')));
        return if begins && !last { Attempt::Incomplete } else { step };
    };
    let Some(tool) = tools.find(text[start..start + length].trim_end_matches('/')) else { return step };
    let field = |name: &str| is_field(&tools.at(tool).schema, name);
    match goes_on(tools, &field, text, start + length, last) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::Text(start + length),
        Scan::Match(inside) => {
            let name = tools.at(tool).name.clone();
            bad(tools, start + length, tool, Closers::Tag(name), inside)
        }
    }
}

/// Whether a tag continues like a call after a tool's name: with values in the tag, which gives `true`, or with a possible opening
/// inside quotes in the text after it. Scans to the next tag of a tool, or to a tag in the text that is not a `field`.
fn goes_on(tools: &Tools, field: &dyn Fn(&str) -> bool, text: &str, from: usize, last: bool) -> Scan<bool> {
    let bytes = text.as_bytes();
    // First in the tag, then in the text after it.
    let mut inside = true;
    let mut quotes = Alternation::START;
    for (at, &byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            _ if inside && (b"=:({\"".contains(&byte) || (byte == b'\'' && opens_after(bytes[at - 1]))) => {
                return Scan::Match(true);
            }
            b'<' | b'`' | b'[' | b'&' | b'{' | b'\n' if quotes.open().is_some() => return Scan::Match(false),
            b'>' if inside && bytes[..at].ends_with(b"/") => return Scan::NoMatch,
            b'>' => inside = false,
            b'<' => {
                let name = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'/'));
                let end = word_end(bytes, name);
                if end == bytes.len() {
                    return Scan::at_end(last);
                }
                let name = &text[name..end];
                let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
                let tag = name.chars().all(word) && (is_ws(bytes[end]) || matches!(bytes[end], b'>' | b'/'));
                let text = !inside && tag && name.starts_with(|c: char| c.is_ascii_alphabetic()) && !field(name);
                if text || tools.find(name).is_some() {
                    return Scan::NoMatch;
                }
            }
            _ => {}
        }
        // In prose, backticks and entities pair up less often.
        quotes.step(if matches!(byte, b'`' | b'&') { b'x' } else { byte });
    }
    match quotes.open() {
        Some(_) if last => Scan::Match(inside),
        _ => Scan::at_end(last),
    }
}

/// The length of the closing tag with this name, if the text, which starts with `<`, begins with it.
pub(crate) fn closer(text: &str, name: &str, last: bool) -> Scan<usize> {
    match text.as_bytes().get(1) {
        None => return Scan::at_end(last),
        Some(b'/') => {}
        Some(_) => return Scan::NoMatch,
    }
    let (text, last) = window(text, ATTEMPT_CHARS + name.len(), last);
    let start = ws_run(text, 2);
    starts(&text[start..], name, last).and_then(|()| {
        let behind = ws_run(text, start + name.len());
        starts(&text[behind..], ">", last).map(|()| behind + 1)
    })
}

/// The same in any style of the name, with whether the style differs.
pub(crate) fn closes(text: &str, name: &str, last: bool) -> Scan<(usize, bool)> {
    let mark = closer(text, name, last).map(|length| (length, false));
    if mark != Scan::NoMatch || !text.starts_with("</") {
        return mark;
    }
    let (text, last) = window(text, ATTEMPT_CHARS + name.len(), last);
    let start = ws_run(text, 2);
    let written = start..start + name_length(&text[start..]);
    let behind = ws_run(text, written.end);
    let mark = starts(&text[behind..], ">", last).map(|()| (behind + 1, true));
    mark.filter(|_| !written.is_empty() && fold(&text[written]) == fold(name))
}

/// What ends a failed call that begins with one of the words for functions.
const FUNCTION_CLOSERS: [&str; 5] = ["</function>", "</tool_call>", "</call>", "</tool>", "</invoke>"];

/// Scans the tag of a function, or of a block around one, that no reader accepts. It is a bad call if it names a declared tool and
/// values follow. Other tags are scanned by [`near`].
pub(crate) fn near_function(tools: &Tools, settings: &Settings, row: &ElementRow, text: &str, last: bool) -> Attempt {
    let step = Attempt::text(text);
    let whole = text;
    let (text, cut) = window(text, ATTEMPT_CHARS, last);
    let word = one_of(&text[1..], row.call.words, cut).map(str::len).or(|| begins(&text[1..], row.block, cut));
    let start = match word {
        Scan::Match(length) => 1 + length,
        Scan::Incomplete => return Attempt::Incomplete,
        Scan::NoMatch => return near(tools, whole, last),
    };
    let tool = |name: &str| tools.find(name);
    let found = match text.as_bytes()[start] {
        b'=' => misspelled::named(text, start + 1, cut, &tool),
        _ => misspelled::tag(text, start, cut, &tool),
    };
    let (tool, end) = match found {
        Scan::Match((Some(tool), end)) => (tool, end),
        Scan::Match((None, end)) => {
            let inner = match begins(&text[1..], row.block, cut) {
                Scan::Match(_) => in_block(tools, settings, row, whole, ws_run(text, end), last),
                Scan::NoMatch | Scan::Incomplete => step.clone(),
            };
            return if inner == step { in_text(tools, settings, whole, end, last) } else { inner };
        }
        Scan::NoMatch => return step,
        Scan::Incomplete => return Attempt::Incomplete,
    };
    match goes_on(tools, &|_| true, text, end, cut) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::Text(end),
        Scan::Match(inside) => bad(tools, end, tool, Closers::Spelled(&FUNCTION_CLOSERS), inside),
    }
}

/// The same for a tag that ends at byte `at` and is followed by the name.
fn in_text(tools: &Tools, settings: &Settings, text: &str, at: usize, last: bool) -> Attempt {
    match meant(&text[at..], last, &settings.delimiters, &|name| tools.find(name)) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::Text(1),
        Scan::Match(tool) => bad(tools, at, tool, Closers::Spelled(&FUNCTION_CLOSERS), false),
    }
}

/// The same for the function at byte `at` in a block. It ends with the block.
fn in_block(tools: &Tools, settings: &Settings, row: &ElementRow, text: &str, at: usize, last: bool) -> Attempt {
    let step = Attempt::Text(1);
    let inner = &text[at..];
    match inner.as_bytes() {
        [] | [b'<'] if !last && at < ATTEMPT_CHARS => return Attempt::Incomplete,
        [b'<', ..] => {}
        _ => return step,
    }
    match begins(&inner[1..], row.block, last) {
        Scan::Incomplete => return Attempt::Incomplete,
        Scan::Match(_) => return step,
        Scan::NoMatch => {}
    }
    match near_function(tools, settings, row, inner, last) {
        Attempt::Bad(mut bad) => {
            bad.open += at;
            (bad.closers, bad.in_tag) = (Closers::Spelled(&["</tool_call>"]), false);
            Attempt::Bad(bad)
        }
        Attempt::Incomplete => Attempt::Incomplete,
        Attempt::Text(_) | Attempt::Call { .. } => step,
    }
}

/// Scans a tag that may open a call of a declared tool. `behind` says whether the text after the tag does: where the opening ends,
/// where the body starts, and whether it is JSON.
pub(crate) fn attempt(
    tools: &Tools,
    text: &str,
    last: bool,
    behind: impl FnOnce(&Tool, &Opener) -> Scan<(usize, usize, bool)>,
) -> Attempt {
    let found = opener(text, last).and_then(|tag| {
        let lookup = tools.lookup(&text[tag.name.clone()]);
        let call = lookup.tool().map_or(Scan::NoMatch, |at| behind(tools.at(at), &tag));
        call.map(|(open, body, json)| {
            Attempt::named(open, (tag.name, lookup), body, Opening::Own { form: tag.form, json })
        })
    });
    match found {
        Scan::Match(call) => call,
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => in_tag(tools, text, last),
    }
}

/// Scans a tag that this protocol does not accept: a call in its attributes, an error, or text.
fn in_tag(tools: &Tools, text: &str, last: bool) -> Attempt {
    match with_attributes(tools, text, last) {
        Attempt::Text(_) => near(tools, text, last),
        attempt => attempt,
    }
}

/// A declared tool's tag with attributes, which are its arguments. Anything else is text.
fn with_attributes(tools: &Tools, text: &str, last: bool) -> Attempt {
    let step = Attempt::text(text);
    if !text.starts_with('<') {
        return step;
    }
    let known = |name: &str, begun: bool| match begun {
        true => tools.begins_name(name),
        false => tools.find(name).is_some(),
    };
    let report = match own_tag(&QWEN3CODER, text, last, &known) {
        Scan::Incomplete => return Attempt::Incomplete,
        Scan::Match(report) if report.opened.attributes != OpenerAttributes::None => report,
        Scan::Match(_) | Scan::NoMatch => return step,
    };
    let name = report.name.map(|name| (name.clone(), tools.lookup(&text[name])));
    let opening = Opening::Params(OpenTag { foreign: true, ..report.opened });
    Attempt::Call { lead: 0, open: report.open, name, body: report.body, opening, style: None }
}

/// Whether the text, which starts with `<`, begins with a tool's opening tag or a result's tags.
pub(crate) fn is_mark(tools: &Tools, text: &str) -> bool {
    let opens = opener(text, true).filter(|tag| tools.find(&text[tag.name.clone()]).is_some()).is_match();
    // Whatever follows the name, the tag could become an error.
    let inner = &text[ws_run(text, 1)..];
    let inner = &inner[..first_chars(inner, NAME_CHARS + 1)];
    let name = &inner[..inner.find(ends_name).unwrap_or(inner.len())];
    opens || tools.find(name).is_some() || is_result_tag(text)
}

/// The line of one tool in the manual.
pub(crate) fn signature(protocol: &dyn Protocol, prompt: &Prompt<'_>, tool: &Tool) -> String {
    let mut out = prompt.shape(tool);
    if tool.syntax == Syntax::Json {
        out.push_str(" as JSON");
    }
    out.push_str(&prompt.description(tool));
    format!("{}{}", tool.name, protocol.neutralise(prompt.tools, prompt.settings, &out))
}

/// What is wrong with a tool's name that no tag can have.
pub(crate) fn bad_name(name: &str) -> Option<&'static str> {
    let odd = |c: char| c.is_ascii_whitespace() || c.is_control() || "<>&\"'{}=".contains(c);
    let fits = !name.is_empty()
        && name.chars().count() <= NAME_CHARS
        && !name.contains(odd)
        && !name.starts_with(['/', '!', '?'])
        && !name.ends_with('/');
    let taken = is_result_tag(&format!("<{name}"));
    match (fits, taken) {
        (true, false) => None,
        (false, _) => Some(
            "it must have 1 to 128 characters, no whitespace, control characters, quotes or any of < > & { } =, and no slash at \
             either end",
        ),
        (true, true) => Some("results begin with it"),
    }
}
