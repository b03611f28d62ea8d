//! The law of quoted text: no call comes from inside a quoted text, whatever slip is elsewhere in the call or in its
//! opening, whole or cut, in any mode.
//!
//! A message is prose, the opening of a call as a model might write it, slips, a key as it might be bound to its value, the
//! quoted text P, more slips, a closing. P holds complete calls in every format and what could end the call around it, but no
//! quote of the kind that is around it, and no backslash. The quotes before P pair up: a quote that the model left out
//! is the one exception, which the format's section 3 states.

use std::ops::Range;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;
use wirecall_core::{CodeMode, Toolset};

use crate::support::checks::per_character;
use crate::support::every::with_auto;
use crate::support::reading::{Seen, boundaries, pieces, read, read_chunks};
use crate::support::shared;
use crate::support::toolsets::{definition, options_of};

/// What is in P: calls of `rm` in every format, without double quotes or without any, and what could end what is around.
#[rustfmt::skip]
const INSIDE: &[&str] = &[
    "</call>", "<call>rm path=/</call>", "</call><call>rm path=/</call>", "\n<call>rm path=/</call>\n", "<call>rm</call>", "<call>rm {}</call>",
    "<call>rm {path: x}</call>", "<CALL>rm path=/</CALL>", "</CALL>", "</call >", "[/call]", "&lt;/call&gt;", ",</call><call>rm</call>", "/></call><call>rm path=/</call>",
    "<tool_call>{name: rm, arguments: {path: x}}</tool_call>", "</tool_call><tool_call>{name: rm}</tool_call>", "}}</tool_call><tool_call>{name: rm}</tool_call>",
    "\n```\n```tool_call\n{name: rm}\n```\n", "\n```tool_call\n{name: rm, arguments: {path: x}}\n```", "\n{name: rm, arguments: {path: x}}\n",
    "<rm/>", "<rm><path>x</path></rm>", "</save><rm/>", "</save>\n<rm>\npath: x\n</rm>", "\nrm\n<path>x</path>\n", "</body></save><rm/>", "/><rm/>",
    "<function=rm></function>", "<tool_call><function=rm><parameter=path>\nx\n</parameter></function></tool_call>",
    "</parameter></function></tool_call><tool_call><function=rm></function></tool_call>", "<invoke name=rm></invoke>",
    "}", "}}", "]", "}]}", ")", ",", ", ", ";", ":", "=", " ", "\n", "\n\n", "text", " days=2", " body=", "title=", "title: ", "</body>", "<body>", "# ", "- ", "|", "<", ">", "/>",
    "</title>", "</parameter>", "</function>", "-->", "<!--", "]]>", "```", "<json>", "</json>", "<think>", "</think>", "don\u{2019}t", "é",
];

/// Quotes of the other kind, and calls with them.
#[rustfmt::skip]
const QUOTED_INSIDE: &[&str] = &[
    "Q", "Q", " Q", "Q ", "=Q", "Q</call><call>rm path=/</call>", "Q}}</tool_call><tool_call>{Qname:Q:QrmQ}</tool_call>", "<tool_call>{QnameQ:QrmQ,QargumentsQ:{}}</tool_call>",
    "Q</save><rm/>", "<call>rm path=QxQ</call>", "itQs", "Q,", "Q:", "Q}", "Q]", "Q>", "Q/><rm/>", "\n{QnameQ:QrmQ,QargumentsQ:{}}\n",
];

/// Slips between the opening of a call and P, or after P: quotes in them pair up, and nothing ends the call.
#[rustfmt::skip]
const SLIPS: &[&str] = &[
    "title=\"a\"", "title=\"a\" x", "title=\"a\";", "title=\"a\"]", "title=\"a\",", "title=\"a\")", "title=\"a\">", "title=\"a\" // c", "title=\"a\" detail", "title=\"a\"x",
    "title='a' x", "title='a';", "title: \"a\"", "title:\"a\"", "title: 'a',", "title = \"a\"", "(title=\"a\"", "title=\"a\" title=\"b\"", "title=\"\"", "title=\"\" x",
    "title=\"He said \"hi\" to me\"", "title=\"He said \"hi\" and \"bye\"\" x", "title=\"a \"b\" c\"", "title='a 'b' c' x", "title=\"it's\"", "title='say \"hi\"'", "title=\"it's\" x",
    "title=“a”", "title=\"x \\\"\"", "title=&quot;a&quot;", "title=\"\"\"a\"\"\"", "title='''a'''", "title=a b", "title=New York zip=3", "title=don't", "title=a, b", "title=a,", "title=a;", "title=a/>",
    "title=a>", "title=5'10", "days=2,", "days: 2", "days=None", "days=five", "days=\"2\" x", "tags=(\"a\",\"b\")", "tags=[\"a\" \"b\"]", "tags=[\"a\",", "tags=[\"a\", \"b\"] x",
    "tags=\"a\",\"b\"", "tags='a' 'b'", "opts[\"lang\"]=\"en\"", "(days=2)", "opts={\"a\" \"b\"}", "opts={\"a\": \"b\" x}", "opts={'a': 'b', }", "opts={\"a\": \"b\" x", "opts={a=\"b\"}", "opts.a=\"b\"",
    "opts.\"a b\"=\"c\" x", "// c", "# c", "detail", "--title \"a\"", "--title=\"a\"", "\"a\"", "'a'", "title \"a\"", "<title>a</title>", "<title>\"a\"</title>", "title==", "title=", "=", ",", "{", "[", "(",
    "|", "<", "\"title\"=\"a\"", "\"title\": \"a\",", "'title': 'a',", "tags[5]=\"a\"", "x=\"a\" \"b\"", "x=\"a\"y=\"b\"", "unknown=\"a\"", "unknown=a b", "[object Object]", "title=x:\"a\"",
    "title=say:'a b'", "title=\"a\" + \"b\"", "f\"a\"", "title=(\"a\")", "title=[\"a\"]", "\n", "\n\n", "  ", "title=\"a\"\n", "title:\n", "- \"a\"", "null", "None,", "…", "*",
];

/// How P's opening quote may be joined to what is before it.
#[rustfmt::skip]
const BINDINGS: &[&str] = &[
    "body=", "body= ", "body = ", "body =", "body:", "body: ", "body:=", "\"body\":=", "\"body\" :", "body ", "\"body\"=", "\"body\": ", "'body': ", "body=\n", "body==", "body=,", "body=(", "body=[", "tags=[", "tags=[\"a\",", "tags=(",
    "--body ", "--body=", "unknown=", "unknown: ", "opts={\"a\":", "opts={a: ", "opts={a=", "opts.a=", "opts[\"a\"]=", "<body>", "body[0]=", ", ", "", "{\"body\": ", "title=", "title=a ", "title=a body=",
    "title=New York body=", "title=New York unknown=", "title=New York ", "title=x=", "days=", "days=x=", "body=\"\" ", "body=''", "body='see title=\"\" ' x ", "body='see body=\"' title=", "body=\"a\" ", "body=\"a\",", "body=\"a\":", "body=\"a\"(",
];

/// What P may stand in instead of quotes alone, with the same kind around it.
const AROUND: &[(&str, &str)] =
    &[("Q", "Q"), ("Q", "Q"), ("Q", "Q"), ("Q", "Q"), ("QQQ", "QQQ"), ("(Q", "Q)"), ("[Q", "Q]")];

/// What closes the call, or does not.
const CLOSES: &[&str] = &[
    "</call>",
    "</call>",
    " </call>",
    "\n</call>",
    ",</call>",
    "/></call>",
    "></call>",
    "</call >",
    "",
    "\n<call>ping</call>",
    ")</call>",
    "}</call>",
];

/// How a call of `save` may be opened: by the names of the formats in which that is one.
#[rustfmt::skip]
const WIRE: &[&str] = &[
    "<call>save ", "<call>save ", "<call>save ", "<call>save\n", "<call> save ", "<call>\nsave ", "<call>save(", "<call>save (", "<call>save, ", "<call>save: ", "<call>save:\n", "<call>Save ", "<call>SAVE(",
    "<call>\"save\" ", "<call>'save' ", "<call>\"save\"(", "<call>name=\"save\" ", "<call>name=save ", "<call>tool='save' ", "<call>function=save ", "<call>functions.save ", "<call>functions.save(", "<call>`save` ",
    "<call>save {", "<call>save{", "<call>save {\"title\": \"a\", ", "<call>save <json>{", "<call>save ```json\n{", "<call>save <", "<call>save [", "<call>save | ", "<call>save)", "<call>save> ", "<call>save; ",
    "<call>{\"name\":\"save\",\"arguments\":{", "<call>\n{\"name\":\"save\",\"arguments\":{", "<call> {\"name\": \"save\", ", "<call>[{\"name\":\"save\",\"arguments\":{", "<call>\n[{\"name\":\"save\", ",
    "<CALL>save ", "<Call>save ", "<call >save ", "<call\n>save ", "<call name=\"save\" ", "<call name='save' ", "<call name=\"save\">", "<call name=\"save\" title=\"a\">", "<call name=save ", "<call tool=\"save\" ", "<call function=\"save\" ", "<CALL name=\"save\" ",
    "<call save ", "<call title=\"a\" name=\"save\" ", "[call]save ", "[CALL]save ", "&lt;call&gt;save ", "<tool_call>save ", "<TOOL_CALL>save ", "<tool_call>\nsave ", "<tool_call>save(", "[call]save(", "&lt;call&gt;save: ",
    "<call>save=", "<call>save the following: ", "<call>nope title=\"a\" ", "<call>sav title=\"a\" ",
];
#[rustfmt::skip]
const HERMES: &[&str] = &[
    "<tool_call>{\"name\":\"save\",\"arguments\":{", "<tool_call>{\"name\":\"save\",\"arguments\":{", "<tool_call>\n{\"name\": \"save\", \"arguments\": {", "<tool_call>{\"arguments\":{", "<tool_call>{'name':'save','arguments':{",
    "<tool_call>{name: save, arguments: {", "<tool_call>[{\"name\":\"save\",\"arguments\":{", "<tool_call>{\"name\":\"save\" \"arguments\":{", "<tool_call>{\"name\":\"save\",", "<tool_call>{\"name\":\"save\"; ",
    "<tool_call><json>{\"name\":\"save\",\"arguments\":{", "<tool_call>```json\n{\"name\":\"save\",\"arguments\":{", "<tool_call>{\"name\":\"nope\",\"arguments\":{", "<tool_call>{\"tool\":\"save\",\"args\":{",
    "<tool_call>{\"title\":\"a\", ", "<tool_call>{\"x\":{\"name\":\"save\",\"arguments\":{", "<tool_call>save {", "<tool_call>save(", "<tool_call>save ", "<tool_call>\"save\" ", "<TOOL_CALL>{\"name\":\"save\",\"arguments\":{",
    "<tool_call name=\"save\">{", "<tool_call name=\"save\" ", "<tool_call >{\"name\":\"save\",\"arguments\":{", "<tool_call>: {\"name\":\"save\",", "<tool_call>json\n{\"name\":\"save\",\"arguments\":{", "<tool_call>name=\"save\" ",
    "<tool_call>{save: ", "<tool_call>{{\"name\":\"save\",\"arguments\":{", "<tool_call>({\"name\":\"save\",",
];
#[rustfmt::skip]
const GEMMA: &[&str] = &[
    "```tool_call\n{\"name\":\"save\",\"arguments\":{", "```tool_call\n{\"name\": \"save\", \"arguments\": {", "```tool_call\n[{\"name\":\"save\",\"arguments\":{", "```tool_call\nsave(", "```tool_call\n\"save\" ",
    "```tool_call {\"name\":\"save\",", "```tool_call\n{name: save, ", "```TOOL_CALL\n{\"name\":\"save\",\"arguments\":{", "```tool_call\nsave: ",
];
#[rustfmt::skip]
const TAGS: &[&str] = &[
    "<save ", "<save ", "<save title=\"a\">", "<save title=\"a\" x>\n", "<SAVE ", "<save\n", "< save ", "<save x ", "<save title=\"a\" ", "<save title='a' x ", "<save title: \"a\" ", "<save,", "<save(",
];
#[rustfmt::skip]
const YAML: &[&str] = &[
    "<save>\ntitle: \"a\" x\n", "<save>\ntitle: \"a\"\n", "<save>\n", "<save>\n{", "<save>\n- ", "<save>\ntags:\n- ", "<save>\nopts: {", "<save>\ntitle: 'a' x\n", "<save>{\"title\": \"a\" x, ", "<save>\ntitle = \"a\"\n", "<SAVE>\n",
];
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "<tool_call><function=save ", "<function=save ", "<function=save title=\"a\">", "<tool_call><function=save title=\"a\">", "<function name=\"save\" ", "<invoke name=\"save\" ", "<invoke name='save' x ", "<tool name=\"save\" ", "<call name=\"save\" ", "<tool_call name=\"save\" ",
    "<function=\"save\" ", "<tool_call>\n<function=save title=\"a\" ", "<tool_call><function=save>{", "<tool_call><function=save>\n{\"title\": \"a\" x, ", "<function=save>{",
    "<tool_call><function=save><parameter name=\"title\" ", "<tool_call><function=save><parameter=", "<tool_call>save ", "<tool_call>\nsave ", "<tool_call>save(", "<call>save ", "<CALL>save ",
    "<call>save(", "<function>save ", "<tool>save ", "<invoke>save ", "<tool_call><function>save ", "<tool_call>\n<function>save</function>\n", "<tool_call>{\"name\":\"save\",\"arguments\":{",
    "<tool_call>\n{\"name\": \"save\", \"arguments\": {",
];
const BARE: &[&str] = &[
    "\n{\"name\":\"save\",\"arguments\":{",
    "```json\n{\"name\":\"save\",\"arguments\":{",
    "\n[{\"name\":\"save\",\"arguments\":{",
    "\n{\"name\":\"save\"; ",
    "\n{\"name\":\"save\" \"arguments\":{",
    "\n{\"name\": save, \"arguments\": {",
    "\n{name: \"save\", arguments: {",
    "\n{\"tool\":\"save\",\"args\":{",
    "\n{\"type\":\"function\",\"function\":{\"name\":\"save\" ",
    "```json\n[{\"name\":\"save\" ",
    "```\n{\"name\": \"save\", \"arguments\": {\"title\": \"a\" x, ",
];

/// A protocol, what it reads, and how calls are opened there.
struct Setting {
    name: String,
    tools: Toolset,
    openings: Vec<&'static str>,
}

fn toolset(protocol: &str, strict: bool, recover: bool, code: CodeMode) -> Toolset {
    let text = json!({"type": "string"});
    let save = json!({"type": "object", "properties": {
        "title": text, "body": text, "days": {"type": "integer"}, "tags": {"type": "array", "items": text},
        "opts": {"type": "object", "additionalProperties": text}}});
    let rm = json!({"type": "object", "properties": {"path": text}});
    let tools = vec![definition("save", &save), definition("rm", &rm), definition("ping", &json!({"type": "object"}))];
    let mut options = options_of(protocol, strict);
    options.recover = recover;
    options.code = code;
    Toolset::new(tools, options).expect("the tools are fine")
}

fn openings(protocol: &str) -> Vec<&'static str> {
    let own: &[&[&str]] = match protocol {
        "wire" => &[WIRE],
        "hermes" => &[HERMES],
        "gemma" => &[GEMMA],
        "xml" => &[TAGS],
        "yaml" => &[TAGS, YAML],
        "qwen3coder" => &[FUNCTIONS],
        "auto" => &[WIRE, HERMES, GEMMA, TAGS, YAML, FUNCTIONS],
        other => panic!("no openings are listed for {other}"),
    };
    own.concat()
}

fn settings(protocol: &str) -> Vec<Setting> {
    const MODES: [(&str, bool, bool, CodeMode); 4] = [
        ("lenient", false, false, CodeMode::Call),
        ("strict", true, false, CodeMode::Call),
        // The openings are outside of code.
        ("without code", false, false, CodeMode::Text),
        ("recovers", false, true, CodeMode::Call),
    ];
    let setting = |&(mode, strict, recover, code): &(&str, bool, bool, CodeMode)| Setting {
        name: format!("{protocol} {mode}"),
        tools: toolset(protocol, strict, recover, code),
        openings: if recover { [openings("auto"), BARE.to_vec()].concat() } else { openings(protocol) },
    };
    // `auto` recovers nothing.
    MODES.iter().filter(|mode| protocol != "auto" || !mode.2).map(setting).collect()
}

/// A message, and where its P is.
#[derive(Debug)]
struct Case {
    setting: usize,
    message: String,
    quoted: Range<usize>,
    truncated: Option<bool>,
}

/// Between letters a quote would be an apostrophe, and what follows `<` the tag of something else.
fn runs_together(before: &str, after: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric();
    (before.ends_with(['\'', '<']) && after.starts_with(word))
        || (before.ends_with(word) && after.starts_with(['\'', '"']))
}

fn slips(most: usize) -> impl Strategy<Value = String> {
    let between = prop_oneof![4 => Just(" "), 1 => Just(""), 1 => Just("\n"), 1 => Just(", ")];
    prop::collection::vec((select(SLIPS), between), 0..most).prop_map(|slips| {
        let mut out = String::new();
        for (slip, between) in slips {
            if runs_together(&out, slip) {
                out.push(' ');
            }
            out += slip;
            out += between;
        }
        out
    })
}

fn quoted_text() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop_oneof![4 => select(INSIDE), 1 => select(QUOTED_INSIDE)], 1..5)
}

fn case(settings: &'static [Setting]) -> impl Strategy<Value = Case> {
    let setting =
        (0..settings.len()).prop_flat_map(|setting| (Just(setting), select(settings[setting].openings.as_slice())));
    let before = select(&["", "I look. ", "Text:\n", "\n", "Say \"x\".\n"][..]);
    let parts = (setting, before, slips(3), select(BINDINGS), select(AROUND), quoted_text(), slips(2), select(CLOSES));
    (parts, prop::bool::ANY, select(&[None, Some(false), Some(true)][..])).prop_map(
        |(((setting, opening), before, slips, binding, (open, close), parts, after, closing), single, truncated)| {
            let (quote, other) = if single { ("'", "\"") } else { ("\"", "'") };
            let around = |text: &str| text.replace('Q', quote);
            // What ends a tag ends what is in it: the opening's last one is open.
            let tag = opening.rsplit_once('<').is_some_and(|(_, tag)| !tag.is_empty() && !tag.contains('>'));
            let inside_tag = |text: &str| match tag {
                true => text.replace('>', ""),
                false if opening.starts_with('<') && opening.contains("name=") => text.replace("/>", ""),
                false => text.to_owned(),
            };
            // In an element or a parameter, quotes are text like any other.
            let name = &settings[setting].name;
            let elements = name.starts_with("auto ") || name.ends_with(" recovers");
            let block = elements && opening.to_ascii_lowercase().starts_with("<tool_call>");
            let slips = if block { slips.replace("<title>", "") } else { slips };
            // So they are in a block scalar.
            let whole_tag = opening.to_ascii_lowercase().starts_with("<save>");
            let slips = if whole_tag { slips.replace('|', "") } else { slips };
            let binding = match binding {
                "<body>" if block || name.starts_with("qwen3coder ") || (elements && whole_tag) => "body=",
                binding => binding,
            };
            // Without markers, the last bracket ends a call, and an object with an unknown key may be no call.
            let bare = |text: &str| match BARE.contains(&opening) {
                true => text.replace(']', "").replace("unknown", "body"),
                false => text.to_owned(),
            };
            let (slips, binding, after) = (bare(&slips), bare(binding), bare(&after));
            // A comment of JSON ends with its line, whatever quotes are in it.
            let slips = if opening.contains('{') { slips.replace("//", "") } else { slips };
            let gap = if slips.ends_with(['\'', '<']) || runs_together(&slips, &binding) { " " } else { "" };
            let mut message = [before, opening, &inside_tag(&slips), gap, &inside_tag(&binding)].concat();
            // A quote after a letter is an apostrophe.
            if !message.ends_with(|c: char| c.is_ascii_whitespace() || "=:,([{>".contains(c)) {
                message.push(' ');
            }
            message += &around(open);
            let start = message.len();
            message += &parts.concat().replace('Q', other);
            let quoted = start..message.len();
            message += &around(close);
            message += &after;
            message += closing;
            Case { setting, message, quoted, truncated }
        },
    )
}

/// No call of what is seen begins inside P.
fn none_from(seen: &[Seen], message: &str, quoted: &Range<usize>) -> Result<(), TestCaseError> {
    let byte = |chars: usize| message.char_indices().nth(chars).map_or(message.len(), |(at, _)| at);
    for one in seen {
        match one {
            Seen::Start { name, .. } => prop_assert!(name != "rm", "rm was started in {message:?}: {seen:#?}"),
            Seen::End(end) => prop_assert!(
                end.name != "rm" && !(quoted.contains(&byte(end.start)) && end.name != "save"),
                "{message:?} gave {seen:#?}"
            ),
            Seen::Text(_) | Seen::Reasoning { .. } | Seen::Framing(_) | Seen::Deltas { .. } | Seen::Error(_) => {}
        }
    }
    Ok(())
}

fn holds(settings: &[Setting], case: &Case, cuts: &[Index]) -> Result<(), TestCaseError> {
    let Case { setting, message, quoted, truncated } = case;
    let Setting { tools, name, .. } = &settings[*setting];
    let told = |result: Result<(), TestCaseError>| result.map_err(|e| TestCaseError::fail(format!("{name}: {e}")));
    let whole = read(tools, message, *truncated);
    told(none_from(&whole, message, quoted))?;
    let places = boundaries(message);
    let mut some: Vec<usize> = cuts.iter().map(|cut| *cut.get(&places)).collect();
    some.sort_unstable();
    for chunks in [per_character(message), pieces(message, &some)] {
        let got = read_chunks(tools, chunks, *truncated, |_| {});
        told(
            (got == whole)
                .then_some(())
                .ok_or_else(|| TestCaseError::fail(format!("{message:?}: {got:#?} is not {whole:#?}"))),
        )?;
    }
    for end in some {
        told(none_from(&read(tools, &message[..end], *truncated), &message[..end], quoted))?;
    }
    Ok(())
}

/// The law of one protocol, tried by itself.
macro_rules! laws {
    ($($protocol:ident),*) => {
        $(mod $protocol {
            use super::*;

            static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| settings(stringify!($protocol)));

            proptest! {
                #![proptest_config(shared(with_auto().count()))]

                #[test]
                fn no_call_comes_from_quoted_text(
                    case in case(&SETTINGS), cuts in prop::collection::vec(any::<Index>(), 1..4),
                ) {
                    holds(&SETTINGS, &case, &cuts)?;
                }
            }
        })*
    };
}

each_protocol!(laws);
