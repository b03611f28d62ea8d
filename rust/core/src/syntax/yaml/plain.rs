//! Plain scalars, of one line or of several that are folded.

use super::bytes::{LineBreak, is_blank, is_flow_mark, line_break};
use super::lexeme::Lexeme;
use super::peek::{document_mark, ends_key};
use super::window::Window;
use crate::syntax::scan::Scan;

#[derive(Debug, Default)]
pub struct Plain {
    /// Blanks that are content unless the line ends.
    blanks: String,
    /// Line breaks that are not passed on yet, less the first.
    fold: Option<usize>,
    /// In the indentation of a line: its blanks, and whether a tab was among them.
    line: Option<(usize, bool)>,
    /// It was told that the colon that is next is wrong.
    told: bool,
}

/// Where a plain scalar ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// At a line's first character.
    Line {
        indent: usize,
        tab: bool,
    },
    /// At the `#` of a comment.
    Comment,
    Here {
        line: bool,
    },
}

const NESTED_KEY: &str = "plain text contains a colon and a space: put it into double quotes";

impl Plain {
    pub(super) fn next<'w>(
        &mut self,
        w: &mut Window<'w, '_>,
        parent: isize,
        flow: bool,
    ) -> (Lexeme<'w>, Option<Stopped>) {
        let bytes = w.text.as_bytes();
        let stop = |stopped: Stopped| (Lexeme::Stop, Some(stopped));
        const NEED: (Lexeme<'_>, Option<Stopped>) = (Lexeme::Need, None);
        loop {
            if let Some((indent, tab)) = &mut self.line {
                let Some(&byte) = bytes.get(w.at) else {
                    return if w.last { stop(Stopped::Here { line: true }) } else { NEED };
                };
                match byte {
                    b' ' => *indent += usize::from(!*tab),
                    b'\t' => *tab = true,
                    b'\n' | b'\r' => match line_break(bytes, w.at, w.last) {
                        LineBreak::Yes(length) => {
                            w.at += length - 1;
                            (*indent, *tab) = (0, false);
                            self.fold = Some(self.fold.map_or(0, |breaks| breaks + 1));
                        }
                        _ => return NEED,
                    },
                    _ => {
                        let (indent, tab) = (*indent, *tab);
                        let here = if flow { Stopped::Here { line: true } } else { Stopped::Line { indent, tab } };
                        let rest = w.rest();
                        let document = if indent == 0 { document_mark(rest, w.last) } else { Scan::NoMatch };
                        match (w.ends.close(rest, true, w.last), document) {
                            (Scan::Match(()), _) | (_, Scan::Match(())) => return stop(here),
                            (Scan::Incomplete, _) | (_, Scan::Incomplete) => return NEED,
                            (Scan::NoMatch, Scan::NoMatch) => {}
                        }
                        if byte == b'#' {
                            return stop(Stopped::Comment);
                        }
                        if !flow && indent as isize <= parent {
                            return stop(here);
                        }
                        self.line = None;
                        continue;
                    }
                }
                w.at += 1;
                continue;
            }
            // A run of content, and what ends it.
            enum End {
                Window,
                Line,
                Comment,
                Colon,
                Close,
                Punct,
                Need,
            }
            let start = w.at;
            let mut end = start;
            let found = loop {
                let Some(&byte) = bytes.get(end) else { break End::Window };
                match byte {
                    b'\n' | b'\r' => break End::Line,
                    b'#' if end > start && is_blank(bytes[end - 1]) || end == start && !self.blanks.is_empty() => {
                        break End::Comment;
                    }
                    b':' => match ends_key(bytes, end, w.last, flow) {
                        None => break End::Need,
                        Some(true) if end > start || !self.told => break End::Colon,
                        Some(_) => {}
                    },
                    b'<' => match w.ends.close(&w.text[end..], false, w.last) {
                        Scan::Match(()) => break End::Close,
                        Scan::Incomplete => break End::Need,
                        Scan::NoMatch => {}
                    },
                    _ if flow && is_flow_mark(byte) => break End::Punct,
                    _ => {}
                }
                end += 1;
            };
            let content = w.text[start..end].trim_end_matches([' ', '\t']);
            if !content.is_empty() {
                if let Some(breaks) = self.fold.take() {
                    return match breaks {
                        0 => (Lexeme::Char(' '), None),
                        _ => (Lexeme::Own("\n".repeat(breaks)), None),
                    };
                }
                if !self.blanks.is_empty() {
                    return (Lexeme::Own(std::mem::take(&mut self.blanks)), None);
                }
                self.told = false;
                w.at += content.len();
                return (Lexeme::Part(content), None);
            }
            self.blanks.push_str(&w.text[w.at..end]);
            w.at = end;
            match found {
                End::Window if w.last => return stop(Stopped::Here { line: false }),
                End::Window | End::Need => return NEED,
                End::Line => {
                    let LineBreak::Yes(length) = line_break(bytes, end, w.last) else { return NEED };
                    w.at += length;
                    self.blanks.clear();
                    self.fold = Some(0);
                    self.line = Some((0, false));
                }
                End::Comment => return stop(Stopped::Comment),
                End::Colon if !flow => {
                    self.told = true;
                    return (Lexeme::Bad(NESTED_KEY), None);
                }
                End::Colon | End::Close | End::Punct => return stop(Stopped::Here { line: false }),
            }
        }
    }
}
