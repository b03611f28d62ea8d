//! Bare keys and delimited strings, and calls as Python writes them.

use super::counting::{Build, each, hostile, never_ending};

#[test]
fn keys_and_strings_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "<|channel>thought\n",
        "<|tool_call>",
        "<|tool_call>call:",
        "<|tool_call>call:t",
        "<|tool_call>call:t{",
        "<|tool_call>call:t{s:",
        "<|tool_call>call:t{s:<|\"|>",
        "<|tool_call>call:t{n:<|\"|>",
        "<|tool_call>call:t{any:[",
        "<|tool_call>call:t{}",
        "<|tool_call>call:t{\"",
        "<|tool_call>call:nope{s:",
    ];
    let marks = [
        "<",
        "<|",
        "<|\"",
        "<|\"|>",
        "<|\"|>,",
        "x",
        " ",
        "\n",
        "é",
        "\"",
        "\\",
        "=",
        "s=",
        ":",
        ",",
        "1,",
        "[",
        "]",
        "{",
        "}",
        "{a:",
        "k:1,",
        "<|tool_call>",
        "<|tool_call>call:",
        "<|tool_call>call:t{}",
        "<tool_call|>",
        "<tool_call|",
        "<|channel>thought\n",
        "<channel|>",
    ];
    never_ending("gemma4", &heads, &marks);
}

#[test]
fn python_that_never_ends_costs_what_it_weighs() {
    let heads = [
        "",
        "<|python_start|>",
        "[",
        "[t",
        "[t(",
        "[t()",
        "[t(s=",
        "[t(s='",
        "[t(n='",
        "[t(s='''",
        "[t(s=r'",
        "[t(any=[",
        "[t(any=(",
        "[t(any={",
        "[t(), ",
        "[t(s=x",
        "[nope(s=",
        "[t() x",
        "<|python_start|>[t()]",
    ];
    let marks = [
        "<",
        "x",
        " ",
        "\n",
        "é",
        "'",
        "''",
        "'''",
        "\"",
        "\\",
        "\\'",
        "\\u",
        "\\x4",
        "\\1",
        "r'",
        "f'",
        "0x",
        "1_",
        ".",
        "-",
        "=",
        "s=1,",
        ":",
        ",",
        "1,",
        "(",
        "()",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{'a':",
        "'a', ",
        "<|python_start|>",
        "<|python_end|>",
        "<|python_end|",
    ];
    never_ending("llama-pythonic", &heads, &marks);
}

#[test]
fn lists_and_lines_between_markers_that_never_end_cost_what_they_weigh() {
    let heads = [
        "<|tool_call_start|>",
        "<|tool_call_start|>[",
        "<|tool_call_start|>[t(s='",
        "<|tool_call_start|>[t(any={\"",
        "<|tool_call_start|>[{",
        "<|tool_call_start|>[{\"name\": \"t\", \"arguments\": {\"s\": \"",
        "<|tool_call_start|>[{\"arguments\": {\"s\": \"",
        "<|tool_call_start|>[{\"name\": \"nope\", \"arguments\": {}}, ",
        "<|tool_call_start|>[{\"name\": 1}, ",
    ];
    let marks = [
        "x",
        " ",
        "\n",
        "'",
        "\"",
        "\\",
        ",",
        "[",
        "]",
        "{",
        "}",
        "<|tool_call_start|>",
        "<|tool_call_end|>",
        "<|tool_call_end|",
    ];
    never_ending("lfm2", &heads, &marks);
    let heads = [
        "<function_calls>",
        "<function_calls>t",
        "<function_calls>t(s=\"",
        "<function_calls>t()\n",
        "<function_calls>x",
    ];
    let marks = [
        "x",
        " ",
        "\n",
        "\"",
        "\\",
        "t()\n",
        "nope()\n",
        "(",
        ")",
        "<",
        "<function_calls>",
        "</function_calls",
        "</function_calls>",
    ];
    never_ending("olmo3", &heads, &marks);
}

#[test]
fn many_arguments_cost_what_they_weigh() {
    let cases: [(&str, &str, Build); 3] = [
        ("gemma4", "keys", each("<|tool_call>call:t{", |at| format!("k{at}:{at},"), "z:1}<tool_call|>")),
        ("gemma4", "calls", each("", |_| "<|tool_call>call:t{}<tool_call|>\n".into(), "")),
        ("llama-pythonic", "keys", each("[t(", |at| format!("k{at}={at}, "), ")]")),
    ];
    for (protocol, name, build) in cases {
        hostile(protocol, name, build, 1000, 80);
    }
}

/// The calls of a list are kept until it ends.
#[test]
fn lists_cost_what_they_weigh() {
    for call in ["t(), ", "t(n=1), ", "t(s=x), ", "nope(), ", "[t(), "] {
        for tail in ["", "]", ")", "'"] {
            let list = |times: usize| format!("[t(), {}{tail}", call.repeat(times));
            hostile("llama-pythonic", &format!("{call} and {tail:?}"), list, 1000, 250);
        }
    }
    let open = "<|tool_call_start|>[";
    for call in ["t(), ", "{\"name\": \"t\"}, ", "{\"name\": \"nope\"}, ", "{\"name\": 1}, "] {
        for tail in ["", "]", "]<|tool_call_end|>", "'"] {
            let list = |times: usize| format!("{open}{}{tail}", call.repeat(times));
            hostile("lfm2", &format!("{call} and {tail:?}"), list, 1000, 250);
        }
    }
}
