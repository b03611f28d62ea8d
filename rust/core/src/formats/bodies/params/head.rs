//! The attributes of a tag, as arguments. A quoted value is read to its closing quote, however long it is and whatever is wrong around it.

use std::mem::take;

use super::typing::write_text;
use super::{Params, ParamsState};
use crate::arguments::{Flow, Input, Progress};
use crate::error::{ErrorKind, Repair};
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Closers, ws_run};
use crate::syntax::tags::{Attribute, CallTag, OpenerAttributes, attribute, is_name};
use crate::syntax::xml::decode;

#[derive(Debug, Default)]
pub(super) struct FunctionAttributes {
    /// The tag is a parameter's, and has failed: its value follows.
    parameter: bool,
    /// Bytes that were already scanned.
    looked: usize,
    /// The attribute that names the tool was read.
    named: bool,
    name: Option<String>,
    pairs: Vec<(String, String)>,
    /// Some were arguments.
    pub given: bool,
    /// The quotes of a tag that has failed, and whether a slash was its last character.
    quotes: Alternation,
    slash: bool,
}

impl FunctionAttributes {
    pub(super) fn of_parameter() -> Self {
        FunctionAttributes { parameter: true, ..FunctionAttributes::default() }
    }
}

fn malformed(what: &str) -> Flow {
    Err((ErrorKind::MalformedCall, what.into()).into())
}

impl Params {
    /// Before an attribute, or before the end of the tag.
    pub(super) fn attribute(&mut self, input: &mut Input<'_>) -> Flow {
        if self.failed {
            return self.rest_of_tag(input);
        }
        let start = input.at;
        input.at = ws_run(input.window, input.at);
        if input.at > start {
            self.head.quotes = Alternation::START;
        }
        let rest = input.rest();
        match attribute(rest, 0, self.head.looked) {
            Attribute::Need(looked) => {
                self.head.looked = looked.unwrap_or(0);
                Err(Progress::Incomplete)
            }
            Attribute::Pair { key, value, end } => {
                let quoted = value.end < end;
                self.add(&rest[key], decode(&rest[value]).into_owned());
                input.at += end;
                self.head.quotes = if quoted { Alternation::CLOSED } else { Alternation::START };
                self.head.looked = 0;
                Ok(())
            }
            Attribute::End { end, empty } => {
                input.at += end;
                self.head_ends(empty)
            }
            Attribute::Junk(_) => malformed("An attribute must be written as key=\"value\"."),
        }
    }

    /// In a tag that has failed: its end is searched for, outside of quotes.
    fn rest_of_tag(&mut self, input: &mut Input<'_>) -> Flow {
        let FunctionAttributes { quotes, slash, .. } = &mut self.head;
        while let Some(&byte) = input.window.as_bytes().get(input.at) {
            input.at += 1;
            let outside = quotes.open().is_none();
            if outside && byte == b'>' {
                let empty = *slash;
                return self.head_ends(empty);
            }
            *slash = outside && byte == b'/';
            quotes.step(byte);
        }
        Err(Progress::Incomplete)
    }

    fn add(&mut self, key: &str, value: String) {
        let names =
            self.opened.attributes == OpenerAttributes::Named && !self.head.named && key.eq_ignore_ascii_case("name");
        if !names {
            self.head.pairs.push((key.to_owned(), value));
            return;
        }
        self.head.named = true;
        if !self.named {
            self.head.name = Some(value);
        }
    }

    fn head_ends(&mut self, empty: bool) -> Flow {
        self.head.looked = 0;
        if self.head.parameter {
            return self.to(if empty { ParamsState::Between } else { ParamsState::Value });
        }
        if self.opened.attributes == OpenerAttributes::OfBlock {
            self.opened.attributes = OpenerAttributes::None;
            self.state = ParamsState::Opener;
            return if self.failed { Ok(()) } else { malformed("The tag around calls must not have attributes.") };
        }
        self.opened.empty = empty;
        self.state = ParamsState::Named;
        if self.failed || self.named {
            return Ok(());
        }
        match self.head.name.take().filter(|name| is_name(name)) {
            Some(name) => {
                self.named = true;
                Err(Progress::ToolName(name.into()))
            }
            None => {
                self.state = ParamsState::Alone;
                malformed("The tag of a call must have the tool's name.")
            }
        }
    }

    /// The attributes become arguments.
    pub(super) fn arguments(&mut self, input: &mut Input<'_>) -> Flow {
        self.state = ParamsState::Headed;
        if self.failed {
            return Ok(());
        }
        self.repair(input, Repair::TagStyle)?;
        let (cx, row) = (input.cx, self.opened.row);
        for (key, value) in take(&mut self.head.pairs) {
            self.head.given = true;
            let slot = self.fields.open(&cx, input.report, &key, false)?;
            slot.write(&cx, input.report, |report, at| write_text(&cx, report, row.python, at, &value))?;
        }
        Ok(())
    }

    /// After the tag. If nothing follows that can continue a call, the tag is a call that is not closed.
    pub(super) fn headed(&mut self, input: &mut Input<'_>) -> Flow {
        if self.opened.empty {
            return self.to(ParamsState::Opened);
        }
        let cx = input.cx;
        let at = ws_run(input.window, input.at + self.head.looked);
        self.head.looked = at - input.at;
        let (rest, tag) = (&input.window[at..], self.opened.tag);
        let declared = |name: &str| cx.schema.declares(cx.schema.root, name);
        let follows = match self.opened.foreign {
            true => tag.closes(rest, cx.tool, input.last).map(|_| ()),
            false => self.opened.row.follows(rest, input.last, (tag, cx.tool), &declared),
        };
        if follows.decided()?.is_some() {
            return self.to(ParamsState::Opened);
        }
        let name = match tag {
            _ if self.opened.wrapped => self.opened.row.block,
            CallTag::Word(word) => word,
            CallTag::Own => cx.tool,
            CallTag::Block => self.opened.row.block,
        };
        self.state = ParamsState::Recovering(Recovery::TokenStart, Closers::Tag(name.to_owned()));
        if self.failed { Ok(()) } else { malformed("A call with attributes has no other content.") }
    }
}
