//! The laws of the format, over generated messages, schemas and values. `WIRECALL_LAW_CASES` says how many of each.

mod support;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseResult;
use serde_json::Value;
use support::messages::{Case, case};
use support::protocols::{PROTOCOLS, Protocol};
use support::reading::{Seen, boundaries, calls, pieces, read, read_chunks, traces};
use support::schemas::{Shape, root};
use support::text::{prose, soup};
use support::toolsets::{definition, delimiters, limited, settings};
use support::{hold, schemas};
use wirecall_core::{CallEnd, CallError, Fallback, Item, Options, Syntax, Toolset, parse, parse_json};

/// Messages up to this many characters are cut at every place.
const SHORT: usize = 80;

/// Offsets, in characters, as byte ranges of the message.
fn slice(message: &str, start: usize, end: usize) -> String {
    message.chars().skip(start).take(end - start).collect()
}

/// Texts, calls and errors follow each other without a gap, and say what stands there.
fn tiles(message: &str, seen: &[Seen]) -> TestCaseResult {
    let mut at = 0;
    for one in seen {
        match one {
            Seen::Text(text) => {
                let end = at + text.chars().count();
                prop_assert_eq!(text, &slice(message, at, end), "the text that ends at {}", end);
                at = end;
            }
            Seen::End(end) => {
                prop_assert_eq!(end.start, at, "the start of {:?}", end);
                at = end.end;
            }
            Seen::Error(error) => {
                prop_assert_eq!(error.start, at, "the start of {:?}", error);
                prop_assert_eq!(&error.raw, &slice(message, error.start, error.end), "the source of {:?}", error);
                at = error.end;
            }
            Seen::Start { .. } | Seen::Deltas { .. } => {}
        }
    }
    prop_assert_eq!(at, message.chars().count(), "the end of the message");
    Ok(())
}

/// Each start is followed by its deltas and then by its end or error, and by nothing else; indexes count from 0.
fn one_end(seen: &[Seen]) -> TestCaseResult {
    let mut open: Option<(usize, &str)> = None;
    let mut next = 0;
    for one in seen {
        match one {
            Seen::Text(text) => {
                prop_assert_eq!(open, None, "text inside a call");
                prop_assert!(!text.is_empty());
            }
            Seen::Start { index, name } => {
                prop_assert_eq!((open, *index), (None, next));
                open = Some((next, name));
                next += 1;
            }
            Seen::Deltas { index, .. } => prop_assert_eq!(open.map(|(at, _)| at), Some(*index)),
            Seen::End(end) => prop_assert_eq!(open.take(), Some((end.index, end.name.as_str()))),
            Seen::Error(error) => {
                prop_assert_eq!(open.map(|(at, _)| at), error.index);
                if let Some((_, name)) = open.take() {
                    prop_assert_eq!(error.name.as_deref(), Some(name));
                }
            }
        }
    }
    prop_assert_eq!(open, None, "a call without an end");
    Ok(())
}

/// JSON with its exponents as serde_json keeps them.
fn signed_exponents(json: &str) -> String {
    let (mut out, mut quoted, mut before) = (String::new(), false, ' ');
    for c in json.chars() {
        quoted ^= c == '"' && before != '\\';
        if !quoted && matches!(before, 'e' | 'E') && c.is_ascii_digit() {
            out.push('+');
        }
        out.push(if !quoted && c == 'E' { 'e' } else { c });
        before = if before == '\\' { ' ' } else { c };
    }
    out
}

/// The deltas are the arguments, which are one compact JSON object; those of a failed call never are complete.
fn deltas(seen: &[Seen]) -> TestCaseResult {
    let mut json = "";
    for one in seen {
        match one {
            Seen::Start { .. } => json = "",
            Seen::Deltas { json: joined, .. } => json = joined,
            Seen::End(end) => {
                prop_assert_eq!(json, &end.arguments);
                let value: Value = serde_json::from_str(json).unwrap_or_default();
                prop_assert!(value.is_object(), "{json}");
                prop_assert_eq!(value.to_string(), signed_exponents(json), "compact, and no key twice");
                json = "";
            }
            Seen::Error(_) => {
                prop_assert!(serde_json::from_str::<Value>(json).is_err(), "the arguments of a failed call: {json}");
                json = "";
            }
            Seen::Text(_) => {}
        }
    }
    Ok(())
}

/// What a listener holds of the open call is never complete.
fn unfinished(seen: &[Seen]) -> TestCaseResult {
    if let Some(Seen::Deltas { json, .. }) = seen.last() {
        prop_assert!(serde_json::from_str::<Value>(json).is_err(), "complete before its end: {json}");
    }
    Ok(())
}

fn per_character(text: &str) -> Vec<&str> {
    pieces(text, &boundaries(text))
}

fn cut_at(cuts: &[Index], places: &[usize]) -> Vec<usize> {
    let cuts = cuts.iter().filter(|_| !places.is_empty());
    let mut cuts: Vec<usize> = cuts.map(|cut| *cut.get(places)).collect();
    cuts.sort_unstable();
    cuts
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..5)
}

fn chunking_does_not_matter(protocol: &'static Protocol) {
    hold((case(protocol), cuts()), |(case, cuts)| {
        let Case { setting, message, truncated, .. } = &case;
        let tools = &setting.tools;
        let whole = read(tools, message, *truncated);
        let chunked = |chunks: &[&str]| -> TestCaseResult {
            let got = read_chunks(tools, chunks.iter().copied(), *truncated, |_| {});
            prop_assert_eq!(&got, &whole, "left: in chunks {:?}", chunks);
            Ok(())
        };
        chunked(&per_character(message))?;
        let places = boundaries(message);
        if places.len() < SHORT {
            places.iter().try_for_each(|at| chunked(&pieces(message, &[*at])))?;
        }
        if !places.is_empty() {
            let mut cuts = cut_at(&cuts, &places);
            cuts.insert(0, 0);
            chunked(&pieces(message, &cuts))?;
        }
        let mut at = 0;
        let items = whole.into_iter().filter_map(|one| {
            let item = match one {
                Seen::Text(text) => Item::Text(at..at + text.len()),
                Seen::End(end) => Item::Call(end),
                Seen::Error(error) => Item::Error(error),
                Seen::Start { .. } | Seen::Deltas { .. } => return None,
            };
            at = match &item {
                Item::Text(bytes) | Item::Call(CallEnd { bytes, .. }) | Item::Error(CallError { bytes, .. }) => {
                    bytes.end
                }
            };
            Some(item)
        });
        prop_assert_eq!(parse(tools, message, *truncated, false), items.collect::<Vec<_>>());
        Ok(())
    });
}

fn chunking_does_not_matter_where_a_call_becomes_too_large(protocol: &'static Protocol) {
    hold((case(protocol), 0..limited().len(), cuts()), |(case, limited_at, cuts)| {
        let Case { at, message, truncated, .. } = &case;
        let tools = &limited()[limited_at][protocol.name][*at].tools;
        let whole = read(tools, message, *truncated);
        let places = boundaries(message);
        for chunks in [per_character(message), pieces(message, &cut_at(&cuts, &places))] {
            let got = read_chunks(tools, chunks.iter().copied(), *truncated, |_| {});
            prop_assert_eq!(&got, &whole, "left: in chunks {:?}", chunks);
        }
        let most = protocol.results.iter().map(|mark| mark.len()).max().unwrap_or(0).max(tools.limits().call_bytes);
        for one in &whole {
            match one {
                Seen::End(end) => prop_assert!(slice(message, end.start, end.end).len() <= tools.limits().call_bytes),
                Seen::Error(error) => prop_assert!(error.raw.len() <= most),
                Seen::Text(_) | Seen::Start { .. } | Seen::Deltas { .. } => {}
            }
        }
        Ok(())
    });
}

fn nothing_is_lost(protocol: &'static Protocol) {
    hold(case(protocol), |case| {
        let Case { setting, message, truncated, .. } = &case;
        tiles(message, &read(&setting.tools, message, *truncated))?;
        tiles(message, &read_chunks(&setting.tools, per_character(message), *truncated, |_| {}))
    });
}

fn deltas_are_the_arguments(protocol: &'static Protocol) {
    hold(case(protocol), |case| {
        let Case { setting, message, truncated, .. } = &case;
        deltas(&read(&setting.tools, message, *truncated))?;
        deltas(&read_chunks(&setting.tools, per_character(message), *truncated, |_| {}))
    });
}

fn every_start_has_one_end(protocol: &'static Protocol) {
    hold(case(protocol), |case| {
        let Case { setting, message, truncated, .. } = &case;
        one_end(&read(&setting.tools, message, *truncated))?;
        let mut early = Ok(());
        let watch = |seen: &[Seen]| early = std::mem::replace(&mut early, Ok(())).and(unfinished(seen));
        one_end(&read_chunks(&setting.tools, per_character(message), *truncated, watch))?;
        early
    });
}

/// A tool, calls of it that are valid, and how they are written and read.
#[derive(Debug)]
struct RoundTrip {
    shape: Shape,
    values: Vec<Value>,
    around: Vec<String>,
    delimiters: usize,
    syntax: Syntax,
    fallback: Fallback,
    open: bool,
    name: &'static str,
}

fn round_trip(protocol: &'static Protocol) -> impl Strategy<Value = RoundTrip> {
    let valid = root().prop_flat_map(|shape| {
        let values = prop::collection::vec(shape.value(), 1..3);
        (Just(shape), values)
    });
    let form = (
        0..protocol.delimiters.len(),
        select(&[Syntax::Wire, Syntax::Wire, Syntax::Json][..]),
        select(&[Fallback::Complex, Fallback::Force][..]),
        prop::bool::weighted(if protocol.open { 0.1 } else { 0.0 }),
        select(&["tool", "get_x", "a.b/c:d-e", "ünï§", "n,[0]", "-"][..]),
    );
    (valid, prop::collection::vec(prose(), 3), form).prop_map(
        |((shape, values), around, (delimiters, syntax, fallback, open, name))| RoundTrip {
            shape,
            values,
            around,
            delimiters,
            syntax,
            fallback,
            open,
            name,
        },
    )
}

/// The same JSON, numbers to the digit; only an integer may lose `.0`.
fn same(given: &Value, got: &wirecall_core::Value<'_>, integers: bool) -> bool {
    use wirecall_core::Value as Got;
    match (given, got) {
        (Value::Null, Got::Null) => true,
        (Value::Bool(a), Got::Bool(b)) => a == b,
        (Value::String(a), Got::String(b)) => a == b,
        (Value::Number(a), Got::Number(b)) => {
            let a = a.to_string();
            let whole = a.split_once('.').filter(|(_, zeros)| zeros.bytes().all(|digit| digit == b'0'));
            a == *b || (integers && whole.is_some_and(|(whole, _)| whole == b))
        }
        (Value::Array(a), Got::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, integers)),
        (Value::Object(a), Got::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b, integers))
        }
        _ => false,
    }
}

fn what_is_written_is_read(protocol: &'static Protocol) {
    hold(round_trip(protocol), |case| {
        let schema = case.shape.schema();
        let toolset = |strict| {
            let options = Options {
                protocol: protocol.name.into(),
                strict,
                delimiters: delimiters(protocol, case.delimiters),
                syntax: case.syntax,
                fallback: case.fallback,
                ..Options::default()
            };
            let tools = if case.open { Vec::new() } else { vec![definition(case.name, &schema)] };
            Toolset::new(tools, options).expect("the tool is fine")
        };
        let (lenient, strict) = (toolset(false), toolset(true));
        let mut message = case.around[0].clone();
        for (at, value) in case.values.iter().enumerate() {
            let value = parse_json(&value.to_string(), 64).expect("the value is JSON");
            message += &lenient.encode(case.name, &value).expect("it can be written");
            message += &case.around[at + 1];
        }
        // So may a number that equals a literal of its type: it becomes that literal.
        let integers =
            ["integer", "enum", "const"].iter().any(|word| schema.to_string().contains(&format!("\"{word}\"")));
        for tools in [&lenient, &strict] {
            let seen = read(tools, &message, None);
            prop_assert_eq!(read_chunks(tools, per_character(&message), None, |_| {}), &seen[..]);
            let ends: Vec<_> = calls(&seen).collect();
            prop_assert!(ends.len() == case.values.len(), "{message:?} gave {seen:#?}");
            prop_assert!(!seen.iter().any(|one| matches!(one, Seen::Error(_))), "{seen:#?}");
            for (end, value) in ends.iter().zip(&case.values) {
                let got = parse_json(&end.arguments, 64).expect("arguments are JSON");
                prop_assert!(same(value, &got, integers), "{value} in {message:?} gave {end:#?}");
                prop_assert!(end.repairs.is_empty() && end.problems.is_empty(), "{message:?} gave {end:#?}");
            }
        }
        Ok(())
    });
}

fn no_value_makes_a_call(protocol: &'static Protocol) {
    let form = (
        0..protocol.delimiters.len(),
        any::<bool>(),
        select(&[Syntax::Wire, Syntax::Wire, Syntax::Json][..]),
        if protocol.open { any::<bool>().boxed() } else { Just(true).boxed() },
    );
    let end = (prop::option::of(any::<Index>()), select(&[None, Some(false), Some(true)][..]), prose());
    let texts = (prop::collection::vec(soup(8), 7), 0..128_u8);
    let schema = serde_json::json!({"type": "object", "properties": {
        "to": {"type": "string"}, "body": {"type": "string"}, "any": {}, "list": {"type": "array", "items": {"type": "string"}},
        "perhaps": {"type": ["null", "string", "integer"]}, "nested": {"type": "object", "properties": {"text": {"type": "string"}}}}});
    hold((texts, form, end), |((texts, which), (at, strict, syntax, declared), (cut, truncated, behind))| {
        let protocol_name = protocol.name.to_owned();
        let delimiters = delimiters(protocol, at);
        let options = Options { protocol: protocol_name, strict, syntax, delimiters, ..Options::default() };
        let tools = if declared { vec![definition("note", &schema)] } else { Vec::new() };
        let tools = Toolset::new(tools, options).expect("the tool is fine");
        let mut arguments = serde_json::Map::new();
        for (bit, text) in texts.iter().enumerate().filter(|(bit, _)| which & (1 << bit) != 0) {
            let text = Value::from(text.as_str());
            match bit {
                0 => arguments.insert("to".into(), text),
                1 => arguments.insert("body".into(), text),
                2 => arguments.insert("any".into(), text),
                3 => arguments.insert("list".into(), Value::Array(vec![text.clone(), text])),
                4 => arguments.insert("perhaps".into(), text),
                5 => arguments.insert("nested".into(), serde_json::json!({ "text": text })),
                // A key that is cut off is prose, so only a whole one keeps what is in it from being read.
                _ if cut.is_some() => None,
                _ => arguments.insert(texts[bit].clone(), Value::Null),
            };
        }
        let value = parse_json(&Value::Object(arguments).to_string(), 8).expect("it is JSON");
        let written = tools.encode("note", &value).expect("it can be written") + &behind;
        let places = boundaries(&written);
        let message = cut.filter(|_| !places.is_empty()).map_or(&written[..], |cut| &written[..*cut.get(&places)]);
        let seen = read(&tools, message, truncated);
        let starts: Vec<_> = seen.iter().filter(|one| matches!(one, Seen::Start { .. })).collect();
        let errors = seen.iter().filter(|one| matches!(one, Seen::Error(_))).count();
        prop_assert!(starts.len() <= 1 && errors + calls(&seen).count() <= 1, "{message:?} gave {seen:#?}");
        prop_assert!(calls(&seen).all(|end| end.name == "note"), "{message:?} gave {seen:#?}");
        if cut.is_none() {
            prop_assert!(calls(&seen).count() == 1, "{message:?} gave {seen:#?}");
        }
        Ok(())
    });
}

fn no_result_is_forged(protocol: &'static Protocol) {
    let result = (soup(5), soup(10), any::<bool>(), prop::option::of(1..9_u64));
    hold((result, 0..settings(protocol).len()), |((name, content, error, number), at)| {
        let tools = &settings(protocol)[at].tools;
        let written = tools.encode_result(&name, &content, error, number);
        let neutral = tools.neutralise(&content);
        prop_assert!(written.contains(&neutral), "{written:?}");
        prop_assert_eq!(neutral.replace('\\', ""), content.replace('\\', ""));
        prop_assert_eq!(tools.neutralise(&neutral), &neutral[..]);
        // One result is there, and no mark but its own.
        let marks = |text: &str| {
            let folded = text.to_ascii_lowercase();
            protocol.results.iter().map(|mark| folded.matches(mark).count()).sum::<usize>()
        };
        prop_assert_eq!((marks(&written), marks(&neutral)), (2, 0), "{:?}", written);
        let inner = &written[1..];
        for truncated in [None, Some(false)] {
            let seen = read(tools, &written, truncated);
            prop_assert!(
                traces(&seen) == 1 && matches!(&seen[0], Seen::Error(e) if e.start == 0),
                "{written:?} gave {seen:#?}"
            );
            prop_assert_eq!(traces(&read(tools, &neutral, truncated)), 0, "{:?}", neutral);
            let end = inner.rfind("</").unwrap_or(inner.len());
            prop_assert_eq!(traces(&read(tools, &inner[..end], truncated)), 0, "{:?}", inner);
        }
        Ok(())
    });
}

fn any_json_is_read_as_it_is(protocol: &'static Protocol) {
    let options = Options { protocol: protocol.name.into(), syntax: Syntax::Json, ..Options::default() };
    let tools = Toolset::new(vec![definition("x", &Value::Bool(true))], options).expect("the tool is fine");
    hold(schemas::json(), |value| {
        let arguments = format!("{{\"v\":{value}}}");
        let message = tools.encode("x", &parse_json(&arguments, 128).expect("it is JSON")).expect("it can be written");
        let seen = read(&tools, &message, None);
        let end = calls(&seen).next();
        prop_assert_eq!(end.map(|end| end.arguments.as_str()), Some(arguments.as_str()), "{:#?}", seen);
        Ok(())
    });
}

/// Each law as a test of its own, for one protocol.
macro_rules! laws {
    ($($protocol:ident),*) => {
        $(mod $protocol {
            laws!(@ $protocol: chunking_does_not_matter, chunking_does_not_matter_where_a_call_becomes_too_large, nothing_is_lost,
                deltas_are_the_arguments, every_start_has_one_end, what_is_written_is_read, no_value_makes_a_call,
                no_result_is_forged, any_json_is_read_as_it_is);
        })*

        #[test]
        fn every_protocol_keeps_them() {
            let names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
            assert_eq!(names, [$(stringify!($protocol)),*]);
            assert!(wirecall_core::protocols().all(|name| names.contains(&name)));
        }
    };
    (@ $protocol:ident: $($law:ident),*) => {
        $(#[test]
        fn $law() {
            let protocol = super::PROTOCOLS.iter().find(|protocol| protocol.name == stringify!($protocol));
            super::$law(protocol.expect("it is listed"));
        })*
    };
}

laws!(wire, xml);
