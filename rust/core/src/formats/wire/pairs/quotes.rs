//! A value in quotes, and bracketed text that is taken for a string, unchanged.

use super::value::{PairValue, ValueText};
use super::{NextState, PairsState, behind, fail, follows_colon, gap_ahead};
use crate::arguments::keys::is_declared;
use crate::arguments::{Context, Flow, Input, Progress, Report, messages};
use crate::error::{ErrorKind, Repair};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::syntax::json::plain_end;
use crate::syntax::pairs::{Following, Lookahead, Quoted, QuotedPart, may_trail, separated};
use crate::syntax::quoting::{Kept, Quote, is_apostrophe, leaves_open};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Delimiters, Scan, first_chars, has_line_break, is_ws, starts, ws_run};

#[derive(Debug)]
pub(super) struct InQuotes {
    pub(super) value: PairValue,
    pub(super) quoted: Quoted,
    /// Three quotes ended what three opened.
    pub(super) triple: bool,
    /// After a kept quote: the second reading, in which that quote ended the value.
    pub(super) kept: Option<Kept>,
    pub(super) marks: Marks,
    pub(super) ahead: Lookahead,
}

/// Whether the text contained OPEN or CLOSE, in any spelling. Both are in plain runs, which a window may cut.
#[derive(Debug, Default)]
pub(super) struct Marks {
    seen: bool,
    /// The end of the run so far, from where a delimiter may have begun.
    tail: String,
}

impl Marks {
    pub(super) fn watch(&mut self, run: &str, delimiters: &Delimiters) {
        let (open, close) = (delimiters.open.as_str(), delimiters.close_stem());
        let first = memchr::memchr2(open.as_bytes()[0], close.as_bytes()[0], run.as_bytes());
        if self.seen || (self.tail.is_empty() && first.is_none()) {
            return;
        }
        self.tail.push_str(run);
        self.seen = self.tail.contains(open) || self.tail.contains(close);
        let longest = open.len().max(close.len());
        let keep = (self.tail.len().saturating_sub(longest)..).find(|at| self.tail.is_char_boundary(*at));
        self.tail.drain(..keep.unwrap_or(0));
    }

    /// Passes on lines without delimiters, as of code, in one step: what is the same in JSON, and line breaks and tabs. Returns where
    /// something else begins. A run of text in which a delimiter may begin is left to [`Marks::watch`].
    fn pass_code(
        &self,
        value: &PairValue,
        report: &mut Report,
        window: &str,
        mut at: usize,
        quote: u8,
        delimiters: &Delimiters,
    ) -> usize {
        let (bytes, json) = (window.as_bytes(), &mut report.args.json);
        if !self.is_idle() || !matches!(value.text, ValueText::Live { .. }) {
            return at;
        }
        let (open, close) = (delimiters.open.as_bytes()[0], delimiters.close.as_bytes()[0]);
        loop {
            let end = plain_end(bytes, at, quote);
            if memchr::memchr2(open, close, &bytes[at..end]).is_some() {
                return at;
            }
            json.push_str(&window[at..end]);
            at = end;
            match bytes[at..] {
                [b'\n', ..] => json.push_str("\\n"),
                [b'\t', ..] => json.push_str("\\t"),
                [b'\\', b'n' | b't' | b'r' | b'"' | b'\\', ..] => {
                    json.push_str(&window[at..at + 2]);
                    at += 1;
                }
                _ => return at,
            }
            at += 1;
        }
    }

    /// Whether no delimiter has begun.
    pub(super) fn is_idle(&self) -> bool {
        self.tail.is_empty()
    }

    pub(super) fn cut(&mut self) {
        self.tail.clear();
    }
}

impl InQuotes {
    /// After the opening quote.
    pub(super) fn new(value: PairValue, quote: u8) -> Self {
        let (quoted, ahead) = (Quoted::new(quote), Lookahead::after_value());
        InQuotes { value, quoted, triple: false, kept: None, marks: Marks::default(), ahead }
    }

    pub(super) fn step(&mut self, input: &mut Input<'_>) -> NextState {
        let InQuotes { value, quoted, triple, kept, marks, ahead } = self;
        let Input { cx, window, last, .. } = *input;
        let quote = quoted.quote;
        loop {
            if kept.is_none() {
                input.at = marks.pass_code(value, input.report, window, input.at, quote, cx.delimiters);
            }
            let start = input.at;
            match quoted.next(window, &mut input.at, last) {
                QuotedPart::Plain(part) => {
                    marks.watch(part, cx.delimiters);
                    if let Some(otherwise) = kept {
                        otherwise.run(part);
                    }
                    value.push_plain(input.report, part);
                    continue;
                }
                QuotedPart::Char(c) => {
                    marks.cut();
                    match kept {
                        Some(otherwise) if window.as_bytes()[start] == b'\\' => {
                            otherwise.escape(&window[start..input.at])
                        }
                        Some(otherwise) => otherwise.run(&window[start..input.at]),
                        None => {}
                    }
                    value.push_char(input.report, c);
                    continue;
                }
                QuotedPart::Need => return Err(Progress::Incomplete),
                QuotedPart::Quote => {}
            }
            let rest = &window[input.at + 1..];
            if *triple {
                let close = if quote == b'"' { "\"\"\"" } else { "'''" };
                if let Some(()) = starts(&window[input.at..], close, false).decided()? {
                    input.at += 3;
                    return value.done(input, true, behind(false));
                }
                input.at += 1;
                value.push_char(input.report, quote as char);
                continue;
            }
            if !cx.strict && kept.is_none() && rest.as_bytes().first() == Some(&quote) && value.is_empty(input.report) {
                input.report.repair(Repair::QuoteStyle);
                *triple = true;
                input.at += 2;
                continue;
            }
            let next = match rest.as_bytes().first() {
                _ if cx.strict => Following::Close,
                Some(byte) if !may_follow(*byte, &cx) => Following::Other,
                _ => ahead.look(rest, last, cx.delimiters),
            };
            let closes = match next {
                Following::Need => return Err(Progress::Incomplete),
                Following::Close | Following::End | Following::Open { line: true } => true,
                Following::Pair { at, length, .. } => {
                    separated(rest) && (kept.is_none() || is_declared(cx.schema, &rest[at..at + length]))
                }
                Following::Trailing { .. } => kept.is_none() && !marks.seen,
                Following::Open { line: false } => false,
                Following::Other if kept.is_some() => false,
                Following::Other => follows_colon(input, rest).decided()?.is_some(),
            };
            if closes {
                input.at += 1;
                self.check_second_reading(input, next)?;
                let InQuotes { value, kept, marks, .. } = self;
                if kept.is_some() && marks.seen {
                    let path = value.field.path();
                    let message = format!(
                        "{path}: quotes inside a value that also contains call tags must be escaped: {path}=\"say \\\"hi\\\"\""
                    );
                    return fail(ErrorKind::UnterminatedValue, message, Recovery::AFTER);
                }
                // In strict mode nothing was checked yet, and the error names what directly follows the quote.
                let seen = !cx.strict
                    && next != Following::Other
                    && !rest.starts_with(|c: char| c.is_ascii() && may_trail(c as u8));
                let after = PairsState::After {
                    quoted: true,
                    recovery: value.recovery(input.report),
                    ahead: Lookahead::after_value(),
                };
                return value.done(input, true, if seen { gap_ahead(false, next) } else { after });
            }
            if kept.is_none()
                && let Some(length) = closes_on_its_line(&cx, rest, last).decided()?
            {
                let (path, junk) = (value.field.path(), messages::shorten(rest[..length].trim()));
                input.at += 1 + length;
                let message = format!("{path}: {junk} follows a quoted value. Write quotes inside quotes as \\\".");
                return fail(ErrorKind::MalformedCall, message, Recovery::TokenStart);
            }
            // A second value may begin there, and the first one may have ended at the quote that was kept.
            input.at += 1;
            if kept.is_some_and(|otherwise| otherwise.opened() == Some(Quote::Plain(quote)))
                && ends_in_a_key(value, input)
            {
                return ambiguous(value, Recovery::opened_by(Quote::Plain(quote)));
            }
            *ahead = Lookahead::after_value();
            input.report.repair(Repair::InnerQuotes);
            let apostrophe = is_apostrophe(quote, value.so_far(input.report), rest);
            kept.get_or_insert_with(|| Kept::new(quote)).keep(apostrophe);
            marks.cut();
            value.push_char(input.report, quote as char);
        }
    }

    /// The quote before `input.at` would end the value. If in the second reading it opens a text or is inside one, the call fails, and reading
    /// continues inside that quoted text.
    fn check_second_reading(&self, input: &Input<'_>, next: Following) -> Flow {
        let open = match self.kept {
            Some(otherwise) => otherwise.opened(),
            // If the closing quote was left out, the next value's opening quote looks like it.
            None if next == Following::Open { line: true } && ends_in_a_key(&self.value, input) => {
                Some(Quote::Plain(self.quoted.quote))
            }
            None => None,
        };
        open.map_or(Ok(()), |open| ambiguous(&self.value, Recovery::in_quotes(open)))
    }
}

/// The call fails inside a quoted text.
fn ambiguous<T>(value: &PairValue, recovery: Recovery) -> Flow<T> {
    let message = format!(
        "{}: the end of the value is ambiguous. Close each quoted value, and write quotes inside one as \\\".",
        value.field.path()
    );
    fail(ErrorKind::MalformedCall, message, recovery)
}

/// Whether the value ends in a declared key and `=`.
fn ends_in_a_key(value: &PairValue, input: &Input<'_>) -> bool {
    let Some(text) = value.so_far(input.report).strip_suffix('=') else { return false };
    let text = text.trim_end_matches(' ');
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let start = text.trim_end_matches(is_key).len();
    let (before, mut key) = text.split_at(start);
    // Text that is written as JSON may have an escape there, whose letters are not part of the key.
    let backslashes = before.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if matches!(value.text, ValueText::Live { .. }) && backslashes % 2 == 1 {
        key = key.get(if key.starts_with('u') { 5 } else { 1 }..).unwrap_or("");
    }
    key.split('.').all(|segment| !segment.is_empty()) && is_declared(input.cx.schema, key)
}

/// Whether the text that makes a quote end its value can begin with this byte.
pub(super) fn may_follow(byte: u8, cx: &Context<'_>) -> bool {
    is_ws(byte) || may_trail(byte) || byte == cx.delimiters.close.as_bytes()[0]
}

/// Whether the call is closed in this line, the rest of which has no quotes or brackets, and the next line begins with a call. Then
/// the quote before it was the value's last. Finds the number of bytes before CLOSE.
fn closes_on_its_line(cx: &Context<'_>, rest: &str, last: bool) -> Scan<usize> {
    let end = first_chars(rest, ATTEMPT_CHARS);
    let text = &rest[..end];
    let line = text.find(['\n', '\r', '"', '\'', '(', ')', '[', ']', '{', '}']);
    let Some(line) = line else { return Scan::at_end(last || end < rest.len()) };
    let Some(close) = text[..line].rfind(cx.delimiters.close_stem()) else { return Scan::NoMatch };
    let Scan::Match(length) = cx.delimiters.closes(&text[close..], true) else { return Scan::NoMatch };
    if leaves_open(&text[..close]) {
        return Scan::NoMatch;
    }
    let closed = close + length;
    let next = ws_run(text, closed);
    if next < line || !has_line_break(&text[closed..next]) {
        return Scan::NoMatch;
    }
    starts(&rest[next..], &cx.delimiters.open, last).and_then(|()| {
        let name = &rest[next + cx.delimiters.open.len()..];
        let window = &name[..first_chars(name, NAME_CHARS + 1)];
        let ends = |c: char| c.is_whitespace() || cx.delimiters.is_first(c) || "{\"'=".contains(c);
        let Some(length) = window.find(ends) else { return Scan::at_end(last || window.len() < name.len()) };
        let declared = cx.tools.is_some_and(|tools| tools.find(&window[..length]).is_some());
        if declared { Scan::Match(close) } else { Scan::NoMatch }
    })
}

pub(super) fn verbatim(input: &mut Input<'_>, value: &mut PairValue, recovery: &mut Recovery) -> NextState {
    let start = input.at;
    while let Some(&byte) = input.window.as_bytes().get(input.at) {
        *recovery = recovery.step(byte);
        input.at += 1;
        if matches!(recovery, Recovery::After(_)) {
            value.push_str(input.report, &input.window[start..input.at]);
            return value.done(input, true, behind(false));
        }
    }
    value.push_str(input.report, &input.window[start..input.at]);
    Err(Progress::Incomplete)
}
