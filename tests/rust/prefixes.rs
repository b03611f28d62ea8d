//! The end of a message runs no call: the calls of its beginning are the first of its calls, in every protocol.
//!
//! Openings that the end leaves undecided are nested in each other, in quotes, comments, sections and fences, with calls inside.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;
use wirecall_core::{CodeMode, ErrorKind, ReasoningTags, Toolset};

use crate::support::checks::{any_chunks, beginnings};
use crate::support::every::{families, with_auto};
use crate::support::reading::{Seen, calls, read, read_chunks_of, traces};
use crate::support::rows::encoded;
use crate::support::shared;
use crate::support::toolsets::{Setting, definition, options_of};

/// Calls that are complete.
#[rustfmt::skip]
const CALLS: &[&str] = &[
    "<call>ping</call>", "<call>note text=x</call>", "<tool_call>{\"name\":\"ping\"}</tool_call>",
    "<tool_call>{\"name\":\"note\",\"arguments\":{\"text\":\"x\"}}</tool_call>", "```tool_call\n{\"name\":\"ping\"}\n```",
    "<tool_call><function=ping></function></tool_call>", "<function=ping></function>", "<function=note><parameter=text>x</parameter></function>",
    "<ping/>", "<note><text>x</text></note>", "\nnote\n<text>x</text>\n", "<note>\ntext: x\n</note>", "{\"name\":\"ping\",\"arguments\":{}}",
];

/// What may begin something that a later part of the message decides.
#[rustfmt::skip]
const OPENINGS: &[&str] = &[
    "<say>", "<say", "<say ", "<say\n", "< say>", "<SAY>", "\nsay", "\nsay\n", "<say/", "<say>\n# ", "<say>\n---\n", "<say>\n\"", "<say>\n'", "<say>\n{",
    "<say\nq", "<say text=\"", "<say text='", "<say text=", "<say>say ", "<say><text>", "<say><t", "<say></SAY>",
    "<function=say>", "<function=say", "<function=\"", "<function name='", "<function>", "<function>say", "<function><name>", "<invoke name=\"say\">",
    "<function=say text=\"", "<invoke name=\"say\" text='", "<say text=\"", "<say fast text=\"", "<tool_call id=\"", "<call text=\"",
    "<tool_call>", "<tool_call", "<tool_call name=\"", "<tool_call>\n<function=say>", "<tool_call>say\n", "<tool_call><name>", "<tool_call>[", "<tool_call>```",
    "<tool_call><json>", "<call>", "<call>say", "<call>say ", "<call>say \"", "<call>say '", "<call>say a.\"", "<call>say ```", "<call>say <js",
    "<call>nope ", "<call>nope \"", "```", "```json\n", "```tool_call", "```tool_call\n[", "\n{\"name\":", "\n{\"name\": \"", "\n[{\"tool\":\"say",
    "<!--", "<![CDATA[", "<!", "<?", "<tool_resp", "<tool-res", "<ping/>>", "<", "</",
];

/// What is in them, and ends them.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "<parameter=text>", "<parameter=text", "<parameter", "</parameter>", "<text>", "</text>", "<text", "<t", "<other>", "text: ", "text=", "text", "a \"b\"",
    "</say>", "</SAY>", "</say", "</function>", "</invoke>", "</tool_call>", "</call>", "</name>", "-->", "]]>", "```", "</note>", "<ping>", "</ping>",
    ">", "/>", "\"", "'", "\">", "=", ":", "#", "{", "}", "]", "{\"text\":\"", "\"}", "\n", "\n", " ", "word ", "q",
];

/// What opens and closes code.
const MARKDOWN: &[&str] = &[
    "`",
    "``",
    "```",
    "\n```",
    "\n````\n",
    "\n> ~~~ x\n",
    "~~~\n",
    "\n```\n",
    "\r\n",
    "    ```\n",
    "```tool_call",
    "` ",
];

/// Reads calls of `protocol`, or of others, too.
fn toolset(protocol: &str, recover: bool, strict: bool, code: CodeMode) -> Toolset {
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}, "other": {"type": "integer"}}});
    let tools = vec![
        definition("say", &text),
        definition(
            "note",
            &json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
        ),
        definition("ping", &json!({"type": "object", "properties": {}})),
    ];
    // It begins like a call.
    let reasoning = ReasoningTags::Tags("<ping/>>".into(), "</think>".into());
    let mut options = options_of(protocol, strict);
    options.recover = recover;
    options.code = code;
    options.reasoning = reasoning;
    Toolset::new(tools, options).expect("the tools are fine")
}

const KINDS: [(&str, bool, bool, CodeMode); 5] = [
    ("alone", false, false, CodeMode::Call),
    ("alone, strict", false, true, CodeMode::Call),
    ("recovers", true, false, CodeMode::Call),
    ("alone, without code", false, false, CodeMode::Text),
    ("recovers, without code", true, false, CodeMode::Text),
];

/// Alone, strict, and with the others, with code and without: of each protocol in turn.
static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let mut out = Vec::new();
    for protocol in with_auto() {
        for (kind, recover, strict, code) in KINDS {
            let (name, tools) = (format!("{protocol} {kind}"), toolset(protocol, recover, strict, code));
            out.push(Setting { tools, name });
        }
    }
    out
});

fn settings(protocol: &str) -> &'static [Setting] {
    let at = with_auto().position(|name| name == protocol).expect("it is one of them");
    &SETTINGS[at * KINDS.len()..][..KINDS.len()]
}

fn message() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => select(OPENINGS), 4 => select(TOKENS), 3 => select(CALLS), 2 => select(MARKDOWN)];
    prop::collection::vec(part, 1..7).prop_map(|parts| parts.concat())
}

/// The laws of one protocol, each tried by itself.
macro_rules! laws {
    ($($protocol:ident),*) => {
$(mod $protocol {
use super::*;

const PROTOCOL: &str = stringify!($protocol);

proptest! {
    #![proptest_config(shared(with_auto().count()))]

    #[test]
    fn the_end_runs_no_call(
        message in message(), at in 0..KINDS.len(), cuts in prop::collection::vec(any::<Index>(), 0..20),
        truncated in select(&[None, Some(true)][..]),
    ) {
        beginnings(&settings(PROTOCOL)[at].tools, &message, truncated, &cuts)?;
    }

    #[test]
    fn chunking_does_not_matter(
        message in message(), at in 0..KINDS.len(), truncated in select(&[None, Some(true), Some(false)][..]),
        cuts in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        any_chunks(&settings(PROTOCOL)[at].tools, &message, truncated, &cuts)?;
    }
}
})*
    };
}

each_protocol!(laws);

/// What a model wrote up to its limit is a call that is incomplete, and no other error.
#[test]
fn a_call_that_is_cut_off_is_incomplete() {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array"}}});
    let mut wrong = Vec::new();
    for row in families() {
        let tools = Toolset::new(vec![definition("note", &schema)], options_of(row, false)).expect("the tool is fine");
        let call = encoded(&tools, "note", &json!({"text": "a b", "n": 12, "list": [1, "x"]}));
        for (at, _) in call.char_indices() {
            for seen in read(&tools, &call[..at], Some(true)) {
                if let Seen::Error(error) = seen
                    && error.kind != ErrorKind::IncompleteCall
                {
                    wrong.push(format!("{row}: {:?} gave {:?}: {}", &call[..at], error.kind, error.message()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The end of a block that nothing has opened does not count as a part of a call that was complete without it.
#[test]
fn a_stray_end_makes_no_call_too_large() {
    for strict in [false, true] {
        let mut options = options_of("qwen3coder", strict);
        options.limits.call_bytes = 30;
        let tools =
            Toolset::new(vec![definition("ping", &json!({"type": "object"}))], options).expect("the tool is fine");
        for behind in ["", "\n", "</tool_call>", "\n</tool_call>", "\n\n\n\n\n\n\n\n", " x"] {
            let message = format!("<function=ping></function>{behind}");
            let seen = read(&tools, &message, None);
            assert_eq!(calls(&seen).count(), 1, "{message:?} gave {seen:#?}");
        }
    }
}

/// Messages whose beginnings had a call that they do not have.
#[test]
fn a_beginning_has_no_call_that_the_message_lacks() {
    for message in [
        "<function=say><call>ping</call><call>ping</call>{\"name\":\"ping\",\"arguments\":{}}",
        "<function=say><call>ping</call><tool_call><function=ping></function></tool_call><tool_call>{\"name\":\"ping\"}</tool_call>",
        "<call>ping</call><parameter=text>",
        "<say>\n# </say>\n[{\"tool\":\"say",
    ] {
        for Setting { tools, name } in SETTINGS.iter() {
            let whole = read(tools, message, None);
            for end in 0..message.len() {
                let beginning = read(tools, &message[..end], None);
                let names = |seen| calls(seen).map(|end| end.name.clone()).collect::<Vec<_>>();
                assert!(
                    names(&whole).starts_with(&names(&beginning)),
                    "{name}: {:?} has {beginning:#?}",
                    &message[..end]
                );
            }
        }
    }
}

/// An empty message has nothing in it, whichever other format is read.
#[test]
fn an_empty_message_is_read() {
    for row in families() {
        for reasoning in [ReasoningTags::Own, ReasoningTags::None] {
            for other in families().filter(|other| *other != row) {
                let mut options = options_of(row, false);
                options.recover = true;
                options.recover_from = vec![other.to_owned()];
                options.reasoning = reasoning.clone();
                let Ok(tools) = Toolset::new(Vec::new(), options) else { continue };
                for message in ["", " ", "\n"] {
                    let seen = read_chunks_of(&tools, [message], None, None, |_| {});
                    assert_eq!(traces(&seen), 0, "{row} with {other}");
                }
            }
        }
    }
}
