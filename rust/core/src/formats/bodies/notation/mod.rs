//! Calls with bare keys and strings between delimiters: `<|tool_call>call:name{key:<|"|>text<|"|>,list:[1,true]}<tool_call|>`.

mod write;

use crate::arguments::{Context, Flow, Input, Literals, Progress, Report, steps};
use crate::error::{EncodeError, ErrorKind, Repair};
use crate::formats::attempt::Attempt;
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
    pub close: &'static str,
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

    /// Whether the quote of a value follows, before any other marker: directly, or in a bracket.
    fn begins_value(&self, text: &str, last: bool) -> Scan {
        let (near, ended) = window(text, VALUE_CHARS, last);
        let end = near.find('<').unwrap_or(near.len());
        let mut words = near[..end].split_whitespace();
        let bracket = words.next().is_some_and(|word| word.contains('{'));
        match near[..end].trim_end().ends_with([':', '{', '[', ',']) {
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
        self.close
    }

    fn encoding(&self) -> &'static str {
        "notation"
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.extend(MarkRole::Inside, self.open.iter().copied().chain([self.close, self.quote]));
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
        let found = starts(&head[call..], CALL, last).and_then(|()| {
            let start = ws_run(head, call + CALL.len());
            match head[start..].find(|c| !is_name_char(c)) {
                Some(length) => Scan::Match(start..start + length),
                None => Scan::at_end(last),
            }
        });
        let name = match found {
            Scan::Match(name) => name,
            Scan::NoMatch => return self.quoted_name(tools, head, open, call, last),
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

    fn body(&self, cx: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        let lexer = || DelimitedLexer::new(self.quote);
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
        out.push_str(self.close);
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
    /// After the last bracket; so many bytes of whitespace after it were scanned.
    Tail {
        blanks: usize,
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
        let unclosed = matches!(self.state, NotationState::Unclosed);
        match unclosed || self.arguments.lexer().skip(input.window, &mut input.at, self.format.close) {
            true => Progress::CallEnd,
            false => Progress::Incomplete,
        }
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        self.arguments.feed_plain(report, text)
    }

    fn closable(&self, _: &Report) -> bool {
        matches!(self.state, NotationState::Tail { .. })
    }

    fn unterminated(&self) -> bool {
        matches!(self.state, NotationState::Arguments | NotationState::Start { .. })
    }
}

impl NotationBody {
    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match &mut self.state {
            NotationState::Start { named } => {
                if !*named || input.next_byte()? != b'{' {
                    let message = format!("Write a call as {CALL}name{{…}}.");
                    return Err((ErrorKind::MalformedCall, message).into());
                }
                self.state = NotationState::Arguments;
                Ok(())
            }
            NotationState::Arguments => {
                self.arguments.feed(input)?;
                self.state = NotationState::Tail { blanks: 0 };
                Ok(())
            }
            NotationState::Tail { blanks } => {
                let at = ws_run(input.window, input.at + *blanks);
                *blanks = at - input.at;
                let rest = &input.window[at..];
                if rest.is_empty() {
                    return Err(Progress::Incomplete);
                }
                let NotationFormat { open, close, .. } = self.format;
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
