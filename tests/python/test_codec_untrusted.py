"""The codec for clients that are not trusted: refused options, broken streams, observers, threads."""

import asyncio
import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

import wirecall
from standin import TOOL, open_sync, stand_ins
from wirecall._apis.base import UnsupportedRequestError
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._clients import sse
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec
from wirecall._sync import run
from wirecall._text.notices import Notice
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError
from wirecall._text.record import Record, RecordEvent
from wirecall._text.recorder import Observer
from wirecall._tools.toolset import Toolset

URL = "https://api.example.com/v1/chat/completions"
CALL = "<call>go to=Graz</call>"
BAD = "<call>go [object Object]</call>"
BODY = json.dumps({"tools": [TOOL], "say": ["Hi"]}).encode()


def event(**data: object) -> bytes:
    return sse.format_event(data)


def opened(observer: Observer | None = None, body: bytes = BODY, **options: Any) -> ByteExchange:
    one = Codec(Options(**options), stand_ins())
    exchange = run(one.open(URL, {}, body, is_async=False, observer=observer))
    assert exchange is not None
    return exchange


# Requests ---------------------------------------------------------------------------------------


def test_a_compressed_body_is_refused() -> None:
    one = Codec(Options(), stand_ins())
    with pytest.raises(UnsupportedRequestError, match="without content-encoding") as info:
        open_sync(one, URL, {"Content-Encoding": "gzip"}, BODY)
    assert one.reply(URL, info.value).status == 415
    assert open_sync(one, URL, {"Content-Encoding": "identity"}, BODY) is not None
    assert open_sync(one, "/elsewhere", {"Content-Encoding": "gzip"}, BODY) is None


@pytest.mark.parametrize("accepted", [frozenset[str](), frozenset({"on_error"})])
def test_options_that_a_request_may_not_change_are_refused(accepted: frozenset[str]) -> None:
    one = Codec(Options(), stand_ins(), accepted=accepted)
    for given in ({"debug": True}, {"on_error": "text", "max_retries": 9}, {"no_such": 1}):
        body = json.dumps({"tools": [TOOL], "wirecall": given}).encode()
        with pytest.raises(UnsupportedRequestError, match=", ".join(sorted(given.keys() - accepted))) as info:
            open_sync(one, URL, {}, body)
        assert one.reply(URL, info.value).status == 400
    for harmless in ({"session": "s1"}, dict.fromkeys(accepted, "text")):
        body = json.dumps({"tools": [TOOL], "wirecall": harmless}).encode()
        exchange = open_sync(one, URL, {}, body)
        assert exchange is not None
        assert b"wirecall" not in exchange.request


def test_options_of_one_request_compile_no_other_toolset(monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(protocol="hermes")
    options.with_overrides({"on_error": "text"})
    made = 0

    def counted(*args: Any, **given: Any) -> Toolset:
        nonlocal made
        made += 1
        return Toolset(*args, **given)

    monkeypatch.setattr("wirecall._text.options.Toolset", counted)
    for _ in range(5):
        changed = options.with_overrides({"on_error": "text"})
        assert changed.toolset([TOOL]) is options.toolset([TOOL])
    # With the tools, for the first request.
    assert made == 1


def test_a_large_request_is_opened_in_a_thread_and_a_small_one_is_not() -> None:
    class Where(Observer):
        def on_request(self, request: Mapping[str, Any]) -> None:
            threads.append(threading.current_thread())

    threads: list[threading.Thread] = []
    one = Codec(Options(), stand_ins())
    sizes = (10, 100_000)

    async def main() -> None:
        for size in sizes:
            body = json.dumps({"tools": [TOOL], "say": ["x" * size]}).encode()
            exchange = await one.open(URL, {}, body, is_async=True, observer=Where())
            assert exchange is not None
            assert len(exchange.request) > size
        # The functions of a host are called where it is.
        told = Codec(Options(on_record=print), stand_ins())
        await told.open(URL, {}, body, is_async=True, observer=Where())

    asyncio.run(main())
    assert [thread is threading.main_thread() for thread in threads] == [True, False, True]


def test_tokens_are_counted_in_a_thread_and_savings_are_never_negative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[threading.Thread] = []

    def counting(text: str) -> int:
        threads.append(threading.current_thread())
        return len(text)

    monkeypatch.setattr("wirecall.tokens.cached_tokenizer", lambda: counting)
    told: list[Notice] = []
    short, long = "Short.", "Much longer than the definition. " * 50

    async def main() -> None:
        for header in (short, long):
            one = Codec(Options(on_event=told.append, manual_header=header), stand_ins())
            await one.open(URL, {}, BODY, is_async=True)

    asyncio.run(main())
    assert threads
    assert threading.main_thread() not in threads
    assert [(notice.kind, int(notice.detail) > 0) for notice in told] == [("saved", True)]


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_native_tools_are_dropped_with_a_notice(api: str) -> None:
    from wirecall._apis.registry import api_named

    schema = "input_schema" if api == "messages" else "parameters"
    function: dict[str, Any] = {"name": "go", schema: {"type": "object"}}
    function.update({} if api == "messages" else {"type": "function"})
    native = {"type": "web_search_20250305", "name": "web_search"}
    said = [{"role": "user", "content": "x"}]
    request = {"model": "m", "messages": said, "input": said, "max_tokens": 9}
    told: list[Notice] = []
    options = Options(native_tools="drop", on_event=told.append)
    named = {"type": "web_search_20250305"}, {"type": "tool", "name": "web_search"}
    choices: list[Any] = [None, {"type": "auto"} if api == "messages" else "auto", named[api == "messages"]]
    for tools in ([native], [native, function]):
        for choice in choices:
            given = {**request, "tools": tools, **({} if choice is None else {"tool_choice": choice})}
            sent = Exchange(api_named(api), given, options).request
            assert "web_search" not in json.dumps({**sent, "messages": [], "input": []})
            assert ("go" in json.dumps(sent)) == (function in tools)
    kinds = [(notice.kind, notice.detail) for notice in told if notice.kind != "saved"]
    assert kinds == [("native_tools", "web_search_20250305")] * 6
    kept = Exchange(api_named(api), {**request, "tools": [native]}, Options()).request
    assert kept["tools"] == [native]


def test_the_types_of_dropped_tools_are_no_content() -> None:
    told: list[Notice] = []
    request = {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "a secret sentence"}]}
    wirecall.compact_tools(native_tools="drop", on_event=told.append).transform_params(request)
    assert told[0].detail == "unknown"


# Streams that break -----------------------------------------------------------------------------


HALVES = [event(text="Look.")], [event(text="Look. <call>go to=Gr")], [event(text=CALL)[:-9]]


@pytest.mark.parametrize("given", HALVES)
def test_a_dropped_stream_ends_with_an_error_once(given: list[bytes]) -> None:
    exchange = opened()
    out = b"".join(map(exchange.chunk, given)) + exchange.end(dropped=True)
    assert b"stop" not in out
    last = exchange.fail("the connection broke")
    assert last.endswith(event(error={"message": "the connection broke"}))
    assert exchange.fail("again") == b""
    assert b'"call"' not in out + last


def test_a_stream_that_is_complete_gets_no_error() -> None:
    exchange = opened()
    exchange.chunk(event(text=CALL) + event(stop="stop") + b"data: [DONE]\n\n")
    exchange.end()
    assert exchange.fail("late") == b""


def test_an_error_that_passes_unchanged_begins_between_events() -> None:
    plain = b'{"say":["Hi"]}'
    for chunk, fails in (
        (event(text="x"), True),
        (event(text="x")[:-3], False),
        (b"", True),
        (b"data: 1\r\n\r\n", True),
    ):
        exchange = opened(Observer(), plain)
        assert exchange.chunk(chunk) == chunk
        exchange.end(dropped=True)
        assert bool(exchange.fail("broken")) == fails


def test_errors_in_a_stream_have_their_type() -> None:
    for error, kind, code in (
        (Exception("lost"), "api_error", None),
        (ValueError("bad"), "invalid_request_error", None),
        (ToolCallError("no call"), "invalid_tool_call", None),
    ):
        said = chat.stream_error(error)["error"]
        assert (said["type"], said["code"], said["message"]) == (kind, code, str(error))


# Observers --------------------------------------------------------------------------------------


class Listening(Observer):
    """Keeps what it is told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        self.texts: dict[tuple[int, int], str] = {}
        self.attempts = 0

    def on_request(self, request: Mapping[str, Any]) -> None:
        self.told.append(("request", request))

    def on_attempt(self, reason: str, request: Mapping[str, Any]) -> None:
        self.attempts += 1
        self.told.append(("attempt", reason))

    def on_source(self, text: int, piece: str) -> None:
        key = self.attempts, text
        self.texts[key] = self.texts.get(key, "") + piece

    def on_text(self, kind: str, text: int, start: int, piece: str) -> None:
        assert self.texts[self.attempts, text][start : start + len(piece)] == piece
        self.told.append((kind, piece))

    def on_event(self, event: RecordEvent) -> None:
        if event.start is not None:
            said = self.texts[self.attempts, event.text][event.start : event.end]
            self.told.append((event.kind, said))

    def on_notice(self, notice: Notice) -> None:
        self.told.append(("notice", notice.kind))

    def on_output(self, out: Any) -> None:
        self.told.append(("output", out))

    def on_record(self, record: Record) -> None:
        self.told.append(("record", record.outcome))


def test_an_observer_is_told_everything_while_it_happens() -> None:
    one = Listening()
    exchange = opened(one)
    assert [kind for kind, _ in one.told] == ["request", "attempt"]
    assert one.told[0][1] == json.loads(BODY)
    out = exchange.chunk(event(text="Look. "))
    assert one.told[2:] == [("text", "Look. "), ("output", out)]
    exchange.chunk(event(text=BAD[:9]))
    exchange.chunk(event(text=BAD[9:]) + event(stop="stop"))
    exchange.end()
    assert exchange.should_retry
    assert ("error", BAD) in one.told
    assert ("notice", "retry") in one.told
    out = exchange.chunk(event(text=f"So. {CALL}") + event(stop="stop"))
    exchange.end()
    exchange.finish()
    assert [detail for kind, detail in one.told if kind == "attempt"] == ["first", "retry"]
    assert ("call", CALL) in one.told
    assert one.told[-1] == ("record", "calls")
    assert one.texts == {(1, 0): f"Look. {BAD}", (2, 0): f"So. {CALL}"}


def test_an_observer_that_raises_is_told_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Observer):
        told = 0

        def on_source(self, text: int, piece: str) -> None:
            self.told += 1
            raise ValueError(piece)

    one = Broken()
    exchange = opened(one)
    out = exchange.chunk(event(text=f"A secret. {CALL}") + event(stop="stop"))
    exchange.chunk(event(text="more"))
    assert b'"call"' in out
    assert one.told == 1
    assert "Broken.on_source raised ValueError" in caplog.text
    assert "secret" not in caplog.text
