//! JSON objects with the name.

use super::counting::never_ending;

#[test]
fn objects_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "<tool_call>",
        "<tool_call>[",
        "<tool_call>{",
        "<tool_call>{\"name\":\"t\",\"arguments\":",
        "<tool_call>{\"name\":\"t\",\"arguments\":\"",
        "<tool_call>{\"name\":\"t\",\"arguments\":{\"s\":\"",
        "<tool_call>{\"name\":\"t\",\"arguments\":{\"any\":",
        "<tool_call>{\"name\":\"t\",\"arguments\":{}",
        "<tool_call>{\"name\":\"t\",\"arguments\":{}}",
        "<tool_call>{\"arguments\":{\"s\":\"",
        "<tool_call>{\"name\":\"nope\",\"arguments\":{\"s\":\"",
        "<tool_call>[{\"name\":\"t\",\"arguments\":{}},",
    ];
    let marks = [
        "<",
        "x",
        " ",
        "\n",
        "\"",
        "\" ",
        "\\",
        "\\u0000",
        "'",
        "[",
        "]",
        "{",
        "}",
        "{\"a\":",
        "\"a\":1,",
        "\", \"k",
        "1,",
        ",",
        "//",
        "/*",
        "`",
        "<tool_call>",
        "</tool_call>",
        "</tool_call",
        "</think>",
        "{\"name\":\"t\"},",
    ];
    never_ending("hermes", &heads, &marks);
}
