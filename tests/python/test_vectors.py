"""The cases of tests/vectors, which Rust reads too (tests/rust/vectors.rs); their README explains the fields.

Each is read whole, character by character, at every two-way split, in random pieces, and with text around it.
"""

import json
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import wirecall
from support import EVERY
from wirecall._core import Reasoning, native_formats

VECTORS = Path(__file__).parents[1] / "vectors"
# The protocols that have vectors: folders with their names.
PROTOCOLS = [name for name in EVERY if (VECTORS / name).is_dir()]
# Files that are about writing; all others are about reading.
WRITING = ("encode", "manual", "results")
# The first ends in no whitespace, which belongs to the call in some formats.
BEFORE, BEHIND = "Text before:", " Text behind."
PIECES = 8
# Formats with lists of calls that end together, so that several calls are open at once.
LISTS = {format["name"] for format in native_formats() if format["lists"]}

Case = dict[str, Any]
Expected = list[dict[str, Any]]


def load(protocol: str, name: str) -> list[Case]:
    """The cases of a file, if the protocol has it."""
    path = VECTORS / protocol / f"{name}.jsonl"
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="\n") as lines:
        cases: list[Case] = [json.loads(line) for line in lines]
    for case in cases:
        case.setdefault("options", {})["protocol"] = protocol
    return cases


def reading(protocol: str) -> list[str]:
    """The files of a protocol about reading."""
    names = sorted(file.stem for file in (VECTORS / protocol).glob("*.jsonl"))
    return [name for name in names if name not in WRITING]


def named(name: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{protocol}/{name}/{case['id']}")
        for protocol in PROTOCOLS
        for case in load(protocol, name)
    ]


def files(*given: str, around: bool = False) -> list[Any]:
    """The cases of each file, since a test for each case would take longer than the case.

    Args:
        around: Only those whose meaning text around them does not change.
    """
    found = []
    for protocol in PROTOCOLS:
        for name in given or reading(protocol):
            if cases := [case for case in load(protocol, name) if not (around and case.get("alone"))]:
                found.append(pytest.param(cases, id=f"{protocol}/{name}"))
    return found


def in_modes(cases: list[Case], check: Callable[[Case, bool], None]) -> None:
    """Checks each case in the modes that it speaks of: both, unless it says which."""
    failures = []
    for case in cases:
        strict = case["options"].get("strict")
        for mode in (False, True) if strict is None else (strict,):
            try:
                check(case, mode)
            except Exception as error:
                failures.append(f"{case['id']}, {'strict' if mode else 'lenient'}: {error!r}")
    assert not failures, "\n".join(failures)


@cache
def _toolset(tools: str, options: str) -> wirecall.Toolset:
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(options).items()}
    return wirecall.Toolset(json.loads(tools), **given)


def toolset(case: Case, strict: bool = False) -> wirecall.Toolset:
    options = {**case.get("options", {}), "strict": strict}
    options.pop("in_reasoning", None)
    return _toolset(json.dumps(case["tools"]), json.dumps(options))


def push(items: Expected, form: str, text: str) -> None:
    """Adds text, reasoning or framing. Two items of one form are never adjacent."""
    if items and form in items[-1]:
        items[-1][form] += text
    elif text:
        items.append({form: text})


def folded(events: list[wirecall.Event], *, lists: bool) -> Expected:
    """The items that events make. On the way: every start has one end, and the deltas are its arguments.

    Only with `lists`, a call may start in another.
    """
    items: Expected = []
    # By index: the ids and the deltas of the calls that have started.
    opened: dict[int, tuple[str, str]] = {}
    count = 0
    for event in events:
        match event:
            case wirecall.Text(text):
                assert text
                push(items, "text", text)
            case Reasoning(text, start, end):
                assert text
                if items and "reasoning" in items[-1] and items[-1]["at"][1] == start:
                    items[-1]["reasoning"] += text
                    items[-1]["at"][1] = end
                else:
                    items.append({"reasoning": text, "at": [start, end]})
            case wirecall.CallStart(index, id):
                assert lists or not opened
                assert index == count
                opened[index] = id, ""
                count += 1
            case wirecall.ArgumentsDelta(index, delta):
                assert delta
                id, deltas = opened[index]
                opened[index] = id, deltas + delta
            case wirecall.CallEnd(index, id):
                assert index == min(opened)
                assert (id, event.arguments) == opened.pop(index)
                items.append(plain(event))
            case wirecall.CallError(index, id):
                assert index == min(opened, default=None) or (index is None and lists)
                assert id == (None if index is None else opened.pop(index)[0])
                items.append(plain(event))
    assert not opened
    return items


def plain(item: wirecall.Text | Reasoning | wirecall.CallEnd | wirecall.CallError) -> dict[str, Any]:
    """An item in the words of the vectors, with its offsets."""
    match item:
        case wirecall.Text(text):
            return {"text": text}
        case Reasoning(text):
            return {"reasoning": text, "at": [item.start, item.end]}
        case wirecall.CallEnd(name=name, arguments=arguments, repairs=repairs, problems=problems):
            found: dict[str, Any] = {"name": name, "arguments": arguments, "repairs": list(repairs)}
            found["problems"] = [[problem.kind, problem.field] for problem in problems]
            return {"call": {**found, "at": [item.start, item.end]}}
        case wirecall.CallError(kind=kind, name=name, message=message, raw=raw):
            assert message
            return {"error": {"kind": kind, "name": name, "raw": raw, "at": [item.start, item.end]}}


def expectation(expected: Expected, before: str = "", behind: str = "") -> Expected:
    """What a case expects, with offsets for sources, and with text around it."""
    items: Expected = []
    push(items, "text", before)
    at = len(before)
    for item in expected:
        [(form, value)] = item.items()
        if form in ("text", "framing", "reasoning"):
            push(items, form, value)
            if form == "reasoning":
                items[-1]["at"] = [at, at + len(value)]
            at += len(value)
            continue
        value = dict(value)
        source = value.pop("source")
        value["at"] = [at, at + len(source)]
        at += len(source)
        if form == "error":
            value["raw"] = source
        items.append({form: value})
    if (
        behind
        and items
        and not items[-1].get("framing", "-").strip()
        and not {"call", "error"}.isdisjoint(items[-2])
    ):
        # Whitespace after a call is text if text follows.
        items[-1] = {"text": items[-1]["framing"]}
    push(items, "text", behind)
    return items


def tiled(message: str, wanted: Expected) -> tuple[Expected, list[tuple[int, int]]]:
    """The items without framing, and where framing is: it is no event. Together they tile the message."""
    items: Expected = []
    framing: list[tuple[int, int]] = []
    at = 0
    for item in wanted:
        start = at
        match item:
            case {"text": text} | {"framing": text} | {"reasoning": text}:
                at += len(text)
                assert message[start:at] == text
            case {"call": value} | {"error": value}:
                assert value["at"][0] == start
                at = value["at"][1]
        if "framing" in item:
            framing.append((start, at))
        elif "text" in item:
            push(items, "text", item["text"])
        else:
            items.append(item)
    assert at == len(message)
    return items, framing


def cut(message: str, seed: str) -> Iterator[list[str]]:
    """Ways to cut a message: in characters, in two, and in random pieces."""
    yield list(message)
    for at in range(1, len(message)):
        yield [message[:at], message[at:]]
    rng = random.Random(seed)
    for _ in range(PIECES):
        count = rng.randint(0, min(len(message), 12))
        places = [0, *sorted(rng.choices(range(len(message) + 1), k=count)), len(message)]
        yield [message[a:b] for a, b in pairwise(places)]


def check(case: Case, strict: bool, before: str = "", behind: str = "") -> None:
    tools = toolset(case, strict)
    message = before + case["text"] + behind
    wanted, framing = tiled(message, expectation(case["expected"], before, behind))
    in_reasoning = case.get("options", {}).get("in_reasoning")
    whole = tools.parse(message, truncated=case["truncated"], in_reasoning=in_reasoning)
    found: Expected = []
    for item in map(plain, whole.items):
        # Two texts with framing between them are one here.
        if "text" in item:
            push(found, "text", item["text"])
        else:
            found.append(item)
    assert list(whole.framing) == framing
    if any(item.get("error", {}).get("kind") == "too_large" for item in wanted):
        # Only here may the source be cut.
        for item in [*wanted, *found]:
            item.get("error", {}).pop("raw", None)
        assert found == wanted
        return
    assert found == wanted
    parser = tools.parser(in_reasoning=in_reasoning)
    for chunks in cut(message, case["id"]):
        events = [event for chunk in chunks for event in parser.feed(chunk)]
        lists = case["options"]["protocol"] in LISTS
        assert folded(events + parser.finish(truncated=case["truncated"]), lists=lists) == wanted, chunks
        parser.reset()


@pytest.mark.parametrize("cases", files())
def test_reading(cases: list[Case]) -> None:
    in_modes(cases, check)


@pytest.mark.parametrize("cases", files(around=True))
def test_reading_with_text_around(cases: list[Case]) -> None:
    in_modes(cases, partial(check, before=BEFORE, behind=BEHIND))


@pytest.mark.parametrize("cases", files("streaming"))
def test_steps(cases: list[Case]) -> None:
    in_modes(cases, check_steps)


def check_steps(case: Case, strict: bool) -> None:
    """What was reported, and what was not, after each chunk."""
    parser = toolset(case, strict).parser(in_reasoning=case["options"].get("in_reasoning"))
    deltas = ""
    for number, step in enumerate(case["steps"]):
        events = parser.feed(step["feed"])
        starts = [event.name for event in events if isinstance(event, wirecall.CallStart)]
        # Those of the call that started last.
        for event in events:
            if isinstance(event, wirecall.CallStart):
                deltas = ""
            elif isinstance(event, wirecall.ArgumentsDelta):
                deltas += event.delta
        if "text" in step:
            text = "".join(event.text for event in events if isinstance(event, wirecall.Text))
            assert text == step["text"], number
        if "reasoning" in step:
            assert (
                "".join(event.text for event in events if isinstance(event, Reasoning)) == step["reasoning"]
            ), number
        assert starts == step.get("starts", starts), number
        assert deltas.startswith(step.get("least", "")), number
        assert step.get("most", deltas).startswith(deltas), number


def encoded(tools: wirecall.Toolset, name: str, arguments: str) -> str:
    """The text of a call; of an undeclared tool, as it is in a history."""
    if name in tools.names or not tools.names:
        return tools.encode(name, arguments)
    with pytest.raises(wirecall.ToolError, match=f"there is no tool '{name}'"):
        tools.encode(name, arguments)
    return tools.encode_message("", [(name, arguments)])


@pytest.mark.parametrize("case", named("encode"))
def test_encoding(case: Case) -> None:
    written = encoded(toolset(case), case["name"], case["arguments"])
    assert written == case.get("text", written)
    for strict in (False, True):
        tools = toolset(case, strict)
        assert encoded(tools, case["name"], case["arguments"]) == written
        if case.get("read") is False:
            continue
        [call] = tools.parse(written, in_reasoning=False).items
        assert isinstance(call, wirecall.CallEnd)
        assert (call.name, call.repairs) == (case["name"], ())
        # Text, so that digits and the order of keys count.
        arguments = json.loads(case["arguments"], parse_float=str, parse_int=str)
        assert json.dumps(json.loads(call.arguments, parse_float=str, parse_int=str)) == json.dumps(arguments)


@pytest.mark.parametrize("case", named("manual"))
def test_manual(case: Case) -> None:
    tools = toolset(case)
    assert tools.manual(header=case["header"]) == case["manual"]
    assert tools.manual(header="") == "\n".join(tools.signature(name) for name in tools.names)


@pytest.mark.parametrize("case", named("results"))
def test_results(case: Case) -> None:
    tools = toolset({"tools": [], **case})
    if "failed" in case:
        [error] = tools.parse(case["failed"], truncated=False).items
        assert isinstance(error, wirecall.CallError)
        written = tools.encode_result(error.name, error)
    else:
        written = tools.encode_result(
            case["name"], case["content"], error=case.get("error", False), number=case.get("number")
        )
    assert written == case["text"]
