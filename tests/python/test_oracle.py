"""The real parser against the oracle; and the oracle against examples by hand, from docs/wire-format.md.

WIRECALL_LAW_CASES sets the number of random cases, WIRECALL_LAW_SEED the first of their seeds.
"""

import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

import generate
import oracle
from law import SEED, count
from oracle import Call, Error, Text
from oracle_text import without_surrogates

CASES = count(10_000)
FIRST_SEED = SEED
POOL = 200

ADDRESS = {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "body": {"type": "string"},
        "units": {"enum": ["metric", "imperial"]},
        "days": {"type": "integer"},
        "ratio": {"type": "number"},
        "dry": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "profile": {"type": "object", "properties": {"address": ADDRESS, "a.b": {"type": "integer"}}},
        "maxResults": {"type": "integer"},
        "note": {"type": ["string", "null"]},
        "mixed": {"enum": ["1", 1, True, None, "Auto"]},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {},
    },
}
CLOSED = {"type": "object", "properties": {"userName": {"type": "string"}}, "additionalProperties": False}
NEEDY = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}
TOOLS: dict[str, Any] = {"get_weather": TOOL, "closed": CLOSED, "needy": NEEDY}


def call(body: str, name: str = "get_weather", **options: Any) -> Any:
    """The one item that a call with this body is."""
    items = oracle.parse(f"<call>{name}{body}</call>", TOOLS, **options)
    assert len(items) == 1, items
    return items[0]


CANONICAL = [
    ("", "{}"),
    (" location=Austin units=metric", '{"location":"Austin","units":"metric"}'),
    (' location="New York" days=5', '{"location":"New York","days":5}'),
    (" location='say \"hi\"'", '{"location":"say \\"hi\\""}'),
    (' body="a</call><call>b"', '{"body":"a</call><call>b"}'),
    (' body="a\n\tb\\n\\u0041\\ud83d\\ude00\\ud83d"', '{"body":"a\\n\\tb\\nA\U0001f600\ufffd"}'),
    (r' body="\d+\.txt \b\/"', r'{"body":"\\d+\\.txt \\b\\/"}'),
    (" body=don't", '{"body":"don\'t"}'),
    (" location=42", '{"location":"42"}'),
    (" location=[1]", '{"location":"[1]"}'),
    (' location={"a": "</call> x"}', '{"location":"{\\"a\\": \\"</call> x\\"}"}'),
    (" location={x}", '{"location":"{x}"}'),
    (" location=a\xa0b", '{"location":"a\xa0b"}'),
    (" days=5.00", '{"days":5}'),
    (" days=1e2", '{"days":1e2}'),
    (" days=" + "9" * 400, '{"days":' + "9" * 400 + "}"),
    (" ratio=-0.0", '{"ratio":-0.0}'),
    (" ratio=3.140", '{"ratio":3.140}'),
    (" dry=true note=null", '{"dry":true,"note":null}'),
    (' note="null"', '{"note":"null"}'),
    (" mixed=1.0", '{"mixed":1}'),
    (' mixed="1"', '{"mixed":"1"}'),
    (" mixed=true", '{"mixed":true}'),
    (' tags=["a","b"]', '{"tags":["a","b"]}'),
    (" tags[0]=a tags[1]=b", '{"tags":["a","b"]}'),
    (" tags.0=a tags.1=b", '{"tags":["a","b"]}'),
    (" items[0].sku=A1 items[1].sku=7", '{"items":[{"sku":"A1"},{"sku":"7"}]}'),
    (" profile.address.city=Austin", '{"profile":{"address":{"city":"Austin"}}}'),
    (" profile.a.b=1", '{"profile":{"a.b":1}}'),
    (' headers."X-Trace id"=7', '{"headers":{"X-Trace id":"7"}}'),
    (' "a.b"=1 a.b=2', '{"a.b":1,"a":{"b":2}}'),
    (
        " profile.address.city=a days=1 profile.address.zip=b",
        '{"profile":{"address":{"city":"a","zip":"b"}},"days":1}',
    ),
    (" __proto__=1 constructor.x=2", '{"__proto__":1,"constructor":{"x":2}}'),
    (" free=007", '{"free":"007"}'),
    (" free=1.50", '{"free":1.50}'),
    (' free={"b": [1, {}], "a": null}', '{"free":{"b":[1,{}],"a":null}}'),
    (' {"days": 5.0, "location": 5}', '{"days":5,"location":"5"}'),
    ('{"free":"\\u00e9\\u0000"}', '{"free":"\u00e9\\u0000"}'),
    (" days=1 days=1.0", '{"days":1}'),
]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("body", "arguments"), CANONICAL)
def test_canonical_text_reads_the_same_in_both_modes(body: str, arguments: str, strict: bool) -> None:
    found = call(body, strict=strict)
    assert (found.arguments, found.repairs, found.problems) == (arguments, (), ())


REPAIRED = [
    (' <json>\n{"days": 5}\n</json>\n', '{"days":5}', "json_wrapper"),
    (' ```json\n{"days": 5}\n```', '{"days":5}', "json_wrapper"),
    (" {days: 5, 'location': Austin,}", '{"days":5,"location":"Austin"}', "relaxed_json"),
    (" free=[True, None, don't, '\\'\\d',]", '{"free":[true,null,"don\'t","\'\\\\d"]}', "relaxed_json"),
    (' location = "Austin"', '{"location":"Austin"}', "spaced_equals"),
    (" location= Austin", '{"location":"Austin"}', "spaced_equals"),
    (" body= days=2", '{"body":"","days":2}', "empty_value"),
    (" body=", '{"body":""}', "empty_value"),
    (' days=1, location="x", body=y', '{"days":1,"location":"x","body":"y"}', "comma_separator"),
    (" location=New York units=metric", '{"location":"New York","units":"metric"}', "unquoted_spaces"),
    (
        " location=New York, units=metric",
        '{"location":"New York","units":"metric"}',
        "unquoted_spaces comma_separator",
    ),
    (
        " location=New York x=1\nunits=metric",
        '{"location":"New York x=1","units":"metric"}',
        "unquoted_spaces",
    ),
    (' body="He said "hi" to me" days=1', '{"body":"He said \\"hi\\" to me","days":1}', "inner_quotes"),
    (' body="a "b" c="d" days=1', '{"body":"a \\"b\\" c=\\"d","days":1}', "inner_quotes"),
    (" max_results=5 Max-Results=5", '{"maxResults":5}', "key_style"),
    (' days="5"', '{"days":5}', "coerced"),
    (" dry=True", '{"dry":true}', "coerced"),
    (" units=Metric", '{"units":"metric"}', "coerced"),
    (" mixed=auto", '{"mixed":"Auto"}', "coerced"),
    (" tags=a,b", '{"tags":["a","b"]}', "coerced"),
    (' tags="a,b"', '{"tags":["a,b"]}', "coerced"),
    (" tags=a tags=b tags[2]=c", '{"tags":["a","b","c"]}', "coerced"),
    (" ids=1,2", '{"ids":[1,2]}', "coerced"),
    (' {"ids": 5}', '{"ids":[5]}', "coerced"),
    (' items={"sku":"a"}', '{"items":[{"sku":"a"}]}', "coerced"),
    (' {"items": {"sku":"a"}}', '{"items":[{"sku":"a"}]}', "coerced"),
    (" mixed=TRUE", '{"mixed":true}', "coerced"),
    (" mixed=none", '{"mixed":null}', "coerced"),
    (' <json>{"days":5}', '{"days":5}', "json_wrapper"),
    (' ```{"days":5}', '{"days":5}', "json_wrapper"),
    (' tags=["b"] tags=b', '{"tags":["b"]}', "coerced"),
]


@pytest.mark.parametrize(("body", "arguments", "repairs"), REPAIRED)
def test_near_misses_are_repaired_or_refused(body: str, arguments: str, repairs: str) -> None:
    found = call(body)
    assert (found.arguments, found.repairs, found.problems) == (arguments, tuple(repairs.split()), ())
    assert call(body, strict=True).kind == repairs.split()[0]


def test_strict_refuses_what_it_finds_first() -> None:
    body = " tags=New York, Austin"
    found = call(body)
    assert found.arguments == '{"tags":["New York","Austin"]}'
    assert found.repairs == ("unquoted_spaces", "coerced")
    assert call(body, strict=True).kind == "coerced"


FAULTY = [
    ("{]}", "invalid_json"),
    (' {"a": "b" "c": 1}', "invalid_json"),
    (' {"a": 1} b=2', "malformed_call"),
    (" days=1 Tuesday", "malformed_call"),
    (" tags[1]=a", "malformed_call"),
    (" zz= 1", "malformed_call"),
    (" days=1 days=2", "duplicate_argument"),
    (" free=1 free.b=2", "duplicate_argument"),
    (' free={"x":1} free.y=2', "duplicate_argument"),
    (' free={"x":1,"x":2}', "duplicate_argument"),
    (' {"x":1,"x":2}', "duplicate_argument"),
    (" profile.x=1 profile={}", "duplicate_argument"),
    (' tags[0]=a tags=["a"]', "duplicate_argument"),
    (' {"x":[],"x":{},"y":"}</call>', "duplicate_argument"),
]


@pytest.mark.parametrize(("body", "kind"), FAULTY)
def test_errors(body: str, kind: str) -> None:
    for strict in (False, True):
        found = call(body, strict=strict)
        assert (found.kind, found.name, found.start) == (kind, "get_weather", 0)


PROBLEMS = [
    ("get_weather", " days=4.9", '{"days":4.9}', [("wrong_type", "days")]),
    ("get_weather", " days=five", '{"days":"five"}', [("wrong_type", "days")]),
    ("get_weather", " units=kelvin", '{"units":"kelvin"}', [("not_in_enum", "units")]),
    (
        "get_weather",
        ' {"items": [{"sku": null}]}',
        '{"items":[{"sku":null}]}',
        [("wrong_type", "items[0].sku")],
    ),
    ("closed", ' "a b"=1', '{"a b":1}', [("unknown_field", '"a b"')]),
    ("closed", ' {"user_name": "x"}', '{"userName":"x"}', []),
    ("needy", " b=1", '{"b":1}', [("missing_required", "a")]),
]


@pytest.mark.parametrize(("name", "body", "arguments", "problems"), PROBLEMS)
def test_problems(name: str, body: str, arguments: str, problems: list[tuple[str, str]]) -> None:
    found = call(body, name)
    assert (found.arguments, list(found.problems)) == (arguments, problems)


def kinds(message: str, **options: Any) -> list[str]:
    """A message in short: the texts, the names of calls and the kinds of errors."""
    return [
        item.text if isinstance(item, Text) else item.name if isinstance(item, Call) else f"!{item.kind}"
        for item in oracle.parse(message, TOOLS, **options)
    ]


MESSAGES = [
    ("a <call>closed</call> b", ["a ", "closed", " b"]),
    ("Write <call> and </call> here", ["Write <call> and </call> here"]),
    ("<call> f</call>", ["<call> f</call>"]),
    ("<call>f</call>", ["!unknown_tool"]),
    ("<call>Closed</call>", ["closed"]),
    ("<call> closed </call>", ["closed"]),
    ("<call>x=1</call>", ["!malformed_call"]),
    ("<call>closed<call>closed</call>", ["<call>closed", "closed"]),
    ('<call>f a="</call>"</call>.', ["!unknown_tool", "."]),
    ('<call>f "a', ['<call>f "a']),
    (f"<call>f {' ' * 260}a=1</call>", [f"<call>f {' ' * 260}a=1</call>"]),
    ("<call>closed userName=a\n<call>closed</call>", ["closed", "closed"]),
    ("<call>closed userName=a <call>closed</call>", ["!malformed_call"]),
    ('<call>closed userName="a</call>', ["!incomplete_call"]),
    ('<call>needy a=8 n."</call>', ["!incomplete_call"]),
    ('<call>closed userName="a" "</call>', ["!incomplete_call"]),
    ("<call>needy a=8 ,", ["!malformed_call"]),
    ('<call>closed {"a" "}</call>"}</call>.', ["!invalid_json", "."]),
    ('<call>closed userName="He "said" </call> it" </call>', ["closed", ' it" </call>']),
    ('<call>closed userName="a "b</call> c" </call>.', ["!unterminated_value", "."]),
    ("<call>closed userName=a", ["!incomplete_call"]),
    ("<call>needy a=[1", ["!incomplete_call"]),
    (
        "<think><call>closed</call></think><call>closed</call>",
        ["<think><call>closed</call></think>", "closed"],
    ),
    (" <think><call>closed</call>", [" <think>", "closed"]),
    (
        "<call>closed</call><tool-result name='x'><call>closed</call>",
        ["closed", "!forged_result", " name='x'><call>closed</call>"],
    ),
    ("\ud83d\ude00\ud83d<call>closed</call>", ["\U0001f600\ufffd", "closed"]),
]


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_messages(message: str, expected: list[str]) -> None:
    assert kinds(message) == expected


ENDINGS = [
    ("<call>closed userName=a", ["!incomplete_call"]),
    ("<call>closed userName=a ", ["closed"]),
    ('<call>closed userName="a"', ["closed"]),
    ("<call>closed userName=a</cal", ["!incomplete_call"]),
    ("<call>closed userName=a b", ["!incomplete_call"]),
    ('<call>closed userName="a', ["!unterminated_value"]),
    ("<call>needy a=[1", ["!unterminated_value"]),
    ("<call>needy a=", ["!incomplete_call"]),
    ("<call>needy a= ", ["needy"]),
    ("<call>needy a= 5", ["!incomplete_call"]),
    ("<call>needy a= 5 ", ["needy"]),
    ("<call>needy a=5 b", ["!incomplete_call"]),
    ("<call>needy x=[]</cal", ["!malformed_call"]),
    ('<call>needy <json>{"a":1}', ["needy"]),
    ("<call>closed", ["<call>closed"]),
]


@pytest.mark.parametrize(("message", "expected"), ENDINGS)
def test_a_message_that_is_known_to_be_complete(message: str, expected: list[str]) -> None:
    assert kinds(message, truncated=False) == expected
    assert all(name != "closed" for name in kinds(message))


def test_a_body_of_another_format_is_read_elsewhere() -> None:
    for message in ('<call>{"name":"closed"}</call>', '<call name="closed" userName="a"/>'):
        with pytest.raises(oracle.ElsewhereError):
            oracle.parse(message, TOOLS)


def test_reasoning_that_a_template_has_opened() -> None:
    message = "<call>closed</call></think><call>closed</call>"
    assert kinds(message, in_reasoning=True) == ["<call>closed</call></think>", "closed"]


def test_an_open_toolset_takes_every_name() -> None:
    items = oracle.parse("<call>any.thing x=1 y={z:'</call>'}</call>", {})
    assert [(item.name, item.arguments) for item in items if isinstance(item, Call)] == [
        ("any.thing", '{"x":1,"y":{"z":"</call>"}}')
    ]


# The law ------------------------------------------------------------------------------------------

Tools = dict[str, Any]
Plain = list[tuple[Any, ...]]


@cache
def pooled(number: int) -> Tools:
    return generate.toolset(random.Random(number))


def expected(message: str, tools: Tools, strict: bool, truncated: bool | None, code: str) -> Plain:
    text = without_surrogates(message)
    plain: Plain = []
    for item in oracle.parse(message, tools, strict=strict, truncated=truncated, code=code):
        if isinstance(item, Text):
            plain.append(("text", item.text))
        elif isinstance(item, Error):
            plain.append(("error", item.kind, item.name, text[item.start : item.end], item.start, item.end))
        else:
            found = (item.name, item.arguments, item.start, item.end, item.repairs, item.problems)
            plain.append(("call", *found))
    return plain


def parsed(toolset: Any, message: str, truncated: bool | None) -> Plain:
    """What the real parser says, in the same form."""
    import wirecall

    plain: Plain = []
    try:
        items = toolset.parse(message, truncated=truncated).items
    except Exception as error:
        return [("raised", repr(error))]
    for item in items:
        if isinstance(item, wirecall.Text):
            plain.append(("text", item.text))
        elif isinstance(item, wirecall.CallEnd):
            problems = tuple((problem.kind, problem.field) for problem in item.problems)
            found = (item.name, item.arguments, item.start, item.end, tuple(item.repairs), problems)
            plain.append(("call", *found))
        else:
            plain.append(("error", item.kind, item.name, item.raw, item.start, item.end))
    return plain


def shrunk(message: str, fails: Callable[[str], bool]) -> str:
    """A shorter message that still fails: chunks are deleted as long as any can be."""
    size = max(1, len(message) // 2)
    while size:
        at, deleted = 0, False
        while at < len(message):
            shorter = message[:at] + message[at + size :]
            if fails(shorter):
                message, deleted = shorter, True
            else:
                at += size
        if not deleted or size > 1:
            size //= 2
    return message


@pytest.mark.laws
@pytest.mark.parametrize("truncated", [None, False])
@pytest.mark.parametrize(("strict", "code"), [(False, "call"), (True, "call"), (False, "text")])
def test_the_parser_agrees_with_the_oracle(strict: bool, code: str, truncated: bool | None) -> None:
    import wirecall

    @cache
    def toolset(number: int) -> Any:
        tools = [{"name": name, "parameters": schema} for name, schema in pooled(number).items()]
        return wirecall.Toolset(tools, strict=strict, code=code)

    def differs(number: int, message: str) -> bool:
        try:
            wanted = expected(message, pooled(number), strict, truncated, code)
        except oracle.ElsewhereError:
            elsewhere.append(message)
            return False
        return parsed(toolset(number), message, truncated) != wanted

    elsewhere: list[str] = []
    failures = 0
    reports: list[str] = []
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        rng = random.Random(seed)
        number = rng.randrange(POOL)
        message = generate.message(rng, pooled(number))
        if code == "text":
            message = generate.with_code(rng, message)
        if not differs(number, message):
            continue
        failures += 1
        if len(reports) < 5:
            short = shrunk(message, partial(differs, number))
            reports.append(
                f"seed {seed}, strict={strict}, code={code}, truncated={truncated}\n"
                f"  tools:   {pooled(number)!r}\n"
                f"  message: {short!r}\n"
                f"  oracle:  {expected(short, pooled(number), strict, truncated, code)}\n"
                f"  parser:  {parsed(toolset(number), short, truncated)}"
            )
    assert not failures, f"{failures} of {CASES} cases differ, the first of them:\n" + "\n".join(reports)
    assert len(elsewhere) <= CASES // 10, f"the oracle does not read {len(elsewhere)} of {CASES}"
