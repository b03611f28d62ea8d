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
        "<tool_call><function=t><parameter=s></parameter",
        "<tool_call><function=t><parameter=s></parameter>",
        "<tool_call><function=t><parameter=any>",
        "<tool_call><function=t><parameter=s>\n",
        "<tool_call><function=t><parameter=s>\n</function>",
        "<tool_call><function=t><parameter>s</parameter>",
        "<tool_call><function=t s=\"",
        "<tool_call><function=t s=\"x\"",
        "<tool_call><function=t s=\"x\">",
        "<tool_call><function=t><parameter name=\"s\" value='",
        "<tool_call id=\"",
        "<invoke s='",
        "<t s=\"",
        "<t s=\"\"",
        "<t s ",
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
        "\"",
        "'",
        "=",
        "=\"",
        " a=\"b\"",
        " a=b",
        "a ",
        "/",
        ">",
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
        "\n<parameter=any>\n",
        "\n</function>\n",
        "\n</function>\n<",
        "</parameter>\n<",
        "</function>",
    ];
    never_ending("qwen3coder", &heads, &marks);
}

#[test]
fn many_parameters_cost_what_they_weigh() {
    let (open, close) = ("<tool_call><function=t>", "</function></tool_call>");
    let cases: &[(&str, Build, usize)] = &[
        ("parameters", each(open, |at| format!("<parameter=k{at}>{at}</parameter>"), close), 24),
        ("unclosed parameters", each(open, |at| format!("<parameter=k{at}>"), close), 32),
        ("attributes", each("<tool_call><function=t", |at| format!(" k{at}=\"{at}\""), "></function></tool_call>"), 24),
        ("the same attribute", each("<tool_call><function=t", |_| " s=\"x\"".into(), "></function></tool_call>"), 24),
        ("tags with attributes", each("", |_| "<t s=\"x\">\n".into(), ""), 24),
        ("lines of keys", each(open, |at| format!("\n<parameter=k{at}>\n"), close), 32),
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
