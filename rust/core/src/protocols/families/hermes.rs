//! Calls as JSON objects between two markers: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`, or in a fence for Gemma.

use crate::protocols::frames::envelope::EnvelopeFamily;
use crate::syntax::misspelled::{Spelling, Spellings};

pub(crate) const HERMES: EnvelopeFamily = EnvelopeFamily {
    open: "<tool_call>",
    close: "</tool_call>",
    spellings: Spellings {
        opens: &[Spelling { open: "<tool_call>", closers: &["</tool_call>"], foreign: false }],
        tag: Some("<tool_call"),
    },
    alone: false,
};

/// For prompting: Gemma models do not write it by themselves.
pub(crate) const GEMMA: EnvelopeFamily = EnvelopeFamily {
    open: "```tool_call",
    close: "```",
    spellings: Spellings { opens: &[Spelling { open: "```tool_call", closers: &["```"], foreign: false }], tag: None },
    alone: true,
};
