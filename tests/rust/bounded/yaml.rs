//! Mappings.

use super::counting::never_ending;

#[test]
fn mappings_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "<t>\n",
        "<t>\ns: ",
        "<t>\ns: x\n",
        "<t>\ns: \"",
        "<t>\ns: |\n ",
        "<t>\nany: ",
        "<t>\nany: [",
        "<t>\nany:\n  - ",
        "<t>\n&a ",
        "<t>\nx y",
        "<t>\ns:  ",
    ];
    let marks = [
        "-", ":", "\"", "'", " ", "\n", "#", "<", "</", "</t ", "[", "{", "{a: ", "- ", "\n- ", "a", "\\", "\n ",
        "\na: b", "\nx", "?", "|\n", "<t>\n", "\r", "\t",
    ];
    never_ending("yaml", &heads, &marks);
}
