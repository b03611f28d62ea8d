//! Reasoning in prompted protocols: part of the text, or separated from it on request. The calls are the same.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;
use wirecall_core::{Item, ReasoningTags, Toolset, parse, parse_json};

use crate::support::checks::{any_chunks_of, well_formed_of};
use crate::support::config;
use crate::support::every::PROMPTED;
use crate::support::reading::{Seen, calls, read_chunks_of};
use crate::support::toolsets::{definition, options_of};

/// Reads `<think>`, or other tags.
fn toolset(protocol: &str, separate: Option<bool>, tags: Option<(&str, &str)>) -> Toolset {
    let mut options = options_of(protocol, false);
    options.separate_reasoning = separate;
    if let Some((open, close)) = tags {
        options.reasoning = ReasoningTags::Tags(open.into(), close.into());
    }
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    Toolset::new(vec![definition("note", &schema)], options).expect("the tool is fine")
}

/// Of each prompted protocol: with reasoning in the text, and separated.
static PAIRS: LazyLock<Vec<[Toolset; 2]>> = LazyLock::new(|| {
    PROMPTED.iter().map(|name| [None, Some(true)].map(|separate| toolset(name, separate, None))).collect()
});

fn call(tools: &Toolset, arguments: &str) -> String {
    let arguments = parse_json(arguments, 8).expect("it is JSON");
    tools.encode("note", &arguments).expect("it can be written")
}

const QUOTED: &str = r#"{"text":"</think> <think>"}"#;

/// The source of everything outside calls and errors.
fn outside(seen: &[Seen]) -> String {
    let part = |one: &Seen| match one {
        Seen::Text(text) | Seen::Framing(text) | Seen::Reasoning { text, .. } => text.clone(),
        Seen::Start { .. } | Seen::Deltas { .. } | Seen::End(_) | Seen::Error(_) => String::new(),
    };
    seen.iter().map(part).collect()
}

const PARTS: &[&str] = &[
    "<think>", "<think>", "</think>", "</think>", "CALL", "CALL", "Plan. ", "\n", " ", "<thi", "</th", "<", "```\n",
    "`",
];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn separated_reasoning_is_the_same_message(
        which in 0..PROMPTED.len(), parts in prop::collection::vec(select(PARTS), 0..7), cuts in prop::collection::vec(any::<Index>(), 0..5),
        truncated in select(&[None, Some(false), Some(true)][..]), in_reasoning in select(&[None, Some(false), Some(true)][..]),
    ) {
        let [joined, separated] = &PAIRS[which];
        let message = parts.concat().replace("CALL", &call(joined, QUOTED));
        any_chunks_of(separated, &message, truncated, in_reasoning, &cuts)?;
        well_formed_of(separated, &message, truncated, in_reasoning, false)?;
        let [with, without] = [separated, joined].map(|tools| read_chunks_of(tools, [&message[..]], truncated, in_reasoning, |_| {}));
        prop_assert!(calls(&with).eq(calls(&without)), "{message:?} gave {with:#?} and {without:#?}");
        prop_assert_eq!(outside(&with), outside(&without));
        let is_text = |one: &Seen| !matches!(one, Seen::Reasoning { .. } | Seen::Framing(_));
        prop_assert!(without.iter().all(is_text), "{message:?} gave {without:#?}");
        // Only tags, and whitespace at them, are framing here.
        let only_tags = |one: &Seen| match one {
            Seen::Framing(text) => text.replacen("<think>", "", 1).replacen("</think>", "", 1).trim().is_empty(),
            _ => true,
        };
        prop_assert!(with.iter().all(only_tags), "{message:?} gave {with:#?}");
    }
}

/// The forms and texts of the items that are no calls.
fn items(tools: &Toolset, message: &str, in_reasoning: Option<bool>) -> Vec<(char, String)> {
    let form = |item: Item| match item {
        Item::Text(bytes) => ('t', message[bytes].to_owned()),
        Item::Reasoning(bytes) => ('r', message[bytes].to_owned()),
        Item::Framing(bytes) => ('f', message[bytes].to_owned()),
        Item::Call(call) => ('c', call.arguments),
        item => panic!("{item:?}"),
    };
    parse(tools, message, Some(false), in_reasoning).into_iter().map(form).collect()
}

#[test]
fn tags_are_framing_and_their_text_is_reasoning() {
    let own = |list: &[(char, &str)]| list.iter().map(|(form, text)| (*form, (*text).to_owned())).collect::<Vec<_>>();
    for protocol in PROMPTED {
        let separated = toolset(protocol, Some(true), None);
        let inside = format!("I {}.", call(&separated, r#"{"text":"x"}"#));
        let call = call(&separated, QUOTED);
        let message = format!("<think>\n{inside}\n</think>\nLook: {call}");
        let wanted = own(&[('f', "<think>\n"), ('r', &inside), ('f', "\n</think>\n"), ('t', "Look: "), ('c', QUOTED)]);
        assert_eq!(items(&separated, &message, None), wanted, "{protocol}");
        let plan = own(&[('r', "Plan."), ('f', "</think>"), ('t', " Look: "), ('c', QUOTED)]);
        assert_eq!(items(&separated, &format!("Plan.</think> Look: {call}"), Some(true)), plan, "{protocol}");
        // It begins a message, and nothing else.
        let late = own(&[('t', "a <think>b</think>")]);
        assert_eq!(items(&separated, "a <think>b</think>", None), late, "{protocol}");
        let cut = own(&[('f', "<think>"), ('r', "Plan")]);
        assert_eq!(items(&separated, "<think>Plan", None), cut, "{protocol}");
        let tags = toolset(protocol, Some(true), Some(("[r]", "[/r]")));
        let other = own(&[('f', "[r]"), ('r', "<think>"), ('f', "[/r]"), ('t', "b")]);
        assert_eq!(items(&tags, "[r]<think>[/r]b", None), other, "{protocol}");
        let joined = toolset(protocol, Some(false), None);
        assert_eq!(items(&joined, "<think>a</think>b", None), own(&[('t', "<think>a</think>b")]), "{protocol}");
    }
}

/// A native format can keep its reasoning in the text, and can have tags of the host's choice.
#[test]
fn native_formats_separate_unless_told_not_to() {
    let own = |list: &[(char, &str)]| list.iter().map(|(form, text)| (*form, (*text).to_owned())).collect::<Vec<_>>();
    let message = "<think>\na\n</think>\n\nb";
    let separated = [('f', "<think>\n"), ('r', "a"), ('f', "\n</think>\n\n"), ('t', "b")];
    assert_eq!(items(&toolset("hermes", None, None), message, None), own(&separated));
    assert_eq!(items(&toolset("hermes", Some(false), None), message, None), own(&[('t', message)]));
    for row in ["hermes", "kimi-k2", "llama-json"] {
        let tags = toolset(row, None, Some(("[r]", "[/r]")));
        let other = own(&[('f', "[r]"), ('r', "a"), ('f', "[/r]"), ('t', "b")]);
        assert_eq!(items(&tags, "[r]a[/r]b", None), other, "{row}");
    }
}
