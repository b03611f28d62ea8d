//! Raw values in tags.

use super::counting::{Build, each, hostile, never_ending};

/// What any value, key or tag may contain.
const MARKS: [&str; 12] = ["<", "</", "x", " ", "\n", "é", "\"", "=\"", " a=\"b\"", ">", "/>", "<|"];

#[test]
fn keys_and_values_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "<think>",
        "<tool_call>",
        "<tool_call>t",
        "<tool_call>t<arg_key>",
        "<tool_call>t<arg_key>s</arg_key>",
        "<tool_call>t<arg_key>s</arg_key><arg_value>",
        "<tool_call>t<arg_key>any</arg_key><arg_value>",
        "<tool_call>t<arg_key>s</arg_key><arg_value></arg_value>",
        "<tool_call>t<arg_key>s</arg_key><arg_value></tool_call>",
        "<tool_call>nope</tool_call>",
        "<tool_call>nope<arg_key>",
        "<tool_call>nope<arg_key>s</arg_key><arg_value>",
    ];
    let own = [
        "<tool_call>",
        "<tool_call>t",
        "<tool_call>t</tool_call>",
        "<arg_key>",
        "<arg_key>s</arg_key>",
        "</arg_key><arg_value>",
        "</arg_value>",
        "</arg_value> ",
        "</arg_value>\n<",
        "</arg_value><arg_key>any</arg_key><arg_value>",
        "</tool_call>",
        "</tool_call>\n",
        "</tool_call>\n<",
        "</tool_call><tool_call>",
        "<think>",
        "</think>",
    ];
    never_ending("glm-4.5", &heads, &[&MARKS[..], &own].concat());
}

#[test]
fn attributes_and_values_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "</think><｜DSML｜function_calls>",
        "</think><｜DSML｜function_calls><｜DSML｜invoke ",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"t\">",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"t\"><｜DSML｜parameter ",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"t\"><｜DSML｜parameter name=\"s\" string=\"",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"t\"><｜DSML｜parameter name=\"s\" string=\"true\">",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"t\"><｜DSML｜parameter name=\"any\" string=\"false\">",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"nope\">",
        "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"nope\"><｜DSML｜parameter ",
    ];
    let own = [
        "<｜DSML｜function_calls>",
        "</｜DSML｜function_calls>",
        "<｜DSML｜invoke ",
        "<｜DSML｜invoke name=\"t\">",
        "<｜DSML｜invoke name=\"t\"/>",
        "</｜DSML｜invoke>",
        "<｜DSML｜parameter ",
        "<｜DSML｜parameter name=\"",
        "<｜DSML｜parameter name=\"any\" string=\"false\">",
        "</｜DSML｜parameter>",
        "</｜DSML｜parameter> ",
        "</｜DSML｜parameter>\n<",
        "[",
        "{\"a\":",
    ];
    never_ending("deepseek-v3.2", &heads, &[&MARKS[..], &own].concat());
}

#[test]
fn elements_that_never_end_cost_what_they_weigh() {
    let heads = [
        "<|close|>think<|sep|><|open|>tools<|sep|>",
        "<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"",
        "<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"t\"<|sep|>",
        "<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"t\"<|sep|><|open|>argument key=\"",
        "<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"t\"<|sep|><|open|>argument key=\"s\" type=\"string\"<|sep|>",
        "<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"nope\"<|sep|>",
    ];
    let own = [
        "<|sep|>",
        "&amp;",
        "<|open|>call tool=\"t\"<|sep|>",
        "<|close|>call<|sep|>",
        "<|open|>argument key=\"any\" type=\"number\"<|sep|>",
        "<|close|>argument<|sep|>",
        "<|close|>argument<|sep|><",
    ];
    never_ending("kimi-k3", &heads, &[&MARKS[..], &own].concat());
}

#[test]
fn many_arguments_cost_what_they_weigh() {
    let cases: [(&str, &str, Build, usize); 4] = [
        (
            "glm-4.5",
            "keys",
            each("<tool_call>t", |at| format!("<arg_key>k{at}</arg_key><arg_value>{at}</arg_value>"), "</tool_call>"),
            1000,
        ),
        ("glm-4.5", "calls", each("", |_| "<tool_call>t</tool_call>\n".into(), ""), 1000),
        (
            "deepseek-v3.2",
            "keys",
            each(
                "</think><｜DSML｜function_calls><｜DSML｜invoke name=\"t\">",
                |at| format!("<｜DSML｜parameter name=\"k{at}\" string=\"false\">[{at}]</｜DSML｜parameter>"),
                "</｜DSML｜invoke></｜DSML｜function_calls>",
            ),
            1000,
        ),
        (
            "deepseek-v3.2",
            "calls that fail",
            each("</think><｜DSML｜function_calls>", |at| format!("<｜DSML｜invoke name=\"n{at}\">"), ""),
            1000,
        ),
    ];
    for (protocol, name, build, repeats) in cases {
        hostile(protocol, name, build, repeats, 80);
    }
}
