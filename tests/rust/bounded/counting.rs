//! How a message is read, and what that allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use serde_json::json;
use wirecall_core::{CallEnd, Definition, ErrorKind, Event, Options, Parser, Toolset};

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

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;

pub(crate) fn toolset(schema: &serde_json::Value, options: Options) -> Toolset {
    let definition = Definition::new("t", schema.to_string());
    Toolset::new(vec![definition], options).expect("the tool is fine")
}

pub(crate) fn schema() -> serde_json::Value {
    json!({"type": "object", "required": ["needed"], "properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "integer"}}}},
        "lists": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, "closed": {"type": "object", "additionalProperties": false}, "any": {}}})
}

/// What came of a message, and what it cost.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub ends: Vec<CallEnd>,
    pub errors: Vec<ErrorKind>,
    /// Characters of text, reasoning and framing, of deltas, and of the events' own source.
    pub text: usize,
    pub peak: usize,
    pub total: usize,
}

pub(crate) fn read(tools: &Toolset, message: &str, size: usize, truncated: Option<bool>) -> Outcome {
    let mut outcome = Outcome::default();
    let before = LIVE.get();
    let total = TOTAL.get();
    PEAK.set(before);
    let mut parser = Parser::borrowing(tools, None);
    let mut sink = |event: Event<'_>| match event {
        Event::Text(text) => outcome.text += text.len(),
        Event::CallEnd(end) => outcome.ends.push(end),
        Event::CallError(error) => outcome.errors.push(error.kind),
        Event::Reasoning { text, .. } | Event::Framing(text) => outcome.text += text.len(),
        Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
        event => panic!("a new kind of event: {event:?}"),
    };
    let mut from = 0;
    while from < message.len() {
        let mut end = (from + size).min(message.len());
        while !message.is_char_boundary(end) {
            end += 1;
        }
        parser.feed(&message[from..end], &mut sink);
        from = end;
    }
    parser.finish(truncated, &mut sink);
    outcome.peak = (PEAK.get() - before).unsigned_abs();
    outcome.total = TOTAL.get() - total;
    outcome
}

/// Makes a message of so many repeats.
pub(crate) type Build = Box<dyn Fn(usize) -> String>;

/// So many different items, between what is before and after them.
pub(crate) fn each(head: &'static str, item: fn(usize) -> String, tail: &'static str) -> Build {
    Box::new(move |times| format!("{head}{}{tail}", (0..times).map(item).collect::<String>()))
}

/// Each of the marks, repeated, after each of the heads.
pub(crate) fn never_ending(protocol: &str, heads: &[&str], marks: &[&str]) {
    for head in heads {
        for mark in marks {
            let name = format!("{head} and {mark}");
            hostile(protocol, &name, |times| format!("{head}{}", mark.repeat(times)), 32 * KIB / mark.len(), 80);
        }
    }
}

/// The smallest chunk: a byte, or in `make test` about a token, as it tries a part of the cases of each law.
fn smallest() -> usize {
    let cases = std::env::var("WIRECALL_LAW_CASES").ok().and_then(|cases| cases.parse().ok());
    if cases.is_some_and(|cases: u32| cases < 1000) { 4 } else { 1 }
}

/// Reads in the smallest chunks, in larger ones, and whole. The peak stays within `times` the message (and a little), and a message
/// eight times as long allocates eight times as much, give or take that buffers double: not 64 times.
pub(crate) fn hostile(protocol: &str, name: &str, build: impl Fn(usize) -> String, repeats: usize, times: usize) {
    let (short, long) = (build(repeats / 8), build(repeats));
    let (smallest, whole) = (smallest(), usize::MAX / 2);
    // How a message ends is one step; whether tools are strict is asked all along.
    let ways: [(_, _, &[usize]); 3] = [
        (false, None, &[smallest, 4093, whole]),
        (false, Some(false), &[whole]),
        (true, Some(false), &[smallest, whole]),
    ];
    for (strict, truncated, sizes) in ways {
        let mut options = Options::default();
        options.protocol = protocol.into();
        options.strict = strict;
        let tools = toolset(&schema(), options);
        for &size in sizes {
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
