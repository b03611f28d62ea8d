//! Calls as Command R+ writes them: `Action:` and a list of JSON objects in a fence.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of(
        "command-r-plus",
        "llama.cpp, models/templates/CohereForAI-c4ai-command-r-plus-tool_use.jinja",
    )],
    chat_templates: &[TemplateMarks::of(&[&["<|CHATBOT_TOKEN|>", "Action:\n```json\n[", r#""tool_name": "#]])],
    ..Row::new("command-r-plus", || Arc::new(COMMAND_R_PLUS))
}];

pub(crate) const COMMAND_R_PLUS: FlatFormat = FlatFormat {
    layout: Layout { trim_before_call: true, stops: &["<|END_OF_TURN_TOKEN|>"], ..Layout::NATIVE },
    call: &MarkedJson {
        open: &["Action:\n```json\n[", "Action: ```json\n["],
        written: "    {\n        \"tool_name\": {name},\n        \"parameters\": {arguments}\n    }",
        keys: JsonRules {
            name: NameKey::Under("tool_name"),
            arguments: &["parameters"],
            close: &["```"],
            ..JsonRules::USUAL
        },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("\nAction:\n```json\n[\n{calls|,\n}\n]```", "<results>\n{content}</results>")
        .marked("<results>"),
};
