//! Reads the calls of a list, or of lines, one after another.

use super::{PyCalls, call_name};
use crate::arguments::{Context, Flow, Input, Literals, Progress, Report, steps};
use crate::error::ErrorKind;
use crate::limits::HEAD_CHARS;
use crate::protocols::body::Body;
use crate::syntax::python::PythonLexer;
use crate::syntax::scan::{Delimiters, Scan, partial_end, starts, window, ws_run};

#[derive(Debug)]
enum PyCallsState {
    /// At what opens the first call.
    Opener,
    Name,
    Arguments,
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

    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        self.arguments.feed_plain(report, text)
    }

    fn next(&mut self) -> Option<Box<dyn Body>> {
        let arguments = self.arguments.next();
        Some(Box::new(PyCallsBody { format: self.format, state: PyCallsState::Name, arguments, failed: false }))
    }

    fn waits(&self) -> bool {
        self.format.list
    }

    fn is_complete(&self) -> bool {
        match self.state {
            PyCallsState::Tail { .. } => true,
            PyCallsState::Between { .. } => !self.format.list,
            _ => false,
        }
    }

    fn unterminated(&self) -> bool {
        matches!(self.state, PyCallsState::Arguments)
    }
}

impl PyCallsBody {
    pub(super) fn new(cx: &Context<'_>, format: PyCalls) -> Self {
        let arguments = Literals::new(cx, PythonLexer::default());
        PyCallsBody { format, state: PyCallsState::Opener, arguments, failed: false }
    }

    /// Starts over, and keeps the allocations.
    pub(super) fn reset(&mut self, cx: &Context<'_>, format: PyCalls) {
        self.arguments.renew(cx, PythonLexer::default());
        (self.format, self.state, self.failed) = (format, PyCallsState::Opener, false);
    }

    fn to(&mut self, state: PyCallsState) -> Flow {
        self.state = state;
        Ok(())
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match self.state {
            PyCallsState::Opener => match self.format.opener(input.rest(), false) {
                Scan::Match(length) => {
                    input.at += length;
                    self.to(PyCallsState::Name)
                }
                Scan::Incomplete => Err(Progress::Incomplete),
                Scan::NoMatch => self.lost("a list of calls is expected"),
            },
            PyCallsState::Name => self.name(input),
            PyCallsState::Arguments => {
                if !self.failed {
                    self.arguments.feed(input)?;
                } else if !self.arguments.lexer().skip(input.window, &mut input.at) {
                    return Err(Progress::Incomplete);
                }
                self.to(PyCallsState::Between { comma: false })
            }
            PyCallsState::Between { comma } => self.between(input, comma),
            PyCallsState::Tail { blanks } => self.tail(input, blanks),
            PyCallsState::Lost => self.find_end(input),
        }
    }

    fn name(&mut self, input: &mut Input<'_>) -> Flow {
        input.at = ws_run(input.window, input.at);
        let (head, last) = window(input.rest(), HEAD_CHARS, false);
        let Some((name, length)) = call_name(head, last).decided()? else {
            return self.lost("the name of a tool and its arguments in parentheses are expected");
        };
        input.at += length;
        self.arguments.renew(&input.cx, PythonLexer::default());
        self.state = PyCallsState::Arguments;
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
            _ if comma => self.next_call(),
            _ => self.lost("a comma or ] is expected after a call"),
        }
    }

    fn between_lines(&mut self, input: &mut Input<'_>) -> Flow {
        input.next_byte()?;
        match starts(input.rest(), self.format.close, input.last).decided()? {
            Some(()) => self.to(PyCallsState::Tail { blanks: 0 }),
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
        let at = ws_run(input.window, input.at + blanks);
        self.state = PyCallsState::Tail { blanks: at - input.at };
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
