//! What inference servers need: calls of unknown tools, requests without tools, and definitions that cannot work, in every format.

use serde_json::json;
use wirecall_core::{
    ErrorKind, InvalidTools, Options, PastMessage, PastToolCall, Toolset, UnknownTools, Value, parse_json,
};

use crate::support::every::{all, every, families, format_of};
use crate::support::reading::{Seen, boundaries, calls, pieces, read_chunks, read_chunks_of, traces};
use crate::support::rows::encoded;
use crate::support::toolsets::{definition, options_of};

/// Names of tools that a call can have and that are not declared.
const NAMES: [&str; 5] = ["look", "_find", "web.search", "a-b_c2", "größe"];

fn toolset(protocol: &str, tools: &[&str], change: impl FnOnce(&mut Options)) -> Toolset {
    let mut options = options_of(protocol, false);
    change(&mut options);
    let tools = tools.iter().map(|name| definition(name, &json!({}))).collect();
    Toolset::new(tools, options).expect("the tools are fine")
}

/// Calls with these names as the format writes them, and how a toolset with the tools reads them.
fn written(protocol: &str, name: &str) -> (String, Vec<Seen>) {
    let declared = toolset(protocol, &["other", name], |_| {});
    let arguments = json!({"city": "New \"York\"", "n": 5, "list": ["a", {"b": null}], "empty": ""});
    let [arguments, none] = [arguments, json!({})].map(|value| parse_json(&value.to_string(), 64).expect("it is JSON"));
    let call = |name, arguments| PastToolCall::new(name, Value::as_object(arguments).expect("it is an object"));
    let calls = [call(name, &arguments), call("other", &none)];
    let mut message = PastMessage::default();
    (message.content, message.calls) = ("Text.", &calls);
    let text = declared.encode_message(&message).or_else(|_| {
        // Some formats have one call in a message.
        message.calls = &calls[..1];
        declared.encode_message(&message)
    });
    let text = text.expect("it can be written");
    let seen = read_chunks(&declared, [&*text], Some(false), |_| {});
    (text, seen)
}

/// Elements of xml and yaml are calls only if a tool has their name.
fn reads_any_name(protocol: &str) -> bool {
    !matches!(protocol, "xml" | "yaml")
}

#[test]
fn a_forwarded_call_is_read_as_that_of_a_tool_without_a_schema() {
    every(all().filter(|protocol| reads_any_name(protocol)), |protocol| {
        let forwards = toolset(protocol, &["other"], |options| options.unknown_tools = UnknownTools::Forward);
        let refuses = toolset(protocol, &["other"], |_| {});
        for name in NAMES {
            let (text, declared) = written(protocol, name);
            let expected = calls(&declared).any(|call| call.name == name);
            let seen = read_chunks(&forwards, [&*text], Some(false), |_| {});
            assert_eq!(seen, declared, "{text}");
            for size in [1, 2, 7] {
                let cuts: Vec<_> = boundaries(&text).into_iter().step_by(size).collect();
                assert_eq!(read_chunks(&forwards, pieces(&text, &cuts), Some(false), |_| {}), seen, "{text}");
            }
            let seen = read_chunks(&refuses, [&*text], Some(false), |_| {});
            assert!(!calls(&seen).any(|call| call.name == name));
            let kinds = seen.iter().filter_map(|one| match one {
                Seen::Error(error) => Some(error.kind),
                _ => None,
            });
            assert_eq!(
                kinds.collect::<Vec<_>>(),
                if expected { vec![ErrorKind::UnknownTool] } else { vec![] },
                "{text}"
            );
        }
    });
}

#[test]
fn without_tools_each_call_may_be_an_error() {
    every(all().filter(|protocol| reads_any_name(protocol)), |protocol| {
        let tools = toolset(protocol, &[], |options| options.unknown_tools = UnknownTools::Error);
        let text = encoded(&tools, "look", &json!({"a": 1}));
        let seen = read_chunks(&tools, [&*text], Some(false), |_| {});
        let [error] = seen
            .iter()
            .filter_map(|one| if let Seen::Error(error) = one { Some(error) } else { None })
            .collect::<Vec<_>>()[..]
        else {
            panic!("{text:?} gave {seen:?}")
        };
        assert_eq!(error.kind, ErrorKind::UnknownTool);
        assert!(error.sentence.contains("There are no tools"), "{}", error.sentence);
    });
}

#[test]
fn without_tools_calls_may_be_text() {
    every(all(), |protocol| {
        let tools = toolset(protocol, &[], |options| options.unknown_tools = UnknownTools::Text);
        let (text, _) = written(protocol, "look");
        let seen = read_chunks(&tools, [&*text], Some(false), |_| {});
        assert_eq!(traces(&seen), 0, "{seen:?}");
        let (mut content, mut framing) = (String::new(), String::new());
        for one in &seen {
            match one {
                Seen::Text(text) => content.push_str(text),
                Seen::Framing(text) => framing.push_str(text),
                other => panic!("{other:?}"),
            }
        }
        assert!(content.contains("city"), "{content:?}");
        assert!(!framing.contains("city"), "{framing:?}");
        let cuts = boundaries(&text);
        assert_eq!(read_chunks(&tools, pieces(&text, &cuts), Some(false), |_| {}), seen);
    });
}

#[test]
fn text_is_for_a_toolset_without_tools() {
    let mut options = Options::default();
    options.unknown_tools = UnknownTools::Text;
    let error = Toolset::new(vec![definition("look", &json!({}))], options).expect_err("there is a tool");
    assert!(error.message.contains("without tools"), "{error:?}");
}

/// What no tool would be called, at the place of a name.
#[test]
fn a_name_that_no_tool_has_is_not_forwarded() {
    let forwards = toolset("hermes", &["other"], |options| options.unknown_tools = UnknownTools::Forward);
    for name in ["", "a b", "5", "-a", "a\\n", "the tool, that is", "…", "<x>", &"a".repeat(129)] {
        let text = format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call>");
        let seen = read_chunks(&forwards, [&*text], Some(false), |_| {});
        assert_eq!(calls(&seen).count(), 0, "{name:?}");
        assert!(matches!(seen[..], [Seen::Error(_)]), "{seen:?}");
    }
}

#[test]
fn a_prompt_that_ends_with_the_text_opens_reasoning() {
    every(families(), |row| {
        let tools = toolset(row, &["other"], |_| {});
        let Some(prompt) = format_of(row).reasoning_prompt else {
            let seen = read_chunks_of(&tools, ["Hm."], None, Some(true), |_| {});
            assert!(!seen.iter().any(|one| matches!(one, Seen::Reasoning { .. })), "{seen:?}");
            return;
        };
        let reasoning = |text: &str, in_reasoning: bool| {
            let seen = read_chunks_of(&tools, [text], None, Some(in_reasoning), |_| {});
            let reasoning = seen.into_iter().filter_map(|one| match one {
                Seen::Reasoning { text, .. } => Some(text),
                _ => None,
            });
            reasoning.collect::<String>()
        };
        assert!(!prompt.trim().is_empty());
        // The model may write it, too.
        assert_eq!(reasoning("Hm.", true), "Hm.");
        assert_eq!(reasoning(&format!("{prompt}Hm."), false), "Hm.");
        assert_eq!(reasoning("Hm.", false), "");
        let format = format_of(row);
        assert!(!format.reasoning_ends.is_empty());
        // Each opener has its own closer; the prompt has the first one.
        let ends = if format.reasoning.is_empty() { &format.reasoning_ends[..] } else { &format.reasoning_ends[..1] };
        for end in ends {
            assert_eq!(reasoning(&format!("Hm.{end}"), true), "Hm.", "{end:?}");
        }
    });
}

#[test]
fn an_invalid_tool_is_untyped_and_listed() {
    let wrong = [
        (json!({"properties": {"a": {"type": "str"}}}), Some("/properties/a/type")),
        (json!({"properties": {"a": {"required": true}}}), Some("/properties/a/required")),
        (json!({"properties": {"a": {"$ref": "#/$defs/none"}}}), Some("/properties/a/$ref")),
        (json!({"type": "string"}), Some("")),
        (json!(5), Some("")),
    ];
    every(all(), |protocol| {
        for (schema, pointer) in &wrong {
            let tools = || vec![definition("look", schema), definition("other", &json!({}))];
            let error = Toolset::new(tools(), options_of(protocol, false)).expect_err("the schema is wrong");
            assert_eq!((error.tool.as_deref(), error.pointer.as_deref()), (Some("look"), *pointer));
            let mut options = options_of(protocol, false);
            options.invalid_tools = InvalidTools::Untyped;
            let accepted = Toolset::new(tools(), options).expect("it is accepted");
            assert_eq!(accepted.invalid_tools(), [error]);
            let (text, declared) = written(protocol, "look");
            assert_eq!(read_chunks(&accepted, [&*text], Some(false), |_| {}), declared);
        }
    });
}

#[test]
fn of_tools_with_one_name_the_first_counts() {
    let named = |key: &str, kind: &str| definition("look", &json!({"properties": {key: {"type": kind}}}));
    let mut options = Options::default();
    options.invalid_tools = InvalidTools::Untyped;
    let tools = Toolset::new(vec![named("a", "string"), named("a", "integer")], options).expect("it is accepted");
    assert_eq!(tools.tools().count(), 1);
    assert_eq!(tools.invalid_tools().len(), 1);
    let seen = read_chunks(&tools, ["<call>look a=5</call>"], Some(false), |_| {});
    assert_eq!(calls(&seen).next().map(|call| &*call.arguments), Some(r#"{"a":"5"}"#));
}

/// Whatever a name is, the manual is written, and no call that would not be read back.
#[test]
fn a_name_that_cannot_be_written_is_accepted_and_listed() {
    every(all(), |protocol| {
        for name in ["get weather", "a\"b", "<a>", "a=b{", "", &"a".repeat(200)] {
            let mut options = options_of(protocol, false);
            options.invalid_tools = InvalidTools::Untyped;
            let tools = vec![definition(name, &json!({})), definition("other", &json!({}))];
            let refused = Toolset::new(tools.clone(), options_of(protocol, false)).err();
            let accepted = Toolset::new(tools, options).expect("it is accepted");
            assert_eq!(accepted.invalid_tools(), refused.as_slice());
            assert!(accepted.get(name).is_some());
            assert!(accepted.examples().iter().all(|call| !call.contains("get weather")) || refused.is_none());
            assert!(accepted.manual(None).contains("other"));
            if refused.is_some() {
                assert!(accepted.encode(name, &Value::Object(Vec::new())).is_err());
            }
        }
    });
}
