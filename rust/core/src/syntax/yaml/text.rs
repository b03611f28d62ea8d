//! The plain value of a text field: as YAML has it where it is YAML, to the letter where it is not.
//!
//! The first line goes out as it comes, if one blank stands in front of it. Whether the lines behind it are folded is known at
//! the end only: a line that is no deeper than the key, and no key, says that the model meant them as they stand.

use super::bytes::{LineBreak, is_blank, line_break, separates};
use super::lexeme::{Lax, Lexeme};
use super::peek::{self, Ahead};
use super::window::Window;
use crate::syntax::scan::Scan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    /// In brackets, where a quote keeps CLOSE from counting. `token`: a quote may open here.
    Brackets {
        depth: usize,
        quote: Option<u8>,
        escape: bool,
        token: bool,
    },
    /// In the first line.
    First,
    /// In the indentation of a line behind it.
    Indentation(usize),
    /// In such a line.
    Line,
    Comment,
    /// The text is complete; in front of a line's first character, if so, with its indentation.
    Over(Option<usize>),
}

#[derive(Debug)]
pub struct Text {
    /// Blanks in front, less the first.
    gap: String,
    /// Consumed, and not passed on yet.
    raw: String,
    place: Place,
    /// To the letter; `told`: that was said.
    verbatim: bool,
    told: bool,
    /// There was a comment: YAML's text ended there.
    commented: bool,
    /// Bytes that were looked at for a key.
    seen: usize,
}

impl Text {
    /// `verbatim`: no plain YAML text begins so.
    pub(super) fn new(gap: &str, verbatim: bool) -> Self {
        Text {
            gap: gap.get(1..).unwrap_or("").to_owned(),
            raw: String::new(),
            place: Place::Start,
            verbatim,
            told: false,
            commented: false,
            seen: 0,
        }
    }

    /// Is all of the text content of a first line that goes out as it comes, and itself in JSON?
    pub(super) fn is_plain(&self, text: &str) -> bool {
        let special = |byte: u8| matches!(byte, b':' | b'#' | b'<') || !crate::syntax::json::is_plain(byte);
        self.place == Place::First
            && self.gap.is_empty()
            && self.raw.is_empty()
            && !text.ends_with(' ')
            && !text.bytes().any(special)
    }

    /// With `Stop`, the indentation that was read of the line that is next.
    pub(super) fn next<'w>(&mut self, w: &mut Window<'w, '_>, parent: isize) -> (Lexeme<'w>, Option<usize>) {
        loop {
            if self.verbatim && !self.told {
                self.told = true;
                return (Lexeme::Lax(Lax::Verbatim), None);
            }
            let lexeme = match self.place {
                Place::Start => self.start(w),
                Place::Brackets { .. } => self.brackets(w),
                Place::First | Place::Line => self.line(w),
                Place::Indentation(indent) => self.indentation(w, parent, indent),
                Place::Comment => self.comment(w),
                Place::Over(line) => return (Lexeme::Stop, line),
            };
            if let Some(lexeme) = lexeme {
                return (lexeme, None);
            }
        }
    }

    /// JSON for a text is that text.
    fn start<'w>(&mut self, w: &Window<'w, '_>) -> Option<Lexeme<'w>> {
        let bytes = w.text.as_bytes();
        let json = match (bytes[w.at], bytes.get(w.at + 1)) {
            (b'{' | b'[', None) if !w.last => return Some(Lexeme::Need),
            (b'{', Some(b'"')) | (b'[', Some(b'"' | b'{')) => true,
            _ => false,
        };
        self.place = if json {
            self.gap.clear();
            Place::Brackets { depth: 0, quote: None, escape: false, token: true }
        } else {
            Place::First
        };
        None
    }

    fn brackets<'w>(&mut self, w: &mut Window<'w, '_>) -> Option<Lexeme<'w>> {
        let Place::Brackets { depth, quote, escape, token } = &mut self.place else { return None };
        let bytes = w.text.as_bytes();
        let start = w.at;
        let mut over = false;
        let mut need = true;
        while let Some(&byte) = bytes.get(w.at) {
            if quote.is_none() && byte == b'<' {
                match w.closes(false) {
                    Scan::Match(()) => {
                        (over, need) = (true, false);
                        break;
                    }
                    Scan::Incomplete => break,
                    Scan::NoMatch => {}
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
                    if *depth == 0 {
                        need = false;
                        break;
                    }
                }
            }
        }
        if !need {
            self.place = if over { Place::Over(None) } else { Place::First };
        } else if w.at == start {
            if !w.last {
                return Some(Lexeme::Need);
            }
            self.place = Place::Over(None);
        }
        (w.at > start).then(|| Lexeme::Part(&w.text[start..w.at]))
    }

    /// To the end of the line, or of the text.
    fn line<'w>(&mut self, w: &mut Window<'w, '_>) -> Option<Lexeme<'w>> {
        let bytes = w.text.as_bytes();
        let first = self.place == Place::First;
        let live = first && self.gap.is_empty();
        let start = w.at;
        let mut end = start;
        let (mut need, mut refused) = (false, false);
        let mut next = None;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'\n' | b'\r' => {
                    next = Some(Place::Indentation(0));
                    break;
                }
                b'#' if !self.verbatim => {
                    let blank = if end > start { is_blank(bytes[end - 1]) } else { self.raw.ends_with([' ', '\t']) };
                    if blank {
                        next = Some(Place::Comment);
                        break;
                    }
                }
                b':' if !self.verbatim => match separates(bytes, end + 1, w.last) {
                    None => {
                        need = true;
                        break;
                    }
                    Some(true) => {
                        refused = true;
                        break;
                    }
                    Some(false) => {}
                },
                b'<' => match w.ends.close(&w.text[end..], false, w.last) {
                    Scan::Match(()) => {
                        next = Some(Place::Over(None));
                        break;
                    }
                    Scan::Incomplete => {
                        need = true;
                        break;
                    }
                    Scan::NoMatch => {}
                },
                _ => {}
            }
            end += 1;
        }
        // In a live line blanks are held while it may end with them.
        let run = &w.text[start..end];
        let content = if live { run.trim_end_matches([' ', '\t']) } else { "" };
        if !content.is_empty() {
            if !self.raw.is_empty() {
                return Some(Lexeme::Own(std::mem::take(&mut self.raw)));
            }
            w.at += content.len();
            return Some(Lexeme::Part(content));
        }
        self.raw.push_str(run);
        w.at = end;
        match next {
            Some(Place::Indentation(_)) => match line_break(bytes, end, w.last) {
                LineBreak::Yes(length) => {
                    w.at += length;
                    self.raw.push('\n');
                    self.place = Place::Indentation(0);
                    None
                }
                _ => Some(Lexeme::Need),
            },
            Some(Place::Comment) => {
                self.commented = true;
                self.place = Place::Comment;
                None
            }
            Some(_) => self.over(None),
            None if need => Some(Lexeme::Need),
            None if refused => {
                self.verbatim = true;
                None
            }
            None if w.last => self.over(None),
            None => Some(Lexeme::Need),
        }
    }

    fn comment<'w>(&mut self, w: &mut Window<'w, '_>) -> Option<Lexeme<'w>> {
        let bytes = w.text.as_bytes();
        let start = w.at;
        loop {
            let found = memchr::memchr3(b'\n', b'\r', b'<', &bytes[w.at..]);
            w.at = found.map_or(bytes.len(), |offset| w.at + offset);
            if bytes.get(w.at) != Some(&b'<') {
                break;
            }
            match w.closes(false) {
                Scan::Match(()) => {
                    self.raw.push_str(&w.text[start..w.at]);
                    return self.over(None);
                }
                Scan::Incomplete => {
                    self.raw.push_str(&w.text[start..w.at]);
                    return Some(Lexeme::Need);
                }
                Scan::NoMatch => w.at += 1,
            }
        }
        self.raw.push_str(&w.text[start..w.at]);
        match line_break(bytes, w.at, w.last) {
            LineBreak::Yes(length) => {
                w.at += length;
                self.raw.push('\n');
                self.place = Place::Indentation(0);
                None
            }
            _ if w.last => self.over(None),
            _ => Some(Lexeme::Need),
        }
    }

    /// At the start of a line: is it still the text's?
    fn indentation<'w>(&mut self, w: &mut Window<'w, '_>, parent: isize, mut indent: usize) -> Option<Lexeme<'w>> {
        let bytes = w.text.as_bytes();
        let start = w.at;
        while let Some(byte) = bytes.get(w.at).filter(|byte| is_blank(**byte)) {
            indent += usize::from(*byte == b' ');
            w.at += 1;
        }
        self.raw.push_str(&w.text[start..w.at]);
        self.place = Place::Indentation(indent);
        let Some(&byte) = bytes.get(w.at) else {
            return if w.last { self.over(Some(indent)) } else { Some(Lexeme::Need) };
        };
        match line_break(bytes, w.at, w.last) {
            LineBreak::Need => return Some(Lexeme::Need),
            LineBreak::Yes(length) => {
                w.at += length;
                self.raw.push('\n');
                self.place = Place::Indentation(0);
                return None;
            }
            LineBreak::No => {}
        }
        let rest = w.rest();
        let deeper = indent as isize > parent;
        let marks = [
            w.ends.close(rest, true, w.last),
            if deeper { Scan::NoMatch } else { w.ends.open(rest, w.last) },
            if indent == 0 { peek::document_mark(rest, w.last) } else { Scan::NoMatch },
        ];
        if marks.contains(&Scan::Match(())) {
            return self.over(Some(indent));
        }
        if marks.contains(&Scan::Incomplete) {
            return Some(Lexeme::Need);
        }
        if byte == b'#' && !self.verbatim {
            self.commented = true;
            self.place = Place::Comment;
            return None;
        }
        if !deeper {
            let ahead = match byte {
                b'"' | b'\'' => peek::quoted_key(rest, w.last, &mut self.seen),
                _ => peek::plain_key(rest, w.last, w.ends, &mut self.seen),
            };
            match ahead {
                Ahead::Need => return Some(Lexeme::Need),
                Ahead::Key { length, .. } => {
                    let word = rest[..length].trim_matches(['"', '\'', ' ', '\t']);
                    if !self.verbatim || w.ends.is_key(word) {
                        return self.over(Some(indent));
                    }
                }
                Ahead::No => {}
            }
        }
        self.verbatim |= !deeper || self.commented;
        self.place = Place::Line;
        None
    }

    /// The text is complete: what is left of it.
    fn over<'w>(&mut self, line: Option<usize>) -> Option<Lexeme<'w>> {
        self.place = Place::Over(line);
        let raw = std::mem::take(&mut self.raw);
        let lines = raw.split_once('\n').is_some_and(|(_, behind)| !behind.trim_matches([' ', '\t', '\n']).is_empty());
        let live = self.gap.is_empty();
        // The indentation of the line that is next is not the text's.
        let kept = raw.trim_end_matches([' ', '\t']);
        let out = match (self.verbatim, lines) {
            (true, true) if line.is_some() => format!("{}{kept}", self.gap),
            (true, true) => format!("{}{raw}", self.gap),
            (true, false) if live => String::new(),
            (true, false) => raw.trim_matches([' ', '\t', '\n']).to_owned(),
            (false, _) => fold(&raw, live),
        };
        (!out.is_empty()).then_some(Lexeme::Own(out))
    }
}

/// The lines of a plain text as YAML folds them. `behind`: the beginning of the first is in front already.
fn fold(raw: &str, behind: bool) -> String {
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
        if behind || !out.is_empty() {
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
