"""Separated reasoning in the form of each API, and when it comes back in a history."""

from typing import Any

import pytest

import chat_support
import messages_support
import responses_peers
from reasoning_support import FUNCTION, PLAN, SCHEMA, TOOLS, Json, cut
from wirecall import Record, Toolset, compact_context, compact_tools
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options
from wirecall.compaction import Prune
from wirecall.compaction._counting import tokens_of

# In the form of each API ---------------------------------------------------------------------------

CASES = [
    ("wire", True, f"{PLAN}Here.\n<call>get city=Ulm</call>"),
    ("hermes", False, '<think>a</think>\n<tool_call>{"name":"get","arguments":{"city":"Ulm"}}</tool_call>'),
    ("wire", True, "<think>\nPlan it.</think>\nHere."),
]
IDS = ["calls", "native", "text"]
EXPECTED = [("Plan it.", "Here.", 1), ("a", "", 1), ("Plan it.", "Here.", 0)]
ALL = [pytest.param(*case, *expected, id=id) for case, expected, id in zip(CASES, EXPECTED, IDS, strict=True)]
OPTIONS: Any = {"reasoning": "separate"}


@pytest.mark.parametrize(("protocol", "_", "text", "reasoning", "said", "calls"), ALL)
def test_chat(protocol: str, _: bool, text: str, reasoning: str, said: str, calls: int) -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": TOOLS}
    options = {**OPTIONS, "protocol": protocol}
    message = chat_support.whole(text, request=request, options=options)["message"]
    assert message["reasoning_content"] == reasoning
    assert (message["content"] or "").strip() == said
    assert len(message.get("tool_calls", [])) == calls
    for size in (1, 3, 1000):
        events = chat_support.streamed(chat_support.chunks(cut(text, size)), request=request, **options)
        found = chat_support.accumulated(events)[0]
        assert (found["reasoning"], found["content"].strip(), len(found["calls"])) == (reasoning, said, calls)
    for mode in ("content", None, ("<think>", "</think>")):
        message = chat_support.whole(text, request=request, options={**options, "reasoning": mode})["message"]
        assert "reasoning_content" not in message


@pytest.mark.parametrize(("protocol", "_", "text", "reasoning", "said", "calls"), ALL)
def test_messages(protocol: str, _: bool, text: str, reasoning: str, said: str, calls: int) -> None:
    request = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi."}],
        "tools": [{"name": "get", "input_schema": SCHEMA}],
    }
    answer = messages_support.message([{"type": "text", "text": text}])
    options = {**OPTIONS, "protocol": protocol}
    whole = Exchange(messages, request, Options(**options)).whole(answer)
    assert whole is not None
    first, *others = whole["content"]
    assert first == {"type": "thinking", "thinking": reasoning, "signature": ""}
    assert "".join(one.get("text", "") for one in others).strip() == said
    assert sum(one["type"] == "tool_use" for one in others) == calls
    for size in (1, 3, 1000):
        stream = Exchange(messages, request, Options(**options)).stream()
        made: list[Json] = []
        for event in messages_support.events_of(answer, size):
            out = stream.feed(event)
            made += [event] if out is None else out
        folded = messages_support.folded([*made, *stream.end()])
        assert [{**one, "id": ""} for one in folded["content"]] == [
            {**one, "id": ""} for one in whole["content"]
        ]


@pytest.mark.parametrize(("protocol", "_", "text", "reasoning", "said", "calls"), ALL)
def test_responses(protocol: str, _: bool, text: str, reasoning: str, said: str, calls: int) -> None:
    request = {"input": "Hi.", "tools": [{"type": "function", **FUNCTION}]}
    answer = responses_peers.response(responses_peers.message(text))
    options = Options(**{**OPTIONS, "protocol": protocol})
    whole, _exchange = responses_peers.read_whole([answer], options, request)
    first, *others = whole["output"]
    assert first["id"].startswith("rs_wirecall_")
    assert {**first, "id": ""} == {
        "id": "",
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": reasoning}],
        "status": "completed",
    }
    texts = [part["text"] for one in others if one["type"] == "message" for part in one["content"]]
    assert "".join(texts).strip() == said
    assert sum(one["type"] == "function_call" for one in others) == calls
    for size in (1, 3, 1000):
        stream = Exchange(responses, request, options).stream()
        made: list[Json] = []
        for event in responses_peers.streamed(answer, (size,)):
            out = stream.feed(event)
            made += [event] if out is None else out
        made += stream.end()
        assert [event["sequence_number"] for event in made] == [*range(len(made))]
        deltas = [one["delta"] for one in made if one["type"] == "response.reasoning_text.delta"]
        assert "".join(deltas) == reasoning
        of_first = [one["type"] for one in made if one.get("output_index") == 0 and "delta" not in one]
        assert of_first == [
            "response.output_item.added",
            "response.content_part.added",
            "response.reasoning_text.done",
            "response.content_part.done",
            "response.output_item.done",
        ]
        assert made[-1]["response"]["output"][0]["content"] == first["content"]


def test_a_retry_keeps_the_reasoning() -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": TOOLS}
    texts = ["<think>a</think>Now: <call>nope</call>", "<think>b</think><call>get city=Ulm</call>"]
    given = iter([chat_support.body(text) for text in texts])
    tools = compact_tools(**OPTIONS)
    sent: list[Any] = []
    answer = tools.wrap_generate(lambda one: sent.append(one) or next(given), request)
    message = answer["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("ab", "Now: ")
    # The retry shows the model what it wrote.
    assert sent[1]["messages"][-2]["content"] == texts[0]
    streams = iter([chat_support.chunks(cut(text, 4)) for text in texts])
    found = chat_support.accumulated(tools.wrap_stream(lambda _: next(streams), request))[0]
    assert (found["reasoning"], found["content"], len(found["calls"])) == ("ab", "Now: ", 1)


@pytest.mark.parametrize("tools", [{}, {"tools": TOOLS, "tool_choice": "none"}], ids=["no tools", "none"])
def test_without_tools_calls_are_text(tools: Json) -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}], **tools}
    text = f"{PLAN}It is <call>get city=Ulm</call> or <call>nope</call>, so."
    said = text.removeprefix(PLAN)
    middleware = compact_tools(**OPTIONS)
    message = middleware.wrap_generate(lambda _: chat_support.body(text), request)["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("Plan it.", said)
    assert "tool_calls" not in message
    made = middleware.wrap_stream(lambda _: chat_support.chunks(cut(text, 3)), request)
    found = chat_support.accumulated(made)[0]
    assert (found["reasoning"], found["content"], found["calls"]) == ("Plan it.", said, [])


def test_reasoning_that_the_server_separates_is_not_looked_for_again() -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": TOOLS}
    middleware = compact_tools(protocol="qwen3-thinking", **OPTIONS)
    body = chat_support.body("Hello.", reasoning_content="Plan.")
    message = middleware.wrap_generate(lambda _: body, request)["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("Plan.", "Hello.")
    chunks = [
        chat_support.chunk({"role": "assistant", "reasoning_content": "Plan."}),
        *[chat_support.chunk({"content": one}) for one in "Hello."],
        chat_support.chunk({}, "stop"),
    ]
    found = chat_support.accumulated(middleware.wrap_stream(lambda _: chunks, request))[0]
    assert (found["reasoning"], found["content"]) == ("Plan.", "Hello.")


def test_how_the_prompt_ends_is_an_option() -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": TOOLS}

    def answer(text: str, **options: Any) -> Json:
        body = chat_support.body(text)
        made = compact_tools(**OPTIONS).wrap_generate(lambda _: body, request, **options)
        message: Json = made["choices"][0]["message"]
        return message

    assert answer("a</think>b", in_reasoning=True)["reasoning_content"] == "a"
    assert answer("a</think>b")["content"] == "a</think>b"
    assert answer("ab", protocol="qwen3-thinking")["reasoning_content"] == "ab"
    assert answer("ab", protocol="qwen3-thinking", in_reasoning=False)["content"] == "ab"


def test_the_record_has_it() -> None:
    records: list[Record] = []
    text = f"{PLAN}Here. <call>get city=Ulm</call>"
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": TOOLS}
    middleware = compact_tools(on_record=records.append, record_content=True, **OPTIONS)
    middleware.wrap_generate(lambda _: chat_support.body(text), request)
    [*middleware.wrap_stream(lambda _: chat_support.chunks(cut(text, 5)), request)]
    for record in records:
        events = [one for one in record.attempts[0].events if one.kind != "call_start"]
        assert [one.kind for one in events] == ["reasoning", "text", "call"]
        for event in events[:2]:
            assert text[event.start : event.end] == event.content


# In a history --------------------------------------------------------------------------------------

CALL = {"id": "1", "type": "function", "function": {"name": "get", "arguments": '{"city":"Ulm"}'}}


def chat_history(**extra: Any) -> Json:
    thought = {"reasoning_content": "Plan."}
    result = {"role": "tool", "tool_call_id": "1", "content": "sun"}
    called = {"role": "assistant", "content": None, "tool_calls": [CALL], **thought}
    said = {"role": "assistant", "content": "Sun.", **thought}
    user = {"role": "user", "content": "Hi."}
    return {"messages": [user, called, result, said, user, called, result], "tools": TOOLS, **extra}


@pytest.mark.parametrize("protocol", ["wire", "hermes"])
def test_chat_history(protocol: str) -> None:
    """As in official templates, only what follows the user's last message keeps its reasoning."""
    call = Toolset(TOOLS, protocol=protocol).encode("get", {"city": "Ulm"})
    sent = compact_tools(protocol=protocol, **OPTIONS).transform_params(chat_history()).params["messages"]
    assert all("reasoning_content" not in one for one in sent)
    assert [one["content"] for one in sent if one["role"] == "assistant"] == [
        call,
        "Sun.",
        f"<think>\nPlan.\n</think>\n\n{call}",
    ]
    kept = compact_tools(protocol=protocol).transform_params(chat_history()).params["messages"]
    assert [one["reasoning_content"] for one in kept if one["role"] == "assistant"] == ["Plan."] * 3


def test_chat_content_in_parts() -> None:
    parts = [{"type": "text", "text": "Sun."}]
    message = {"role": "assistant", "content": parts, "reasoning_content": "Plan."}
    request = {"messages": [{"role": "user", "content": "Hi."}, message], "tools": TOOLS}
    sent = compact_tools(**OPTIONS).transform_params(request).params["messages"]
    assert sent[-1]["content"] == [{"type": "text", "text": "<think>\nPlan.\n</think>\n\nSun."}]


def test_messages_history() -> None:
    thought = {"type": "thinking", "thinking": "Plan.", "signature": ""}
    theirs = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    call = {"type": "tool_use", "id": "1", "name": "get", "input": {"city": "Ulm"}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "sun"}]}
    user = {"role": "user", "content": "Hi."}
    called = {"role": "assistant", "content": [thought, theirs, call]}
    only = {"role": "assistant", "content": [thought]}
    request = {
        "max_tokens": 9,
        "messages": [user, called, result, only, user, called, result],
        "tools": [{"name": "get", "input_schema": SCHEMA}],
    }
    sent = Exchange(messages, request, Options(**OPTIONS)).request["messages"]
    texts = {"type": "text", "text": "<call>get city=Ulm</call>"}
    reasoned = {"type": "text", "text": "<think>\nPlan.\n</think>\n\n<call>get city=Ulm</call>"}
    # A message of reasoning alone is left out.
    assert [one["content"] for one in sent if one["role"] == "assistant"] == [
        [theirs, texts],
        [theirs, reasoned],
    ]
    kept = Exchange(messages, request, Options()).request["messages"]
    assert kept[1]["content"][:2] == [thought, theirs]


@pytest.mark.parametrize("content", ["Sun.", [{"type": "output_text", "text": "Sun."}]], ids=["str", "parts"])
def test_responses_history(content: Any) -> None:
    thought = {
        "id": "rs_wirecall_1",
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Plan."}],
    }
    theirs = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "x"}
    call = {"type": "function_call", "call_id": "1", "name": "get", "arguments": '{"city":"Ulm"}'}
    result = {"type": "function_call_output", "call_id": "1", "output": "sun"}
    said = {"role": "assistant", "content": content}
    user = {"role": "user", "content": "Hi."}
    turn = [thought, theirs, call, result, thought, said]
    request = {"input": [user, *turn, user, *turn], "tools": [{"type": "function", **FUNCTION}]}
    # Whatever the option says now: these items are wirecall's.
    for options in (Options(**OPTIONS), Options()):
        sent = Exchange(responses, request, options).request["input"]
        assert thought not in sent
        assert sent.count(theirs) == 2
        written = [one["content"] for one in sent if one.get("role") == "assistant"]
        reasoned = "<think>\nPlan.\n</think>\n\n"
        led: Any = reasoned + "Sun."
        if isinstance(content, list):
            led = [{"type": "output_text", "text": reasoned + "Sun."}]
        call_text = "<call>get city=Ulm</call>"
        assert written == [call_text, content, reasoned + call_text, led]


def test_compaction_knows_it() -> None:
    thought = {"type": "thinking", "thinking": "Plan. " * 50, "signature": ""}
    part = {"type": "reasoning_text", "text": "Plan. " * 50}
    item = {"id": "rs_wirecall_1", "type": "reasoning", "summary": [], "content": [part]}
    said: list[tuple[Any, Json]] = [
        ("chat", {"role": "assistant", "content": "a", "reasoning_content": "Plan. " * 50}),
        ("messages", {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}),
        ("responses", item),
    ]
    user = {"role": "user", "content": "Hi."}
    for api, message in said:
        assert tokens_of(message) > 80
        pruning = compact_context(prune=Prune(reasoning="all"))
        key = "input" if api == "responses" else "messages"
        [*sent] = pruning.on_request({key: [user, message, user]}, api=api)[key]
        assert sum(map(tokens_of, sent)) < 40
        assert sent[0] is user


def test_answers_come_back() -> None:
    """A loop: what the model wrote is what it reads in the next request."""
    text = f"{PLAN}<call>get city=Ulm</call>"
    user: Json = {"role": "user", "content": "Hi."}
    middleware = compact_tools(**OPTIONS)
    request: Json = {"messages": [user], "tools": TOOLS}
    answer = middleware.wrap_generate(lambda _: chat_support.body(text), request)["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": answer["tool_calls"][0]["id"], "content": "sun"}
    again = middleware.transform_params({**request, "messages": [user, answer, result]}).params["messages"]
    assert again[-2] == {"role": "assistant", "content": text}
