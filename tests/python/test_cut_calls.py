"""An answer that is cut off inside a call shows nothing of the call, in every protocol and every API."""

from collections.abc import Iterator
from typing import Any

import pytest

import chat_support
import messages_support
import responses_peers
from support import EVERY
from wirecall import CallEnd, CallError, Notice, Text, Toolset
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._core import native_formats
from wirecall._text.options import Options

ROWS = {row["name"]: row for row in native_formats()}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["path"],
}
ARGUMENTS = {"path": "a.py", "text": "x = 1", "n": 3}
# What opens a call, where the table has another one than is written.
OPENERS = {
    "wire": "<call>",
    "auto": "<call>",
    "gemma": "```tool_call",
    "xml": "<save>",
    "yaml": "<save>",
    "xlam": "[TOOL_CALLS]",
    # Until the object begins, the line is not known to be a recipient.
    "functionary-v3.2": ">>>save\n{",
}
PROTOCOLS = (*EVERY, "auto")


def toolset(protocol: str, **options: Any) -> Toolset:
    return Toolset([("save", SCHEMA)], protocol=protocol, **options)


def cut_messages(protocol: str) -> Iterator[str]:
    """A message with a call, cut at each place after the opener and before the end of the call."""
    tools = toolset(protocol)
    row = ROWS.get(protocol)
    # Some formats write the text after the calls.
    message = tools.encode_message("I look.", [("save", ARGUMENTS)])
    if not message.startswith("I look.") and "I look." in message.partition("save")[2]:
        message = tools.encode_message("", [("save", ARGUMENTS)])
    opener = OPENERS.get(protocol) or (row and (row["section"] or row["call"])[0])
    assert opener
    assert opener in message
    for end in range(message.rindex(opener) + len(opener), len(message)):
        cut = message[:end]
        if tools.parse(cut, truncated=True, in_reasoning=False).calls:
            return
        yield cut


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cut_call_is_no_text(protocol: str) -> None:
    tools = toolset(protocol)
    row = ROWS.get(protocol, {"section": None, "whole_messages": False})
    # Where calls have sections or headers, these may end without a call.
    may_be_framing = row["section"] or row["whole_messages"]
    count = 0
    for cut in cut_messages(protocol):
        message = tools.parse(cut, truncated=True, in_reasoning=False)
        assert message.text.strip() in ("", "I look."), cut
        kinds = [error.kind for error in message.errors]
        assert kinds == ["incomplete_call"] or (may_be_framing and not kinds), cut
        assert not tools.parse(cut, in_reasoning=False).calls
        count += 1
    assert count > 20


@pytest.mark.parametrize(
    ("protocol", "prose"),
    [
        ("wire", "The tag <call> begins a call. Then"),
        ("wire", "I write <call> and <call> and so on"),
        ("wire", "A part: <cal"),
        ("wire", "The end: <call"),
        ("hermes", "The tag <tool_call> begins a call. Then"),
        ("hermes", "The end: <tool_cal"),
        ("gemma", "A fence:\n```tool_call is its name\n"),
        ("xml", f"The tag <save> is one. {'No call. ' * 40}"),
        ("xml", "The end: <save"),
        ("yaml", "The end: <save"),
        ("mistral", "The mark [TOOL_CALLS"),
        ("llama-json", '{"name": "Bob", "age": 3'),
    ],
)
def test_text_that_cannot_be_a_call_stays_text(protocol: str, prose: str) -> None:
    for truncated in (True, None, False):
        items = toolset(protocol).parse(prose, truncated=truncated).items
        assert "".join(item.text for item in items if isinstance(item, Text)) == prose
        assert not any(isinstance(item, (CallEnd, CallError)) for item in items)


def test_end_that_is_not_known_to_be_cut_decides_nothing() -> None:
    text = "I look. <call>save pa"
    assert [error.kind for error in toolset("wire").parse(text, truncated=True).errors] == ["incomplete_call"]
    for truncated in (None, False):
        assert toolset("wire").parse(text, truncated=truncated).text == text


def shown_by_chat(text: str, options: Any, *, streams: bool, reason: str | None) -> tuple[str, list[Any]]:
    request = chat_support.asking(tools=[chat_support.tool("save", parameters=SCHEMA)])
    if not streams:
        choice = chat_support.whole(text, request=request, reason=reason, options=options)  # type: ignore[arg-type]
        return choice["message"]["content"] or "", choice["message"].get("tool_calls", [])
    events = chat_support.chunks(text, reason or "stop")
    sent = chat_support.streamed(events if reason else events[:-1], request=request, **options)
    [state] = chat_support.accumulated(sent).values()
    return state["content"], state["calls"]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("reason", ["length", "content_filter", None])
@pytest.mark.parametrize(
    "protocol", ["wire", "hermes", "gemma", "xml", "yaml", "qwen3coder", "mistral", "auto"]
)
def test_users_see_nothing_of_a_cut_call(protocol: str, reason: str | None, streams: bool) -> None:
    for on_error in ("retry", "native"):
        for cut in cut_messages(protocol):
            told: list[Notice] = []
            options = {"protocol": protocol, "on_error": on_error, "on_event": told.append}
            text, calls = shown_by_chat(cut, options, streams=streams, reason=reason)
            assert text.strip() == "I look.", cut
            # With "native", a call of a known tool is handed over as it was written.
            assert not calls or (on_error == "native" and "save" in str(calls))
            assert [notice.detail.partition(":")[0] for notice in told if notice.kind == "error"] == [
                "incomplete_call"
            ]


@pytest.mark.parametrize("size", [None, 1, 5])
@pytest.mark.parametrize("stop", ["max_tokens", "pause_turn", "stop_sequence"])
def test_users_of_messages_see_nothing_of_a_cut_call(stop: str, size: int | None) -> None:
    call = "<call>search query=x"
    for end in range(len("<call>"), len(call)):
        body = messages_support.message([messages_support.text(f"I look. {call[:end]}")], stop)
        exchange = Exchange(messages, messages_support.request(), Options())
        if size is None:
            read = exchange.whole(body)
        else:
            stream = exchange.stream()
            sent: list[Any] = []
            for event in messages_support.events_of(body, size):
                out = stream.feed(event)
                sent += [event] if out is None else out
            read = messages_support.folded(sent + stream.end())
        assert read is not None
        assert [block["text"].strip() for block in read["content"]] == ["I look."]


@pytest.mark.parametrize("streams", [False, True])
def test_users_of_responses_see_nothing_of_a_cut_call(streams: bool) -> None:
    call = "<call>f x=1"
    for end in range(len("<call>"), len(call)):
        said = responses_peers.message(f"I look. {call[:end]}", status="incomplete")
        details = {"incomplete_details": {"reason": "max_output_tokens"}}
        body = responses_peers.response(said, status="incomplete", **details)
        if streams:
            events, _ = responses_peers.read_stream([responses_peers.streamed(body)], Options())
            output = responses_peers.accumulate(events)
        else:
            output = responses_peers.read_whole([body], Options())[0]["output"]
        assert [part["text"].strip() for item in output for part in item["content"]] == ["I look."]
