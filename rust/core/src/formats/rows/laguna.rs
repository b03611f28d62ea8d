//! Calls as Laguna XS writes them: those of GLM-4.5, with the reasoning on lines of its own. Laguna S writes those of GLM-4.7.

use super::prelude::*;

use crate::formats::rows::glm::GLM_4_5;
use crate::formats::rows::shared_marks::KEY_TAGS;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of(
        "laguna-xs-2.1 laguna-xs-2 laguna-xs",
        "llama.cpp, models/templates/poolside-Laguna-XS-2.1.jinja",
    )],
    chat_templates: &[TemplateMarks::of(&[KEY_TAGS, &["'<assistant>\n'", "</assistant>", "'</arg_key>\n'"]])],
    ..Row::new("laguna-xs", || Arc::new(LAGUNA_XS))
}];

/// The prompt opens the reasoning only if the host asks for it.
pub(crate) const LAGUNA_XS: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            written: ("<think>\n", "\n</think>\n"),
            prompt: Some("<think>"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::LINES
        }),
        stops: &["</assistant>"],
        ..GLM_4_5.layout
    },
    past_text: PastText::of("{content|\n}{calls|\n}", "<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
    ..GLM_4_5
};
