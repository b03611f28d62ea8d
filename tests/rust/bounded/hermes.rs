//! JSON objects with the name.

use super::counting::{KIB, each, hostile, never_ending};

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

#[test]
fn wrappers_cost_what_they_weigh() {
    let builds = [
        ("a long one", each(r#"{"list":{"item":["#, |at| format!("{at},"), "0]}")),
        ("one of indexes", each(r#"{"list":{"#, |at| format!(r#""{at}":{at},"#), r#""x":0}"#)),
        ("many", each(r#"{"lists":["#, |at| format!(r#"{{"item":[{at}]}},"#), "[]]")),
        ("in one another", each(r#"{"lists":"#, |_| r#"{"item":["#.into(), "")),
        ("behind a list", each(r#"{"list":{"0":["#, |at| format!("{at},"), "0]}")),
        ("of no list", each(r#"{"n":{"value":["#, |at| format!("{at},"), "0]}")),
    ];
    for (name, build) in builds {
        let message = |times| format!(r#"<tool_call>{{"name":"t","arguments":{}}}}}</tool_call>"#, build(times));
        hostile("hermes", name, message, 32 * KIB / 16, 80);
    }
}
