//! Calls as Command R+ writes them: `Action:` and a list of JSON objects in a fence.

use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::bodies::envelope::{NameKey, NativeEnvelope};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const COMMAND_R_PLUS: FlatFamily = FlatFamily {
    layout: Layout { trim_before_call: true, stops: &["<|END_OF_TURN_TOKEN|>"], ..Layout::NATIVE },
    call: &MarkedEnvelope {
        open: &["Action:\n```json\n[", "Action: ```json\n["],
        written: "    {\n        \"tool_name\": {name},\n        \"parameters\": {arguments}\n    }",
        rules: NativeEnvelope {
            name: NameKey::Under("tool_name"),
            arguments: &["parameters"],
            close: &["```"],
            ..NativeEnvelope::USUAL
        },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "\nAction:\n```json\n[\n",
        end: "\n]```",
        between: ",\n",
        after_content: "",
        result: "<results>\n{content}</results>",
        result_mark: Some("<results>"),
    },
};
