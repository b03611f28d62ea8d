//! Calls with bare keys and strings between delimiters: `<|tool_call>call:name{key:<|"|>text<|"|>,list:[1,true]}<tool_call|>`.

mod write;

use crate::arguments::{Context, Flow, Input, Literals, Progress, Report, steps};
use crate::error::{EncodeError, ErrorKind, Repair};
use crate::formats::attempt::{Attempt, Style};
use crate::formats::bodies::json::fence::{FENCE, fence_length};
use crate::formats::bodies::json::{JsonCall, JsonRules};
use crate::formats::body::{Body, Opening, recycle};
use crate::formats::call::{CallFormat, PastCall};
use crate::formats::commitment::begins_call;
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::settings::Settings;
use crate::limits::{HEAD_CHARS, NAME_CHARS};
use crate::syntax::delimited::DelimitedLexer;
use crate::syntax::json::{Value, parse};
use crate::syntax::quoting::leaves_open;
use crate::syntax::scan::{Delimiters, Scan, first_chars, starts, window, ws_run};
use crate::tools::Tools;

/// A format, with these markers. Each begins with `<`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotationFormat {
    pub open: &'static [&'static str],
    pub close: &'static [&'static str; 1],
    /// What begins and ends a string.
    pub quote: &'static str,
}

/// Characters between an opener without a name and the quote of a value.
const VALUE_CHARS: usize = 64;

/// What precedes the name.
const CALL: &str = "call:";

/// Whether a tool's name can be written before the bracket.
fn is_name(name: &str) -> bool {
    !name.is_empty() && first_chars(name, NAME_CHARS) == name.len() && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    !(c.is_whitespace()
        || c.is_control()
        || matches!(c, '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | ',' | '"' | '\''))
}

impl NotationFormat {
    /// After an opener that no name that can be read follows: what is meant as a call, the body reports. So is a quoted value.
    fn quoted_name(&self, tools: &Tools, head: &str, open: usize, call: usize, last: bool) -> Attempt {
        let after = head[call..].strip_prefix(CALL).map_or(call, |after| head.len() - after.len());
        match begins_call(tools, &head[call..], last).void().or(|| self.begins_value(&head[open..], last)) {
            Scan::Match(()) => Attempt::call(open, after, Opening::OWN),
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => Attempt::Text(open),
        }
    }

    /// Tests the text at byte `call`, after an opener of `open` bytes.
    fn called(&self, tools: &Tools, head: &str, open: usize, call: usize, last: bool) -> Attempt {
        let found = starts(&head[call..], CALL, last).and_then(|()| {
            let start = ws_run(head, call + CALL.len());
            match head[start..].find(|c| !is_name_char(c)) {
                Some(length) => Scan::Match(start..start + length),
                None => Scan::at_end(last),
            }
        });
        let name = match found {
            Scan::Match(name) => name,
            Scan::NoMatch => return self.without_call(tools, head, open, call, last),
            Scan::Incomplete => return Attempt::Incomplete,
        };
        let body = ws_run(head, name.end);
        match (head.as_bytes().get(body), tools.position(&head[name.clone()])) {
            (None, _) if !last => Attempt::Incomplete,
            (Some(b'{'), _) if is_name(&head[name.clone()]) && !leaves_open(&head[name.clone()]) => {
                let lookup = tools.called(&head[name.clone()]);
                Attempt::named(open, (name, lookup), body, Opening::OWN)
            }
            // What is wrong, the body says. It knows the format's quotes.
            (_, Some(_)) => {
                let lookup = tools.called(&head[name.clone()]);
                Attempt::named(open, (name, lookup), body, Opening::OWN)
            }
            (_, None) => self.quoted_name(tools, head, open, call, last),
        }
    }

    /// The same without [`CALL`]: a declared name and its bracket begin a call; after its colon alone, any name. [`Self::quoted_name`]
    /// decides about other text.
    fn without_call(&self, tools: &Tools, head: &str, open: usize, call: usize, last: bool) -> Attempt {
        let colon = head[call..].starts_with(':');
        let start = if colon { ws_run(head, call + 1) } else { call };
        let Some(length) = head[start..].find(|c| !is_name_char(c)) else {
            return if last { Attempt::text(head) } else { Attempt::Incomplete };
        };
        let name = start..start + length;
        let lookup = tools.called(&head[name.clone()]);
        let named = lookup.tool().is_some() || (colon && is_name(&head[name.clone()]));
        if !head[name.end..].starts_with('{') || !named || leaves_open(&head[name.clone()]) {
            return self.quoted_name(tools, head, open, call, last);
        }
        let style = Style::repaired(vec![Repair::ToolStyle]);
        let (body, opening) = (name.end, Opening::OWN);
        Attempt::Call { lead: 0, open, name: Some((name, lookup)), body, opening, style }
    }

    /// Whether the quote of a value follows, before any other marker: directly, or in a bracket.
    fn begins_value(&self, text: &str, last: bool) -> Scan {
        let (near, ended) = window(text, VALUE_CHARS, last);
        let end = near.find('<').unwrap_or(near.len());
        let mut words = near[..end].split_whitespace();
        let bracket = words.next().is_some_and(|word| word.contains('{'));
        match near[..end].trim_end().ends_with([':', '{', '[', '(', ',']) {
            _ if !bracket && words.next().is_some() => Scan::NoMatch,
            _ if end == near.len() => Scan::at_end(ended),
            true => starts(&text[end..], self.quote, last),
            false => Scan::NoMatch,
        }
    }
}

impl CallFormat for NotationFormat {
    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn close(&self) -> &'static str {
        self.close[0]
    }

    fn encoding(&self) -> &'static str {
        "notation"
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.extend(MarkRole::Inside, self.open.iter().copied().chain([self.close[0], self.quote]));
    }

    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let found = Scan::first_of(self.open.iter().map(|open| starts(text, open, last).map(|()| open.len())));
        let open = match found {
            Scan::Match(length) => length,
            Scan::NoMatch => return Attempt::text(text),
            Scan::Incomplete => return Attempt::Incomplete,
        };
        let (head, last) = window(text, HEAD_CHARS, last);
        let call = ws_run(head, open);
        let fenced = match fence_length(&head[call..]) {
            Scan::Match(length) => self.called(tools, head, open, ws_run(head, call + length), last),
            Scan::Incomplete if !last => return Attempt::Incomplete,
            Scan::Incomplete | Scan::NoMatch => return self.called(tools, head, open, call, last),
        };
        match fenced {
            Attempt::Call { lead, name: name @ Some(_), body, opening, style, .. } => {
                let mut style = style.unwrap_or_default();
                style.repairs.push(Repair::JsonWrapper);
                Attempt::Call { lead, open, name, body, opening, style: Some(style) }
            }
            Attempt::Text(_) => self.called(tools, head, open, call, last),
            inner => inner,
        }
    }

    fn body(&self, cx: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        let lexer = || DelimitedLexer::new(self.quote, self.close[0], !cx.strict);
        let arguments = || Literals::new(cx, lexer());
        let state = || NotationState::Start { named: !name.is_empty() };
        let new = || NotationBody { format: *self, state: state(), arguments: arguments() };
        recycle(recycled, new, |body: &mut NotationBody| {
            (body.format, body.state) = (*self, state());
            body.arguments.renew(cx, lexer());
        })
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        if !is_name(cx.tool) {
            return Err(EncodeError(format!("{:?} cannot be the name of a call in this format", cx.tool)));
        }
        out.extend([self.open.first().copied().unwrap_or_default(), CALL, cx.tool]);
        write::members(self.quote, cx, cx.schema.root, call.arguments, out)?;
        out.push_str(self.close[0]);
        Ok(())
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        match parse(value, 0) {
            Ok(Value::String(text)) => [field, ":", self.quote, &text, self.quote].concat(),
            _ => format!("{field}:{value}"),
        }
    }
}

#[derive(Debug)]
enum NotationState {
    /// At the opening bracket. `named`: the opening has a name that can be read.
    Start {
        named: bool,
    },
    Arguments,
    /// In a call in JSON.
    Json(Box<JsonCall>),
    /// After the last bracket; `blanks` bytes of whitespace after it were scanned. `extra`: a bracket too many was read. `fenced`: the end
    /// of a fence was read.
    Tail {
        blanks: usize,
        extra: bool,
        fenced: bool,
    },
    /// The call ends here, though it is not closed.
    Unclosed,
}

#[derive(Debug)]
struct NotationBody {
    format: NotationFormat,
    state: NotationState,
    arguments: Literals<DelimitedLexer>,
}

impl Body for NotationBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| self.step(input))
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        if let NotationState::Json(call) = &self.state {
            // Recovery also respects the format's own quotes.
            self.arguments.lexer().lost(call.open_quote());
            self.state = NotationState::Arguments;
        }
        let unclosed = matches!(self.state, NotationState::Unclosed);
        match unclosed || self.arguments.lexer().skip(input.window, &mut input.at) {
            true => Progress::CallEnd,
            false => Progress::Incomplete,
        }
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, delimiters: &Delimiters) -> Option<bool> {
        match &mut self.state {
            NotationState::Json(call) => call.feed_plain(report, text, delimiters),
            _ => self.arguments.feed_plain(report, text),
        }
    }

    fn closable(&self, report: &Report) -> bool {
        match &self.state {
            NotationState::Json(call) => call.closable(report),
            state => matches!(state, NotationState::Tail { .. }),
        }
    }

    fn unterminated(&self) -> bool {
        match &self.state {
            NotationState::Json(call) => call.unterminated(),
            state => matches!(state, NotationState::Arguments | NotationState::Start { .. }),
        }
    }
}

impl NotationBody {
    /// True if the object here is a call in JSON: its first key is in quotes.
    fn is_json(&self, input: &Input<'_>) -> Flow<bool> {
        let rest = input.rest();
        let first = ws_run(rest, 1);
        match rest.as_bytes().get(first) {
            None if first > VALUE_CHARS => Ok(false),
            Some(byte) => Ok(rest.starts_with('{') && matches!(byte, b'"' | b'\'')),
            None => Err(Progress::Incomplete),
        }
    }

    /// The reader of a call in JSON.
    fn json(&self, input: &Input<'_>) -> Box<JsonCall> {
        let mut call = Box::new(JsonCall::default());
        call.reset_native(&input.cx, JsonRules { close: self.format.close, ..JsonRules::USUAL });
        call
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match &mut self.state {
            NotationState::Start { named } => {
                let message = || format!("Write a call as {CALL}name{{…}}.");
                let named = *named;
                self.state = match input.next_byte()? {
                    b'{' if named => NotationState::Arguments,
                    b'(' if named => {
                        self.arguments.lexer().in_parentheses();
                        NotationState::Arguments
                    }
                    b'{' if self.is_json(input)? => {
                        input.repair(Repair::CallStyle, message())?;
                        NotationState::Json(self.json(input))
                    }
                    _ => return Err((ErrorKind::MalformedCall, message()).into()),
                };
                Ok(())
            }
            NotationState::Arguments => {
                self.arguments.feed(input)?;
                self.state = NotationState::Tail { blanks: 0, extra: false, fenced: false };
                Ok(())
            }
            NotationState::Json(call) => Err(call.feed(input)),
            NotationState::Tail { blanks, extra, fenced } => {
                let at = ws_run(input.window, input.at + *blanks);
                *blanks = at - input.at;
                let rest = &input.window[at..];
                if rest.is_empty() {
                    return Err(Progress::Incomplete);
                }
                let NotationFormat { open, close: [close], .. } = self.format;
                if rest.starts_with('}') && !*extra {
                    (*extra, *blanks, input.at) = (true, 0, at + 1);
                    let message = "Close the call after its last bracket.";
                    return Ok(input.repair(Repair::UnbalancedBrackets, message)?);
                }
                if !*fenced && starts(rest, FENCE, false).decided()?.is_some() {
                    (*fenced, *blanks, input.at) = (true, 0, at + FENCE.len());
                    return Ok(input.repair(Repair::JsonWrapper, "Nothing may surround a call.")?);
                }
                let closed = starts(rest, close, input.last).map(|()| true);
                let next = || Scan::first_of(open.iter().map(|open| starts(rest, open, input.last).map(|()| false)));
                match closed.or(next).decided()? {
                    Some(true) => input.at = at + close.len(),
                    Some(false) => {
                        self.state = NotationState::Unclosed;
                        input.repair(Repair::MissingClose, "The call is not closed before the next one.")?;
                    }
                    None => {
                        let message = format!("Only {close} may follow the last bracket of a call.");
                        return Err((ErrorKind::MalformedCall, message).into());
                    }
                }
                Err(Progress::CallEnd)
            }
            NotationState::Unclosed => Err(Progress::CallEnd),
        }
    }
}
