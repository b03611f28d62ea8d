//! Calls as JSON objects between two markers: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`, or in a fence for Gemma.

use crate::protocols::frames::envelope::EnvelopeFamily;
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};
use crate::syntax::misspelled::{Spelling, Spellings};

/// What Hermes, Qwen 2.5 and 3 write.
pub(crate) const HERMES: EnvelopeFamily = EnvelopeFamily {
    open: "<tool_call>",
    close: "</tool_call>",
    spellings: Spellings {
        opens: &[Spelling { open: "<tool_call>", closers: &["</tool_call>"], foreign: false }],
        tag: Some("<tool_call"),
    },
    alone: false,
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
};

/// The same for prompting, between markers that the host chooses.
pub(crate) const MARKED_JSON: EnvelopeFamily = EnvelopeFamily { layout: Layout::PROMPTED, ..HERMES };

/// The same for models whose prompt opens the reasoning.
pub(crate) const QWEN3_THINKING: EnvelopeFamily =
    EnvelopeFamily { layout: Layout { starts_in_reasoning: true, ..HERMES.layout }, ..HERMES };

/// The same for Arcee's Trinity, which also calls tools before the reasoning is closed (SGLang, `trinity_detector.py`).
pub(crate) const TRINITY: EnvelopeFamily = EnvelopeFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Always, ..ReasoningMarks::LINES }),
        ..HERMES.layout
    },
    ..HERMES
};

/// For prompting: Gemma models do not write it by themselves.
pub(crate) const GEMMA: EnvelopeFamily = EnvelopeFamily {
    open: "```tool_call",
    close: "```",
    spellings: Spellings { opens: &[Spelling { open: "```tool_call", closers: &["```"], foreign: false }], tag: None },
    alone: true,
    layout: Layout::PROMPTED,
};
