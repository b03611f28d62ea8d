//! Hostile input: nothing panics, every limit gives its error, work and memory grow with the message and no faster.
//!
//! No clock is read. What would be quadratic here would take minutes, and what a reading allocates in total is counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use serde_json::json;
use wirecall_core::{
    CallEnd, Definition, ErrorKind, Event, Limits, Options, Parser, Syntax, ToolError, Toolset, parse_json,
};

/// Counts what each thread has allocated: tests run side by side.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static TOTAL: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    LIVE.with(|live| {
        live.set(live.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(live.get())));
    });
    TOTAL.with(|total| total.set(total.get() + bytes.max(0).unsigned_abs()));
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn toolset(schema: &serde_json::Value, options: Options) -> Toolset {
    let definition = Definition { name: "t".into(), description: None, parameters: schema.to_string(), strict: false };
    Toolset::new(vec![definition], options).expect("the tool is fine")
}

fn schema() -> serde_json::Value {
    json!({"type": "object", "required": ["needed"], "properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "integer"}}}},
        "closed": {"type": "object", "additionalProperties": false}, "any": {}}})
}

/// What came of a message, and what it cost.
#[derive(Debug, Default)]
struct Outcome {
    ends: Vec<CallEnd>,
    errors: Vec<ErrorKind>,
    /// Characters of text, of deltas, and of the events' own source.
    text: usize,
    peak: usize,
    total: usize,
}

fn read(tools: &Toolset, message: &str, size: usize, truncated: Option<bool>) -> Outcome {
    let mut outcome = Outcome::default();
    let before = LIVE.get();
    let total = TOTAL.get();
    PEAK.set(before);
    let mut parser = Parser::new(false);
    let mut sink = |event: Event<'_>| match event {
        Event::Text(text) => outcome.text += text.len(),
        Event::CallEnd(end) => outcome.ends.push(end),
        Event::CallError(error) => outcome.errors.push(error.kind),
        Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
    };
    let mut from = 0;
    while from < message.len() {
        let mut end = (from + size).min(message.len());
        while !message.is_char_boundary(end) {
            end += 1;
        }
        parser.feed(tools, &message[from..end], &mut sink);
        from = end;
    }
    parser.finish(tools, truncated, &mut sink);
    outcome.peak = (PEAK.get() - before).unsigned_abs();
    outcome.total = TOTAL.get() - total;
    outcome
}

/// Makes a message of so many repeats.
type Build = Box<dyn Fn(usize) -> String>;

/// Reads in chunks of one byte, of some, and whole. The peak stays within `times` the message (and a little), and a message
/// eight times as long allocates eight times as much, give or take that buffers double: not 64 times.
fn hostile(name: &str, build: impl Fn(usize) -> String, repeats: usize, times: usize) {
    hostile_in("wire", name, build, repeats, times);
}

fn hostile_in(protocol: &str, name: &str, build: impl Fn(usize) -> String, repeats: usize, times: usize) {
    let (short, long) = (build(repeats / 8), build(repeats));
    for (strict, truncated) in [(false, None), (false, Some(false)), (true, Some(false))] {
        let tools = toolset(&schema(), Options { protocol: protocol.into(), strict, ..Options::default() });
        for size in [1, 4093, usize::MAX / 2] {
            let first = read(&tools, &short, size, truncated);
            let second = read(&tools, &long, size, truncated);
            let room = times * long.len() + 64 * KIB;
            assert!(
                second.peak <= room,
                "{name}: {} bytes for a message of {} in chunks of {size}",
                second.peak,
                long.len()
            );
            let growth = 20 * first.total + 256 * KIB;
            assert!(
                second.total <= growth,
                "{name}: {} bytes, then {}, in chunks of {size}",
                first.total,
                second.total
            );
        }
    }
}

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
        hostile(mark, |times| mark.repeat(times), MIB / mark.len(), 4);
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
        hostile(&name, |times| format!("{head}{}", mark.repeat(times)), MIB / mark.len(), 12);
    }
}

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
    for head in heads {
        for mark in marks {
            let name = format!("{head} and {mark}");
            hostile_in("qwen3coder", &name, |times| format!("{head}{}", mark.repeat(times)), 32 * KIB / mark.len(), 80);
        }
    }
}

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
    for head in heads {
        for mark in marks {
            let name = format!("{head} and {mark}");
            hostile_in("xml", &name, |times| format!("{head}{}", mark.repeat(times)), 32 * KIB / mark.len(), 80);
        }
    }
}

#[test]
fn many_parameters_cost_what_they_weigh() {
    let each = |head: &'static str, item: fn(usize) -> String, tail: &'static str| {
        move |times: usize| format!("{head}{}{tail}", (0..times).map(item).collect::<String>())
    };
    let (open, close) = ("<tool_call><function=t>", "</function></tool_call>");
    let cases: &[(&str, Build, usize)] = &[
        ("parameters", Box::new(each(open, |at| format!("<parameter=k{at}>{at}</parameter>"), close)), 24),
        ("unclosed parameters", Box::new(each(open, |at| format!("<parameter=k{at}>"), close)), 32),
        ("a list", Box::new(each(open, |at| format!("<parameter=list>{at}</parameter>"), close)), 8),
        ("a list of anything", Box::new(each(open, |at| format!("<parameter=any>{at}</parameter>"), close)), 8),
        (
            "a list from commas",
            Box::new(each(
                "<tool_call><function=t><parameter=list>0",
                |_| ",1".into(),
                "</parameter></function></tool_call>",
            )),
            80,
        ),
        ("the same again", Box::new(each(open, |_| "<parameter=n>5</parameter>".into(), close)), 8),
        ("repeats that differ", Box::new(each(open, |at| format!("<parameter=s>{at}</parameter>"), close)), 8),
        ("rows", Box::new(each(open, |_| "<parameter=rows>{\"a\":\"x\"}</parameter>".into(), close)), 16),
        (
            "functions",
            Box::new(each(
                "<tool_call>",
                |at| format!("<function=t><parameter=n>{at}</parameter></function>"),
                "</tool_call>",
            )),
            6,
        ),
        (
            "functions of no tool",
            Box::new(each(
                "<tool_call>",
                |at| format!("<function=nope{at}><parameter=n>1</parameter></function>"),
                "</tool_call>",
            )),
            6,
        ),
        ("calls", Box::new(each("", |at| format!("<function=t><parameter=n>{at}</parameter></function>\n"), "")), 6),
        ("brackets", Box::new(each("<tool_call><function=t><parameter=any>", |_| "[".into(), close)), 30),
    ];
    for (name, build, times) in cases {
        hostile_in("qwen3coder", name, build, 50_000, *times);
    }
}

#[test]
fn many_small_things_cost_what_they_weigh() {
    let each = |head: &'static str, item: fn(usize) -> String, tail: &'static str| {
        move |times: usize| format!("{head}{}{tail}", (0..times).map(item).collect::<String>())
    };
    // Names, ranges and their index for each member of a few bytes: memory is a larger multiple here.
    let cases: &[(&str, Build, usize)] = &[
        ("pairs", Box::new(each("<call>t", |at| format!(" k{at}={at}"), "</call>")), 20),
        ("repeated pairs", Box::new(each("<call>t", |_| " n=5".into(), "</call>")), 6),
        ("repeats that differ", Box::new(each("<call>t", |at| format!(" n={at}"), "</call>")), 6),
        ("a list from repeats", Box::new(each("<call>t", |at| format!(" list={at}"), "</call>")), 12),
        ("a list from commas", Box::new(each("<call>t list=0", |_| ",1".into(), "</call>")), 60),
        ("indexes", Box::new(each("<call>t", |at| format!(" any[{at}]=x"), "</call>")), 10),
        ("a gap of indexes", Box::new(each("<call>t", |at| format!(" any[{}]=x", at * 2), "</call>")), 10),
        ("rows without their fields", Box::new(each("<call>t", |at| format!(" rows[{at}].a=x"), "</call>")), 28),
        ("rows in JSON", Box::new(each("<call>t rows=[{}", |_| ",{\"a\":\"x\"}".into(), "]</call>")), 10),
        ("unknown fields", Box::new(each("<call>t closed={\"k\":1", |at| format!(",\"k{at}\":1"), "}</call>")), 20),
        ("members", Box::new(each("<call>t {\"k\":1", |at| format!(",\"k{at}\":1"), "}</call>")), 20),
        ("repeated members", Box::new(each("<call>t {\"n\":1", |_| ",\"n\":1".into(), "}</call>")), 8),
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
        ("calls", Box::new(each("", |at| format!("<call>t n={at}</call>\n"), "")), 4),
        ("failed calls", Box::new(each("", |_| "<call>t n</call>\n".into(), "")), 4),
        ("calls of no tool", Box::new(each("", |at| format!("<call>nope{at} n=1</call>\n"), "")), 4),
        ("unclosed calls", Box::new(each("", |_| "<call>t s=\"x\"\n".into(), "")), 4),
        ("brackets in pairs", Box::new(each("<call>t any=", |_| "[".into(), "")), 20),
        ("brackets in an object", Box::new(each("<call>t {\"any\":", |_| "{\"a\":".into(), "")), 20),
    ];
    for (name, build, times) in cases {
        hostile(name, build, 100_000, *times);
    }
}

#[test]
fn a_hundred_thousand_of_everything_are_read() {
    let limits = Limits { calls: 100_000, depth: 100_000, call_bytes: 64 * MIB, key_segments: 64 };
    let tools = toolset(&schema(), Options { limits, ..Options::default() });
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
    let limits = Limits { calls: 4, depth: 5, call_bytes: 100, key_segments: 3 };
    let tools = toolset(&schema(), Options { limits, ..Options::default() });
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
    let limits = Limits { call_bytes: 64 * KIB, ..Limits::default() };
    let tools = toolset(&schema(), Options { limits, ..Options::default() });
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
            assert!(outcome.peak <= 12 * limits.call_bytes, "{head} and {filler}: {} bytes", outcome.peak);
        }
    }
}

#[test]
fn literals_that_are_objects_are_not_read_again_for_each_value() {
    let literals: Vec<_> = (0..300).map(|at| serde_json::json!({ "x": vec![0; 1000], "y": [at, 1.50] })).collect();
    let schema = serde_json::json!({"properties": {"a": {"items": {"enum": literals}}}});
    let tools = toolset(&schema, Options::default());
    let (zeros, begun) = (vec!["0"; 1000].join(","), std::time::Instant::now());
    let message = format!("<call>t a=[{}{{\"y\":[7e0,15e-1],\"x\":[{zeros}]}}]</call>", "{},".repeat(20_000));
    let end = wirecall_core::parse(&tools, &message, None, false);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    let [wirecall_core::Item::Call(call)] = &end[..] else { panic!("{end:?}") };
    assert!(call.arguments.ends_with("\"y\":[7,1.5]}]}"), "it becomes the literal: {}", &call.arguments[60_000..]);
}

/// Compiles, tells the manual, and reads a call; what matters is that it ends, and soon.
fn compiles(schema: &serde_json::Value) {
    for (validate, syntax) in [(false, Syntax::Wire), (true, Syntax::Json)] {
        let definition =
            Definition { name: "t".into(), description: None, parameters: schema.to_string(), strict: false };
        let Ok(tools) = Toolset::new(vec![definition], Options { validate, syntax, ..Options::default() }) else {
            continue;
        };
        let manual = tools.manual(None);
        assert!(manual.len() < 8 * MIB, "{} bytes of manual", manual.len());
        let value = parse_json("{\"a\":{\"a\":[1]},\"b\":\"x\"}", 8).expect("it is JSON");
        let written = tools.encode("t", &value).expect("it can be written");
        read(&tools, &written, 1, None);
        read(&tools, "<call>t a=1</call><call>t a=x y</call>", 1, None);
    }
}

#[test]
fn deep_values_end_where_the_stack_would() {
    let limits = Limits { depth: usize::MAX, ..Limits::default() };
    let literals = json!({"type": "object", "properties": {"a": {"enum": [[1]]}}});
    let tools = toolset(&literals, Options { limits, ..Options::default() });
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = open.repeat(100_000) + "1" + &close.repeat(100_000);
        assert!(parse_json(&deep, usize::MAX).is_err());
        assert_eq!(read(&tools, &format!("<call>t a={deep}</call>"), 4096, None).ends.len(), 1);
    }
}

#[test]
fn hostile_schemas_end() {
    let chain = |keyword: &str, wrap: bool| {
        let step = |at: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            let said = if wrap { json!([next, {"type": "string"}]) } else { next };
            (format!("d{at}"), if keyword == "$ref" { said } else { json!({ keyword: said }) })
        };
        let mut defs: serde_json::Map<String, serde_json::Value> = (0..5000).map(step).collect();
        defs.insert("d5000".into(), json!({"type": "integer"}));
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    };
    compiles(&chain("$ref", false));
    compiles(&chain("anyOf", true));
    compiles(&chain("allOf", true));
    compiles(&chain("oneOf", true));
    compiles(&chain("items", false));
    // Products of unions, one of which nothing can meet.
    let either = json!({"anyOf": [{"minLength": 1}, {"minLength": 2}]});
    let mut all = vec![either; 40];
    compiles(&json!({"type": "object", "properties": {"a": {"allOf": all}}}));
    all.push(json!({"anyOf": [false]}));
    compiles(&json!({"type": "object", "properties": {"a": {"allOf": all}}}));
    // Circles.
    compiles(&json!({"$ref": "#"}));
    compiles(&json!({"allOf": [{"$ref": "#"}]}));
    compiles(&json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "object"}));
    compiles(
        &json!({"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}),
    );
    // Wide, and wider at each level.
    let wide: serde_json::Map<String, serde_json::Value> =
        (0..60).map(|at| (format!("k{at}"), json!({"$ref": "#"}))).collect();
    compiles(&json!({"type": "object", "properties": wide}));
    let nested = json!({"n": {"type": "object", "properties": wide.keys().map(|key| (key.clone(), json!({"$ref": "#/$defs/n"}))).collect::<serde_json::Map<_, _>>()}});
    compiles(&json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": nested}));
    let names: Vec<String> = (0..50_000).map(|at| format!("k{at}")).collect();
    let properties: serde_json::Map<String, serde_json::Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    let half = json!({"properties": properties, "required": names});
    compiles(&json!({"type": "object", "anyOf": [half, half]}));
    compiles(&json!({"type": "object", "properties": {"a": {"enum": names}, "b": {"allOf": [{"type": "string"}]}}}));
    compiles(&json!({"type": "object", "patternProperties": {"(a*)*b": {"type": "integer"}, "^(?=a)": {}}}));
    let mut deep = json!({"type": "integer"});
    for _ in 0..100 {
        deep = json!({"type": "array", "items": deep});
    }
    compiles(&json!({"type": "object", "properties": {"a": deep}}));
}

/// What becomes of one call of a validated tool, in a thread with half the stack that Rust gives one.
fn validated(schema: &serde_json::Value, depth: usize, message: &str) -> Result<Vec<ErrorKind>, ToolError> {
    let definition = Definition { name: "t".into(), description: None, parameters: schema.to_string(), strict: false };
    let limits = Limits { depth, ..Limits::default() };
    let tools = Toolset::new(vec![definition], Options { validate: true, limits, ..Options::default() })?;
    let read = || read(&tools, message, usize::MAX / 2, None).errors;
    let stack = MIB;
    Ok(std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, read).expect("a thread");
        thread.join().expect("nothing panics")
    }))
}

fn definitions(
    count: usize,
    each: impl Fn(serde_json::Value) -> serde_json::Value,
    last: serde_json::Value,
) -> serde_json::Value {
    let next = |at: usize| json!({"$ref": format!("#/$defs/d{}", at + 1)});
    let mut defs: serde_json::Map<_, _> = (0..count).map(|at| (format!("d{at}"), each(next(at)))).collect();
    defs.insert(format!("d{count}"), last);
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

#[test]
fn schemas_that_multiply_are_not_validated() {
    let no = json!({"type": "null"});
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let chain = definitions(30, |next| json!({keyword: [next, next]}), no.clone());
        let error = validated(&chain, 128, "").expect_err("two to the thirtieth");
        assert!(error.pointer.is_some_and(|at| at.starts_with("/$defs/d")) && error.message.contains("too many ways"));
    }
    for each in [
        |next| json!({"if": next, "then": next}),
        |next| json!({"not": next, "$ref": "#/$defs/d29"}),
        |next| json!({"allOf": [next], "unevaluatedProperties": false}),
        |next| json!({"dependentSchemas": {"a": next, "b": next}}),
    ] as [fn(serde_json::Value) -> serde_json::Value; 4]
    {
        let _ = validated(&definitions(30, each, no.clone()), 128, "<call>t a={\"a\":1,\"b\":1}</call>");
    }
    // One more level of the arguments for each of the schema: no place has more than two ways, but the last has 2^30.
    let step = |next| json!({"anyOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]});
    let deep = format!("<call>t a={}1{}</call>", "{\"a\":".repeat(30), "}".repeat(30));
    let kinds = validated(&definitions(30, step, no.clone()), 128, &deep).expect("each place is fine");
    assert_eq!(kinds, [ErrorKind::InvalidArguments]);
    // The same round a circle, which the validator remembers verdicts for, but not errors.
    let tree = json!({"anyOf": [{"required": ["x"], "properties": {"a": {"$ref": "#/$defs/d0"}}},
        {"required": ["x"], "properties": {"a": {"$ref": "#/$defs/d0"}}}]});
    let kinds = validated(&definitions(0, |next| next, tree), 128, &deep).expect("each place is fine");
    assert_eq!(kinds, [ErrorKind::InvalidArguments]);
}

#[test]
fn patterns_are_matched_in_linear_time() {
    let tool = |pattern: &str| json!({"type": "object", "properties": {"a": {"pattern": pattern}}});
    for pattern in ["(?=(x+x+)+y)", "(?<!x)y", r"(x+)\1y", "("] {
        let error = validated(&tool(pattern), 128, "").expect_err("it is refused");
        assert_eq!(error.pointer.as_deref(), Some("/properties/a/pattern"));
        assert!(error.message.contains("linear"), "{}", error.message);
    }
    // The automaton of the last one is large, and each `a` enters it again.
    for (pattern, checked) in [("(x+x+)+y", true), ("(a|a)*b", true), ("[ab]*a[ab]{40000}c", false)] {
        let definition =
            Definition { name: "t".into(), description: None, parameters: tool(pattern).to_string(), strict: true };
        let tools = Toolset::new(vec![definition], Options::default()).expect("a linear pattern");
        let mut message = String::new();
        let mut parser = Parser::new(false);
        let call = format!("<call>t a=\"{}\"</call>", "xa".repeat(MIB / 2));
        parser.feed(&tools, &call, &mut |event| {
            if let Event::CallError(error) = event {
                message = error.message;
            }
        });
        assert_eq!(message.starts_with("a: "), checked, "{pattern}: {message}");
    }
}

#[test]
fn validation_has_stack_enough() {
    let levels = |depth: usize| format!("<call>t a={}1{}</call>", "{\"a\":".repeat(depth - 1), "}".repeat(depth - 1));
    let wraps: [fn(serde_json::Value) -> serde_json::Value; 4] = [
        |next| next,
        |next| json!({"anyOf": [next], "unevaluatedProperties": false}),
        |next| json!({"oneOf": [{"not": {"not": next}}]}),
        |next| json!({"if": {"allOf": [{"type": ["null", "number", "object"]}, next]}, "then": true, "else": false}),
    ];
    let mut validated_at_all = 0;
    for each in wraps {
        for count in [10, 1000, 2000, 20_000] {
            let circle = json!({"type": "null", "properties": {"a": {"$ref": "#/$defs/d0"}}});
            let chain = definitions(count, each, circle);
            for message in [levels(1), levels(100), levels(512)] {
                if let Ok(kinds) = validated(&chain, 512, &message) {
                    assert_eq!(kinds, [ErrorKind::InvalidArguments], "{count}: {}", message.len());
                    validated_at_all += 1;
                }
            }
        }
    }
    assert!(validated_at_all >= 15, "{validated_at_all}");
}
