//! The body of a call whose name is in its opening: one JSON object, and what closes the call.
//!
//! Markers in JSON strings are text. After a failure only strings and brackets count, and outside strings the markers do.

mod format;
mod recovery;

pub(crate) use format::{IdForm, NamedFormat};

use crate::arguments::{Context, Flow, Input, Object, Progress, Report, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, recycle};
use crate::syntax::json::JsonLexer;
use crate::syntax::scan::{Delimiters, Scan, starts};
use recovery::NamedRecovery;

/// What surrounds the object of a call.
#[derive(Debug)]
pub(crate) struct Ends {
    /// What may open and close a fence around it, or empty.
    pub fence: &'static str,
    /// What closes the call. If it is empty, the object's last bracket does.
    pub close: &'static str,
    /// What ends a call that is not closed, without being part of it.
    pub implicit_closers: &'static [&'static str],
}

#[derive(Debug)]
enum NamedState {
    /// Before the object. `fenced`: and after the start of a fence.
    Start {
        fenced: bool,
    },
    Object,
    /// After the object. `fenced`: and after the end of the fence.
    Tail {
        fenced: bool,
    },
    /// After a failure.
    Recovering(NamedRecovery),
}

#[derive(Debug)]
pub(crate) struct Named {
    ends: &'static Ends,
    state: NamedState,
    object: Object,
    /// Its opening has no name.
    nameless: bool,
}

impl Named {
    /// The body of a call. `recycled` is that of an earlier one.
    pub(crate) fn make(
        cx: &Context<'_>,
        ends: &'static Ends,
        nameless: bool,
        recycled: Box<dyn Body>,
    ) -> Box<dyn Body> {
        let new = || Named { ends, state: NamedState::Start { fenced: false }, object: Object::default(), nameless };
        recycle(recycled, new, |body: &mut Named| {
            body.object.renew(JsonLexer::new(!cx.strict).in_calls().in_native(), cx.schema.root, None);
            (body.ends, body.state, body.nameless) = (ends, NamedState::Start { fenced: false }, nameless);
        })
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match self.state {
            NamedState::Start { .. } if self.nameless => fail(ErrorKind::MalformedCall, "it has no name"),
            NamedState::Start { fenced } => self.start(input, fenced),
            NamedState::Object => {
                self.object.feed(input)?;
                if self.ends.close.is_empty() {
                    return Err(Progress::CallEnd);
                }
                self.state = NamedState::Tail { fenced: false };
                Ok(())
            }
            NamedState::Tail { fenced } => self.tail(input, fenced),
            NamedState::Recovering(_) => Err(Progress::Incomplete),
        }
    }

    fn start(&mut self, input: &mut Input<'_>, fenced: bool) -> Flow {
        if input.next_byte()? == b'{' {
            self.state = NamedState::Object;
            return Ok(());
        }
        let fence = self.ends.fence;
        if !fence.is_empty()
            && !fenced
            && let Some(()) = starts(input.rest(), fence, false).decided()?
        {
            let after = &input.rest()[fence.len()..];
            let language = after.bytes().take(LANGUAGE_BYTES).take_while(u8::is_ascii_alphanumeric).count();
            if language == after.len() && language < LANGUAGE_BYTES {
                return Err(Progress::Incomplete);
            }
            input.at += fence.len() + language;
            self.state = NamedState::Start { fenced: true };
            return Ok(());
        }
        fail(ErrorKind::MalformedCall, "its arguments must be a JSON object")
    }

    fn tail(&mut self, input: &mut Input<'_>, fenced: bool) -> Flow {
        input.next_byte()?;
        let Ends { fence, close, implicit_closers } = *self.ends;
        let rest = input.rest();
        // At the end of a message, half a closer is a call that was cut off.
        let closed = starts(rest, close, false);
        let fence_end = if fence.is_empty() || fenced { Scan::NoMatch } else { starts(rest, fence, false) };
        if closed.is_match() {
            input.at += close.len();
            return Err(Progress::CallEnd);
        }
        if fence_end.is_match() {
            input.at += fence.len();
            self.state = NamedState::Tail { fenced: true };
            return Ok(());
        }
        let ended = Scan::first_of(implicit_closers.iter().map(|mark| starts(rest, mark, false)));
        if ended.is_match() {
            input.repair(Repair::MissingClose, format!("Close the call with {close}."))?;
            return Err(Progress::CallEnd);
        }
        if [closed, fence_end, ended].iter().any(Scan::is_incomplete) {
            return Err(Progress::Incomplete);
        }
        fail(ErrorKind::MalformedCall, &format!("only {close} may follow the JSON object"))
    }

    /// From here on, only the end of the call is searched for.
    fn lose(&mut self, place: (&str, usize)) {
        self.state = NamedState::Recovering(match &self.state {
            // The name or the fence has failed: what follows may go on with its last word.
            NamedState::Start { .. } => NamedRecovery::after(place.0, place.1),
            NamedState::Object => NamedRecovery::inside(self.object.brackets(), self.object.open_quote(), place),
            NamedState::Tail { .. } => NamedRecovery::behind(),
            NamedState::Recovering(_) => return,
        });
    }
}

/// Characters of a fence's language.
const LANGUAGE_BYTES: usize = 16;

impl Body for Named {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        let step = steps(|| self.step(input));
        let Progress::Failed(failure) = step else { return step };
        self.lose((input.window, input.at));
        (failure.kind, failure.message).into()
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        self.lose((input.window, input.at));
        match &mut self.state {
            NamedState::Recovering(recovery) => recovery.read(input, self.ends),
            NamedState::Start { .. } | NamedState::Object | NamedState::Tail { .. } => Progress::CallEnd,
        }
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        match self.state {
            NamedState::Object => self.object.feed_plain(report, text),
            NamedState::Start { .. } | NamedState::Tail { .. } | NamedState::Recovering(_) => None,
        }
    }

    fn closable(&self, _: &Report) -> bool {
        matches!(self.state, NamedState::Tail { .. })
    }

    fn unterminated(&self) -> bool {
        !matches!(self.state, NamedState::Tail { .. })
    }
}

fn fail<T>(kind: ErrorKind, what: &str) -> Flow<T> {
    Err((kind, format!("The call cannot be read: {what}.")).into())
}
