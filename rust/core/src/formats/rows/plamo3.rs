//! Calls in a section, as PLaMo 3 writes them: the name and one JSON object, each with its markers. From vLLM, `parser/plamo3.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("plamo-3", "vLLM, parser/plamo3.py")],
    chat_templates: &[TemplateMarks::of(&[&[
        "<|plamo:begin_tool_requests:plamo|>",
        "<|plamo:begin_tool_name:plamo|>",
    ]])],
    ..Row::new("plamo3", || Arc::new(PLAMO3))
}];

pub(crate) const PLAMO3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(
            ReasoningMarks::of("<|plamo:begin_think:plamo|>{reasoning}<|plamo:end_think:plamo|>")
                .call_ends(CallEnds::Declared),
        ),
        starts_in_reasoning: true,
        stops: &["<|plamo:tag|>"],
        ..Layout::NATIVE
    },
    call: &NamedJson {
        open: &["<|plamo:begin_tool_request:plamo|>"],
        prefix: "<|plamo:begin_tool_name:plamo|>",
        name_terminators: &["<|plamo:end_tool_name:plamo|>", "<|plamo:msg|>"],
        around_arguments: (
            "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>",
            "",
        ),
        // The type of the arguments is where others have an id.
        id: IdForm::Marked { mark: "<|plamo:end_tool_name:plamo|>", written: false },
        ends: &Ends {
            fence: "",
            close: "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
            implicit_closers: &["<|plamo:begin_tool_request:plamo|>", "<|plamo:end_tool_requests:plamo|>"],
        },
        ..NamedJson::PLAIN
    },
    past_text: PastText::of("<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>", "{content}"),
}
.in_section();
