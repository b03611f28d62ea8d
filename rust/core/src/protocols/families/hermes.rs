//! Calls as JSON objects between two markers: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`, or in a fence for Gemma.

use crate::protocols::frames::flat::{Family, FamilyBody};
use crate::protocols::protocol::ResultForm;
use crate::syntax::misspelled::{Spelling, Spellings};

pub static HERMES: Family = Family {
    name: "hermes",
    aliases: &["json"],
    open: "<tool_call>",
    close: "</tool_call>",
    fixed: None,
    body: FamilyBody::Envelope {
        spellings: Spellings {
            opens: &[Spelling { open: "<tool_call>", closers: &["</tool_call>"], foreign: false }],
            tag: Some("<tool_call"),
        },
        alone: false,
    },
    results: ResultForm::Json,
};

/// For prompting: Gemma models do not write it by themselves.
pub static GEMMA: Family = Family {
    name: "gemma",
    aliases: &[],
    open: "```tool_call",
    close: "```",
    fixed: None,
    body: FamilyBody::Envelope {
        spellings: Spellings {
            opens: &[Spelling { open: "```tool_call", closers: &["```"], foreign: false }],
            tag: None,
        },
        alone: true,
    },
    results: ResultForm::Json,
};
