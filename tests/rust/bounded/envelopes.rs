//! JSON objects with the name in them, in a list or one after another, and what may close them.

use super::counting::{KIB, hostile, never_ending};

/// What JSON is made of, and text that is not JSON.
const MARKS: &[&str] = &[
    "<", "x", " ", "\n", "\"", "\" ", "\\", "'", "[", "]", "{", "}", "{\"a\":", "\"a\":1,", "1,", ",", "`", ":", "}]",
];

#[test]
fn objects_one_after_another_cost_what_they_weigh() {
    let heads = [
        "<tool_calls>",
        "<tool_calls>{\"name\":\"t\",\"arguments\":{}}",
        "<tool_calls>{\"name\":\"t\",\"arguments\":{\"s\":\"",
        "<tool_calls>{\"name\":\"t\",\"arguments\":{\"any\":",
        "<tool_calls>{\"name\":\"nope\",\"arguments\":{",
        "<tool_calls>{\"name\":1,",
        "<tool_calls>{\"arguments\":{\"s\":\"",
        "<tool_calls>[{\"name\":\"t\"}]",
    ];
    let own =
        ["<tool_calls>", "</tool_calls>", "</tool", "{\"name\":\"t\"}\n", "{\"name\":\"nope\"}", "<end_of_sentence>"];
    never_ending("minimax-m1", &heads, &[MARKS, &own].concat());
}

#[test]
fn lists_that_may_be_text_cost_what_they_weigh() {
    let heads = [
        "",
        "[",
        "[{\"name\":\"t\",",
        "[{\"id\":\"",
        "[{\"arguments\":{\"s\":\"",
        "```json\n[",
        "```json\n[{\"id\":\"",
        "<tool_call>[",
    ];
    let own = [
        "<tool_call>",
        "</tool_call>",
        "```",
        "```json\n",
        "[TOOL_CALLS]",
        "{\"name\":\"t\",\"arguments\":{}},",
        "\"id\":1,",
    ];
    never_ending("xlam", &heads, &[MARKS, &own].concat());
}

#[test]
fn names_that_are_keys_cost_what_they_weigh() {
    let heads = [
        "<|tools_prefix|>[{\"t\":{\"s\":\"",
        "<|tools_prefix|>[{\"",
        "<|tools_prefix|>[{\"t\":{}},",
        "<|tools_prefix|>[{\"nope\":{}},",
        "<|inner_prefix|>",
    ];
    let own = [
        "<|tools_prefix|>",
        "<|tools_suffix|>",
        "]<|tools_suffix|>",
        "{\"t\":{\"s\":\"x\"}},",
        "<|inner_suffix|>",
        "<|assistant_end|>",
    ];
    never_ending("apertus", &heads, &[MARKS, &own].concat());
}

#[test]
fn answers_in_tags_cost_what_they_weigh() {
    let heads = ["", "<answer>", "<answer>\nx", "<think>\nx</think>\n<answer>"];
    let own = [
        "<answer>",
        "</answer>",
        "\n</answer>",
        "</ans",
        "<think>",
        "</think>",
        "<tool_calls>[{\"name\":\"t\"}]",
        "<|eos|>",
    ];
    never_ending("hunyuan-a13b", &heads, &[MARKS, &own].concat());
}

#[test]
fn many_objects_cost_what_they_weigh() {
    for tail in ["</tool_calls>", "", "]"] {
        let lines = |times: usize| {
            format!("<tool_calls>{}{tail}", "{\"name\":\"t\",\"arguments\":{\"s\":\"x\"}}\n".repeat(times))
        };
        hostile("minimax-m1", &format!("objects that end in {tail:?}"), lines, 32 * KIB / 36, 120);
    }
}
