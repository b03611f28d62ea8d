//! The plain value of a text field: read as YAML if it is YAML, otherwise taken verbatim.
//!
//! If one space precedes it, the first line is returned as it arrives. Only the end shows whether later lines are
//! folded: a line that is not indented more than the key, and is not a key, means that the text is verbatim.

use std::ops::ControlFlow::{Break, Continue};

use super::lexeme::{Lax, YamlLexeme};
use super::peek;
use super::window::{TextWindow, YamlStep, is_blank, is_match, separates};
use crate::syntax::scan::Scan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextState {
    Start,
    /// In brackets, where CLOSE inside quotes does not end the text. `token`: a quote may open here.
    Brackets {
        depth: usize,
        quote: Option<u8>,
        escape: bool,
        token: bool,
    },
    /// In the first line.
    First,
    /// In the indentation of a later line.
    Indentation(usize),
    /// In a later line.
    Line,
    Comment,
    /// The text is complete. At the first character of a line: its indentation.
    Over(Option<usize>),
}

#[derive(Debug)]
pub(super) struct TextScalar {
    /// The whitespace before the text, without the first space.
    gap: String,
    /// Consumed text that was not returned yet.
    raw: String,
    state: TextState,
    /// The text is verbatim. `reported`: that was reported.
    verbatim: bool,
    reported: bool,
    /// There was a comment, where YAML ends the text.
    commented: bool,
    /// Bytes that were scanned for a key already.
    seen: usize,
}

impl TextScalar {
    /// `verbatim`: plain YAML text cannot begin like this.
    pub(super) fn new(gap: &str, verbatim: bool) -> Self {
        TextScalar {
            gap: gap.get(1..).unwrap_or("").to_owned(),
            raw: String::new(),
            state: TextState::Start,
            verbatim,
            reported: false,
            commented: false,
            seen: 0,
        }
    }

    /// Whether all of the text is content of a first line that is returned at once, and needs no escape in JSON.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        let special = |byte: u8| matches!(byte, b':' | b'#' | b'<') || !crate::syntax::json::is_plain(byte);
        self.state == TextState::First
            && self.gap.is_empty()
            && self.raw.is_empty()
            && !text.ends_with(' ')
            && !text.bytes().any(special)
    }

    /// After the text: the indentation that was read of the next line.
    pub(super) fn indentation_after(&self) -> Option<usize> {
        if let TextState::Over(line) = self.state { line } else { None }
    }

    pub(super) fn next<'w>(&mut self, w: &mut TextWindow<'w, '_>, inner: usize) -> YamlStep<'w> {
        loop {
            if self.verbatim && !self.reported {
                self.reported = true;
                return Break(YamlLexeme::Lax(Lax::Verbatim));
            }
            match self.state {
                TextState::Start => self.start(w)?,
                TextState::Brackets { .. } => self.brackets(w)?,
                TextState::First | TextState::Line => self.line(w)?,
                TextState::Indentation(indent) => self.indentation(w, inner, indent)?,
                TextState::Comment => self.comment(w)?,
                TextState::Over(_) => return Break(YamlLexeme::Stop),
            }
        }
    }

    /// JSON as the value of a text field is that text.
    fn start<'w>(&mut self, w: &TextWindow<'w, '_>) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        self.state = match (bytes[w.at], bytes.get(w.at + 1)) {
            (b'{' | b'[', None) if !w.last => return Break(YamlLexeme::Need),
            (b'{', Some(b'"')) | (b'[', Some(b'"' | b'{')) => {
                self.gap.clear();
                TextState::Brackets { depth: 0, quote: None, escape: false, token: true }
            }
            _ => TextState::First,
        };
        Continue(())
    }

    fn brackets<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let TextState::Brackets { depth, quote, escape, token } = &mut self.state else { return Continue(()) };
        let bytes = w.text.as_bytes();
        let start = w.at;
        let mut next = None;
        while next.is_none()
            && let Some(&byte) = bytes.get(w.at)
        {
            if quote.is_none() && byte == b'<' {
                let closes = w.closes(false);
                if closes != Continue(false) {
                    next = closes.is_continue().then_some(TextState::Over(None));
                    break;
                }
            }
            w.at += 1;
            match *quote {
                Some(_) if *escape => *escape = false,
                Some(_) if byte == b'\\' => *escape = true,
                Some(open) if byte == open => *quote = None,
                Some(_) => {}
                None => {
                    match byte {
                        b'{' | b'[' => *depth += 1,
                        b'}' | b']' => *depth -= 1,
                        b'"' | b'\'' if *token => *quote = Some(byte),
                        _ => {}
                    }
                    *token = matches!(byte, b'{' | b'[' | b',' | b':' | b'\n' | b'\r') || is_blank(byte);
                    next = (*depth == 0).then_some(TextState::First);
                }
            }
        }
        match next {
            Some(state) => self.state = state,
            None if w.at > start => {}
            None if w.last => self.state = TextState::Over(None),
            None => return Break(YamlLexeme::Need),
        }
        if w.at > start { Break(YamlLexeme::Part(&w.text[start..w.at])) } else { Continue(()) }
    }

    /// Reads to the end of the line or of the text.
    fn line<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        let live = self.state == TextState::First && self.gap.is_empty();
        let start = w.at;
        let mut end = start;
        // The state after the line. `None`: more text is needed, or a colon shows that this is not YAML.
        let mut refused = false;
        let next = loop {
            let Some(&byte) = bytes.get(end) else { break w.last.then_some(TextState::Over(None)) };
            match byte {
                b'\n' | b'\r' => break Some(TextState::Indentation(0)),
                b'#' if !self.verbatim => {
                    let blank = if end > start { is_blank(bytes[end - 1]) } else { self.raw.ends_with([' ', '\t']) };
                    if blank {
                        break Some(TextState::Comment);
                    }
                }
                b':' if !self.verbatim => {
                    let separates = separates(bytes, end + 1, w.last);
                    if separates != Scan::NoMatch {
                        refused = separates.is_match();
                        break None;
                    }
                }
                b'<' => match w.ends.close(&w.text[end..], false, w.last) {
                    Scan::Match(()) => break Some(TextState::Over(None)),
                    Scan::Incomplete => break None,
                    Scan::NoMatch => {}
                },
                _ => {}
            }
            end += 1;
        };
        // In a line that is returned at once, whitespace is held back while it may be at the end.
        let run = &w.text[start..end];
        let content = if live { run.trim_end_matches([' ', '\t']) } else { "" };
        if !content.is_empty() {
            if !self.raw.is_empty() {
                return Break(YamlLexeme::Own(std::mem::take(&mut self.raw)));
            }
            w.at += content.len();
            return Break(YamlLexeme::Part(content));
        }
        self.raw.push_str(run);
        w.at = end;
        match next {
            Some(TextState::Indentation(_)) => {
                self.line_break(w)?;
                Continue(())
            }
            Some(TextState::Comment) => self.begin_comment(),
            Some(_) => self.over(None),
            None if refused => {
                self.verbatim = true;
                Continue(())
            }
            None => Break(YamlLexeme::Need),
        }
    }

    /// Consumes a line break, if one is here.
    fn line_break<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w, bool> {
        let found = w.line_break()?;
        if found {
            self.raw.push('\n');
            self.state = TextState::Indentation(0);
        }
        Continue(found)
    }

    fn begin_comment<'w>(&mut self) -> YamlStep<'w> {
        self.commented = true;
        self.state = TextState::Comment;
        Continue(())
    }

    fn comment<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let start = w.at;
        let ended = w.skip_to_line_break();
        self.raw.push_str(&w.text[start..w.at]);
        if ended? {
            return self.over(None);
        }
        if self.line_break(w)? {
            return Continue(());
        }
        if w.last { self.over(None) } else { Break(YamlLexeme::Need) }
    }

    /// Whether a line belongs to the text, judged at its start.
    fn indentation<'w>(&mut self, w: &mut TextWindow<'w, '_>, inner: usize, indent: usize) -> YamlStep<'w> {
        let blanks = w.blanks();
        let indent = indent + memchr::memchr_iter(b' ', blanks.as_bytes()).count();
        self.raw.push_str(blanks);
        self.state = TextState::Indentation(indent);
        let rest = w.rest();
        let Some(&byte) = rest.as_bytes().first() else {
            return if w.last { self.over(Some(indent)) } else { Break(YamlLexeme::Need) };
        };
        if self.line_break(w)? {
            return Continue(());
        }
        let deeper = indent >= inner;
        let ends = w.ends.close(rest, true, w.last);
        let ends = ends.or(|| if deeper { Scan::NoMatch } else { w.ends.open(rest, w.last) });
        let ends = ends.or(|| if indent == 0 { peek::document_mark(rest, w.last) } else { Scan::NoMatch });
        if is_match(ends)? {
            return self.over(Some(indent));
        }
        if byte == b'#' && !self.verbatim {
            return self.begin_comment();
        }
        if !deeper {
            let key = match byte {
                b'"' | b'\'' => peek::quoted_key(rest, w.last, &mut self.seen),
                _ => peek::plain_key(rest, w.last, w.ends, &mut self.seen),
            };
            let own = |(length, _): &(usize, usize)| {
                !self.verbatim || w.ends.is_key(rest[..*length].trim_matches(['"', '\'', ' ', '\t']))
            };
            if is_match(key.filter(own))? {
                return self.over(Some(indent));
            }
        }
        self.verbatim |= !deeper || self.commented;
        self.state = TextState::Line;
        Continue(())
    }

    /// Ends the text and returns the rest of it.
    fn over<'w>(&mut self, line: Option<usize>) -> YamlStep<'w> {
        self.state = TextState::Over(line);
        let raw = std::mem::take(&mut self.raw);
        let lines = raw.split_once('\n').is_some_and(|(_, rest)| !rest.trim_matches([' ', '\t', '\n']).is_empty());
        let live = self.gap.is_empty();
        // The indentation of the next line does not belong to the text.
        let kept = raw.trim_end_matches([' ', '\t']);
        let out = match (self.verbatim, lines) {
            (true, true) if line.is_some() => format!("{}{kept}", self.gap),
            (true, true) => format!("{}{raw}", self.gap),
            (true, false) if live => String::new(),
            (true, false) => raw.trim_matches([' ', '\t', '\n']).to_owned(),
            (false, _) => fold(&raw, live),
        };
        if out.is_empty() { Continue(()) } else { Break(YamlLexeme::Own(out)) }
    }
}

/// The lines of a plain text, folded as in YAML. `continued`: the beginning of the first line was returned already.
fn fold(raw: &str, continued: bool) -> String {
    let mut out = String::new();
    let mut breaks = 0;
    for (at, line) in raw.split('\n').enumerate() {
        let line = match peek::comment(line) {
            Some(comment) => &line[..comment],
            None => line,
        };
        let line = line.trim_matches([' ', '\t']);
        if at > 0 {
            breaks += 1;
        }
        if line.is_empty() {
            continue;
        }
        if continued || !out.is_empty() {
            match breaks {
                0 => {}
                1 => out.push(' '),
                _ => out.extend(std::iter::repeat_n('\n', breaks - 1)),
            }
        }
        breaks = 0;
        out.push_str(line);
    }
    out
}
