"""Calls of tools that are not declared: errors, forwarded, or text; in every format."""

import json
import random
from typing import Any

import pytest

import generate_values
from law import count, seeded
from passages import passages
from reasoning_support import cut, gaps, kinds
from slips_support import CUSTOM, FORMATS, TOOLS
from support import EVERY
from test_false_alarms import case
from wirecall import CallEnd, CallError, Message, ToolError, Toolset, compact_tools
from wirecall._core import native_formats
from wirecall._text.options import Options

OTHER: list[Any] = [("other", True)]
# Elements of these are calls only if a tool has their name.
NAMED = [row for row in EVERY if row not in ("xml", "yaml")]
LISTS = {row["name"] for row in native_formats() if row["lists"]}
NAMES = ("look", "_find", "web.search", "get-weather2", "größe")
WORDS = ("the tool", "Here it is.", "a b", *"{}[]()<>=,:;\"' \n")


def arguments(rng: random.Random) -> dict[str, Any]:
    values: list[Any] = ["", "Oslo", 5, -2.5, True, None, [1, "b"], {"c": {"d": []}}, 'a "b" <c> \\ é\n']
    return {
        key: rng.choice(values) for key in rng.sample(["city", "days", "maxItems", "q"], rng.randrange(4))
    }


def message(rng: random.Random, row: str, name: str) -> tuple[Toolset, str]:
    """A message with calls of this tool and another, and a toolset that declares both without types."""
    if not name.isascii() and row in ("wire", "auto"):
        name = "look"  # Without arguments, it would be prose between the markers.
    declared = Toolset([*OTHER, (name, True)], protocol=row)
    calls = [(rng.choice([name, "other"]), arguments(rng)) for _ in range(rng.randrange(1, 4))]
    content, reasoning = rng.choice(["", "I look."]), rng.choice([None, "Hm."])
    return declared, declared.encode_message(content, calls, reasoning=reasoning)


def seen(parsed: Message) -> list[Any]:
    """Without the ids of calls and the examples of errors, which name tools."""
    return [
        (item.name, item.arguments, item.start, item.end, item.repairs, item.problems)
        if isinstance(item, CallEnd)
        else (item.kind, item.start, item.end, item.raw)
        if isinstance(item, CallError)
        else item
        for item in parsed.items
    ]


@pytest.mark.laws
@pytest.mark.parametrize("row", NAMED)
def test_forwarded_calls_are_those_of_tools_without_a_schema(row: str) -> None:
    rng = seeded(50)
    forwards = Toolset(OTHER, protocol=row, unknown_tools="forward")
    refuses = Toolset(OTHER, protocol=row)
    for _ in range(max(10, count(2000, 100))):
        name = rng.choice(NAMES)
        declared, text = message(rng, row, name)
        expected = declared.parse(text, in_reasoning=False)
        found = forwards.parse(text, in_reasoning=False)
        assert seen(found) == seen(expected)
        assert found.framing == expected.framing
        refused = refuses.parse(text, in_reasoning=False)
        assert {error.kind for error in refused.errors} <= {"unknown_tool"}
        assert not any(call.name == name for call in refused.calls)
        # A stream: the start with the name, deltas, the end.
        parser = forwards.parser(in_reasoning=False)
        size = rng.choice([1, 2, 5, 1000])
        events = [event for piece in cut(text, size) for event in parser.feed(piece)] + parser.finish()
        starts = [event.name for event in events if event.type == "call_start"]
        assert starts == [call.name for call in found.calls]
        for call in found.calls:
            deltas = [
                event.delta
                for event in events
                if event.type == "arguments_delta" and event.index == call.index
            ]
            assert "".join(deltas) == call.arguments


@pytest.mark.laws
@pytest.mark.parametrize("row", EVERY)
def test_only_what_was_an_unknown_tool_is_read_in_another_way(row: str) -> None:
    """Messages with slips and prose: up to the first error of this kind, both readings are the same."""
    rng = seeded(51)
    forwards = Toolset(OTHER, protocol=row, unknown_tools="forward")
    refuses = Toolset(OTHER, protocol=row)
    for _ in range(max(30, count(2000, 20))):
        _, text = message(rng, row, rng.choice(NAMES))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(WORDS) + text[at + rng.choice([0, 0, 1, 3]) :]
        truncated = rng.choice([None, True, False])
        before = refuses.parse(text, truncated=truncated, in_reasoning=False).items
        after = forwards.parse(text, truncated=truncated, in_reasoning=False).items
        for at, (refused, forwarded) in enumerate(zip(before, after, strict=False)):
            # A list is one unit: how it ends decides about all of its calls.
            rest = before[at:] if row in LISTS else [refused]
            if any(isinstance(item, CallError) and item.kind == "unknown_tool" for item in rest):
                if row not in LISTS:
                    assert isinstance(refused, CallError)
                    assert isinstance(forwarded, (CallEnd, CallError))
                    assert refused.start == forwarded.start
                break
            assert seen(Message((refused,), [])) == seen(Message((forwarded,), []))
        else:
            assert len(before) == len(after)


@pytest.mark.parametrize("row", EVERY)
@pytest.mark.parametrize("prose", ["the quick brown fox", "the tool is called so", "the <tool>: here"])
def test_prose_between_markers_is_no_call(row: str, prose: str) -> None:
    """What `encode` writes around a name and its arguments, with prose instead."""
    call = Toolset([*OTHER, ("look", True)], protocol=row).encode("look", {"city": "Oslo"})
    before, after = call[: call.index("look")], call[call.index("Oslo") + 4 :]
    for text in (before + prose + after, before + prose, f"`{before}` {prose}."):
        found = Toolset(OTHER, protocol=row, unknown_tools="forward").parse(text, in_reasoning=False)
        assert not found.calls


@pytest.mark.laws
def test_paragraphs_without_calls_make_no_forwarded_call() -> None:
    """The paragraphs of the false alarms, with markers, names and fragments of calls."""
    refused = 0
    for format in FORMATS:
        texts = passages(case(format), max(200, count(1000)))
        forwards = Toolset(TOOLS, protocol=CUSTOM.get(format, format), unknown_tools="forward")
        refuses = Toolset(TOOLS, protocol=CUSTOM.get(format, format))
        found, before = (tools.parse_many(texts, in_reasoning=False) for tools in (forwards, refuses))
        names = {call.name for message in found for call in message.calls}
        assert names <= {*forwards.names}, format
        refused += sum(error.kind == "unknown_tool" for message in before for error in message.errors)
    assert refused > 0


@pytest.mark.parametrize("row", EVERY)
def test_quoted_calls_in_forwarded_calls_do_not_run(row: str) -> None:
    rm = ("rm", {"properties": {"path": {"type": "string"}}})
    declared = Toolset([rm, ("save", True)], protocol=row)
    forwards = Toolset([rm], protocol=row, unknown_tools="forward")
    quoted = declared.encode("rm", {"path": "/"})
    text = declared.encode("save", {"title": "t", "body": f"It says: {quoted} So."})
    read = forwards.parse(text, in_reasoning=False)
    if row in NAMED:
        assert seen(read) == seen(declared.parse(text, in_reasoning=False))
        assert not any(call.name == "rm" for call in read.calls)


@pytest.mark.parametrize("row", NAMED)
def test_without_tools_auto_forwards_and_error_refuses(row: str) -> None:
    text = Toolset(protocol=row).encode("look", {"city": "Oslo"})
    read = [
        seen(Toolset(protocol=row, unknown_tools=choice).parse(text, in_reasoning=False))
        for choice in ("auto", "forward")
    ]
    assert read[0] == read[1]
    assert [call[0] for call in read[0] if isinstance(call, tuple)] == ["look"]
    refused = Toolset(protocol=row, unknown_tools="error").parse(text, in_reasoning=False)
    assert not refused.calls
    assert [error.kind for error in refused.errors] == ["unknown_tool"]
    assert "There are no tools" in refused.errors[0].message


@pytest.mark.laws
@pytest.mark.parametrize("row", EVERY)
def test_without_tools_calls_are_text(row: str) -> None:
    rng = seeded(52)
    tools = Toolset(protocol=row, unknown_tools="text")
    for _ in range(max(10, count(2000, 50))):
        declared, text = message(rng, row, rng.choice(NAMES))
        expected = declared.parse(text, in_reasoning=False)
        found = tools.parse(text, in_reasoning=False)
        assert found.reasoning == expected.reasoning
        assert {kind for kind, _ in kinds(found)} <= {"text", "reasoning"}
        # A call loses nothing but a header in front of it.
        for call in expected.calls:
            source = text[call.start : call.end]
            assert source[source.index("{") if row == "inkling" else 0 :].rstrip() in found.text
        framing = gaps(found, text)
        assert not any(name in framing for name in NAMES) or row == "inkling"
        parser = tools.parser(in_reasoning=False)
        events = [event for piece in cut(text, rng.choice([1, 3, 8])) for event in parser.feed(piece)]
        events += parser.finish()
        assert "".join(event.text for event in events if event.type == "text") == found.text


@pytest.mark.laws
@pytest.mark.parametrize("row", ["wire", "gemma", "xml", "yaml", "auto"])
def test_without_tools_all_of_a_prompted_message_is_text(row: str) -> None:
    rng = seeded(53)
    tools = Toolset(protocol=row, unknown_tools="text", recover=row != "auto")
    for _ in range(max(20, count(2000, 20))):
        text = "".join(rng.choice([*WORDS, "<call>", "</call>", generate_values.text(rng)]) for _ in range(9))
        assert tools.parse(text).text == text


def test_text_is_for_toolsets_without_tools() -> None:
    with pytest.raises(ToolError, match='unknown_tools="text" is for a toolset without tools'):
        Toolset(OTHER, unknown_tools="text")
    with pytest.raises(ValueError, match='unknown_tools="text" is for a Toolset without tools'):
        Options(unknown_tools="text")


REQUEST = {
    "messages": [{"role": "user", "content": "Hi."}],
    "tools": [{"type": "function", "function": {"name": "other"}}],
}


@pytest.mark.parametrize("protocol", ["wire", "hermes", "kimi-k2", "harmony"])
def test_wrap_passes_on_calls_of_unknown_tools(protocol: str) -> None:
    text = Toolset(protocol=protocol).encode("look", {"city": "Oslo"})
    asked = []

    def model(request: Any) -> Any:
        asked.append(request)
        return {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ]
        }

    hooks = compact_tools(protocol=protocol, unknown_tools="forward")
    [choice] = hooks.wrap_generate(model, REQUEST)["choices"]
    assert (len(asked), choice["finish_reason"]) == (1, "tool_calls")
    [call] = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "look"
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo"}
    # The model wrote the name, so records have it only with their content.
    records: list[Any] = []
    hooks = compact_tools(protocol=protocol, unknown_tools="forward", on_record=records.append)
    hooks.wrap_generate(model, REQUEST)
    assert {event.tool for event in records[0].attempts[0].events if event.kind != "text"} == {None}
    assert "look" not in str(records[0].to_dict())
    # Otherwise it is a bad call, and the request is retried.
    compact_tools(protocol=protocol).wrap_generate(model, REQUEST)
    assert len(asked) == 4
