"""What has a cache breakpoint is the same for every `tool_choice`; only the sentence about it changes."""

import random
from typing import Any

import pytest

import chat_support
import messages_support
from law import seeded
from wirecall import Toolset
from wirecall._apis.base import Api
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

Json = dict[str, Any]
EPHEMERAL = {"type": "ephemeral"}
SYSTEMS = ("Be brief.", "", "Talk\n\nlike a pirate.")


def texts(rng: random.Random) -> list[Json]:
    marks: list[Json] = [{}, {"cache_control": EPHEMERAL}]
    return [{"type": "text", "text": text, **rng.choice(marks)} for text in rng.sample(SYSTEMS, 2) if text]


def messages_requests(rng: random.Random) -> list[Json]:
    """A request, with each `tool_choice`."""
    tools = [dict(messages_support.SEARCH), dict(messages_support.NOTE)]
    if rng.random() < 0.5:
        tools[-1]["cache_control"] = EPHEMERAL
    given: Json = {"tools": tools}
    if system := rng.choice([None, rng.choice(SYSTEMS), texts(rng)]):
        given["system"] = system
    choices: list[Json] = [
        {},
        {"tool_choice": {"type": "any"}},
        {"tool_choice": {"type": "tool", "name": "note"}},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    ]
    return [messages_support.request(**given, **choice) for choice in choices]


def chat_requests(rng: random.Random) -> list[Json]:
    given: list[Json] = [chat_support.USER]
    if rng.random() < 0.8:
        content: Any = rng.choice([rng.choice(SYSTEMS), texts(rng)])
        mark: Json = {"cache_control": EPHEMERAL} if isinstance(content, str) and rng.random() < 0.5 else {}
        given.insert(0, {"role": rng.choice(["system", "developer"]), "content": content, **mark})
    choices: list[Json] = [
        {},
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "function": {"name": "get"}}},
        {"parallel_tool_calls": False},
    ]
    return [chat_support.asking(*given, **choice) for choice in choices]


def cached(parts: Any) -> list[Json]:
    """The parts up to the last one with a breakpoint."""
    if not isinstance(parts, list):
        return []
    marked = [at for at, part in enumerate(parts) if part.get("cache_control")]
    return parts[: marked[-1] + 1] if marked else []


def system_of(request: Any) -> Any:
    if "system" in request:
        return request["system"]
    first = request["messages"][0]
    if first.get("cache_control"):
        return [{"type": "text", "text": first["content"], "cache_control": first["cache_control"]}]
    return first["content"]


def joined(parts: Any) -> str:
    return parts if isinstance(parts, str) else "\n".join(part["text"] for part in parts)


@pytest.mark.laws
@pytest.mark.parametrize(
    ("api", "make"), [(chat, chat_requests), (messages, messages_requests)], ids=["chat", "messages"]
)
def test_cached_blocks_are_the_same_for_every_tool_choice(api: Api, make: Any) -> None:
    rng = seeded(21)
    seen = 0
    for _ in range(200):
        given = make(rng)
        options = Options(
            cache_manual=rng.random() < 0.5,
            placement=rng.choice(["last", "first"]),
            manual_header=rng.choice([None, "Tools:"]),
        )
        plain, *others = [Exchange(api, request, options).request for request in given]
        before = cached(system_of(plain))
        seen += bool(before)
        manual = Toolset(given[0]["tools"]).manual(header=options.manual_header)
        if options.cache_manual and api is messages and sum("cache_control" in one for one in before) < 4:
            assert {"type": "text", "text": manual, "cache_control": EPHEMERAL} in before
        for other in others:
            told = system_of(other)
            assert cached(told) == before
            # The sentence comes last, in text of its own.
            assert joined(told).startswith(joined(system_of(plain)))
            rest = joined(told)[len(joined(system_of(plain))) :]
            assert "call" in rest
            assert "call" not in joined(before).replace(manual, "")


def test_the_sentence_is_a_block_after_the_manual() -> None:
    given = messages_support.request(tool_choice={"type": "any"}, system="Be brief.")
    told, manual, sentence = messages_support.rewritten(given, cache_manual=True)["system"]
    assert told == {"type": "text", "text": "Be brief."}
    assert manual["cache_control"] == EPHEMERAL
    assert manual["text"] == Toolset(given["tools"]).manual()
    assert sentence == {"type": "text", "text": "In your next message you must call at least one tool."}


def test_a_breakpoint_of_a_whole_message_keeps_its_text() -> None:
    system = {"role": "system", "content": "Be brief.", "cache_control": EPHEMERAL}
    plain = chat_support.rewritten(chat_support.asking(system, chat_support.USER))["messages"][0]
    asked = chat_support.rewritten(chat_support.asking(system, chat_support.USER, tool_choice="required"))
    cached_part, sentence = asked["messages"][0]["content"]
    assert cached_part == {"type": "text", "text": plain["content"], "cache_control": EPHEMERAL}
    assert plain["cache_control"] == EPHEMERAL
    assert sentence == {"type": "text", "text": "In your next message you must call at least one tool."}
    assert asked["messages"][0].keys() == {"role", "content"}


def test_instructions_end_with_the_sentence() -> None:
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
    for placement in ("last", "first"):
        given = {"instructions": "Be brief.", "input": "hi", "tools": [tool]}
        options = Options(placement=placement)
        plain = Exchange(responses, given, options).request["instructions"]
        asked = Exchange(responses, {**given, "tool_choice": "required"}, options).request["instructions"]
        assert asked.startswith(plain)
        assert asked.endswith("In your next message you must call at least one tool.")
