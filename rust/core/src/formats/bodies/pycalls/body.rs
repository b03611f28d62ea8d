//! Reads the calls of a list, or of lines, one after another.

use std::mem::replace;

use super::{CallsOpener, PyCalls, call_name};
use crate::arguments::{Context, Flow, Input, Literals, Progress, Report, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::bodies::json::fence::FENCE;
use crate::formats::bodies::json::{JsonCall, JsonRules};
use crate::formats::body::{Body, recycle};
use crate::limits::HEAD_CHARS;
use crate::syntax::python::PythonLexer;
use crate::syntax::scan::{Delimiters, Scan, first_mark, partial_end, starts, window, ws_run};

#[derive(Debug)]
enum PyCallsState {
    /// At what opens the first call.
    Opener,
    Name,
    /// At the parenthesis after the name.
    Parenthesis,
    Arguments,
    /// In a list of JSON objects.
    Json(Box<dyn Body>),
    /// After a call. `comma`: and after a comma.
    Between {
        comma: bool,
    },
    /// After the last call; so many bytes of whitespace after it were scanned.
    Tail {
        blanks: usize,
    },
    /// After something that is not a call: the end of them all is searched for.
    Lost,
}

#[derive(Debug)]
pub(super) struct PyCallsBody {
    format: PyCalls,
    state: PyCallsState,
    arguments: Literals<PythonLexer>,
    /// The calls are between markers.
    marked: bool,
    /// The calls are in a fence that is not closed yet.
    fenced: bool,
    /// The call has failed: only its end is searched for.
    failed: bool,
}

impl Body for PyCallsBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| self.step(input))
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        self.failed = true;
        steps(|| self.step(input))
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, delimiters: &Delimiters) -> Option<bool> {
        match &mut self.state {
            PyCallsState::Json(list) => list.feed_plain(report, text, delimiters),
            _ => self.arguments.feed_plain(report, text),
        }
    }

    fn next(&mut self) -> Option<Box<dyn Body>> {
        let arguments = self.arguments.next();
        let (mut state, failed) = (PyCallsState::Name, false);
        if let PyCallsState::Json(list) = &mut self.state {
            state = PyCallsState::Json(list.next()?);
        }
        let (format, marked, fenced) = (self.format, self.marked, self.fenced);
        Some(Box::new(PyCallsBody { format, state, arguments, marked, fenced, failed }))
    }

    fn waits(&self) -> bool {
        self.format.list
    }

    fn is_complete(&self) -> bool {
        match &self.state {
            PyCallsState::Tail { .. } => true,
            PyCallsState::Between { .. } => !self.format.list,
            _ => false,
        }
    }

    fn unterminated(&self) -> bool {
        match &self.state {
            PyCallsState::Json(list) => list.unterminated(),
            state => matches!(state, PyCallsState::Arguments),
        }
    }
}

impl PyCallsBody {
    pub(super) fn new(cx: &Context<'_>, format: PyCalls) -> Self {
        let arguments = Literals::new(cx, PythonLexer::default());
        PyCallsBody { format, state: PyCallsState::Opener, arguments, marked: false, fenced: false, failed: false }
    }

    /// Starts over, and keeps the allocations.
    pub(super) fn reset(&mut self, format: PyCalls) {
        (self.format, self.state) = (format, PyCallsState::Opener);
        (self.marked, self.fenced, self.failed) = (false, false, false);
    }

    fn to(&mut self, state: PyCallsState) -> Flow {
        self.state = state;
        Ok(())
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match &mut self.state {
            PyCallsState::Opener => match self.format.opener(input.rest(), false) {
                Scan::Match(open) => self.opened(input, open),
                Scan::Incomplete => Err(Progress::Incomplete),
                Scan::NoMatch => self.lost("a list of calls is expected"),
            },
            PyCallsState::Name => self.name(input),
            PyCallsState::Parenthesis => {
                if self.failed {
                    input.next_byte()?;
                    input.at += 1;
                    *self.arguments.lexer() = PythonLexer::lost(1);
                } else {
                    // Now that the tool is known, its arguments have types.
                    self.arguments.renew(&input.cx, PythonLexer::in_list(self.format.list));
                }
                self.to(PyCallsState::Arguments)
            }
            PyCallsState::Arguments => {
                if !self.failed {
                    self.arguments.feed(input)?;
                } else if !self.arguments.lexer().skip(input.window, &mut input.at) {
                    return Err(Progress::Incomplete);
                }
                self.to(PyCallsState::Between { comma: false })
            }
            PyCallsState::Json(list) => match if self.failed { list.recover(input) } else { list.feed(input) } {
                Progress::CallEnd => self.to(PyCallsState::Tail { blanks: 0 }),
                step => Err(step),
            },
            &mut PyCallsState::Between { comma } => self.between(input, comma),
            &mut PyCallsState::Tail { blanks } => self.tail(input, blanks),
            PyCallsState::Lost => self.find_end(input),
        }
    }

    /// At the opener of the calls.
    fn opened(&mut self, input: &mut Input<'_>, open: CallsOpener) -> Flow {
        (self.marked, self.fenced) = (open.marked, open.fenced);
        let odd = open.list != replace(&mut self.format.list, open.list);
        let first = ws_run(input.rest(), open.end);
        let json = open.marked && *input.rest().as_bytes().get(first).ok_or(Progress::Incomplete)? == b'{';
        if odd || (json && !(open.list && self.format.json.is_some())) {
            self.repair(input, Repair::CallStyle)?;
        }
        if open.fenced {
            self.repair(input, Repair::JsonWrapper)?;
        }
        if json {
            // A list begins with its bracket.
            input.at += if open.list { open.end - 1 } else { first };
            let rules = self.format.json.unwrap_or(JsonRules::USUAL);
            let list = |list: &mut JsonCall| list.reset_native(&input.cx, rules);
            return self.to(PyCallsState::Json(recycle(Box::default(), JsonCall::default, list)));
        }
        input.at += open.end;
        self.to(PyCallsState::Name)
    }

    fn repair(&self, input: &mut Input<'_>, repair: Repair) -> Flow {
        if !self.failed {
            input.repair(repair, "Write calls as name(key=value, …), in the usual form.")?;
        }
        Ok(())
    }

    fn name(&mut self, input: &mut Input<'_>) -> Flow {
        input.at = ws_run(input.window, input.at);
        let (head, last) = window(input.rest(), HEAD_CHARS, false);
        let Some((name, length)) = call_name(head, last).decided()? else {
            return self.lost("the name of a tool and its arguments in parentheses are expected");
        };
        input.at += length;
        self.state = PyCallsState::Parenthesis;
        if self.failed { Ok(()) } else { Err(Progress::ToolName(name.into())) }
    }

    fn between(&mut self, input: &mut Input<'_>, comma: bool) -> Flow {
        if !self.format.list {
            return self.between_lines(input);
        }
        match input.next_byte()? {
            b',' if !comma => {
                input.at += 1;
                self.to(PyCallsState::Between { comma: true })
            }
            b']' => {
                input.at += 1;
                self.to(PyCallsState::Tail { blanks: 0 })
            }
            _ if self.marked && starts(input.rest(), self.format.close, false).decided()?.is_some() => {
                self.repair(input, Repair::UnbalancedBrackets)?;
                self.to(PyCallsState::Tail { blanks: 0 })
            }
            _ if comma => self.next_call(),
            _ => self.lost("a comma or ] is expected after a call"),
        }
    }

    fn between_lines(&mut self, input: &mut Input<'_>) -> Flow {
        let close = self.format.close;
        input.at = ws_run(input.window, input.at);
        // The marker may be cut off.
        if input.last && close.starts_with(input.rest()) {
            input.at = input.window.len();
            return Err(Progress::CallEnd);
        }
        let fence = if self.fenced { FENCE } else { close };
        match first_mark(input.rest(), &[close, fence], false).decided()? {
            Some(_) => self.to(PyCallsState::Tail { blanks: 0 }),
            None => self.next_call(),
        }
    }

    /// Another call begins here.
    fn next_call(&mut self) -> Flow {
        self.state = PyCallsState::Name;
        Err(Progress::NextCall)
    }

    /// The closing marker belongs to the last call if it is there.
    fn tail(&mut self, input: &mut Input<'_>, blanks: usize) -> Flow {
        if !self.marked {
            return Err(Progress::CallEnd);
        }
        let at = ws_run(input.window, input.at + blanks);
        self.state = PyCallsState::Tail { blanks: at - input.at };
        if self.fenced && starts(&input.window[at..], FENCE, input.last).decided()?.is_some() {
            (input.at, self.fenced) = (at + FENCE.len(), false);
            return self.to(PyCallsState::Tail { blanks: 0 });
        }
        let close = self.format.close;
        if let Some(()) = starts(&input.window[at..], close, input.last).decided()? {
            input.at = at + close.len();
        }
        Err(Progress::CallEnd)
    }

    fn lost(&mut self, what: &str) -> Flow {
        *self.arguments.lexer() = PythonLexer::lost(1);
        self.state = PyCallsState::Lost;
        if self.failed {
            return Ok(());
        }
        let message = format!("The calls cannot be read: {what}. Write them as [name(key=value, …), …].");
        Err((ErrorKind::MalformedCall, message).into())
    }

    /// The end of all calls, after an error between them.
    fn find_end(&mut self, input: &mut Input<'_>) -> Flow {
        if self.format.list {
            if !self.arguments.lexer().skip(input.window, &mut input.at) {
                return Err(Progress::Incomplete);
            }
        } else {
            let close = self.format.close;
            let found = memchr::memmem::find(input.rest().as_bytes(), close.as_bytes());
            input.at += found.unwrap_or_else(|| partial_end(input.rest(), close));
            if found.is_none() {
                return Err(Progress::Incomplete);
            }
        }
        self.to(PyCallsState::Tail { blanks: 0 })
    }
}
