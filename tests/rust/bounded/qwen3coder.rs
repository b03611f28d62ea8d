//! Functions and parameters.

use super::counting::{Build, each, hostile, never_ending};

#[test]
fn functions_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "<tool_call>",
        "<function",
        "<tool_call><function=",
        "<tool_call><function=\"",
        "<tool_call><function=t>",
        "<tool_call><function=t><parameter=s>",
        "<tool_call><function=t><parameter=s><![CDATA[",
        "<tool_call><function=t><parameter=s></parameter",
        "<tool_call><function=t><parameter=s></parameter>",
        "<tool_call><function=t><parameter=any>",
        "<tool_call><function=t><parameter=any><value>",
        "<tool_call><function=t><parameter=n>1</parameter>",
        "<tool_call><function=t>{\"any\":",
        "<tool_call><function=t></function>",
        "<function=t></function>",
        "<tool_call><function=nope></function>",
        "<tool_call><function=nope><parameter=s>",
    ];
    let marks = [
        "<",
        "</",
        "x",
        " ",
        "\n",
        "&",
        "&#",
        "&lt;",
        "]",
        "\"",
        "[",
        "<tool_call>",
        "</tool_call>",
        "<function=t>",
        " </function> x",
        "<function=\"",
        "<parameter=s>",
        "<parameter=\"",
        "<parameter>",
        "<parameter=any>",
        "</parameter",
        "</parameter>",
        "</parameter> x",
        "<parameter=list>1</parameter>",
        "<parameter=any>1</parameter>",
        "<value>",
        "<![CDATA[",
    ];
    never_ending("qwen3coder", &heads, &marks);
}

#[test]
fn many_parameters_cost_what_they_weigh() {
    let (open, close) = ("<tool_call><function=t>", "</function></tool_call>");
    let cases: &[(&str, Build, usize)] = &[
        ("parameters", each(open, |at| format!("<parameter=k{at}>{at}</parameter>"), close), 24),
        ("unclosed parameters", each(open, |at| format!("<parameter=k{at}>"), close), 32),
        ("a list", each(open, |at| format!("<parameter=list>{at}</parameter>"), close), 8),
        ("a list of anything", each(open, |at| format!("<parameter=any>{at}</parameter>"), close), 8),
        (
            "a list from commas",
            each("<tool_call><function=t><parameter=list>0", |_| ",1".into(), "</parameter></function></tool_call>"),
            80,
        ),
        ("the same again", each(open, |_| "<parameter=n>5</parameter>".into(), close), 8),
        ("repeats that differ", each(open, |at| format!("<parameter=s>{at}</parameter>"), close), 8),
        ("rows", each(open, |_| "<parameter=rows>{\"a\":\"x\"}</parameter>".into(), close), 16),
        (
            "functions",
            each("<tool_call>", |at| format!("<function=t><parameter=n>{at}</parameter></function>"), "</tool_call>"),
            6,
        ),
        (
            "functions of no tool",
            each(
                "<tool_call>",
                |at| format!("<function=nope{at}><parameter=n>1</parameter></function>"),
                "</tool_call>",
            ),
            6,
        ),
        ("calls", each("", |at| format!("<function=t><parameter=n>{at}</parameter></function>\n"), ""), 6),
        ("brackets", each("<tool_call><function=t><parameter=any>", |_| "[".into(), close), 30),
    ];
    for (name, build, times) in cases {
        hostile("qwen3coder", name, build, 50_000, *times);
    }
}
