//! Every protocol, in every mode, times every text that is repeated: cost grows with the message, and no faster.
//!
//! Allocations do not show what is only scanned again, so here a clock is read: the processor's time of the thread, which other
//! programs hardly change. A reading that is quick for its length is fine. Of a slow one, a shorter message is timed too:
//! eight times the text may take 24 times as long, where what is quadratic takes 64 times. The best of several times counts.

use std::time::Duration;

use serde_json::json;
use wirecall_core::{CodeMode, Definition, Options, ToolError, Toolset, Value};

use super::counting::{KIB, read, schema};
use super::every::{all, every};

/// Special characters, the openings and endings of every format, halves of them, and names of tools and fields.
#[rustfmt::skip]
const MARKS: &[&str] = &[
    "`", "``", "```", "````", "` ", "` `` ", "\n`", "\n```\n", "<x> `", "```\n", "```json\n", "```tool_call", "```tool_call\n{", "~", "~~~\n", "<", "</", "/>", ">", "<!--", "-->", "<![CDATA[",
    "]]>", "<!", "<?", "&", "&lt;", "&#", "\"", "'", "\\", "\\\"", "[", "]", "{", "}", "[{", "{\"a\":", "\"a\":1,", "(", ")", ",", ":", "=", "#", "-", "|",
    "\n", "\n\n", "\r\n", " ", "\t", "\n ", "é", "x", "x ", "1", "//", "/*", "* ", "> ", "“",
    "<call>", "</call>", "<call>t", "<call>t ", "<call>t s=", "<call>t s=\"", "<call>t s=\"x\" ", "<call>t {", "<call>nope ", "<CALL>", "<cal", " s=", "s=\"",
    "\" s=", "\" </call>", "<call>t s=1</call>", "<tool_call>", "</tool_call>", "<tool_call>{", "<tool_call>[", "<tool_call>\n", "<tool_call", "<tool_call>t\n",
    "<tool_call>{\"name\":\"t\",\"arguments\":{", "<tool_call>{\"name\":\"t\"}</tool_call>", "{\"name\":", "{\"name\": \"t\"", "\n{\"name\":\"t\",", "{\"tool_calls\":[",
    "\n{\"name\":\"t\",\"arguments\":{}}", "{\"type\":\"function\",", "<t>", "<t", "<t ", "<t\n", "</t>", "<t/>", "<t s=\"x\"/>", "<s>", "</s>", "<s", "<any>",
    "<item>", "\nt", "\nt\n", "\nt\n<s>", "t", "s: ", "\ns: ", "<t>\ns: x\n", "<t>\n", "- ", "\n- ", ": |\n  ", "<function=", "<function=t>", "</function>",
    "<function=\"", "<function name=\"t\">", "<parameter=s>", "<parameter=", "</parameter>", "<invoke name=\"t\">", "</invoke>", "<function_calls>",
    "<tool-result", "<tool-", "<tool_response>", "<tool_resp", "<think>", "</think>", "[call]", "&lt;call&gt;", "get_weather", "<get_weather>", "\nget_weather ",
    "\nget_weather\n", "<tool_call>t<arg_key>", "<arg_key>s</arg_key>", "<arg_value>", "</arg_value>", "<tool_call>t<arg_key>s</arg_key><arg_value>",
    "<｜DSML｜function_calls>", "</｜DSML｜function_calls>", "<｜DSML｜invoke name=\"t\">", "<｜DSML｜invoke name=\"", "<｜DSML｜parameter name=\"s\" string=\"true\">",
    "</｜DSML｜parameter>", "</｜DSML｜invoke>",
    "\nget_weather\n",
    "<|tool_call>", "<|tool_call>call:t{", "<|\"|>", "s:<|\"|>", "<tool_call|>", "<|channel>thought\n", "<channel|>", "<eos>", "<|python_start|>", "[t(", "[t(s='",
    "t(s=1), ",
    "<|plamo:begin_tool_requests:plamo|>", "<|plamo:begin_tool_request:plamo|>", "<|plamo:begin_tool_name:plamo|>t<|plamo:end_tool_name:plamo|>", "<|plamo:msg|>{",
    "<|function_call|>{\"name\":\"t\",", "<|message_sep|>\n\nfunction call<|role_sep|>\n{",
    "<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>", "<|START_ACTION|>[", "{\"tool_name\":\"t\",\"parameters\":{", "<|END_ACTION|>",
    ">>>", ">>>all\n", ">>>t\n{", ">>>t\n ",
    " to=t<|message|>", "<|start|>assistant to=user<|message|>", "<atem:function_calls>", "<atem:invoke name=\"t\">", "<atem:parameter name=\"s\">", "</atem:parameter>",
    "Action:", "Action:\n```json\n[", "Action: ```json\n[{\"tool_name\":",
    "<|message_model|>t", "<|content_text|>", "<|content_invoke_tool_json|>{\"name\":\"t\",\"args\":{", "<|end_message|>",
    "<function=t>{", "<|think|>", "<|content|>", "<|begin|>assistant", "<|tool_calls|>", "<|tool_call:begin|>", "<|tool_call:name|>t<|tool_call:args|>{", "<|end|>",
    "<minimax:tool_call>", "</minimax:tool_call>", "<minimax:tool_call><invoke name=\"t\">", "<parameter name=\"s\">", "[e~[",
    "<seed:tool_call>", "</seed:tool_call>", "<seed:tool_call><function=t><parameter=s>", "<seed:think>",
    "<function name=\"t\"><param name=\"s\">", "<function name=\"t\"><param name=\"s\"><![CDATA[", "]]></param>", "<function name=\"",
    "<tool_calls:opensource>", "<tool_call:opensource>t<tool_sep:opensource>", "<arg_key:opensource>s</arg_key:opensource>", "<arg_value:opensource>", "</arg_value:opensource>",
    "<TOOLCALL>", "<TOOLCALL>[", "]</TOOLCALL>", "<TOOLCALL>[{\"name\": \"t\"}, ", "<tool_calls>", "<tool_calls>\n{\"name\": \"t\"}\n", "</tool_calls>",
    "functools[", "functools", "functools[{\"name\": \"t\"",
    "<|tools_prefix|>", "<|tools_prefix|>[", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>", "{\"t\": {}}",
    "<function_call>", "<function_call> {\"name\": \"t\"", "<function_response>",
    "<|tool_call|>", "<|tool_call|>[", "<|/tool_call|>",
    "<|action_start|><|plugin|>", "<|action_start|> <|plugin|>\n", "<|action_end|>", "<|action_start|>",
    "```json\n[", "\n```", "<tool_call>[", "[TOOL_CALLS][{\"name\": \"t\"",
    "<longcat_tool_call>", "<longcat_tool_call>\n", "</longcat_tool_call>", "<longcat_think>", "</longcat_think>",
    "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]", "<thinking>", "</thinking>", "\n[BEGIN FINAL RESPONSE]\n",
    "<answer>", "<answer>\n", "\n</answer>", "</answer>",
    "<response>", "\n<response>\n", "</response>\n", "</response>",
    "<|tool_call|> [", "<tool_call>[{\"name\": \"t\"",
    "<dots_function_call>", "<dots_function_call><invoke name=\"t\"><parameter name=\"s\">\n", "\n</parameter>\n",
    "<｜tool_calls_begin｜>", "<steptml:invoke name=\"t\">", "<steptml:parameter name=\"s\">", "</steptml:parameter>",
    "<ifm|tool_calls>", "<ifm|tool_call>t", "<ifm|arg_key>s</ifm|arg_key>", "<ifm|arg_type>", "<ifm|arg_type>x</ifm|arg_type>", "<ifm|arg_value>",
    "<iquest_tool_call>t", "<｜GCML｜tool_calls>", "<｜GCML｜invoke name=\"t\">", "<tool_calls:6124c78e>", "<tool_call:6124c78e>t",
    "<|tool_call_start|>[", "<|tool_call_start|>[t(s='", "{\"name\":\"t\",\"arguments\":{}}, ", "]<|tool_call_end|>", "<function_calls>t(", "t(s=1)\n", "</function_calls>",
    "<start_function_call>call:t{", "s:<escape>", "<escape>", "<end_function_call>",
    "]<]minimax[>[", "]<]minimax[>[<tool_call>", "]<]minimax[>[<invoke name=\"t\">", "]<]minimax[>[<s>", "]<]minimax[>[</s>", "]<]minimax[>[<any>",
    "]<]minimax[>[<item>", "]<]minimax[>[</item>", "]<]minimax[>[</invoke>", "[e~[",
    "<|start|>", "<|start|>assistant", "<|channel|>", "<|channel|>analysis<|message|>", "<|channel|>final<|message|>x", "<|message|>", "<|call|>", "<|return|>", "<|end|><|sta",
    "<|channel|>commentary to=functions.t <|constrain|>json<|message|>{", "<|channel|>commentary to=", "<|open|>", "<|close|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>",
    "<|open|>tools<|sep|><|open|>call tool=\"t\" index=\"1\"<|sep|>", "<|open|>argument key=\"s\" type=\"string\"<|sep|>", "<|close|>argument<|sep|>",
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>t<｜tool▁sep｜>{", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>t\n```json\n{", "<｜tool▁call▁end｜>", "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>", "<|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>{", "<|tool_call_end|>", "[TOOL_CALLS]", "[TOOL_CALLS]t[ARGS]{", "[TOOL_CALLS]t(", "[TOOL_CALLS]t \"", "[ARGS]",
];

/// What comes once, and then again and again: whitespace in which a format waits. Tried whatever the number of cases.
const WAITS: &[(&str, &str)] = &[
    ("", "\n"),
    ("", " "),
    ("<|END_THINKING|>", " "),
    ("</think>", "\n"),
    ("<|channel|>final", " "),
    ("<|start|>", "\n"),
    ("<|close|>think<|sep|>", " "),
    ("<|end|>", " "),
    ("<call>", " "),
    ("<tool_call>", "\n"),
    ("[TOOL_CALLS]", " "),
    ("```json\n", " "),
    // A comma may be missing, or a bracket; or there is one too many.
    ("<tool_call>{\"name\":\"t\",\"arguments\":{\"any\":1 \"s\"", " "),
    ("<tool_calls>[{\"name\":\"t\",\"arguments\":{}]", " "),
    ("<tool_calls>[{\"name\":\"t\",\"arguments\":{}}]}", " "),
    // Near misses of tags, of Python and of notations.
    ("<invoke ", " "),
    ("<minimax:tool_call><invoke name='t'>", " "),
    ("<tool_call>t<arg_key>s</arg_key>", " "),
    ("<|tool_call_start|>[t(s=\"a\"]", " "),
    ("<|tool_call>{", " "),
    ("<|tool_call>call:t{}", " "),
    // A second call, and a header without its first markers.
    ("{\"name\":\"t\",\"parameters\":{}}", "\n"),
    ("<|channel|>analysis<|message|>a<|end|>commentary ", " "),
];

fn tools(protocol: &str, strict: bool, recover: bool, code: CodeMode) -> Result<Toolset, ToolError> {
    let tool = |name: &str, schema: &serde_json::Value| Definition::new(name, schema.to_string());
    let weather = json!({"type": "object", "properties": {"city": {"type": "string"}, "t": {"type": "string"}}});
    let mut options = Options::default();
    options.protocol = protocol.into();
    options.strict = strict;
    options.recover = recover;
    options.code = code;
    Toolset::new(vec![tool("t", &schema()), tool("get_weather", &weather)], options)
}

/// Name, strict, recover, code.
const MODES: [(&str, bool, bool, CodeMode); 5] = [
    ("own", false, false, CodeMode::Call),
    ("strict", true, false, CodeMode::Call),
    ("recover", false, true, CodeMode::Call),
    ("without code", false, false, CodeMode::Text),
    ("recover without code", false, true, CodeMode::Text),
];

type Use = fn(&Toolset, &str);

/// What is done with a text.
const USES: [(&str, Use); 4] = [
    ("whole", |tools, text| _ = read(tools, text, usize::MAX / 2, Some(false))),
    ("in characters", |tools, text| _ = read(tools, text, 1, Some(false))),
    ("as a result", |tools, text| _ = tools.encode_result(text, text, false, None)),
    ("as an argument", |tools, text| {
        let string = || Value::String(text.into());
        let value = Value::Object(vec![("s".into(), string()), ("any".into(), string()), (text.into(), string())]);
        let written = tools.encode("t", &value).expect("it is an object");
        read(tools, &written, usize::MAX / 2, Some(false));
    }),
];

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn now() -> Duration {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [u64; 2]) -> i32;
    }
    const THREAD_CPUTIME: i32 = 3;
    let mut time = [0; 2];
    // SAFETY: a `timespec` is two words of 64 bits here, and the pointer to it is valid.
    assert_eq!(unsafe { clock_gettime(THREAD_CPUTIME, &raw mut time) }, 0);
    Duration::from_secs(time[0]) + Duration::from_nanos(time[1])
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn now() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}

fn time(tools: &Toolset, act: Use, message: &str) -> Duration {
    let begun = now();
    act(tools, message);
    now() - begun
}

/// `None`, or how much longer it takes with a text that is eight times as long.
fn grows(tools: &Toolset, act: Use, build: &dyn Fn(usize) -> String, bytes: usize) -> Option<f64> {
    let long = build(bytes);
    let quick = Duration::from_nanos(500) * u32::try_from(long.len()).expect("it is short");
    let time = |message: &str| time(tools, act, message);
    let mut second = time(&long);
    if second < quick {
        return None;
    }
    // Where the short message is disturbed, growth seems small: it is timed often. Where the long one is, growth seems large:
    // only then it is timed again.
    let short = build(bytes / 8);
    let first = (0..7).map(|_| time(&short)).min().expect("seven times");
    let growth = |second: Duration| second.as_secs_f64() / first.as_secs_f64();
    for _ in 0..6 {
        if growth(second) < 24.0 || second > Duration::from_secs(5) {
            break;
        }
        second = second.min(time(&long));
    }
    Some(growth(second)).filter(|growth| *growth >= 24.0)
}

/// How often a text is repeated: an even number, since an odd number of quotes leaves the rest of both messages in another state.
fn times(bytes: usize, unit: usize) -> usize {
    bytes.div_ceil(unit).next_multiple_of(2)
}

fn repeated(head: &str, unit: &str, bytes: usize) -> String {
    format!("{head}{}", unit.repeat(times(bytes, unit.len())))
}

fn nested(open: &str, close: &str, bytes: usize) -> String {
    let times = times(bytes, open.len() + close.len());
    open.repeat(times) + &close.repeat(times)
}

/// What a protocol is tried with: every mark that begins what it writes, read whole and in characters; and a share of all other
/// marks, pairs, modes and uses, all of them in a long run of the laws.
fn check(protocol: &str) {
    let cases = std::env::var("WIRECALL_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(10_000);
    let mut slow = Vec::new();
    for (number, (mode, strict, recover, code)) in MODES.into_iter().enumerate() {
        let tools = match tools(protocol, strict, recover, code) {
            Ok(tools) => tools,
            // Formats of messages in parts.
            Err(error) if recover && error.message.ends_with("leave out recover") => continue,
            Err(error) => panic!("{error}"),
        };
        let mut one = |(how, act): (&str, Use), name: String, bytes: usize, build: &dyn Fn(usize) -> String| {
            if let Some(growth) = grows(&tools, act, build, bytes) {
                slow.push(format!("{protocol}, {mode}, {how}, {name}: {growth:.0} times"));
            }
        };
        let string = || Value::String("x".into());
        let written = tools.encode("t", &Value::Object(vec![("s".into(), string())])).expect("it is an object");
        let step = ((MARKS.len() * USES.len() * MODES.len()) / (cases / 8).max(1)).max(1) | 1;
        for (at, mark) in MARKS.iter().enumerate() {
            let begins: String = mark.trim().chars().take(6).collect();
            let own = mode == "own" && written.contains(&begins);
            for (which, used) in USES.into_iter().enumerate() {
                if (own && which < 2) || ((at * MODES.len() + number) * USES.len() + which).is_multiple_of(step) {
                    one(used, format!("{mark:?} again and again"), 32 * KIB, &|bytes| repeated("", mark, bytes));
                }
            }
        }
        for (first, second) in WAITS.iter().filter(|_| mode == "own") {
            one(USES[1], format!("{first:?}, then {second:?} again and again"), 16 * KIB, &|bytes| {
                repeated(first, second, bytes)
            });
        }
        // Spread over all there are: before a repeat, in turns, and nested.
        let all = MARKS.len() * MARKS.len() * 3;
        let step = (all / (cases / 25).max(1)).max(1) | 1;
        for (at, used) in (number * 101 % step..all).step_by(step).zip(USES.into_iter().cycle()) {
            let (first, second) = (MARKS[at / 3 / MARKS.len()], MARKS[at / 3 % MARKS.len()]);
            match at % 3 {
                0 => one(used, format!("{first:?}, then {second:?} again and again"), 16 * KIB, &|bytes| {
                    repeated(first, second, bytes)
                }),
                1 => one(used, format!("{first:?} and {second:?} in turns"), 16 * KIB, &|bytes| {
                    repeated("", &format!("{first}{second}"), bytes)
                }),
                _ => one(used, format!("{first:?}, and as many {second:?}"), 16 * KIB, &|bytes| {
                    nested(first, second, bytes)
                }),
            }
        }
    }
    assert!(slow.is_empty(), "eight times the text takes\n{}", slow.join("\n"));
}

#[test]
fn cost_grows_with_the_message() {
    every(all(), check);
}
