//! Calls as dots.llm writes them: the tags of MiniMax M2, each value and each call on lines of its own.
//! SGLang, `function_call/dots_detector.py`; the line breaks are those that the prompt asks for.

use super::minimax_m2::TAGS;
use crate::protocols::bodies::tagged::{Tagged, Tags};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

pub(crate) const DOTS: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Declared, ..ReasoningMarks::LINES }),
        section: Some(Section { begin: &["<dots_function_call>"], end: &["</dots_function_call>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|endofassistant|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags { line_breaks: true, ends: &["<invoke name=\"", "</dots_function_call>"], ..TAGS }),
    writing: Writing {
        begin: "\n<dots_function_call>\n",
        end: "\n</dots_function_call>",
        between: "\n</dots_function_call>\n<dots_function_call>\n",
        after_content: "",
        result: "\n<dots_function_response>\n{content}\n</dots_function_response>",
        result_mark: Some("<dots_function_response>"),
    },
};
