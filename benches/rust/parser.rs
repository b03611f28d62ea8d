//! The core alone, without Python: what a delta, a call and a message cost.
//!
//! `prose`, `argument` and `parallel` are fed in deltas of 4 characters; `whole` is one parse of 100 KB with 200 calls;
//! `encode` writes one call. `benches/README.md` says what each number shows.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wirecall_core::{Definition, Event, Options, Parser, Toolset, parse, parse_json};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "code": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "owner": {"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer"}}}
    },
    "required": ["path"]
}"#;
const CALL: &str = r#"<call>write path=src/main.rs limit=5 code="fn main() { println!(\"hi\") }"</call>"#;
const PROSE: &str = "The build is green; the parser reads each chunk once, and holds back what it must. ";
const LINE: &str = "    let total = items.iter().filter(|item| item.name != \\\"none\\\").count();\n";

fn tools() -> Toolset {
    Toolset::new(vec![Definition::new("write", SCHEMA)], Options::default()).expect("the schema is fine")
}

fn deltas(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(4).map(|chunk| chunk.iter().collect()).collect()
}

fn stream(tools: &Toolset, deltas: &[String]) -> usize {
    let mut parser = Parser::borrowing(tools, None);
    let mut events = 0;
    let mut sink = |event: Event<'_>| {
        black_box(&event);
        events += 1;
    };
    for delta in deltas {
        parser.feed(delta, &mut sink);
    }
    parser.finish(Some(false), &mut sink);
    events
}

fn benches(c: &mut Criterion) {
    let tools = tools();
    let streams = [
        ("prose, 256 KB", PROSE.repeat((256 << 10) / PROSE.len())),
        ("argument, 1 MB", format!("<call>write path=a code=\"{}\"</call>", LINE.repeat((1 << 20) / LINE.len()))),
        ("parallel, 12 calls", CALL.repeat(12)),
    ];
    let mut group = c.benchmark_group("stream");
    for (name, text) in &streams {
        let deltas = deltas(text);
        group.throughput(Throughput::Elements(deltas.len() as u64));
        group.bench_function(*name, |b| b.iter(|| stream(&tools, black_box(&deltas))));
    }
    group.finish();

    let message = format!("{}\n{CALL}\n", PROSE.repeat(5)).repeat(200);
    let mut group = c.benchmark_group("whole");
    group.throughput(Throughput::Bytes(message.len() as u64));
    group.bench_function("100 KB, 200 calls", |b| b.iter(|| parse(&tools, black_box(&message), Some(false), None)));
    group.finish();

    let arguments = r#"{"path":"src/my file.rs","limit":5,"tags":["a","b"],"owner":{"name":"Ann","id":7}}"#;
    let arguments = parse_json(arguments, 16).expect("valid JSON");
    c.bench_function("encode", |b| b.iter(|| tools.encode("write", black_box(&arguments))));
}

criterion_group!(all, benches);
criterion_main!(all);
