//! Nodes in block style and in flow collections: how one begins, and what may follow it.

use std::ops::ControlFlow::{Break, Continue};

use super::lexeme::YamlLexeme;
use super::lexer::{Mode, YamlLexer};
use super::peek;
use super::plain::PlainScalar;
use super::quoted::QuotedScalar;
use super::text::TextScalar;
use super::window::{TextWindow, YamlStep, is_blank, is_flow_mark, is_line_break, is_match, separates};
use crate::syntax::scan::Scan;

const ONE_DOCUMENT: &str = "one document only: leave out --- and ...";
const NO_DIRECTIVES: &str = "directives (%) are not supported";
const NO_TABS: &str = "a tab cannot indent a line: use spaces";
const NO_PROPERTIES: &str =
    "anchors (&), aliases (*) and tags (!) are not supported: put text that starts like that into double quotes";
const RESERVED: &str = "plain text cannot start like that: put it into double quotes";
const NO_KEY: &str = "a key is missing before the colon";
const NO_COMPLEX_KEY: &str = "a key must be plain or quoted text: ? is not supported";
const INLINE_DASH: &str = "a list must start on its own line";
const NO_ESCAPE: &str = "a backslash in a key must be written as \\\\";
pub(super) const TEXT_AFTER: &str = "there is text after the value";
const BAD_HEAD: &str = "only -, + and a digit may follow | and >: put text that begins like that into double quotes";

const NEW_LINE: Mode = Mode::Line { indent: 0, tab: false };
/// Directly after a bracket, a comma or a colon.
const NEXT: Mode = Mode::Flow { blank: false, adjacent: false, line: false };

impl YamlLexer {
    pub(super) fn indentation<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let Mode::Line { indent, tab } = &mut self.mode else { return Continue(()) };
        let byte = loop {
            match w.byte()? {
                b' ' => *indent += usize::from(!*tab),
                b'\t' => *tab = true,
                b'\n' | b'\r' => {
                    w.line_break()?;
                    return self.go(NEW_LINE);
                }
                byte => break byte,
            }
            w.at += 1;
        };
        let (indent, tab) = (*indent, *tab);
        w.close(true)?;
        if indent <= self.base && is_match(w.ends.open(w.rest(), w.last))? {
            return Break(YamlLexeme::Open);
        }
        if indent == 0 && !tab && is_match(peek::document_mark(w.rest(), w.last))? {
            if std::mem::replace(&mut self.begun, true) || byte == b'.' {
                return self.out(YamlLexeme::Bad(ONE_DOCUMENT), Mode::Comment);
            }
            w.at += 3;
            return self.go(Mode::After { blank: false });
        }
        let node = Mode::Node { inline: false };
        match byte {
            b'#' => self.go(Mode::Comment),
            b'%' if indent == 0 => self.out(YamlLexeme::Bad(NO_DIRECTIVES), Mode::Comment),
            _ if tab => self.out(YamlLexeme::Bad(NO_TABS), node),
            _ => self.go(node),
        }
    }

    pub(super) fn node<'w>(&mut self, w: &mut TextWindow<'w, '_>, inline: bool) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        let byte = w.byte()?;
        match byte {
            b' ' | b'\t' => {
                let run = w.blanks();
                if self.text {
                    self.gap.push_str(run);
                }
                return Continue(());
            }
            b'\n' | b'\r' => {
                w.line_break()?;
                self.text = false;
                return self.go(NEW_LINE);
            }
            b'#' => {
                self.text = false;
                return self.go(Mode::Comment);
            }
            b'<' => w.close(false)?,
            _ => {}
        }
        let rest = w.rest();
        let wrong = match byte {
            b'"' | b'\'' => {
                match if inline { Scan::NoMatch } else { peek::quoted_key(rest, w.last, &mut self.seen) } {
                    Scan::Incomplete => return Break(YamlLexeme::Need),
                    Scan::Match((length, end)) => {
                        let text = QuotedScalar::whole(&rest[..=length]);
                        w.at += end;
                        let wrong = text.is_none();
                        let key = self.key(text.unwrap_or_default(), true);
                        return if wrong { Break(YamlLexeme::Bad(NO_ESCAPE)) } else { key };
                    }
                    Scan::NoMatch => {}
                }
                w.at += 1;
                return self.start(true, Mode::Quoted(QuotedScalar::new(byte)));
            }
            b'[' | b'{' if !self.text => {
                w.at += 1;
                self.begun = true;
                self.flow = 1;
                return self.out(YamlLexeme::Punct(byte), Mode::Flow { blank: true, adjacent: false, line: false });
            }
            b'|' | b'>' => match peek::block_head(rest, w.last, &mut self.seen) {
                Scan::Incomplete => return Break(YamlLexeme::Need),
                Scan::Match((block, length)) => {
                    w.at += length;
                    return self.start(true, Mode::Block(block));
                }
                Scan::NoMatch => Some(BAD_HEAD),
            },
            b'&' | b'*' | b'!' => {
                if !self.text || is_match(peek::property(rest, w.last, &mut self.seen))? {
                    return self.out(YamlLexeme::Bad(NO_PROPERTIES), Mode::Property { inline });
                }
                Some(NO_PROPERTIES)
            }
            b'[' | b'{' | b']' | b'}' | b',' | b'%' | b'@' | b'`' => Some(RESERVED),
            b'-' | b'?' | b':' if is_match(separates(bytes, w.at + 1, w.last))? => match byte {
                b'-' if inline => Some(INLINE_DASH),
                b'-' => {
                    w.at += 1;
                    self.begun = true;
                    self.inner = self.column + 1;
                    return Break(YamlLexeme::Dash);
                }
                b'?' => Some(NO_COMPLEX_KEY),
                _ => Some(NO_KEY),
            },
            _ => None,
        };
        if self.text {
            let text = TextScalar::new(&self.gap, wrong.is_some());
            return self.start(false, Mode::Text(text));
        }
        if let Some(wrong) = wrong {
            return self.out(YamlLexeme::Bad(wrong), Mode::Plain(PlainScalar::default()));
        }
        match if inline { Scan::NoMatch } else { peek::plain_key(rest, w.last, w.ends, &mut self.seen) } {
            Scan::Incomplete => Break(YamlLexeme::Need),
            Scan::Match((length, end)) => {
                w.at += end;
                self.key(rest[..length].trim_end_matches([' ', '\t']).to_owned(), false)
            }
            Scan::NoMatch => self.start(false, Mode::Plain(PlainScalar::default())),
        }
    }

    fn key<'w>(&mut self, text: String, quoted: bool) -> YamlStep<'w> {
        self.begun = true;
        self.inner = self.column + 1;
        self.text = false;
        self.gap.clear();
        self.out(YamlLexeme::Key { text, quoted }, Mode::Node { inline: true })
    }

    /// The rest of an anchor, alias or tag, which was reported already.
    pub(super) fn property<'w>(&mut self, w: &mut TextWindow<'w, '_>, inline: bool) -> YamlStep<'w> {
        loop {
            match w.byte()? {
                b'<' => w.close(false)?,
                byte if is_blank(byte) || is_line_break(byte) => break,
                byte if self.flow > 0 && is_flow_mark(byte) => break,
                _ => {}
            }
            w.at += 1;
        }
        self.go(match self.flow {
            0 => Mode::Node { inline },
            _ => Mode::Flow { blank: false, adjacent: false, line: false },
        })
    }

    pub(super) fn after<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let Mode::After { blank } = &mut self.mode else { return Continue(()) };
        *blank |= !w.blanks().is_empty();
        match w.byte()? {
            b'\n' | b'\r' => {
                w.line_break()?;
                self.go(NEW_LINE)
            }
            b'#' if *blank => self.go(Mode::Comment),
            _ => {
                w.close(false)?;
                self.out(YamlLexeme::Bad(TEXT_AFTER), Mode::Plain(PlainScalar::default()))
            }
        }
    }

    /// Up to the end of the line.
    pub(super) fn comment<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        if w.skip_to_line_break()? {
            return Break(YamlLexeme::Close);
        }
        w.byte()?;
        w.line_break()?;
        self.go(match self.flow {
            0 => NEW_LINE,
            _ => Mode::Flow { blank: true, adjacent: false, line: true },
        })
    }

    pub(super) fn in_flow<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let Mode::Flow { blank, adjacent, line } = &mut self.mode else { return Continue(()) };
        let start = w.at;
        let byte = loop {
            *blank |= !w.blanks().is_empty();
            let byte = w.byte()?;
            if !w.line_break()? {
                break byte;
            }
            (*blank, *line) = (true, true);
        };
        // The place of the next lexeme is counted from here.
        if w.at > start {
            return Continue(());
        }
        let (blank, adjacent) = (*blank, *adjacent);
        w.close(*line)?;
        let wrong = match byte {
            b'#' if blank => return self.go(Mode::Comment),
            b'[' | b'{' | b',' => {
                w.at += 1;
                self.flow += usize::from(byte != b',');
                return self.out(YamlLexeme::Punct(byte), NEXT);
            }
            b']' | b'}' => {
                w.at += 1;
                self.flow -= 1;
                return self.out(YamlLexeme::Punct(byte), self.after_node());
            }
            b'"' | b'\'' => {
                w.at += 1;
                return self.start(true, Mode::Quoted(QuotedScalar::new(byte)));
            }
            b':' | b'-' | b'?' => {
                let marks =
                    (byte == b':' && adjacent) || is_match(peek::ends_key(w.text.as_bytes(), w.at, w.last, true))?;
                if marks && byte == b':' {
                    w.at += 1;
                    return self.out(YamlLexeme::Punct(byte), NEXT);
                }
                marks.then_some(RESERVED)
            }
            b'&' | b'*' | b'!' => {
                return self.out(YamlLexeme::Bad(NO_PROPERTIES), Mode::Property { inline: true });
            }
            b'|' | b'>' | b'%' | b'@' | b'`' | b'#' => Some(RESERVED),
            _ => None,
        };
        let plain = Mode::Plain(PlainScalar::default());
        match wrong {
            Some(wrong) => self.out(YamlLexeme::Bad(wrong), plain),
            None => self.start(false, plain),
        }
    }
}
