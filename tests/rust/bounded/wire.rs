//! Pairs, and the limits, which all protocols share.

use serde_json::json;
use wirecall_core::{ErrorKind, Options, parse_json};

use super::counting::{Build, KIB, MIB, each, hostile, read, schema, toolset};

#[test]
fn runs_of_one_mark_cost_what_they_weigh() {
    for mark in [
        "<",
        "<call>",
        "</call>",
        "\"",
        "'",
        "[",
        "{",
        " ",
        "\n",
        "<call>t ",
        "<call>t a",
        "<call> ",
        "<tool-",
        "<think>",
        "\\",
        "é",
    ] {
        hostile("wire", mark, |times| mark.repeat(times), MIB / mark.len(), 4);
    }
}

#[test]
fn values_that_never_end_cost_what_they_weigh() {
    for (head, mark) in [
        ("<call>t s=\"", "\""),
        ("<call>t s=\"", "\" "),
        ("<call>t s=\"x\"", " "),
        ("<call>t s=\"x\"", "\n"),
        ("<call>t s=\"", "\" a"),
        ("<call>t s=\"", "\" \"k\""),
        ("<call>t s=\"", "\\"),
        ("<call>t s=\"", "<call>"),
        ("<call>t s=\"", "\"<"),
        ("<call>t s=", "x "),
        ("<call>t s=", "<"),
        ("<call>t s=", ","),
        ("<call>t s=x,", " "),
        ("<call>t s=x", ", "),
        ("<call>t s=\"x\",", " "),
        ("<call>t s=", " "),
        ("<call>t s", " "),
        ("<call>t ", "a.a.a."),
        ("<call>t ", "a"),
        ("<call>t \"", "a"),
        ("<call>", "a"),
        ("<call>t s=x ", "é"),
        ("<call>t s=[\"", "x"),
        ("<call>t s=[", "x"),
        ("<call>t n=", "1"),
        ("<call>t any=", "1"),
        ("<call>t any=[", " "),
        ("<call>t any=[", "1,"),
        ("<call>t any=[\"", "\\u0000"),
        ("<call>t any={\"", "k"),
        ("<call>t {\"", "k"),
        ("<call>t {", " "),
        ("<call>t {}", " "),
        ("<call>t {}", "\n"),
        ("<call>t <json>{}", " "),
        ("<call>t ```json\n{}", "`"),
        ("<call>t s=x stray ", "\" "),
        ("<call>nope ", "{"),
        ("<call>nope ", "\"a\" "),
    ] {
        let name = format!("{head} and {mark}");
        hostile("wire", &name, |times| format!("{head}{}", mark.repeat(times)), MIB / mark.len(), 12);
    }
}

#[test]
fn many_small_things_cost_what_they_weigh() {
    // Names, ranges and their index for each member of a few bytes: memory is a larger multiple here.
    let cases: &[(&str, Build, usize)] = &[
        ("pairs", each("<call>t", |at| format!(" k{at}={at}"), "</call>"), 20),
        ("repeated pairs", each("<call>t", |_| " n=5".into(), "</call>"), 6),
        ("repeats that differ", each("<call>t", |at| format!(" n={at}"), "</call>"), 6),
        ("a list from repeats", each("<call>t", |at| format!(" list={at}"), "</call>"), 12),
        ("a list from commas", each("<call>t list=0", |_| ",1".into(), "</call>"), 60),
        ("indexes", each("<call>t", |at| format!(" any[{at}]=x"), "</call>"), 10),
        ("a gap of indexes", each("<call>t", |at| format!(" any[{}]=x", at * 2), "</call>"), 10),
        ("rows without their fields", each("<call>t", |at| format!(" rows[{at}].a=x"), "</call>"), 28),
        ("rows in JSON", each("<call>t rows=[{}", |_| ",{\"a\":\"x\"}".into(), "]</call>"), 10),
        ("unknown fields", each("<call>t closed={\"k\":1", |at| format!(",\"k{at}\":1"), "}</call>"), 20),
        ("members", each("<call>t {\"k\":1", |at| format!(",\"k{at}\":1"), "}</call>"), 20),
        ("repeated members", each("<call>t {\"n\":1", |_| ",\"n\":1".into(), "}</call>"), 8),
        (
            "repeats under a long key",
            Box::new(|times| {
                format!("<call>t {{\"{}\":{{\"n\":1{}}}}}</call>", "k".repeat(times), ",\"n\":1".repeat(times))
            }),
            8,
        ),
        (
            "wrong items under a long key",
            Box::new(|times| {
                format!("<call>t closed={{\"{}\":1{}}}</call>", "k".repeat(times), ",\"n\":1".repeat(times))
            }),
            8,
        ),
        ("calls", each("", |at| format!("<call>t n={at}</call>\n"), ""), 4),
        ("failed calls", each("", |_| "<call>t n</call>\n".into(), ""), 4),
        ("calls of no tool", each("", |at| format!("<call>nope{at} n=1</call>\n"), ""), 4),
        ("unclosed calls", each("", |_| "<call>t s=\"x\"\n".into(), ""), 4),
        ("brackets in pairs", each("<call>t any=", |_| "[".into(), ""), 20),
        ("brackets in an object", each("<call>t {\"any\":", |_| "{\"a\":".into(), ""), 20),
    ];
    for (name, build, times) in cases {
        hostile("wire", name, build, 100_000, *times);
    }
}

fn limited(calls: usize, depth: usize, call_bytes: usize, key_segments: usize) -> Options {
    let mut options = Options::default();
    options.limits.calls = calls;
    options.limits.depth = depth;
    options.limits.call_bytes = call_bytes;
    options.limits.key_segments = key_segments;
    options
}

#[test]
fn a_hundred_thousand_of_everything_are_read() {
    let tools = toolset(&schema(), limited(100_000, 100_000, 64 * MIB, 64));
    let many = 100_000;
    let calls = read(&tools, &"<call>t n=1</call>".repeat(many), 4096, None);
    assert_eq!(calls.ends.len(), many);
    let one_more = read(&tools, &("<call>t n=1</call>".repeat(many + 1) + "<call>t n=1</call>"), 4096, None);
    assert_eq!((one_more.ends.len(), &one_more.errors[..]), (many, &[ErrorKind::TooManyCalls][..]));

    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let body = |depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
        for size in [1, usize::MAX / 2] {
            let pairs = read(&tools, &format!("<call>t any={}</call>", body(many - 1)), size, None);
            assert_eq!((pairs.ends.len(), pairs.errors.len()), (1, 0), "{open} in pairs");
            let object = read(&tools, &format!("<call>t {{\"any\":{}}}</call>", body(many - 1)), size, None);
            assert_eq!((object.ends.len(), object.errors.len()), (1, 0), "{open} in an object");
            let deep = read(&tools, &format!("<call>t any={}</call><call>t n=1</call>", body(many)), size, None);
            assert_eq!((deep.ends.len(), &deep.errors[..]), (1, &[ErrorKind::TooDeep][..]), "{open}");
        }
    }
}

#[test]
fn each_limit_has_its_error_and_later_calls_work() {
    let tools = toolset(&schema(), limited(4, 5, 100, 3));
    let after = "<call>t n=1</call>";
    let long = "x".repeat(100);
    for (message, kind) in [
        (format!("<call>t s=\"{long}\"</call>"), ErrorKind::TooLarge),
        (format!("<call>t s={long}</call>"), ErrorKind::TooLarge),
        (format!("<call>t {{\"s\":\"{long}\"}}</call>"), ErrorKind::TooLarge),
        (format!("<call>t any={}</call>", "1".repeat(100)), ErrorKind::TooLarge),
        ("<call>t any=[[[[[1]]]]]</call>".into(), ErrorKind::TooDeep),
        ("<call>t {\"any\":[[[[[1]]]]]}</call>".into(), ErrorKind::TooDeep),
        ("<call>t any.a.b.c=1</call>".into(), ErrorKind::TooDeep),
    ] {
        for size in [1, 7, 1000] {
            let outcome = read(&tools, &format!("{message}{after}"), size, None);
            assert_eq!((&outcome.errors[..], outcome.ends.len()), (&[kind][..], 1), "{message} in chunks of {size}");
        }
    }
    for message in ["<call>t any=[[[[1]]]]</call>", "<call>t {\"any\":[[[[1]]]]}</call>", "<call>t any.a.b=1</call>"] {
        assert_eq!(read(&tools, message, 1, None).ends.len(), 1, "{message}");
    }
    let many = read(&tools, &after.repeat(6), 3, None);
    assert_eq!((many.ends.len(), &many.errors[..]), (4, &[ErrorKind::TooManyCalls][..]));
    assert_eq!(many.text, after.len() * 2 - "<call>".len());
}

#[test]
fn memory_stays_within_the_limit_of_one_call() {
    let mut options = Options::default();
    options.limits.call_bytes = 64 * KIB;
    let tools = toolset(&schema(), options);
    for head in [
        "<call>t s=\"",
        "<call>t s=",
        "<call>t s=x ",
        "<call>t any=[\"",
        "<call>t any=",
        "<call>t {\"any\":\"",
        "<call>t {\"any\":1",
        "<call>t s=\"x\"",
        "<call>t s=\"x\" ",
        "<call>t list=1,",
        "<call>nope ",
        "<call>",
        "<call>t a",
        "plain ",
    ] {
        for filler in ["x", " ", "\" ", "1,", "é", "<"] {
            let message = format!("{head}{}", filler.repeat(4 * MIB / filler.len()));
            let outcome = read(&tools, &message, 4096, None);
            assert!(outcome.peak <= 12 * tools.limits().call_bytes, "{head} and {filler}: {} bytes", outcome.peak);
        }
    }
}

#[test]
fn deep_values_end_where_the_stack_would() {
    let mut options = Options::default();
    options.limits.depth = usize::MAX;
    let literals = json!({"type": "object", "properties": {"a": {"enum": [[1]]}}});
    let tools = toolset(&literals, options);
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = open.repeat(100_000) + "1" + &close.repeat(100_000);
        assert!(parse_json(&deep, usize::MAX).is_err());
        assert_eq!(read(&tools, &format!("<call>t a={deep}</call>"), 4096, None).ends.len(), 1);
    }
}
