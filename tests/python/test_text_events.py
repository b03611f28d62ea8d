"""Events of chat completions that differ from the one before in their text only are not parsed as JSON: what
comes out is the same."""

import json
import random
from typing import Any

import pytest

import generate
from collected_texts import Source, each_source
from law import count, seeded
from wirecall import ToolError
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec
from wirecall._sync import run
from wirecall._text.options import Options
from wirecall._text.recorder import Observer

URL = "https://api.example.com/v1/chat/completions"
TEXTS = [
    "a",
    '"',
    ":",
    '","',
    "\\",
    "\n",
    "é",
    "\ud800",
    "content",
    "x" * 40,
    " ",
    "<",
    "<call>",
    "{",
    "}",
    "😀",
]


class Listening(Observer):
    """Keeps what it is told of texts."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def on_text(self, *given: Any) -> None:
        self.told.append(given)

    def on_source(self, *given: Any) -> None:
        self.told.append(given)


def written(value: Any, rng: random.Random) -> bytes:
    """As a server writes it: with or without spaces and escapes."""
    separators = rng.choice([None, (",", ":")])
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators)
    return b"data: " + text.encode("utf-8", "replace") + rng.choice([b"\n\n"] * 9 + [b"\r\n\r\n"])


def stream(rng: random.Random, text: str) -> list[bytes]:
    """The events of an answer; most differ from the one before in their text only."""
    pieces = []
    while text:
        size = rng.choice((1, 1, 2, 3, 8, 30))
        pieces.append(text[:size])
        text = text[size:]
    for _ in range(rng.randrange(4)):
        pieces.insert(rng.randrange(len(pieces) + 1), rng.choice(TEXTS))
    base: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": rng.choice(TEXTS),
    }
    events = []
    style = rng.random()
    for piece in pieces:
        choice: dict[str, Any] = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        event = {**base, "choices": [choice]}
        odd = rng.random()
        if odd < 0.02:
            choice["delta"]["role"] = "assistant"
        elif odd < 0.04:
            choice["index"] = 1
        elif odd < 0.06:
            event["usage"] = rng.choice([None, {"prompt_tokens": 3, "completion_tokens": 1}])
        elif odd < 0.08:
            event["created"] = 2
        elif odd < 0.1:
            choice["delta"] = rng.choice(
                [{}, {"content": ""}, {"content": None}, {"reasoning_content": piece}]
            )
        elif odd < 0.11:
            choice["finish_reason"] = "stop"
        elif odd < 0.12:
            event["error"] = rng.choice([None, {"message": "x"}])
        elif odd < 0.13:
            events.append(
                rng.choice([b": ping\n\n", b"id: 7\n\n", b"event: x\ndata: {}\n\n", b"data: [DONE]\n\n"])
            )
        events.append(written(event, random.Random(style)))
    end = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": rng.choice(["stop", "length"])}]}
    return [*events, written(end, rng), b"data: [DONE]\n\n"]


def played(chunks: list[bytes], body: bytes, options: Options) -> tuple[bytes, list[Any], bool]:
    listening = Listening()
    exchange = run(Codec(options).open(URL, {}, body, is_async=False, observer=listening))
    assert exchange is not None
    exchange.answers(200)
    out = b"".join(map(exchange.chunk, chunks)) + exchange.end()
    return out, listening.told, exchange.should_retry


def unparsed(
    rng: random.Random,
    text: str,
    functions: list[dict[str, Any]],
    options: Options,
    monkeypatch: pytest.MonkeyPatch,
) -> int:
    """Compares, for events of this text; returns how many were not parsed."""
    found = 0
    only_text = ByteExchange._only_text

    def counted(self: ByteExchange, raw: bytes) -> str | None:
        nonlocal found
        read = only_text(self, raw)
        found += read is not None
        return read

    tools = [{"type": "function", "function": function} for function in functions]
    said = [{"role": "user", "content": "x"}]
    request = {"model": "m", "stream": True, "messages": said, "tools": tools}
    body = json.dumps(request).encode("utf-8", "replace")
    given = stream(rng, text)
    joined = b"".join(given)
    cuts = sorted(rng.choices(range(len(joined) + 1), k=6))
    odd = [joined[a:b] for a, b in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    with monkeypatch.context() as patched:
        # Ids of calls are random.
        patched.setattr("wirecall._text.reader.random_id", lambda: "0" * 24)
        patched.setattr("wirecall._text.reader.TextReader._id", lambda self, id: "call_0")
        for chunks in (given, odd):
            patched.setattr(ByteExchange, "_only_text", counted)
            fast = played(chunks, body, options)
            patched.setattr(ByteExchange, "_only_text", lambda self, raw: None)
            assert fast == played(chunks, body, options)
    return found


def options(rng: random.Random, **more: Any) -> Options:
    return Options(
        stream_arguments=rng.random() < 0.5,
        on_error=rng.choice(["retry", "text", "native"]),
        strip_preamble=rng.random() < 0.2,
        keep_alive=None,
        **more,
    )


@pytest.mark.laws
@pytest.mark.parametrize("number", range(4))
def test_events_are_read_alike_whether_they_are_parsed_or_not(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(number)
    found = 0
    for _ in range(count(1000, 20)):
        tools = generate.toolset(rng)
        functions = [{"name": name, "parameters": schema} for name, schema in tools.items()]
        chosen = options(rng, reasoning=rng.choice(["content", "separate"]))
        found += unparsed(rng, generate.message(rng, tools), functions, chosen, monkeypatch)
    assert found > 100


@each_source
def test_so_are_events_of_texts_of_others(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(0)
    found = texts = 0
    for collected in source():
        if not collected.text:
            continue
        try:
            chosen = options(rng, protocol=collected.options.get("protocol"))
            chosen.toolset(collected.tools)
        except ToolError:
            continue
        found += unparsed(rng, collected.text, collected.tools, chosen, monkeypatch)
        texts += 1
    assert texts > 100
    assert found > texts
