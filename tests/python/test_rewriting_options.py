"""Options of how a request is rewritten: a template for the manual, media in results, marks of protocols."""

from typing import Any

import pytest

from support import EVERY
from wirecall import Definition, Notice, Toolset, compact_tools
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

PARAMETERS = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FUNCTION = {"name": "look", "description": "Looks.", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": FUNCTION}]
PNG = "data:image/png;base64,AAAA"

# Of each API: images and files, as its users and its results have them.
CHAT_IMAGE = {"type": "image_url", "image_url": {"url": PNG}}
CHAT_FILE = {"type": "file", "file": {"filename": "r.pdf", "file_data": "AAAA"}}
IMAGE_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
DOCUMENT = {"type": "document", "title": "r.pdf", "source": {"type": "url", "url": "http://x.org/r.pdf"}}
INPUT_IMAGE = {"type": "input_image", "image_url": PNG}
INPUT_FILE = {"type": "input_file", "filename": "r.pdf", "file_data": "AAAA"}


def chat_request(shown: Any, *user: Any) -> Any:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"a":"x"}'}}
    return {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, *user]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "Here:"}, shown]},
        ],
        "tools": TOOLS,
    }


def messages_request(shown: Any, *user: Any) -> Any:
    result = {
        "type": "tool_result",
        "tool_use_id": "1",
        "content": [{"type": "text", "text": "Here:"}, shown],
    }
    return {
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, *user]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {"a": "x"}}],
            },
            {"role": "user", "content": [result]},
        ],
        "tools": [{"name": "look", "input_schema": PARAMETERS}],
    }


def responses_request(shown: Any, *user: Any) -> Any:
    return {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Look."}, *user]},
            {"type": "function_call", "call_id": "1", "name": "look", "arguments": '{"a":"x"}'},
            {
                "type": "function_call_output",
                "call_id": "1",
                "output": [{"type": "input_text", "text": "Here:"}, shown],
            },
        ],
        "tools": [{"type": "function", **FUNCTION}],
    }


def last(api: str, request: Any, **options: Any) -> list[Any]:
    """The parts of the result's message."""
    if api == "chat":
        content = compact_tools(**options).transform_params(request).params["messages"][-1]["content"]
    else:
        of: Any = messages if api == "messages" else responses
        sent = Exchange(of, request, Options().with_overrides(options)).request
        content = sent["messages" if api == "messages" else "input"][-1]["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


APIS = [
    ("chat", chat_request, CHAT_IMAGE, CHAT_FILE),
    ("messages", messages_request, IMAGE_BLOCK, DOCUMENT),
    ("responses", responses_request, INPUT_IMAGE, INPUT_FILE),
]


@pytest.mark.parametrize(("api", "asking", "image", "file"), APIS, ids=[api for api, *_ in APIS])
def test_media(api: str, asking: Any, image: Any, file: Any) -> None:
    for shown, other in ((image, file), (file, image)):
        for options in ({}, {"media": "model"}):
            parts = last(api, asking(shown), **options)
            assert parts[-1] == shown
            assert "left out" not in parts[0]["text"]
        left_out = f"Here:\n[left out: {shown['type']}"
        [only] = last(api, asking(shown, shown), media="placeholder")
        assert left_out in only["text"]
        [only] = last(api, asking(shown, other), media="auto")
        assert left_out in only["text"]
        assert last(api, asking(shown, shown), media="auto")[-1] == shown


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (CHAT_IMAGE, "[left out: image_url]"),
        (CHAT_FILE, "[left out: file, r.pdf]"),
    ],
)
def test_what_is_left_out_is_named(part: Any, said: str) -> None:
    [only] = last("chat", chat_request(part), media="placeholder")
    assert said in only["text"]
    [only] = last("messages", messages_request(IMAGE_BLOCK), media="placeholder")
    assert "[left out: image, image/png]" in only["text"]


def test_media_that_is_none() -> None:
    with pytest.raises(ValueError, match='media is "all"; it must be one of "model", "placeholder", "auto"'):
        compact_tools(media="all")


def test_a_template_writes_the_manual() -> None:
    given = []

    def template(tools: list[Definition]) -> str:
        given.append(tools)
        return "TOLD"

    request = {"messages": [{"role": "user", "content": "x"}], "tools": TOOLS, "tool_choice": "required"}
    sent = compact_tools(template=template).transform_params(request).params
    system = sent["messages"][0]["content"]
    assert system == "TOLD\nIn your next message you must call at least one tool."
    assert given == [[Definition("look", "Looks.", PARAMETERS, None)]]
    untold = compact_tools(template=template).transform_params({**request, "tool_choice": "none"}).params
    assert untold["messages"] == request["messages"]
    with pytest.raises(TypeError, match="template must return a str, not NoneType"):
        compact_tools(template=lambda tools: None).transform_params(request)
    for option in ("template", "native_when", "on_event"):
        with pytest.raises(TypeError, match=f"{option} must be callable, not str"):
            compact_tools(**{option: "x"})


def test_a_template_may_say_nothing() -> None:
    request = {"messages": [{"role": "user", "content": "x"}], "tools": TOOLS}
    middleware = compact_tools(template=lambda tools: "")
    assert middleware.transform_params(request).params["messages"] == request["messages"]
    required = middleware.transform_params({**request, "tool_choice": "required"}).params
    assert required["messages"][0]["content"] == "In your next message you must call at least one tool."


@pytest.mark.parametrize("protocol", EVERY)
def test_stops_are_those_of_the_protocol(protocol: str) -> None:
    marks = list(Toolset(TOOLS, protocol=protocol).result_marks)[:1]
    middleware = compact_tools(protocol=protocol)
    request = {"messages": [{"role": "user", "content": f"{''.join(marks)} x"}], "tools": TOOLS}
    sent = middleware.transform_params(request).params
    assert sent.get("stop", []) == marks
    assert sent["messages"][-1]["content"] == "".join(f"{mark[0]}\\{mark[1:]}" for mark in marks) + " x"
    sent = Exchange(messages, messages_request(IMAGE_BLOCK), Options(protocol=protocol)).request
    assert sent.get("stop_sequences", []) == marks


@pytest.mark.parametrize("protocol", ["wire", "hermes", "gemma", "xml", "yaml", "qwen3coder"])
def test_errors_are_those_of_the_protocol(protocol: str) -> None:
    tools = Toolset(TOOLS, protocol=protocol)
    middleware = compact_tools(protocol=protocol, on_error="text")
    request = {"messages": [{"role": "user", "content": "x"}], "tools": TOOLS}
    told: list[Notice] = []
    [call] = tools.parse(tools.encode("look", {"a": "x"})).calls
    written = tools.encode("look", {"a": "x"})
    cut = written[: len(written) - 4]
    body = {"choices": [{"message": {"role": "assistant", "content": cut}, "finish_reason": "length"}]}
    answer = middleware.wrap_generate(lambda _: body, request, on_event=told.append)["choices"][0]["message"]
    [error] = tools.parse(cut, truncated=True).errors
    assert answer["content"] == tools.encode_result("look", error)
    assert [notice.detail.partition(":")[0] for notice in told if notice.kind == "error"] == [error.kind]
    raw = middleware.wrap_generate(lambda _: body, request, emit_raw_on_error=True)["choices"][0]["message"]
    assert raw["content"] == cut
    assert call.name == "look"


@pytest.mark.parametrize("protocol", [name for name in EVERY if Toolset(protocol=name).result_marks])
def test_our_stop_is_no_stop_of_the_hosts(protocol: str) -> None:
    """Anthropic names the stop sequence that was met; ours is a normal end."""
    request = {**messages_request(IMAGE_BLOCK), "model": "m"}
    exchange = Exchange(messages, request, Options(protocol=protocol, in_reasoning=False))
    assert exchange.toolset is not None
    tools = exchange.toolset
    content = [{"type": "text", "text": tools.encode("look", {"a": "x"})}]
    answer = {"content": content, "stop_reason": "stop_sequence", "stop_sequence": tools.result_marks[0]}
    read = exchange.whole(answer)
    assert read is not None
    assert (read["stop_reason"], read["stop_sequence"]) == ("tool_use", None)
