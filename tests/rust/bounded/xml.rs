//! Elements.

use super::counting::never_ending;

#[test]
fn elements_that_never_end_cost_what_they_weigh() {
    let heads = [
        "",
        "<t",
        "<t>",
        "<t\n",
        "\nt\n",
        "<t><s",
        "<t><s>",
        "<t><s><![CDATA[",
        "<t><s></s",
        "<t><s></s>",
        "<t><any>",
        "<t><any><a b=\"",
        "<t><any><!--",
        "<t><list><item>",
        "<t><n>1</n>",
        "<t>{\"any\":",
        "<t>{}",
        "\nt\n<s>x</s>",
    ];
    let marks = [
        "<",
        "</",
        "/",
        "x",
        " ",
        "\n",
        "&",
        "&#",
        "&#1",
        "&lt;",
        "]",
        "\"",
        "=",
        "-",
        "[",
        "<t>",
        "</t>",
        "<t/>",
        "\nt",
        "\nt\n<",
        "<s>",
        "</s",
        "</s>",
        "<any>",
        "<any ",
        "</any>",
        "<x>",
        "<x/>",
        "<list>1</list>",
        "<any>1</any>",
        "<![CDATA[",
        "<!--",
        "<a b='1' ",
        "<a b=\"<a b='",
    ];
    never_ending("xml", &heads, &marks);
}
