//! YAML as it is read and written: what texts become, which are refused and where, and that all JSON survives.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;
use wirecall_core::{Item, Toolset, format_yaml, parse, parse_json, parse_yaml};

use crate::support::checks::any_chunks;
use crate::support::toolsets::{definition, options_of};
use crate::support::{config, schemas, text};

fn read(text: &str) -> Result<String, String> {
    let mut out = String::new();
    parse_yaml(text, 128).map(|value| value.write(&mut out)).map_err(|error| error.to_string())?;
    Ok(out)
}

/// A text and its JSON.
const READ: &[(&str, &str)] = &[
    ("", "null"),
    ("# only\n", "null"),
    ("plain\n  text", r#""plain text""#),
    ("a: 1\nb: two words\n", r#"{"a":1,"b":"two words"}"#),
    ("---\na: 1", r#"{"a":1}"#),
    ("a:\n  b:\n    - 1\n    - x: y\n      z: 2\nc: []\n", r#"{"a":{"b":[1,{"x":"y","z":2}]},"c":[]}"#),
    ("a:\n- 1\n- 2\nb: 3", r#"{"a":[1,2],"b":3}"#),
    ("- a\n- - b\n  - c\n-\n  d: e\n-", r#"["a",["b","c"],{"d":"e"},null]"#),
    // The core schema.
    ("[yes, on, 2020-01-01, 1:30, 1_000, .inf]", r#"["yes","on","2020-01-01","1:30","1_000",".inf"]"#),
    ("[0o17, 0x1F, 012, .5, 5., +5, -.5e-3, 1e400]", "[15,31,12,0.5,5,5,-0.5e-3,1e400]"),
    ("[~, null, Null, NULL, True, FALSE, tRUE]", r#"[null,null,null,null,true,false,"tRUE"]"#),
    ("a: 100000000000000000000000000000000001\nb: 0.10", r#"{"a":100000000000000000000000000000000001,"b":0.10}"#),
    // Scalars.
    ("a: foo\n  bar\n\n  baz\nb: 1", r#"{"a":"foo bar\nbaz","b":1}"#),
    ("a: \"foo\n  bar\\n\\\n  baz\n\n  q  \"", r#"{"a":"foo bar\nbaz\nq  "}"#),
    ("a: 'it''s\n  ok \\n'", r#"{"a":"it's ok \\n"}"#),
    (r#"a: "\x41\u00e9\U0001F600\uD83D\uDE00\_\N\e\0\/""#, "{\"a\":\"A\u{e9}😀😀\u{a0}\u{85}\\u001b\\u0000/\"}"),
    ("a: |\n  x\n   y\n\nb: >-\n  x\n  y\n\n  z\n", r#"{"a":"x\n y\n","b":"x y\nz"}"#),
    ("a: |2-\n    x\n   y\n\nb: |+\n  x\n\n\nc: |\n", r#"{"a":"  x\n y","b":"x\n\n\n","c":""}"#),
    ("a: >\n\n  x\n    y\n  z\n\n\n  w\n", r#"{"a":"\nx\n  y\nz\n\nw\n"}"#),
    ("- |\n x\n- k: >-  # c\n   y\n   z\n", r#"["x\n",{"k":"y z"}]"#),
    ("a: |\r\n  x\r\n  y\r\nb: 'p\r\n  q'\r\n", r#"{"a":"x\ny\n","b":"p q"}"#),
    ("a: http://x.y/z?a#b\nb: -x\nc: :x", r#"{"a":"http://x.y/z?a#b","b":"-x","c":":x"}"#),
    // Comments.
    ("# c\na: 1 # d\n\n  # e\nb: '#' # f\nc: [1, # g\n  2]", r##"{"a":1,"b":"#","c":[1,2]}"##),
    // Flow collections.
    ("{a: 1, 'b': [x, y z, \"q\",], c: {d: }, e}", r#"{"a":1,"b":["x","y z","q"],"c":{"d":null},"e":null}"#),
    (r#"{"a":[],"b":{"c":true}}"#, r#"{"a":[],"b":{"c":true}}"#),
    // Keys.
    ("'b c' : 1\n\"d\": 2\n3: 4\nnull: 5", r#"{"b c":1,"d":2,"3":4,"null":5}"#),
];

/// A text, and what is wrong with it where.
const REFUSED: &[(&str, &str)] = &[
    ("a: b: c", "plain text contains a colon and a space: put it into double quotes (line 1, column 5)"),
    ("a: 1\na: 2", "the key \"a\" is given twice (line 2, column 1)"),
    ("{a: 1, a: 1}", "the key \"a\" is given twice (line 1, column 8)"),
    ("a: [b", "a quote or bracket is never closed (line 1, column 6)"),
    ("a: \"b", "a quote or bracket is never closed (line 1, column 4)"),
    ("a: 'x' y", "there is text after the value (line 1, column 8)"),
    ("a: |\n  x\n y\n", "a line of a block scalar is less indented than its first line (line 3, column 2)"),
    ("a: |\n\tx\n", "a tab cannot indent a line of a block scalar: use spaces (line 2, column 1)"),
    ("a:\n\tb: 1\n", "a tab cannot indent a line: use spaces (line 2, column 2)"),
    ("a:\n    x: 1\n   y: 2", "the indentation matches no earlier line (line 3, column 4)"),
    ("é: 1\n😀: - b", "a list must start on its own line (line 2, column 4)"),
    (
        "a: |x\n  y",
        "only -, + and a digit may follow | and >: put text that begins like that into double quotes (line 1, column 4)",
    ),
    ("a: @x", "plain text cannot start like that: put it into double quotes (line 1, column 4)"),
    ("&x a: 1", PROPERTIES_1),
    ("a: *x", PROPERTIES_4),
    ("a: !!str x", PROPERTIES_4),
    ("%YAML 1.2\n---\na: 1", "directives (%) are not supported (line 1, column 1)"),
    ("a: 1\n---\nb: 2", "one document only: leave out --- and ... (line 2, column 1)"),
    ("? a\n: b", "a key must be plain or quoted text: ? is not supported (line 1, column 1)"),
    ("a: [b: 1]", "a key in a list needs braces (line 1, column 6)"),
    ("a: [1,,2]", "a comma is missing in brackets (line 1, column 7)"),
    ("a: [1}", "brackets do not match (line 1, column 6)"),
    ("a: \"\\q\"", "a backslash in double quotes must begin an escape (line 1, column 5)"),
];
const PROPERTIES_1: &str = "anchors (&), aliases (*) and tags (!) are not supported: put text that starts like that into double quotes (line 1, column 1)";
const PROPERTIES_4: &str = "anchors (&), aliases (*) and tags (!) are not supported: put text that starts like that into double quotes (line 1, column 4)";

#[test]
fn texts_become_what_yaml_says() {
    for (text, json) in READ {
        assert_eq!(read(text).as_deref(), Ok(*json), "{text:?}");
    }
}

#[test]
fn other_texts_are_refused_with_their_place() {
    for (text, error) in REFUSED {
        assert_eq!(read(text), Err((*error).to_owned()), "{text:?}");
    }
}

#[test]
fn depth_is_bounded() {
    for unit in ["[", "{a: ", "- "] {
        let error = read(&unit.repeat(1_000_000)).expect_err("it is too deep");
        assert!(error.starts_with("nested too deeply"), "{error}");
    }
    assert!(read(&format!("{}{}", "[".repeat(128), "]".repeat(128))).is_ok());
}

#[test]
fn hostile_texts_take_linear_time() {
    for unit in [
        "-", ":", "\"", "'", " ", "\t", "\n", "# ", "|", "a: ", "? ", "\\", "\"\\", "a\n", "- a\n", "''", "[]", "#",
        "\r", "a #",
    ] {
        let text = unit.repeat((1 << 20) / unit.len());
        // Each of these alone, and as a value, a quoted text and a block.
        for start in ["", "a: ", "a: \"", "a: |\n ", "a: [", "- "] {
            let _ = read(&format!("{start}{text}"));
        }
    }
}

#[test]
fn writing_is_plain_where_it_can_be() {
    let value = json!({
        "text": "two words", "number": "42", "yes": "yes", "none": null, "empty": "", "colon": "a: b", "hash": "a #b", "url": "http://x/#y",
        "lines": "a\n  b\n", "no end": "a\nb", "more\nends": "a\n\n\n", "indented": " a\nb\n", "list": [1, [], {}, {"k": [2], "l": "x"}, ["a", "b\nc"]],
        "map": {"in": {"ner": true}}, "tag": "</t>", "dash": "-x", "tab": "\t", "null": "~", "007": "007", "\u{7f}": "\u{85}\u{2028}"
    });
    let text = format_yaml(&parse_json(&value.to_string(), 128).expect("it is JSON"));
    let expected = r##"text: two words
number: "42"
yes: yes
none: null
empty: ""
colon: "a: b"
hash: "a #b"
url: http://x/#y
lines: |
  a
    b
no end: |-
  a
  b
"more\nends": |+
  a


indented: |2
   a
  b
list:
  - 1
  - []
  - {}
  - k:
      - 2
    l: x
  - - a
    - |-
      b
      c
map:
  in:
    ner: true
tag: "</t>"
dash: -x
tab: "\t"
"null": "~"
"007": "007"
"\u007f": "\u0085\u2028"
"##;
    assert_eq!(text, expected);
}

const KEYS: &[&str] =
    &["path", "mode", "content", "level", "tags", "path", "mode", "content", "level", "PATH", "\"path\"", " mode"];
const GAPS: &[&str] = &[" ", " ", " ", " ", " ", " ", "  ", "\t", "", "\n  "];
const VALUES: &[&str] = &[
    "a",
    "a b",
    "7",
    "-7",
    "0x1F",
    "true",
    "~",
    "low",
    "-",
    "- a",
    "--",
    "a:",
    "a:b",
    "a: b",
    "a #b",
    "a#b",
    "#a",
    "a ",
    "a\t",
    "\"7\"",
    "\"a\" ",
    "\"a<b\"",
    "\"a\\n\"",
    "\"\"",
    "\"a",
    "'a'",
    "a<b",
    "</x>",
    "é",
    "[a]",
    "[\"a\"]",
    "{}",
    "|",
    "|\n  a",
    "|-\n  a\n\n   b",
    "&a b",
    "a\r",
    "\u{85}",
    "C:\\t",
    "...",
    "/>",
    "<write>",
    "",
];
const BEHIND: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\n\n",
    "\n  more\n",
    "\n # note\n",
    "\nword\n",
    "\n---\n",
    "\n<write>\n",
    "",
];

fn toolset(strict: bool) -> Toolset {
    let schema = json!({"type": "object", "required": ["path"], "properties": {
        "path": {"type": "string"}, "mode": {"type": "integer"}, "content": {"type": "string"}, "tags": {"type": "array"},
        "level": {"enum": ["low", "high", 7, null]}}});
    let options = options_of("yaml", strict);
    let tools = ["ping", "write"].map(|name| definition(name, &schema));
    Toolset::new(tools.to_vec(), options).expect("the tools are fine")
}

static TOOLS: LazyLock<[Toolset; 2]> = LazyLock::new(|| [toolset(false), toolset(true)]);

#[test]
fn the_manual_shows_a_call_that_is_read() {
    let tools = toolset(false);
    let manual = tools.manual(None);
    let items = parse(&tools, &manual, None, None);
    let call = items.iter().find_map(|item| if let Item::Call(call) = item { Some(call) } else { None });
    let call = call.expect("a call is in it");
    assert!(call.repairs.is_empty() && call.problems.is_empty(), "{call:?}");
    assert!(manual.contains("content: |-\n  some text\n  of two lines\n</ping>"), "{manual}");
    assert_eq!(call.arguments, r#"{"path":"some text","content":"some text\nof two lines"}"#);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_written_is_read(value in schemas::json()) {
        let json = value.to_string();
        let text = format_yaml(&parse_json(&json, 128).expect("it is JSON"));
        prop_assert_eq!(read(&text), Ok(json), "{}", text);
    }

    #[test]
    fn any_string_is_read_as_it_was(line in text::soup(6), more in text::soup(6)) {
        for text in [line.clone(), format!("{line}\n{more}"), format!("{line}\n"), format!("\n{line} \n{more}\n\n")] {
            for value in [json!({"a": text, "b": 1}), json!([text, [text]]), json!({&text: {&text: text}})] {
                let json = value.to_string();
                let yaml = format_yaml(&parse_json(&json, 128).expect("it is JSON"));
                prop_assert_eq!(read(&yaml), Ok(json), "{}", yaml);
            }
        }
    }

    #[test]
    fn anything_ends(text in text::soup(12)) {
        let _ = read(&text);
    }

    /// Lines of the usual kind are read in one step; cut into characters they never are.
    #[test]
    fn lines_in_one_step_are_read_as_by_characters(
        written in proptest::collection::vec((select(KEYS), select(GAPS), select(VALUES), select(BEHIND)), 1..5),
        end in select(&["</write>", "</write>", "</write>", " </write>", "</write", "</ write >", "<write>", ""][..]),
        cuts in proptest::collection::vec(any::<Index>(), 0..4),
    ) {
        let mut message = String::from("<write>\n");
        for (key, gap, value, behind) in written {
            message.push_str(&format!("{key}:{gap}{value}{behind}"));
        }
        message.push_str(end);
        for strict in [false, true] {
            any_chunks(&TOOLS[usize::from(strict)], &message, Some(false), &cuts)?;
        }
    }
}
