//! An XML document is read the same however it is cut, and every beginning of it has a value; what is written of a value that was
//! read without faults reads back as the same value, without repairs.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wirecall_core::{Document, Limits, SyntaxError, XmlSchema, format_xml, parse_json, parse_xml};

/// None, of a root's own value, and of members that have other types.
static SCHEMAS: LazyLock<Vec<XmlSchema>> = LazyLock::new(|| {
    let file = r##"{"type":"object","properties":{"city":{"type":"string"},"limit":{"type":["integer","null"]},"tags":{"type":"array",
        "items":{"type":"string"}},"any":{},"next":{"$ref":"#"},"items":{"type":"array","items":{"type":"object","properties":{
        "sku":{"type":"string"},"n":{"type":"integer"}}}},"by":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]},
        "units":{"enum":["metric","Imperial",7,null]}},"required":["city"]}"##;
    let texts = [None, Some(file), Some(r#"{"type":"string"}"#), Some(r#"{"additionalProperties":{"type":"string"}}"#)];
    texts.map(|text| XmlSchema::new(text).expect("the schema is fine")).into()
});

/// Levels of a document; one of more levels than this can still be written with a root around it.
const DEPTH: usize = 64;

type Read = (Result<String, SyntaxError>, Vec<SyntaxError>);

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = DEPTH;
    limits
}

fn streamed<'c>(schema: &XmlSchema, repair: bool, chunks: impl IntoIterator<Item = &'c str>) -> Read {
    let mut document = Document::new(schema, repair, limits());
    let mut partials = 32;
    for chunk in chunks {
        if let Err(fault) = document.feed(chunk) {
            return (Err(fault), document.faults().to_vec());
        }
        // Each costs as much as what was read.
        if partials > 0 {
            partials -= 1;
            if let Some(Ok(json)) = document.partial() {
                parse_json(&json, usize::MAX).expect("it is JSON");
            }
        }
    }
    let value = document.finish();
    (value, document.faults().to_vec())
}

/// The text is the beginning of the input, so that seeds are readable; a byte of options and the cuts follow.
const TAIL: usize = 5;

fuzz_target!(|data: &[u8]| {
    let (text, tail) = data.split_at(data.len().saturating_sub(TAIL));
    let (Ok(text), [bits, cuts @ ..]) = (std::str::from_utf8(text), tail) else { return };
    let schema = &SCHEMAS[usize::from(bits & 3)];
    let repair = bits & 4 == 0;
    let whole = parse_xml(text, schema, repair, limits());
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let pieces = |ends: Vec<usize>| {
        let cut = ends.into_iter().scan(0, |from, end| Some(&text[std::mem::replace(from, end)..end]));
        streamed(schema, repair, cut)
    };
    assert_eq!(pieces(ends.clone()), whole);
    let mut cuts: Vec<usize> =
        cuts.iter().map(|cut| ends.get(usize::from(*cut) * ends.len() / 256).copied().unwrap_or(0)).collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    assert_eq!(pieces(cuts), whole);
    let (Ok(json), faults) = whole else { return };
    let value = parse_json(&json, usize::MAX).expect("it is JSON");
    if !faults.is_empty() && bits & 3 != 0 {
        return;
    }
    let written = format_xml(&value, schema, Some("root")).expect("it has a root");
    let (read, faults) = parse_xml(&written, schema, false, Limits::default());
    assert_eq!(faults, []);
    let read = read.unwrap_or_else(|fault| panic!("{written}: {fault:?}"));
    let expected = if is_rooted(bits & 3) { format!("{{\"root\":{json}}}") } else { json.clone() };
    assert_eq!(parse_json(&read, usize::MAX), parse_json(&expected, usize::MAX), "{written}");
});

/// Is the root element a member of what is read with this schema?
fn is_rooted(schema: u8) -> bool {
    schema == 0
}
