"""What a grammar promises, tried with llguidance: what it allows is read strictly, and it allows what the
encoder writes.

A case is a random toolset. `make test-grammar` tries many more, and xgrammar.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from grammar_support import Case, Choice, Sampler, accepts, judge
from law import SEED, count
from support import EMPTY, EVERY, has_grammar
from wirecall import ToolError, Toolset, detect
from wirecall._core import native_formats

# In `make test`, `make check` and `make laws`: 2, 10 and 300 toolsets for each of three tests.
CASES = min(300, max(2, count(1000, 100)))
CALLS = 8
MESSAGES = 4
KINDS = ("gbnf", "ebnf", "structural_tag", "lark")
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


OTHERS = [name for name in EVERY if name != "wire" and has_grammar(name)]


@pytest.mark.laws
@pytest.mark.parametrize("part", range(3))
def test_what_a_grammar_allows_is_read_and_what_is_written_is_allowed(sampler: Sampler, part: int) -> None:
    messages = 0
    for number in range(part, CASES * 3, 3):
        case = Case(number, seed=SEED)
        tally = sampler.case(case, CALLS, MESSAGES)
        messages += tally.messages
        assert not tally.broken, tally.broken[0]
        assert tally.calls
        assert tally.messages
        assert tally.free or not case.plain
    assert messages


@pytest.mark.laws
@pytest.mark.parametrize("protocol", OTHERS)
def test_the_same_in_other_protocols(sampler: Sampler, protocol: str) -> None:
    for number in range(max(2, CASES // 20)):
        tally = sampler.case(Case(number, protocol, seed=SEED), CALLS, 2)
        assert not tally.broken, tally.broken[0]
        assert tally.calls


# --- choices


def sampled(sampler: Sampler, case: Case, choice: Choice, count: int = 20) -> list[str]:
    """Messages of a case, each of which is read as the choice says."""
    grammar = case.toolset.grammar("lark", tool_choice=choice.tool_choice, parallel=choice.parallel)
    matcher = sampler.engine.matcher("lark", grammar.text)
    texts = [walk.text for _ in range(count) if (walk := sampler.walk(case, choice, matcher)).complete]
    for text in texts:
        judge(case, choice, text, grammar.unconstrained)
    assert texts
    return texts


def test_text_alone_has_no_call(sampler: Sampler) -> None:
    case = Case(0)
    for text in sampled(sampler, case, Choice("none")):
        assert detect(text, tools=case.tools).protocol is None


@pytest.mark.parametrize("tool_choice", ["required", "auto", "name"])
def test_calls_that_follow_each_other(sampler: Sampler, tool_choice: str) -> None:
    case = next(case for case in map(Case, range(100)) if case.plain and len(case.names) > 2)
    chosen = case.names[1] if tool_choice == "name" else tool_choice
    several = sampled(sampler, case, Choice(chosen), 60)
    counts = [len(case.reader.parse(text).calls) for text in several]
    assert max(counts) > 1
    if tool_choice == "auto":
        assert any(not count for count in counts)
        assert any(text and not text.startswith("<call>") for text in several)
    names = {call.name for text in several for call in case.reader.parse(text).calls}
    assert names == {chosen} if tool_choice == "name" else len(names) > 1
    sampled(sampler, case, Choice(chosen, parallel=False), 60)


def test_what_a_choice_excludes_is_refused(sampler: Sampler) -> None:
    case = next(case for case in map(Case, range(100)) if len(case.examples) > 1)
    [first, second, *_], name = case.examples, case.names[0]
    for choice, allowed, excluded in (
        (Choice("required"), [first, f"{first}\n{second}"], ["", "text", f"text {first}", f"{first} text"]),
        (Choice("required", parallel=False), [first, second], ["", f"{first}\n{second}"]),
        (Choice(name), [first, f"{first}\n{first}"], ["", second, f"{first}\n{second}"]),
        (Choice(name, parallel=False), [first], ["", second, f"{first}\n{first}"]),
        (
            Choice("auto"),
            ["", "text", first, f"text {first} text", f"{first}\n{second}"],
            ["<call>", "<call>x"],
        ),
        (Choice("auto", parallel=False), ["", "text", f"text {first} text"], [f"{first}\n{second}"]),
        (Choice("none"), ["", "text"], [first, f"text {first}"]),
    ):
        grammar = case.toolset.grammar("lark", tool_choice=choice.tool_choice, parallel=choice.parallel)
        matcher = sampler.engine.matcher("lark", grammar.text)
        for text in allowed:
            assert accepts(matcher, sampler.vocabulary, text), (choice, text)
        for text in excluded:
            assert not accepts(matcher, sampler.vocabulary, text), (choice, text)


# Formats in which a message is text, or calls, or text and then calls.
WHOLE = [row["name"] for row in native_formats() if row["whole_messages"] and row["name"] in OTHERS]


@pytest.mark.parametrize("protocol", WHOLE)
def test_text_and_calls_are_apart(sampler: Sampler, protocol: str) -> None:
    tools = Toolset([("get_weather", WEATHER)], protocol=protocol)
    call = ("get_weather", {"city": "Rome"})
    text, one, both, thought = (
        tools.encode_message(content, calls, reasoning=reasoning)
        for content, calls, reasoning in (
            ("A word.", [], None),
            ("", [call], None),
            ("A word.", [call], None),
            ("", [call], "I think."),
        )
    )
    # Text without marks around it goes on, and may hold JSON.
    further = [] if text == "A word." else [text + text, text.replace("word", one)]
    space = [" \n"] if text == "A word." else []
    for tool_choice, allowed, excluded in (
        ("auto", ["", text, one, both, thought, *space], [one[:-1], f"\n{one}", one + text, *further]),
        ("required", [one], ["", text, both]),
        ("none", ["", text, *space], [one, both]),
    ):
        grammar = tools.grammar("lark", tool_choice=tool_choice)
        matcher = sampler.engine.matcher("lark", grammar.text)
        for message in allowed:
            assert accepts(matcher, sampler.vocabulary, message), (tool_choice, message)
        for message in excluded:
            assert not accepts(matcher, sampler.vocabulary, message), (tool_choice, message)


def test_what_the_prompt_has_written_may_be_left_out(sampler: Sampler) -> None:
    tools = Toolset([("get_weather", WEATHER)], protocol="functionary-v3.2")
    for tool_choice in ("auto", "required"):
        matcher = sampler.engine.matcher("lark", tools.grammar("lark", tool_choice=tool_choice).text)
        for begin in (">>>", ""):
            text = f'{begin}get_weather\n{{"city": "Rome"}}'
            assert accepts(matcher, sampler.vocabulary, text), (tool_choice, text)
            assert tools.parse(text).calls


# Who gets text or reasoning in some format, what ends a name, and what surrounds names elsewhere.
ODD_NAMES = ("user", "self", "all", "final", "a b", "a<b", "a.b", "a>b", 'a"b', "call", "f", "0", "x" * 128)


@pytest.mark.parametrize("protocol", EVERY)
def test_a_call_with_an_odd_name_is_read_or_the_tool_is_refused(sampler: Sampler, protocol: str) -> None:
    for name in ODD_NAMES:
        try:
            tools = Toolset([(name, WEATHER), ("other", EMPTY)], protocol=protocol)
            text = tools.encode_message("", [(name, {"city": "Rome"})], native=True)
        except ValueError:
            continue
        assert [call.name for call in tools.parse(text, in_reasoning=False).calls] == [name], text
        if protocol == "wire" or protocol in OTHERS:
            try:
                grammar = tools.grammar("lark", tool_choice="required")
            except ToolError:
                continue
            assert accepts(sampler.engine.matcher("lark", grammar.text), sampler.vocabulary, text), text


def test_a_message_that_is_one_call_has_no_second(sampler: Sampler) -> None:
    tools = Toolset([("get_weather", WEATHER)], protocol="llama-json")
    call = tools.encode_message("", [("get_weather", {"city": "Rome"})])
    matcher = sampler.engine.matcher("lark", tools.grammar("lark", tool_choice="required").text)
    for text, is_call in ((call, True), (call + call, False), (f"{call}; {call}", False)):
        assert accepts(matcher, sampler.vocabulary, text) == is_call


@pytest.mark.parametrize("opener", ["<call>", "<CALL>", "<call ", "[call]", "&lt;call&gt;", "<tool_call>"])
def test_text_begins_no_call_and_no_result(sampler: Sampler, opener: str) -> None:
    tools = Toolset([("get_weather", WEATHER)])
    for tool_choice in ("auto", "none"):
        matcher = sampler.engine.matcher("lark", tools.grammar("lark", tool_choice=tool_choice).text)
        for text in (
            f"I write {opener}get_weather today",
            f"{opener}get_weather",
            "a <tool-result name=",
            "<tool-error",
        ):
            assert not accepts(matcher, sampler.vocabulary, text), (tool_choice, text)
        for text in ("a < b", "<cal", "[c]all", "<<<", "<tool>", "&lt;", "```\ncode\n```"):
            assert accepts(matcher, sampler.vocabulary, text), (tool_choice, text)


@pytest.mark.parametrize("protocol", ["wire", "hermes", "qwen3coder"])
def test_values_without_a_bound_get_one(sampler: Sampler, protocol: str) -> None:
    properties = {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "items": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "names": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
        "three": {"type": "string", "minLength": 30},
    }
    tools = Toolset([("f", {"type": "object", "properties": properties})], protocol=protocol)
    matchers = [
        sampler.engine.matcher("lark", tools.grammar("lark", tool_choice="required", longest=longest).text)
        for longest in (None, 20)
    ]
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"text": "x" * 20}, {"text": "x" * 200}),
        ({"text": "a b" * 5}, {"text": "a b" * 70}),
        ({"count": 10**15}, {"count": 10**60}),
        ({"share": 0.25}, {"share": 10**60}),
        ({"items": [*range(20)]}, {"items": [*range(60)]}),
        ({"rows": [[*range(20)]] * 2}, {"rows": [[1]] * 5}),
        ({"names": ["x" * 20] * 3}, {"names": ["x"] * 5}),
        ({"sizes": {f"k{at}": at for at in range(3)}}, {"sizes": {f"k{at}": at for at in range(5)}}),
    ]
    if protocol != "qwen3coder":
        # Lengths of raw text are not counted.
        pairs.append(({"three": "x" * 30}, {"three": "x" * 200}))
    for short, long in pairs:
        for arguments, bounded in ((short, True), (long, False)):
            text = tools.encode("f", arguments)
            assert [accepts(one, sampler.vocabulary, text) for one in matchers] == [True, bounded], text


def test_wrong_options() -> None:
    tools = Toolset([("get_weather", WEATHER)])
    for longest in (0, -1, 1001):
        with pytest.raises(ValueError, match="longest"):
            tools.grammar("lark", longest=longest)
    with pytest.raises(ToolError, match='names "get_time", which is not one of the tools: get_weather'):
        tools.grammar("lark", tool_choice="get_time")
    with pytest.raises(ToolError, match="needs tools"):
        Toolset([]).grammar("lark")
    with pytest.raises(ToolError, match=r"docs/grammars\.md"):
        Toolset([("get_weather", WEATHER)], protocol="yaml").grammar("lark")
    for error, message, wrong in (
        (ValueError, "gbnf", {"kind": "regex"}),
        (TypeError, "kind", {"kind": None}),
        (TypeError, "parallel", {"kind": "lark", "parallel": 1}),
        (TypeError, "tool_choice", {"kind": "lark", "tool_choice": 1}),
    ):
        with pytest.raises(error, match=message):
            tools.grammar(**wrong)


# --- hostile schemas


def properties(count: int, of: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{number}": of for number in range(count)}, **more}


def references(count: int) -> dict[str, Any]:
    """Each definition refers twice to the next one."""
    defs = {
        f"D{number}": properties(2, {"$ref": f"#/$defs/D{number + 1}"}, required=["p0"])
        for number in range(count)
    }
    defs[f"D{count}"] = {"type": "string"}
    return {"type": "object", "properties": {"first": {"$ref": "#/$defs/D0"}}, "$defs": defs}


LARGE: dict[str, Callable[[int], dict[str, Any]]] = {
    "optional": lambda size: properties(size, {"type": "string"}),
    "required": lambda size: properties(size, {"type": "integer"}, required=[f"p{at}" for at in range(size)]),
    "enum": lambda size: properties(1, {"enum": [f"value {number}" for number in range(size)]}),
    "tuple": lambda size: properties(1, {"prefixItems": [{"type": "string"}] * size, "type": "array"}),
    "parts": lambda size: {"type": "object", "allOf": [properties(1, {"type": "string"})] * size},
    "one of two": lambda size: {
        **properties(10, {"$ref": "#/$defs/E"}),
        "$defs": {"E": {"oneOf": [{"enum": [f"{part}{at}" for at in range(size)]} for part in "ab"]}},
    },
    "shared enum": lambda size: {
        **properties(size, {"$ref": "#/$defs/E"}),
        "$defs": {"E": {"enum": [f"value {at}" for at in range(size)]}},
    },
    "objects": lambda size: properties(size, properties(2, {"type": "boolean"}, required=["p0"])),
}


def seconds(work: Callable[[], object]) -> float:
    """The fastest of three."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", LARGE)
def test_a_large_schema_takes_linear_time(shape: str, kind: Any) -> None:
    small, large = (Toolset([("f", LARGE[shape](size))]) for size in (300, 2400))
    sizes = [len(tools.grammar(kind).text) for tools in (small, large)]
    # Eight times as much, and what is the same in both; names of rules have more digits.
    assert sizes[1] < 8 * 1.3 * sizes[0]
    # Quadratic time would be 64 times as much.
    assert seconds(lambda: large.grammar(kind)) < 30 * max(seconds(lambda: small.grammar(kind)), 5e-4)


def test_shared_types_are_written_once(sampler: Sampler) -> None:
    """Followed one by one, there would be 2 ** 60 places."""
    tools = Toolset([("f", references(60))])
    grammar = tools.grammar("lark", tool_choice="required")
    assert len(grammar.text) < 60 * 1000
    nested: Any = "x"
    for _ in range(60):
        nested = {"p0": nested}
    text = tools.encode("f", {"first": nested})
    assert accepts(sampler.engine.matcher("lark", grammar.text), sampler.vocabulary, text)


def test_too_large_schemas_are_errors() -> None:
    deep = Toolset([("f", references(200))])
    wide = Toolset([("f", properties(1, {"enum": list(range(210_000))}))])
    for kind in KINDS:
        with pytest.raises(ToolError, match="128 levels"):
            deep.grammar(kind)
    with pytest.raises(ToolError, match="parts"):
        wide.grammar("lark")


def test_bounds_do_not_make_a_grammar_large() -> None:
    for of in (
        {"type": "string", "minLength": 10**6, "maxLength": 10**9},
        {"type": "array", "minItems": 10**6, "maxItems": 10**9},
        {"type": "integer", "minimum": -(10**400), "maximum": 10**400},
    ):
        grammar = Toolset([("f", properties(1, of))]).grammar("lark")
        assert len(grammar.text) < 20_000
        assert {one.field for one in grammar.unconstrained} >= {"p0"}


# --- the same every time


def test_the_same_tools_have_the_same_grammar() -> None:
    for number in range(10):
        texts = {Case(number).toolset.grammar(kind).text for kind in ("gbnf", "lark") for _ in range(3)}
        assert len(texts) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_threads_write_the_same_grammar(kind: Any) -> None:
    tools = Toolset([("get_weather", WEATHER), ("ping", {"type": "object", "properties": {}})])
    with ThreadPoolExecutor(8) as pool:
        texts = set(pool.map(lambda _: tools.grammar(kind).text, range(64)))
    assert texts == {tools.grammar(kind).text}
