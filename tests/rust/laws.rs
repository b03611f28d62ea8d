//! The laws of the format, over generated messages, schemas and values. `WIRECALL_LAW_CASES` says how many of each.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use wirecall_core::{Fallback, Options, Syntax, Toolset, parse_json};

use crate::support::checks::{any_chunks, chunks_of_large_calls, well_formed, written_is_read};
use crate::support::messages::{Case, case};
use crate::support::reading::{Seen, boundaries, calls, read, traces};
use crate::support::schemas::{Shape, root};
use crate::support::text::{prose, soup};
use crate::support::toolsets::{DELIMITERS, definition, delimiters, limited, settings};
use crate::support::{config, schemas};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn chunking_does_not_matter(case in case(), cuts in prop::collection::vec(any::<Index>(), 0..5)) {
        let Case { setting, message, truncated, .. } = &case;
        let tools = &setting.tools;
        any_chunks(tools, message, *truncated, &cuts)?;
    }

    #[test]
    fn chunking_does_not_matter_where_a_call_becomes_too_large(
        case in case(),
        limited in (0..limited().len()).prop_map(|at| &limited()[at]),
        cuts in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        let Case { at, message, truncated, .. } = &case;
        let tools = &limited[*at].tools;
        chunks_of_large_calls(tools, message, *truncated, &cuts)?;
    }

    #[test]
    fn nothing_is_lost_and_every_start_has_one_end(case in case()) {
        let Case { setting, message, truncated, .. } = &case;
        well_formed(&setting.tools, message, *truncated)?;
    }
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

fn round_trip() -> impl Strategy<Value = RoundTrip> {
    let valid = root().prop_flat_map(|shape| {
        let values = prop::collection::vec(shape.value(), 1..3);
        (Just(shape), values)
    });
    let form = (
        0..DELIMITERS.len(),
        select(&[Syntax::Wire, Syntax::Wire, Syntax::Json][..]),
        select(&[Fallback::Complex, Fallback::Force][..]),
        prop::bool::weighted(0.1),
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

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_written_is_read(case in round_trip()) {
        let schema = case.shape.schema();
        let toolset = |strict| {
            let mut options = Options::default();
            options.strict = strict;
            options.delimiters = delimiters(case.delimiters);
            options.syntax = case.syntax;
            options.fallback = case.fallback;
            let tools = if case.open { Vec::new() } else { vec![definition(case.name, &schema)] };
            Toolset::new(tools, options).expect("the tool is fine")
        };
        let (lenient, strict) = (toolset(false), toolset(true));
        written_is_read(&lenient, &strict, case.name, &schema, &case.values, &case.around)?;
    }

    #[test]
    fn no_value_makes_a_call(
        texts in prop::collection::vec(soup(8), 7), which in 0..128_u8, at in 0..DELIMITERS.len(), strict: bool,
        syntax in select(&[Syntax::Wire, Syntax::Wire, Syntax::Json][..]), cut in prop::option::of(any::<Index>()),
        truncated in select(&[None, Some(false), Some(true)][..]), declared: bool, behind in prose(),
    ) {
        let schema = serde_json::json!({"type": "object", "properties": {
            "to": {"type": "string"}, "body": {"type": "string"}, "any": {}, "list": {"type": "array", "items": {"type": "string"}},
            "perhaps": {"type": ["null", "string", "integer"]}, "nested": {"type": "object", "properties": {"text": {"type": "string"}}}}});
        let mut options = Options::default();
        options.strict = strict;
        options.syntax = syntax;
        options.delimiters = delimiters(at);
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
    }

    #[test]
    fn no_result_is_forged(
        name in soup(5), content in soup(10), error: bool, number in prop::option::of(1..9_u64), at in 0..settings().len(),
    ) {
        let tools = &settings()[at].tools;
        let written = tools.encode_result(&name, &content, error, number);
        let tag = if error { "tool-error" } else { "tool-result" };
        let inner = written.strip_prefix(&format!("<{tag} name=\"")).and_then(|rest| rest.strip_suffix(&format!("</{tag}>")));
        let inner = inner.expect("one tag around it");
        let folded = inner.to_ascii_lowercase();
        for forbidden in ["<tool-result", "<tool-error", "</tool-result", "</tool-error"] {
            prop_assert!(!folded.contains(forbidden), "{written:?}");
        }
        prop_assert!(!written.contains(tools.delimiters().0), "{written:?}");
        let plain = |text: &str| text.replace('\\', "");
        prop_assert!(plain(inner).ends_with(&plain(&content)), "{written:?}");
        for truncated in [None, Some(false)] {
            let seen = read(tools, &written, truncated);
            prop_assert!(traces(&seen) == 1 && matches!(&seen[0], Seen::Error(e) if e.start == 0), "{written:?} gave {seen:#?}");
            prop_assert_eq!(traces(&read(tools, inner, truncated)), 0, "{:?}", inner);
        }
    }

    #[test]
    fn any_json_is_read_as_it_is(value in schemas::json()) {
        let open = settings().iter().find(|setting| setting.name.starts_with("strict open"));
        let tools = &open.expect("there is one").tools;
        let text = value.to_string();
        let (open, close) = tools.delimiters();
        let arguments = format!("{{\"v\":{text}}}");
        let message = format!("{open}x {arguments}{close}");
        let seen = read(tools, &message, None);
        let end = calls(&seen).next();
        prop_assert_eq!(end.map(|end| end.arguments.as_str()), Some(arguments.as_str()), "{:#?}", seen);
    }
}
