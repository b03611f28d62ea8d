"""All that is known of one API is in its folder: a fourth one is an `Api`, and a name in the registry."""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import wirecall._core as core
from standin import open_sync
from wirecall._apis import registry
from wirecall._apis.base import Api, ParsedRequest, Rewrite, UnsupportedRequestError
from wirecall._apis.conversation import SYSTEM, USER, Call, Message, MessageFormat, MessageInfo, Result
from wirecall._apis.detection import read_conversation
from wirecall._apis.streams import AnswerStream, PartWriter
from wirecall._apis.values import Json, listed
from wirecall._clients import sse
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec
from wirecall._text.history import PastCall
from wirecall._text.hold import HoldBuffer
from wirecall._text.options import Options
from wirecall._text.parts import CallPart, TextPart
from wirecall._text.reader import TextReader
from wirecall._text.response import Choice, ResponseState
from wirecall._tools.definitions import API_NAMES
from wirecall.compaction import compact_messages

PACKAGE = Path(__file__).parents[2] / "python" / "wirecall"
URL = "https://api.example.com/v4/tell"
GO = {"name": "go", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}
CALL, BAD = "<call>go to=Graz</call>", "<call>go [object Object]</call>"
TOLD = [{"by": "me", "words": "Hi"}, {"by": "it", "did": "go", "with": {"to": "Ulm"}}, {"back": "there"}]


# A fourth API, "tell": a request has lines, an answer has lines, and a stream has pieces of them. ----------


class TellFormat(MessageFormat):
    name = "tell"  # type: ignore[assignment]
    own_keys = ("by", "back")
    text_keys = ("words", "with", "back")

    def inspect(self, message: Mapping[str, Any]) -> MessageInfo:
        if "back" in message:
            return MessageInfo("result", results=(Result("1", None, message["back"]),))
        if message["by"] == "it":
            calls = (Call("1", message["did"], message["with"]),) if "did" in message else ()
            return MessageInfo("assistant", calls)
        return USER if message["by"] == "me" else SYSTEM

    def text(self, message: Mapping[str, Any]) -> str:
        return str(message.get("words", ""))

    def attachment(self, part: Mapping[str, Any]) -> str | None:
        return None

    def user(self, text: str) -> Json:
        return {"by": "me", "words": text}

    def answered(self, results: Sequence[Message], missing: Iterable[tuple[Call, str]]) -> list[Message]:
        return [*({"back": text} for _, text in missing), *results]

    def with_results(self, message: Message, contents: Mapping[str, object]) -> Message:
        return {**message, "back": contents["1"]}

    def without_reasoning(self, message: Message) -> Message | None:
        return message

    def without_calls(self, message: Message, ids: set[str]) -> Message | None:
        return None


def parse_request(request: Mapping[str, Any]) -> ParsedRequest:
    if "kept" in request:
        raise UnsupportedRequestError("The server keeps the lines.")
    history = any("back" in line for line in request["lines"])
    return ParsedRequest(list(listed(request.get("tools"))), [], Choice(), history)


def rewrite_request(given: Rewrite) -> Json:
    def line(one: Json) -> Json:
        if "back" in one:
            return {"by": "me", "words": given.history.result("1", one["back"])}
        if "did" in one:
            return {"by": "it", "words": given.history.turn([PastCall("1", one["did"], one["with"])]).text()}
        return one

    made = {key: value for key, value in given.request.items() if key != "tools"}
    return {**made, "lines": [{"by": "us", "words": str(given.manual)}, *map(line, given.request["lines"])]}


def retry_request(request: Mapping[str, Any], words: str, message: str) -> Json:
    said = [{"by": "it", "words": words}, {"by": "me", "words": message}]
    return {**request, "lines": [*request["lines"], *said]}


def read_answer(body: Mapping[str, Any], response: ResponseState) -> Json | None:
    reader = TextReader(response, fragments=False)
    parts = [*reader.feed(body["words"]), *reader.finish(truncated=False)]
    if response.should_retry(normal=True):
        return None
    said = "".join(part.text for part in parts if isinstance(part, TextPart))
    calls = [{"did": part.name, "with": part.arguments} for part in parts if isinstance(part, CallPart)]
    return {**body, "words": said, "calls": calls}


class TellStream(AnswerStream, PartWriter):
    def __init__(self, response: ResponseState) -> None:
        super().__init__(response)
        self._made: list[Json] = []
        self.buffer = HoldBuffer(self._made.append)
        self._reader = TextReader(response)

    @property
    def holds(self) -> bool:
        return self.buffer.holds or self._reader.holds

    def _begin(self) -> None:
        self._reader = TextReader(self._state)

    def feed(self, event: Json) -> list[Json] | None:
        if self._is_over():
            return []
        self._made.clear()
        if "piece" not in event:
            return None
        self.write(self._reader.feed(event["piece"]))
        return [*self._made]

    def end(self) -> list[Json]:
        if self._is_over():
            return []
        self._made.clear()
        self.write(self._reader.finish(truncated=False))
        if self._state.should_retry(normal=True):
            self.buffer.drop()
            self._retries = True
        self.buffer.release()
        return [*self._made]

    def say(self, text: str) -> None:
        self.buffer.put({"piece": text})

    def reason(self, text: str) -> None:
        self.buffer.put({"thought": text})

    def open_call(self, id: str, name: str, *, late: bool) -> None:
        self.buffer.put({"did": name})

    def fragment(self, json_text: str) -> None:
        self.buffer.put({"with": json_text})

    def close_call(self) -> None: ...

    def abort(self, error: core.CallError) -> None:
        self.buffer.put({"failed": error.kind})
        self.ended = True


TELL = Api(
    name="tell",  # type: ignore[arg-type]
    routes={"/tell": True, "/tell/count": False},
    message_format=TellFormat(),
    parse_request=parse_request,
    rewrite_request=rewrite_request,
    adapt_request=lambda request, options: request,
    retry_request=retry_request,
    read_answer=read_answer,
    open_stream=TellStream,
    stream_error=lambda error: {"failed": str(error)},
    refusal=lambda error: {"no": str(error)},
    names_events=False,
    messages_key="lines",
)


@pytest.fixture(autouse=True)
def fourth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[str, Api]", registry.apis()), "tell", TELL)


def opened(**more: Any) -> ByteExchange:
    body = {"model": "m", "tools": [GO], "lines": TOLD, **more}
    exchange = open_sync(Codec(Options()), URL, {}, json.dumps(body).encode())
    assert exchange is not None
    return exchange


def events(stream: bytes) -> list[Any]:
    parser = sse.Parser()
    return [sse.load(one.data) for one in [*parser.feed(stream), *parser.finish()] if one.data]


def test_its_requests_are_rewritten() -> None:
    request = json.loads(opened().request)
    manual, hi, did, back = request["lines"]
    assert request.keys() == {"model", "lines"}
    assert "go to?" in manual["words"]
    assert hi is not None
    assert did == {"by": "it", "words": "<call>go to=Ulm</call>"}
    assert "there" in back["words"]
    assert "go" in back["words"]


def test_its_answers_are_read_and_retried() -> None:
    exchange = opened()
    assert exchange.whole(json.dumps({"words": BAD}).encode()) is None
    assert json.loads(exchange.request)["lines"][-2] == {"by": "it", "words": BAD}
    out = exchange.whole(json.dumps({"words": f"Well. {CALL}"}).encode())
    assert out is not None
    assert json.loads(out)["calls"] == [{"did": "go", "with": '{"to":"Graz"}'}]


def test_its_streams_are_read_and_retried() -> None:
    exchange = opened(stream=True)
    out = b"".join(exchange.chunk(sse.format_event({"piece": piece})) for piece in ("So. ", BAD[:9], BAD[9:]))
    out += exchange.end()
    assert exchange.should_retry
    out += b"".join(exchange.chunk(sse.format_event({"piece": piece})) for piece in CALL) + exchange.end()
    assert events(out) == [{"piece": "So. "}, {"did": "go"}, {"with": '{"to":"Graz"}'}]


def test_its_refusals_and_errors_have_its_shape() -> None:
    codec = Codec(Options())
    with pytest.raises(UnsupportedRequestError) as raised:
        opened(kept=True)
    assert json.loads(codec.reply(URL, raised.value).body) == {"no": "The server keeps the lines."}
    assert events(opened(stream=True).fail("Gone.")) == [{"failed": "Gone."}]
    assert codec.serves("/v4/tell/count")
    assert not codec.serves("/v4/tell/more")


def test_its_conversations_are_recognised_and_compacted() -> None:
    assert read_conversation(TOLD, None)[0].name == "tell"
    asked: list[Any] = []

    def summarize(messages: list[dict[str, str]]) -> str:
        asked.extend(messages)
        return "They went to Ulm."

    more = [{"by": "me", "words": "And now?"}]
    made = compact_messages([*TOLD, *more], summarize, keep_recent_turns=1)
    assert made[-1:] == more
    assert "They went to Ulm." in made[0]["words"]
    assert [one["content"] for one in asked[:2]] == ["Hi", '[Called tool: go({"to":"Ulm"})]']


# What the rest of the package says of APIs. ---------------------------------------------------------------

# Words without an underscore that only APIs have. Those with one are found in the APIs' folders.
WORDS = {*API_NAMES, "choices", "delta", "instructions"}
# What others may know, and why.
KNOWN = {
    # The hooks speak chat completions, whatever the application does with it.
    "_clients/hooks.py": {"chat"},
    # Only the Responses API has references to items; the scripted server speaks chat completions.
    "_gateway/demo.py": {"choices", "messages", "delta", "finish_reason"},
    "_gateway/gateway.py": {"responses"},
    "_gateway/items.py": {"item_reference"},
    # litellm has one form of requests and answers for all providers, that of chat completions.
    "integrations/litellm.py": {"choices", "messages"},
    # The objects of servers, which have APIs of their own above them.
    "integrations/_sglang/hooks.py": {"messages"},
    "integrations/_vllm/constraints.py": {"response_format"},
    "integrations/_vllm/messages.py": {"tool_calls"},
    "integrations/_vllm/pair.py": {"tool_choice"},
    "integrations/_vllm/renderer.py": {"messages"},
    # A toolset takes and writes definitions of any API. An application has them without a request.
    "_tools/definitions.py": {"input_schema", "chat", "responses", "messages"},
    "_cli/compact.py": {"input_schema", "messages", "base_url"},
    # Savings are counted against one known form of definitions and calls.
    "tokens.py": {"chat", "tool_use"},
    # Not of an API: options and results of wirecall itself, the prefix of its ids, attributes of clients.
    "_text/reader.py": {"call_"},
    "_text/recorder.py": {"messages"},
    "compaction/_context.py": {"input_tokens"},
    "compaction/_planning.py": {"max_tokens"},
    # Chat templates get conversations in the form of chat completions.
    "_tools/checkpoints.py": {"tool_use"},
    "_tools/formats/rendering.py": {"messages"},
    "_tools/formats/response_template.py": {"reasoning_content", "tool_calls"},
    "_tools/formats/results.py": {"tool_calls"},
    "_tools/formats/turns.py": {"reasoning_content", "tool_call_id", "tool_calls"},
}


def words_of(file: Path) -> Iterator[str]:
    """The string literals of a file that could be keys or names; docstrings are not."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value


def test_nothing_else_knows_an_api() -> None:
    folders = [PACKAGE / "_apis" / name for name in API_NAMES]
    own = {word for folder in folders for file in folder.glob("*.py") for word in words_of(file)}
    own = {word for word in own if "_" in word.strip("_")} | WORDS | {"call_"}
    found = {}
    for file in PACKAGE.rglob("*.py"):
        place = file.relative_to(PACKAGE).as_posix()
        if not place.startswith("_apis/"):
            found[place] = own.intersection(words_of(file)) - KNOWN.get(place, set())
    assert {place: said for place, said in found.items() if said} == {}


def test_an_api_imports_no_other() -> None:
    for name in API_NAMES:
        for file in (PACKAGE / "_apis" / name).glob("*.py"):
            others = [f"wirecall._apis.{other}" for other in API_NAMES if other != name]
            assert not any(other in file.read_text() for other in others), file
