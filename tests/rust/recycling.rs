//! A call is read as it is alone, whatever call was before it: nothing of a body is left when the next call gets it.

use serde_json::json;
use wirecall_core::{Definition, Item, Options, Toolset, parse};

use crate::support::every::{every, with_laws};

const BETWEEN: &str = "\nand then\n\n";

const WIRE: &[&str] = &[
    "<call>f a=1 b=\"x y\" c=[1,2]</call>",
    "<call>f {\"a\":1,\"b\":\"x\"}</call>",
    "<call>f ```json\n{\"a\":1}\n```</call>",
    "<call>f(a=1, b='x', c=(1, 2))</call>",
    "<call>f({\"a\":1})</call>",
    "<call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</call>",
    "<call>[{\"name\":\"f\",\"arguments\":{\"a\":1}},{\"name\":\"g\",\"arguments\":{}}]</call>",
    "<call name=\"f\" a=\"1\"/>",
    "<CALL>f a=1</CALL>",
    "<call>f c={\"b\": [x]} b=yes</call>",
    "<call>f {\"a\":</call>",
    "<call>nothing a=1</call>",
];

const HERMES: &[&str] = &[
    "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>",
    "<tool_call>[{\"name\":\"f\",\"arguments\":{\"a\":1}},{\"name\":\"g\",\"arguments\":{}}]</tool_call>",
    "<tool_call>```json\n{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}\n```</tool_call>",
    "<tool_call>{\"arguments\":{\"b\":\"say \"hi\" now\"},\"name\":\"f\"}</tool_call>",
    "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}]</tool_call>",
    "<tool_call>{\"name\":\"f\",\"arguments\":[</tool_call>",
];

const XML: &[&str] = &[
    "<f><a>1</a><b>x</b><c>1</c><c>2</c></f>",
    "<g/>",
    "<f>{\"a\":1}</f>",
    "<f\n<a>1</a>\n/>",
    "<f a=\"1\"/>",
    "<f><b>never</f>",
    "f\n<a>1</a>",
];

const YAML: &[&str] = &[
    "<f>\na: 1\nb: |-\n  x\n  y\nc: [1, 2]\n</f>",
    "<g/>",
    "<f>{\"a\":1}</f>",
    "<f\na: 1\n/>",
    "<f a=\"1\"/>",
    "<f>\nb: \"never\n</f>",
];

const QWEN: &[&str] = &[
    "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    "<function=f><parameter=c>[1]</parameter></function>",
    "<tool_call><function=f>{\"a\":1}</function></tool_call>",
    "<tool_call><function=f><parameter=a>1</parameter></function><function=g></function></tool_call>",
    "<function name=\"f\" a=\"1\"/>",
    "<tool_call><function=f><parameter=b>x</parameter>text</function></tool_call>",
];

/// Calls in the forms that a protocol reads.
fn calls(protocol: &str) -> Vec<String> {
    let calls = match protocol {
        "wire" => WIRE,
        "hermes" | "gemma" => HERMES,
        "xml" => XML,
        "yaml" => YAML,
        "qwen3coder" => QWEN,
        other => panic!("no calls are listed for {other}"),
    };
    let calls = calls.iter().map(|call| (*call).to_owned());
    // Gemma's markers are around the same bodies. A fence would close its fence.
    let gemma = |call: String| call.replace("<tool_call>", "```tool_call\n").replace("</tool_call>", "\n```");
    if protocol == "gemma" { calls.filter(|call| !call.contains('`')).map(gemma).collect() } else { calls.collect() }
}

fn toolset(protocol: &str) -> Toolset {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": ["array", "object"]}}});
    let tool = |name: &str| Definition::new(name, schema.to_string());
    let mut options = Options::default();
    options.protocol = protocol.into();
    options.recover = true;
    Toolset::new(vec![tool("f"), tool("g")], options).expect("the schemas are fine")
}

/// The calls and errors of a message, without their places.
fn read(tools: &Toolset, message: &str) -> Vec<String> {
    let read = parse(tools, message, Some(false), None).into_iter().filter_map(|item| match item {
        Item::Text(_) | Item::Reasoning(_) | Item::Framing(_) => None,
        Item::Call(call) => Some(format!("{} {} {:?} {:?}", call.name, call.arguments, call.repairs, call.problems)),
        Item::Error(error) => Some(format!("{:?} {:?} {} {}", error.name, error.kind, error.sentence, error.raw)),
        item => panic!("a new kind of item: {item:?}"),
    });
    read.collect()
}

#[test]
fn nothing_is_left_of_the_call_before() {
    every(with_laws(), |protocol| {
        let (tools, calls) = (toolset(protocol), calls(protocol));
        // From here on no other protocol is read as a repair.
        let own = format!("{}{BETWEEN}", calls[0]);
        let alone = |call: &str| read(&tools, &format!("{own}{call}{BETWEEN}"))[1..].to_vec();
        for (first, second) in calls.iter().flat_map(|first| calls.iter().map(move |second| (first, second))) {
            let (before, after) = (alone(first), alone(second));
            // The error of a call that is never closed covers what follows it.
            if before.iter().any(|seen| seen.contains(BETWEEN.trim())) {
                continue;
            }
            let both = read(&tools, &format!("{own}{first}{BETWEEN}{second}{BETWEEN}"));
            assert_eq!(both[1..], [before, after].concat(), "{protocol}: {first} then {second}");
        }
    });
}
