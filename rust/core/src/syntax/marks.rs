//! The marks of calls and results of the wire format, in any spelling, and how to neutralise them in a text.

use std::sync::LazyLock;

use crate::syntax::misspelled::{Spelling, Spellings};
use crate::syntax::scan::{Candidates, Delimiters, RESULT_TAGS, neutralise_marks, starts_ignoring_case};

/// What opens and closes a call in the format.
pub(crate) const OPEN: &str = "<call>";
pub(crate) const CLOSE: &str = "</call>";

pub(crate) static SPELLINGS: Spellings = Spellings {
    opens: &[
        Spelling { open: OPEN, closers: &["</call>"], foreign: false },
        Spelling { open: "[call]", closers: &["[/call]", "</call>"], foreign: false },
        Spelling { open: "&lt;call&gt;", closers: &["&lt;/call&gt;", "</call>"], foreign: false },
        Spelling { open: "<tool_call>", closers: &["</tool_call>", "</call>"], foreign: true },
    ],
    tag: Some("<call"),
};

/// How calls, in any spelling, and results begin.
pub(crate) fn candidates(delimiters: &Delimiters) -> Candidates {
    let own = Candidates::none().with_text(&delimiters.open).with_text(RESULT_TAGS[0]);
    if delimiters.open == OPEN {
        SPELLINGS.opens.iter().fold(own, |all, spelling| all.with_text(spelling.open))
    } else {
        own
    }
}

fn places(delimiters: &Delimiters) -> Candidates {
    candidates(delimiters).with_text("</")
}

/// Whether a call in any spelling could begin at the start of this text, or a result begin or end.
pub(crate) fn is_mark(text: &str, delimiters: &Delimiters) -> bool {
    text.starts_with(&delimiters.open)
        || RESULT_TAGS.iter().any(|tag| starts_ignoring_case(text, tag))
        || (delimiters.open == OPEN && SPELLINGS.open(text))
}

/// Puts a visible backslash into everything that could be read as a mark. The rest of the text is unchanged.
pub(crate) fn neutralise(text: &str, delimiters: &Delimiters) -> String {
    static OWN: LazyLock<Candidates> = LazyLock::new(|| places(&Delimiters::default()));
    let is_mark = |rest: &str| is_mark(rest, delimiters);
    if delimiters.open == OPEN {
        neutralise_marks(text, &OWN, is_mark)
    } else {
        neutralise_marks(text, &places(delimiters), is_mark)
    }
}
