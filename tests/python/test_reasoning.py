"""Reasoning: as events and as text, in the form of each API, and when it comes back in a history."""

from typing import Any

import pytest

import chat_support
import messages_support
import responses_peers
from wirecall import (
    Event,
    Message,
    Reasoning,
    Record,
    Text,
    ToolError,
    Toolset,
    compact_context,
    compact_tools,
)
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._rewriting.options import Options
from wirecall.compaction import Prune
from wirecall.compaction._counting import tokens_of

Json = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get", "description": "Gets.", "parameters": SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]
PROMPTED = ["wire", "gemma", "xml", "yaml"]
NATIVE = ["hermes", "qwen3coder", "deepseek-r1", "glm-4.5", "mistral"]
PLAN = "<think>\nPlan it.\n</think>\n\n"


def kinds(message: Message) -> list[tuple[str, str]]:
    """Texts, and the types of other items."""
    return [
        (item.type, item.text if isinstance(item, (Text, Reasoning)) else item.name or "")
        for item in message.items
    ]


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(tools: Toolset, text: str, size: int, **options: Any) -> list[tuple[str, str]]:
    """The events of a stream as the items of a message, without parts of calls."""
    parser = tools.parser(**options)
    events: list[Event] = [event for piece in cut(text, size) for event in parser.feed(piece)]
    events += parser.finish()
    found: list[tuple[str, str]] = []
    for event in events:
        if isinstance(event, Reasoning):
            assert text[event.start : event.end] == event.text
        if event.type in ("call_start", "arguments_delta"):
            continue
        said = event.text if isinstance(event, (Text, Reasoning)) else getattr(event, "name", None) or ""
        if found and isinstance(event, (Text, Reasoning)) and found[-1][0] == event.type:
            said = found.pop()[1] + said
        found.append((event.type, said))
    return found


def gaps(message: Message, text: str) -> str:
    """The framing. Asserts that it and the items cover the text."""
    at, framing = 0, dict(message.framing)
    for item in [*message.items, None]:
        while at in framing:
            at = framing.pop(at)
        if item is None:
            break
        said = item.text if isinstance(item, Text) else text[item.start : item.end]
        assert text[at : at + len(said)] == said
        at += len(said)
    assert (at, framing) == (len(text), {})
    return "".join(text[start:end] for start, end in message.framing)


@pytest.mark.parametrize("protocol", PROMPTED + NATIVE)
def test_separate(protocol: str) -> None:
    tools = Toolset(TOOLS, protocol=protocol, reasoning="separate")
    assert tools.separates_reasoning
    call = tools.encode("get", {"city": "Ulm"})
    text = f"{PLAN}Here. {call}"
    message = tools.parse(text, in_reasoning=False)
    # Line breaks belong to the tags, except in formats that write none.
    assert (message.reasoning.strip(), message.text.strip()) == ("Plan it.", "Here.")
    assert [one.args for one in message.calls] == [{"city": "Ulm"}]
    framing = gaps(message, text)
    assert framing.startswith("<think>")
    assert framing.startswith("<think>\n\n</think>\n\n") or protocol in ("glm-4.5", "mistral")
    for size in (1, 2, 3, 5, 100):
        assert streamed(tools, text, size, in_reasoning=False) == kinds(message)


@pytest.mark.parametrize("protocol", PROMPTED + NATIVE)
def test_content(protocol: str) -> None:
    tools = Toolset(TOOLS, protocol=protocol, reasoning="content")
    assert not tools.separates_reasoning
    text = f"{PLAN}Here. {tools.encode('get', {'city': 'Ulm'})}"
    message = tools.parse(text, in_reasoning=False)
    assert message.reasoning == ""
    assert message.text.rstrip() == f"{PLAN}Here."
    assert len(message.calls) == 1
    gaps(message, text)
    for size in (1, 2, 3, 5, 100):
        assert streamed(tools, text, size, in_reasoning=False) == kinds(message)


def test_the_default_depends_on_the_protocol() -> None:
    for protocol, separate in [("wire", False), ("yaml", False), ("hermes", True), ("kimi-k2.6", True)]:
        for option in ({}, {"reasoning": "auto"}, {"reasoning": ("<a>", "</a>")}):
            assert Toolset(protocol=protocol, **option).separates_reasoning is separate
    tools = Toolset()
    assert kinds(tools.parse(PLAN)) == [("text", PLAN)]
    assert tools.parse(PLAN).framing == []


@pytest.mark.parametrize("protocol", ["wire", "hermes"])
@pytest.mark.parametrize(
    ("text", "reasoning", "said"),
    [
        ("<think>\n\na\n\n</think>\n\nb\n", "\na\n", "b\n"),
        ("<think>a</think> b", "a", " b"),
        ("<think>\n\n</think>\n\nb", "", "b"),
        ("<think></think>b", "", "b"),
        ("<think>a", "a", ""),
        ("<think>a</thin", "a</thin", ""),
        ("<think>\n", "", ""),
        ("<think>a</think>", "a", ""),
        ("a <think>b</think>", "", "a <think>b</think>"),
    ],
)
def test_line_breaks_belong_to_the_tags(protocol: str, text: str, reasoning: str, said: str) -> None:
    tools = Toolset(TOOLS, protocol=protocol, reasoning="separate")
    message = tools.parse(text)
    assert (message.reasoning, message.text) == (reasoning, said)
    gaps(message, text)
    for size in (1, 2, 3):
        assert streamed(tools, text, size) == kinds(message)


def test_the_prompt_opens_it() -> None:
    tools = Toolset(TOOLS, reasoning="separate")
    text = "\na</think>\n\n<call>get city=Ulm</call>"
    assert kinds(tools.parse(text, in_reasoning=True)) == [("reasoning", "a"), ("call_end", "get")]
    for size in (1, 2, 50):
        assert streamed(tools, text, size, in_reasoning=True) == [("reasoning", "a"), ("call_end", "get")]
    native = Toolset(TOOLS, protocol="qwen3-thinking")
    assert native.parse("a</think>b").reasoning == "a"
    assert native.parse("a</think>b", in_reasoning=False).reasoning == ""


def test_other_tags() -> None:
    for mode, reasoning in [("separate", "a"), ("content", "")]:
        tools = Toolset(TOOLS, reasoning=("[T]", "[/T]", mode))  # type: ignore[arg-type]
        assert tools.parse("[T]a[/T]b").reasoning == reasoning
        assert tools.parse("<think>a</think>b").reasoning == ""
    assert Toolset(TOOLS, protocol="hermes", reasoning=("[T]", "[/T]")).parse("[T]a[/T]b").reasoning == "a"
    assert Toolset(TOOLS, protocol="hermes", reasoning=None).parse(PLAN).text == PLAN
    with pytest.raises(ValueError, match="a reasoning tag is empty"):
        Toolset(reasoning=("", "</think>", "separate"))


@pytest.mark.parametrize("protocol", ["wire", "qwen3coder"])
def test_code_in_reasoning_ends_with_it(protocol: str) -> None:
    tools = Toolset(TOOLS, protocol=protocol, reasoning="separate", code="text")
    call = tools.encode("get", {"city": "Ulm"})
    text = f"<think>\n```\nx\n</think>\n```\n{call}\n```\n{call}"
    message = tools.parse(text)
    assert [item.type for item in message.items] == ["reasoning", "text", "call_end"]
    for size in range(1, len(text)):
        assert streamed(tools, text, size) == kinds(message)


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
    assert sent[-1]["content"] == [{"type": "text", "text": "<think>\nPlan.\n</think>\n\n"}, *parts]


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
    reasoned = {"type": "text", "text": "<think>\nPlan.\n</think>\n\n"}
    # A message of reasoning alone is left out.
    assert [one["content"] for one in sent if one["role"] == "assistant"] == [
        [theirs, texts],
        [reasoned, theirs, texts],
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
            led = [{"type": "output_text", "text": reasoned, "annotations": []}, *content]
        assert written == ["<call>get city=Ulm</call>", content, reasoned, "<call>get city=Ulm</call>", led]


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


# Other formats that are read, too -------------------------------------------------------------------


SECTIONS = ["deepseek-r1", "deepseek-v3.1", "deepseek-v3.2", "deepseek-v4", "deepseek-v4.1", "kimi-k2"]


@pytest.mark.parametrize("own", ["wire", "yaml", "hermes"])
@pytest.mark.parametrize("other", [*SECTIONS, "gemma4", "mistral"])
def test_native_formats_can_be_recovered(own: str, other: str) -> None:
    tools = Toolset(TOOLS, protocol=own, recover=[other])
    calls = [("get", {"city": "Ulm"}), ("get", {"city": "Rome"})]
    written = Toolset(TOOLS, protocol=other).encode_message("", calls)
    last = tools.encode("get", {"city": "Bonn"})
    for text in (f"Now: {written}, then {last}", f"{written}\n{last}", written):
        message = tools.parse(text)
        cities = [one.args["city"] for one in message.calls]
        assert cities == ["Ulm", "Rome", "Bonn"][: 2 + text.endswith(last)]
        assert all("other_format" in one.repairs for one in message.calls[:2])
        assert "other_format" not in (message.calls[2].repairs if cities[2:] else ())
        assert not message.errors
        gaps(message, text)
        for size in (1, 2, 3, 7):
            found = streamed(tools, text, size)
            assert [one for one in found if one[0] == "call_end"] == [("call_end", "get")] * len(cities)
            assert "".join(said for kind, said in found if kind == "text") == message.text
    # Only these are read, and nothing else.
    assert tools.parse('{"name":"get","arguments":{"city":"Ulm"}}').calls == ()
    assert Toolset(TOOLS, protocol=own, recover=[other], strict=True).parse(written).calls == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recover": ["glm-4.5", "glm-4.7"]}, "glm-4.5 and glm-4.7 begin calls in the same way"),
        ({"protocol": "qwen3.5", "recover": ["qwen3coder"]}, "qwen3.5 and qwen3coder begin calls"),
        ({"recover": ["deepseek-v3", "deepseek-v3.1"]}, "deepseek-v3 and deepseek-v3.1 begin calls"),
        ({"recover": ["hermes", "json"]}, "hermes and hermes begin calls in the same way"),
        ({"recover": ["harmony"]}, "harmony divides whole messages into parts"),
        ({"protocol": "kimi-k3", "recover": ["hermes"]}, "kimi-k3 divides whole messages into parts"),
        ({"recover": ["nope"]}, 'there is no protocol "nope"'),
        ({"protocol": "auto", "recover": ["hermes"]}, "auto reads the protocol of each message's first call"),
    ],
)
def test_formats_that_cannot_be_read_together(options: Any, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        Toolset(TOOLS, **options)


def test_formats_that_look_ahead_can_tell_apart() -> None:
    for names in (
        ["hermes", "qwen3coder", "glm-4.5"],
        ["xml", "yaml", "qwen3coder"],
        ["deepseek-v4", "deepseek-v4.1"],
    ):
        tools = Toolset(TOOLS, recover=names)
        for name in names:
            call = Toolset(TOOLS, protocol=name).encode("get", {"city": "Ulm"})
            assert tools.parse(call).calls[0].args == {"city": "Ulm"}
            assert ("call_end", "get") in streamed(tools, call, 1)
    # The toolset's own is read anyway, and an empty list is none.
    for given in (["wire"], []):
        assert Toolset(TOOLS, recover=given).parse("<call>get city=Ulm</call>").calls[0].repairs == ()
