//! JSON objects with the name outside, and lists of objects that end together.

use super::counting::{KIB, hostile, never_ending};

/// What JSON is made of, and text that is not JSON.
const MARKS: &[&str] = &[
    "<", "x", " ", "\n", "\"", "\" ", "\\", "\\u0000", "'", "[", "]", "{", "}", "{\"a\":", "\"a\":1,", "1,", ",", "`",
    ":",
];

fn with<'m>(more: &[&'m str]) -> Vec<&'m str> {
    [MARKS, more].concat()
}

#[test]
fn calls_of_deepseek_cost_what_they_weigh() {
    let heads = [
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n```json\n{\"s\":\"",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n```json\n{\"any\":",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n```json\n{}",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>nope\n```json\n{\"s\":",
    ];
    let own = [
        "<｜tool▁call▁begin｜>",
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n",
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n```json\n{}\n```<｜tool▁call▁end｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁call",
        "<｜tool▁calls▁end｜>",
        "```",
        "<｜end▁of▁sentence｜>",
    ];
    never_ending("deepseek-v3", &heads, &with(&own));
}

#[test]
fn calls_of_kimi_cost_what_they_weigh() {
    let heads = [
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>{\"s\":\"",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>{\"any\":",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>{}",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.nope:0<|tool_call_argument_begin|>{",
    ];
    let own = [
        "<|tool_call_begin|>",
        "<|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|tool_call",
        "<|tool_calls_section_end|>",
        ":0",
        "<think>",
        "<|im_end|>",
    ];
    never_ending("kimi-k2.6", &heads, &with(&own));
}

#[test]
fn calls_of_mistral_cost_what_they_weigh() {
    let heads = [
        "",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]t[CALL_ID]",
        "[TOOL_CALLS]t[ARGS]",
        "[TOOL_CALLS]t[ARGS]{\"s\":\"",
        "[TOOL_CALLS]t[ARGS]{\"any\":",
        "[TOOL_CALLS]nope[ARGS]{",
        "[TOOL_CALLS][{\"name\":\"t\",\"arguments\":{\"s\":\"",
        "[TOOL_CALLS][{\"arguments\":{\"s\":\"",
        "[TOOL_CALLS][{\"name\":\"t\",\"arguments\":{}},",
        "[TOOL_CALLS][{\"name\":\"nope\",\"arguments\":{}},",
    ];
    let own = [
        "[TOOL_CALLS]",
        "[TOOL_CALLS]t",
        "[TOOL_CALLS]t[ARGS]{}",
        "[CALL_ID]",
        "[ARGS]",
        "{\"name\":\"t\",\"arguments\":{}},",
        "[THINK]",
        "[/THINK]",
        "</s>",
    ];
    never_ending("mistral", &heads, &with(&own));
}

#[test]
fn messages_in_channels_cost_what_they_weigh() {
    let heads = [
        "",
        "<|channel|>",
        "<|channel|>analysis<|message|>",
        "<|channel|>final<|message|>x",
        "<|channel|>comment<|message|>",
        "<|channel|>commentary to=",
        "<|channel|>commentary to=functions.t <|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.t <|constrain|>json<|message|>{\"s\":\"",
        "<|channel|>commentary to=functions.t <|constrain|>json<|message|>{\"any\":",
        "<|channel|>commentary to=functions.nope<|message|>{",
    ];
    let own = [
        "<|start|>",
        "<|start|>assistant",
        "<|channel|>",
        "<|channel|>final<|message|>",
        "<|message|>",
        "<|end|>",
        "<|end|><|sta",
        "<|call|>",
        "<|call|><|start|>assistant to=functions.t<|channel|>commentary<|message|>{}",
        "<|return|>",
        " to=",
    ];
    never_ending("harmony", &heads, &with(&own));
}

#[test]
fn answers_that_may_be_calls_cost_what_they_weigh() {
    let heads = [
        "",
        "{",
        "{\"name\":\"",
        "{\"id\":\"",
        "{\"parameters\":{\"s\":\"",
        "{\"parameters\":",
        "{\"name\":\"t\",\"parameters\":{\"s\":\"",
        "{\"name\":\"t\",\"parameters\":{\"any\":",
        "<|python_tag|>",
    ];
    let own = ["<|python_tag|>", "{\"name\":\"t\",\"parameters\":{}}", "\"id\":1,", "\"name\":\"t\",", "<|eot_id|>"];
    never_ending("llama-json", &heads, &with(&own));
}

/// The calls of a list are kept until it ends.
#[test]
fn lists_cost_what_they_weigh() {
    for tail in ["]", "", "]}"] {
        let list = |times: usize| {
            format!("[TOOL_CALLS] [{}{tail}", vec![r#"{"name":"t","arguments":{"s":"x"}}"#; times].join(", "))
        };
        hostile("mistral", &format!("a list that ends in {tail:?}"), list, 32 * KIB / 36, 120);
    }
}
