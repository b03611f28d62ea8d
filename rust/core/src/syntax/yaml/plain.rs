//! Plain scalars, of one line or of several that are folded.

use std::ops::ControlFlow::{Break, Continue};

use super::lexeme::YamlLexeme;
use super::peek::{document_mark, ends_key};
use super::window::{Fold, TextWindow, YamlStep, is_blank, is_flow_mark, is_match};
use crate::syntax::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct PlainScalar {
    fold: Fold,
    /// In the indentation of a line: its spaces, and whether it contains a tab.
    line: Option<(usize, bool)>,
    /// The next colon was reported as an error already.
    reported: bool,
    /// Where it ended.
    pub(super) stopped: Stopped,
}

/// Where a plain scalar ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stopped {
    /// In the middle of a line.
    #[default]
    Here,
    /// At the first character of a line.
    Line { indent: usize, tab: bool },
    /// At the `#` of a comment.
    Comment,
}

const NESTED_KEY: &str = "plain text contains a colon and a space: put it into double quotes";

impl PlainScalar {
    pub(super) fn next<'w>(&mut self, w: &mut TextWindow<'w, '_>, inner: usize, flow: bool) -> YamlStep<'w> {
        loop {
            if self.line.is_some() {
                self.indentation(w, inner, flow)?;
            }
            self.content(w, flow)?;
        }
    }

    fn stop<'w>(&mut self, stopped: Stopped) -> YamlStep<'w> {
        self.stopped = stopped;
        Break(YamlLexeme::Stop)
    }

    fn indentation<'w>(&mut self, w: &mut TextWindow<'w, '_>, inner: usize, flow: bool) -> YamlStep<'w> {
        let Some((indent, tab)) = &mut self.line else { return Continue(()) };
        let byte = loop {
            match w.text.as_bytes().get(w.at) {
                None if !w.last => return Break(YamlLexeme::Need),
                Some(b' ') => *indent += usize::from(!*tab),
                Some(b'\t') => *tab = true,
                Some(b'\n' | b'\r') => {
                    w.line_break()?;
                    (*indent, *tab) = (0, false);
                    self.fold.line_break();
                    continue;
                }
                byte => break byte,
            }
            w.at += 1;
        };
        let (indent, tab) = (*indent, *tab);
        let line = Stopped::Line { indent, tab };
        let Some(&byte) = byte else { return self.stop(line) };
        let rest = w.rest();
        let document = || if indent == 0 { document_mark(rest, w.last) } else { Scan::NoMatch };
        if is_match(w.ends.close(rest, true, w.last).or(document))? {
            return self.stop(line);
        }
        if byte == b'#' {
            return self.stop(Stopped::Comment);
        }
        if !flow && indent < inner {
            return self.stop(line);
        }
        self.line = None;
        Continue(())
    }

    fn content<'w>(&mut self, w: &mut TextWindow<'w, '_>, flow: bool) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        // What ends a run of content.
        enum RunEnd {
            Line,
            Colon,
            Stop(Stopped),
            Need,
        }
        let start = w.at;
        let mut end = start;
        let found = loop {
            let Some(&byte) = bytes.get(end) else {
                break if w.last { RunEnd::Stop(Stopped::Here) } else { RunEnd::Need };
            };
            match byte {
                b'\n' | b'\r' => break RunEnd::Line,
                b'#' if end > start && is_blank(bytes[end - 1]) || end == start && !self.fold.blanks.is_empty() => {
                    break RunEnd::Stop(Stopped::Comment);
                }
                b':' => match ends_key(bytes, end, w.last, flow) {
                    Scan::Incomplete => break RunEnd::Need,
                    Scan::Match(()) if end == start && self.reported => {}
                    Scan::Match(()) => break if flow { RunEnd::Stop(Stopped::Here) } else { RunEnd::Colon },
                    Scan::NoMatch => {}
                },
                b'<' => match w.ends.close(&w.text[end..], false, w.last) {
                    Scan::Match(()) => break RunEnd::Stop(Stopped::Here),
                    Scan::Incomplete => break RunEnd::Need,
                    Scan::NoMatch => {}
                },
                _ if flow && is_flow_mark(byte) => break RunEnd::Stop(Stopped::Here),
                _ => {}
            }
            end += 1;
        };
        let content = w.text[start..end].trim_end_matches([' ', '\t']);
        if !content.is_empty() {
            self.fold.pending()?;
            self.reported = false;
            w.at += content.len();
            return Break(YamlLexeme::Part(content));
        }
        self.fold.blanks.push_str(&w.text[w.at..end]);
        w.at = end;
        match found {
            RunEnd::Need => Break(YamlLexeme::Need),
            RunEnd::Stop(stopped) => self.stop(stopped),
            RunEnd::Colon => {
                self.reported = true;
                Break(YamlLexeme::Bad(NESTED_KEY))
            }
            RunEnd::Line => {
                w.line_break()?;
                self.fold.line_break();
                self.line = Some((0, false));
                Continue(())
            }
        }
    }
}
