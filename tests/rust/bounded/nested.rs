//! Elements with a prefix before every tag.

use super::counting::{Build, each, hostile, never_ending};

const LIST: &str = "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"t\">]<]minimax[>[<list>";
const OPEN: &str = "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"t\">";

#[test]
fn elements_that_never_end_cost_what_they_weigh() {
    let inside = [
        "",
        "]<]minimax[>[<",
        "]<]minimax[>[<s>",
        "]<]minimax[>[<s>]<]minimax[>[</s>",
        "]<]minimax[>[<n>",
        "]<]minimax[>[<any>",
        "]<]minimax[>[<any>]<]minimax[>[<item>",
        "]<]minimax[>[<list>]<]minimax[>[<item>",
        "]<]minimax[>[<rows>]<]minimax[>[<item>]<]minimax[>[<a>",
        "x",
    ];
    let heads = inside.map(|inside| [OPEN, inside].concat());
    let others = [
        "",
        "<mm:think>",
        "]<]minimax[>[<tool_call>",
        "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"",
        "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"nope\">",
        "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"nope\">]<]minimax[>[<s>",
        "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"nope\">]<]minimax[>[<s>]<]minimax[>[<item>",
    ];
    let heads: Vec<&str> = heads.iter().map(String::as_str).chain(others).collect();
    let marks = [
        "]",
        "]<",
        "]<]",
        "]<]minimax[>[",
        "<",
        ">",
        "x",
        " ",
        "\n",
        "é",
        "\"",
        "nul",
        "]<]minimax[>[<",
        "]<]minimax[>[</",
        "]<]minimax[>[<a",
        "]<]minimax[>[<a>",
        "]<]minimax[>[</a>",
        "]<]minimax[>[<a>]<]minimax[>[</a>",
        "]<]minimax[>[<a>1]<]minimax[>[</a>",
        "]<]minimax[>[</s>",
        "]<]minimax[>[</s> ",
        "]<]minimax[>[</s>]<",
        "]<]minimax[>[</any>",
        "]<]minimax[>[<item>",
        "]<]minimax[>[</item>",
        "]<]minimax[>[</item>]<]minimax[>[<item>",
        "]<]minimax[>[<tool_call>",
        "]<]minimax[>[</tool_call>",
        "]<]minimax[>[<invoke name=\"",
        "]<]minimax[>[<invoke name=\"t\">",
        "]<]minimax[>[</invoke>",
        "</mm:think>",
        "[e~[",
    ];
    never_ending("minimax-m3", &heads, &marks);
}

#[test]
fn many_elements_cost_what_they_weigh() {
    let key = |at: usize| format!("]<]minimax[>[<k{at}>{at}]<]minimax[>[</k{at}>");
    let item = |at: usize| format!("]<]minimax[>[<item>{at}]<]minimax[>[</item>");
    let call = |_: usize| "]<]minimax[>[<invoke name=\"t\">]<]minimax[>[</invoke>\n".to_owned();
    let unclosed = |at: usize| format!("]<]minimax[>[<invoke name=\"n{at}\">");
    let nested = |at: usize| format!("]<]minimax[>[<k{at}>");
    let cases: [(&str, Build); 5] = [
        ("keys", each(OPEN, key, "]<]minimax[>[</invoke>")),
        ("items", each(LIST, item, "]<]minimax[>[</list>]<]minimax[>[</invoke>")),
        ("calls", each("]<]minimax[>[<tool_call>", call, "]<]minimax[>[</tool_call>")),
        ("calls that fail", each("]<]minimax[>[<tool_call>", unclosed, "")),
        ("depth", each(OPEN, nested, "]<]minimax[>[</invoke>")),
    ];
    for (name, build) in cases {
        hostile("minimax-m3", name, build, 1000, 80);
    }
}
