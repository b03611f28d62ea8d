"""Chat completions: requests without native calls in which nothing is forged, lost or mutated."""

import copy
import json
import os
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirecall import Options, Refused, ToolError
from wirecall.answer import Choice
from wirecall.dialects.chat import chat
from wirecall.exchange import Exchange

LAW = settings(max_examples=max(100, int(os.environ.get("WIRECALL_LAW_CASES", "1000")) // 10), deadline=None)
Json = dict[str, Any]


def tool(name: str, **more: Any) -> Json:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


GET, SET = tool("get"), tool("set")
SEARCH = {"type": "custom", "custom": {"name": "search"}}
USER = {"role": "user", "content": "Hello"}


def call(id: str | None, name: str = "get", arguments: object = '{"city":"Ulm"}') -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id: str, content: Any = "21", **more: Any) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


def said(*calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def asking(*messages: Json, tools: Any = (GET, SET), **more: Any) -> Json:
    return {"model": "m", "messages": list(messages) or [USER], "tools": list(tools), **more}


def rewritten(request: Json, **options: Any) -> Json:
    before = copy.deepcopy(request)
    made = Exchange(chat, request, Options(**options)).request
    assert request == before
    assert isinstance(made, dict)
    return made


def history(*messages: Json, **options: Any) -> list[Any]:
    """The messages, rewritten, without the manual."""
    found = rewritten(asking(*messages), **options)["messages"]
    assert found[0]["role"] == "system"
    return found[1:]


# --- laws

NASTY = st.sampled_from(
    [
        "<tool-result",
        "</tool-result>",
        '<tool-error name="x">',
        "</tool-error>",
        "<call>",
        "<CALL>",
        "<Tool-Result",
    ]
)
TEXT = st.lists(
    st.one_of(NASTY, st.sampled_from(["", "a", "<", "\n", "data: ", "<\\", "<tool-", "<ca"])), max_size=4
).map("".join)
NAME = st.one_of(st.sampled_from(["get", "set", "gone"]), TEXT)
PART = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXT),
    st.builds(lambda text: {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}, TEXT),
    st.builds(lambda text: {"type": "image_url", "image_url": {"url": "https://x", "alt": text}}, TEXT),
    st.builds(lambda text: {"type": "file", "file": {"file_data": "QQ==", "filename": text}}, TEXT),
    st.builds(lambda kind, text: {"type": kind, "title": text}, TEXT, TEXT),
)
CONTENT = st.one_of(TEXT, st.lists(PART, max_size=3))
RESULT = st.one_of(CONTENT, st.none(), st.builds(lambda text: {"deep": [text, {text: 1}]}, TEXT))


@st.composite
def turns(draw: st.DrawFn) -> tuple[list[Json], int, int]:
    """Messages of one turn, and how many calls and results are in them."""
    kind = draw(st.sampled_from(["user", "assistant", "calls", "legacy", "stray"]))
    if kind == "user":
        return [{"role": "user", "content": draw(CONTENT), "name": draw(TEXT)}], 0, 0
    if kind == "assistant":
        return [{"role": "assistant", "content": "Well."}], 0, 0
    if kind == "stray":
        return [result(draw(TEXT), draw(RESULT), name=draw(NAME))], 0, 1
    if kind == "legacy":
        spoken = {"role": "assistant", "content": None, "function_call": {"name": "get", "arguments": "{}"}}
        return [spoken, {"role": "function", "name": draw(NAME), "content": draw(RESULT)}], 1, 1
    ids = draw(st.lists(TEXT, min_size=1, max_size=3))
    answers = [result(id, draw(RESULT), is_error=draw(st.booleans())) for id in ids]
    return (
        [said(*[call(id, draw(st.sampled_from(["get", "gone"]))) for id in ids]), *answers],
        len(ids),
        len(ids),
    )


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in strings(item)]
    return [text for item in value for text in strings(item)] if isinstance(value, (list, tuple)) else []


@pytest.mark.laws
@LAW
@given(st.lists(turns(), max_size=5), st.booleans())
def test_nothing_is_forged_and_nothing_mutated(
    made: list[tuple[list[Json], int, int]], declared: bool
) -> None:
    messages = [message for turn, _, _ in made for message in turn]
    calls, results = sum(calls for _, calls, _ in made), sum(results for _, _, results in made)
    request = asking(*messages, tools=(GET, SET) if declared else ())
    found = rewritten(request)
    if found is request:
        assert not declared
        assert not calls + results
        return
    text = "\n".join(strings([message for message in found["messages"] if message["role"] != "system"]))
    assert text.count("<call>") == calls
    text = text.lower()
    assert text.count("<tool-result") + text.count("<tool-error") == results
    assert text.count("</tool-result") + text.count("</tool-error") == results
    assert not any(
        message["role"] in ("tool", "function") or "tool_calls" in message or "function_call" in message
        for message in found["messages"]
    )


@pytest.mark.laws
@LAW
@given(st.lists(turns(), max_size=5), st.integers(0, 2**32))
def test_what_is_not_ours_stays_the_same_object(made: list[tuple[list[Json], int, int]], seed: int) -> None:
    rng = random.Random(seed)
    strange = [
        {"role": "assistant", "content": "x", "reasoning_content": "y"},
        {"role": "assistant", "content": [{"type": "text", "text": "<call>"}], "tool_calls": []},
        {"role": "user", "content": [{"type": "text", "text": "a < b", "cache_control": {}}], "name": "me"},
        {"role": "critic", "content": "<tool-result"},
        {"role": "user", "content": None},
        {"no": "role"},
        "no message",
    ]
    messages: list[Any] = [message for turn, _, _ in made for message in turn]
    for message in strange:
        messages.insert(rng.randrange(len(messages) + 1), message)
    # A stranger between results is fine: what it parts is still all there.
    metadata = {"a": 1}
    found = rewritten(asking(*messages, metadata=metadata))
    for message in strange:
        assert any(other is message for other in found["messages"])
    assert found["metadata"] is metadata


@pytest.mark.parametrize(
    "request_",
    [
        asking(USER, {"role": "user", "content": "<call>"}, tools=()),
        asking(tools=[SEARCH]),
        {"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": None}]},
        {"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": [], "function_call": None}]},
        {"model": "m"},
        {"messages": "no list", "tools": [GET]},
        asking(
            said({"id": "a", "type": "custom", "custom": {"name": "search", "input": "x"}}),
            result("a"),
            tools=[SEARCH],
        ),
    ],
)
def test_untouched(request_: Json) -> None:
    exchange = Exchange(chat, request_, Options())
    assert exchange.untouched
    assert exchange.request is request_
    body: Json = {"choices": [{"message": {"content": "<call>get city=Ulm</call>"}}]}
    assert exchange.whole(body) is body


def test_native_when() -> None:
    request = asking()
    assert rewritten(request, native_when=lambda given: given["model"] == "m") is request
    assert rewritten(request, native_when=lambda given: given["model"] == "x") is not request


# --- the manual


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_manual_joins_the_system_message(role: str) -> None:
    system = {"role": role, "content": "Be nice.", "name": "boss"}
    [first, user] = rewritten(asking(system, USER))["messages"]
    assert first["role"] == role
    assert first["name"] == "boss"
    assert first["content"].startswith("Be nice.\n\n")
    assert first["content"].endswith("set city")
    assert user is USER
    [first, _] = rewritten(asking(system, USER), placement="first")["messages"]
    assert first["content"].endswith("set city\n\nBe nice.")


def test_the_manual_is_a_part_of_its_own() -> None:
    part = {"type": "text", "text": "Be nice.", "cache_control": {"type": "ephemeral"}}
    system = {"role": "system", "content": [part]}
    [first, _] = rewritten(asking(system, USER))["messages"]
    assert first["content"][0] is part
    assert first["content"][1]["text"].endswith("set city")
    [first, _] = rewritten(asking(system, USER), placement="first")["messages"]
    assert first["content"][1] is part


@pytest.mark.parametrize("placement", ["first", "last"])
def test_without_a_system_message_one_is_put_first(placement: str) -> None:
    [first, user] = rewritten(asking(), placement=placement, no_manual=True)["messages"]
    assert first == {"role": "system", "content": "get city\nset city"}
    assert user is USER
    [first, _] = rewritten(asking({"role": "system", "content": None}, USER), no_manual=True)["messages"]
    assert first == {"role": "system", "content": "get city\nset city"}


def test_only_the_first_system_message_is_joined() -> None:
    first, second = {"role": "system", "content": "A"}, {"role": "system", "content": "B"}
    found = rewritten(asking(USER, first, second))["messages"]
    assert found[0] is USER
    assert found[1]["content"].startswith("A\n\n")
    assert found[2] is second


def test_the_manual_does_not_change_from_turn_to_turn() -> None:
    first = rewritten(asking())["messages"]
    later = rewritten(asking(USER, said(call("a")), result("a")))["messages"]
    assert later[: len(first)] == first


def test_manual_header() -> None:
    [first, _] = rewritten(asking(), manual_header="Tools:")["messages"]
    assert first["content"] == "Tools:\nget city\nset city"


# --- tools and tool_choice


def choice(request: Json) -> Choice:
    return chat.read(request).choice


ALLOWED = [{"type": "function", "function": {"name": "set"}}]


@pytest.mark.parametrize(
    ("given", "choice_"),
    [
        ({}, Choice()),
        ({"tool_choice": None}, Choice()),
        ({"tool_choice": "auto"}, Choice()),
        ({"tool_choice": "none"}, Choice("none")),
        ({"tool_choice": "required"}, Choice("required")),
        ({"tool_choice": "any"}, Choice("required")),
        ({"parallel_tool_calls": False}, Choice(parallel=False)),
        ({"tool_choice": call(None, "set")}, Choice("required", ("set",))),
        (
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": ALLOWED}}},
            Choice("auto", ("set",)),
        ),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "required", "tools": ALLOWED},
                }
            },
            Choice("required", ("set",)),
        ),
        ({"tool_choice": {"type": "custom", "custom": {"name": "search"}}}, Choice("none")),
    ],
)
def test_tool_choice(given: Json, choice_: Choice) -> None:
    request = asking(**given)
    assert chat.read(request).choice == choice_
    made = rewritten(request)
    assert made.keys() <= {"model", "messages", "stop"}
    assert (len(made["messages"]) == 1) == (choice_.mode == "none")
    manual = made["messages"][0]["content"]
    assert ("must call" in manual) == (choice_.mode == "required")
    assert ("at most one call" in manual) == (not choice_.parallel and choice_.mode != "none")


@pytest.mark.parametrize("given", [call(None, "nope"), {"type": "function"}, "maybe", 7])
def test_a_choice_that_cannot_be(given: object) -> None:
    with pytest.raises(Refused, match="tool_choice"):
        Exchange(chat, asking(tool_choice=given), Options())


def test_bad_tools_are_refused() -> None:
    for bad in ({"type": "function"}, 7, GET):
        with pytest.raises(ToolError):
            Exchange(chat, asking(tools=[GET, bad]), Options())


def test_none_still_rewrites_the_history() -> None:
    made = rewritten(asking(USER, said(call("a")), result("a"), tool_choice="none"))
    assert [message["role"] for message in made["messages"]] == ["user", "assistant", "user"]
    assert made["messages"][1]["content"] == "<call>get city=Ulm</call>"
    assert "stop" not in made


def test_history_without_tools() -> None:
    made = rewritten({"messages": [USER, said(call("a")), result("a")], "tools": []})
    assert [message["role"] for message in made["messages"]] == ["user", "assistant", "user"]
    assert "tools" not in made


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "auto"),
        (call(None, "get"), "none"),
        (SEARCH, SEARCH),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": ALLOWED}}, "none"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [*ALLOWED, SEARCH]}},
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [SEARCH]}},
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [SEARCH]}},
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [SEARCH]}},
        ),
    ],
)
def test_native_tools_stay(given: object, kept: object) -> None:
    made = rewritten(asking(tools=[SEARCH, GET, SET], tool_choice=given, parallel_tool_calls=True))
    assert made["tools"] == [SEARCH]
    assert made["tools"][0] is SEARCH
    assert made["tool_choice"] == kept
    assert made["parallel_tool_calls"] is True


def test_native_tools_stay_beside_a_history() -> None:
    request = asking(said(call("a")), result("a"), tools=[SEARCH], tool_choice="required")
    made = rewritten(request)
    assert made["tools"] is request["tools"]
    assert made["tool_choice"] == "required"


def test_legacy_functions() -> None:
    request = {"messages": [USER], "functions": [GET["function"]], "function_call": {"name": "get"}}
    asked = chat.read(request)
    assert asked.legacy
    assert asked.choice == Choice("required", ("get",), parallel=False)
    made = rewritten(request)
    assert made.keys() == {"messages", "stop"}


def test_a_strict_tool_is_validated() -> None:
    exchange = Exchange(chat, asking(tools=[tool("get", strict=True), SET]), Options(on_error="text"))
    answer = "<call>get town=Ulm</call> <call>set town=Ulm</call>"
    body = exchange.whole({"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]})
    assert body is not None
    message = body["choices"][0]["message"]
    assert [found["function"]["name"] for found in message["tool_calls"]] == ["set"]
    assert '<tool-error name="get">' in message["content"]


def test_structured_output_stays_beside_the_manual() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
    made = rewritten(asking(response_format=form))
    assert made["response_format"] is form
    assert made["messages"][0]["role"] == "system"
    exchange = Exchange(chat, asking(response_format=form), Options())
    body = {"choices": [{"message": {"content": '{"a":1}'}, "finish_reason": "stop"}]}
    assert exchange.whole(body) is body


@pytest.mark.parametrize(
    ("given", "stop"),
    [
        ({}, ["<tool-result"]),
        ({"stop": None}, ["<tool-result"]),
        ({"stop": "END"}, ["END", "<tool-result"]),
        ({"stop": []}, ["<tool-result"]),
        ({"stop": ["a", "b", "c"]}, ["a", "b", "c", "<tool-result"]),
        ({"stop": ["a", "b", "c", "d"]}, ["a", "b", "c", "d"]),
        ({"stop": ["<tool-result"]}, ["<tool-result"]),
        ({"stop": 7}, 7),
        ({"model": "gpt-4o"}, ["<tool-result"]),
        ({"model": "gpt-4.1-mini"}, ["<tool-result"]),
        ({"model": "gpt-35-turbo"}, ["<tool-result"]),
        ({"model": "openai/gpt-oss-120b"}, ["<tool-result"]),
        ({"model": "o3"}, None),
        ({"model": "o1-preview"}, None),
        ({"model": "openai/o4-mini"}, None),
        ({"model": "gpt-5"}, None),
        ({"model": "GPT-5.1-codex", "stop": "x"}, "x"),
        ({"model": "ft:gpt-5-mini:me"}, None),
        ({"model": "xai/grok-4"}, None),
    ],
)
def test_stop(given: Json, stop: object) -> None:
    assert rewritten(asking(**given)).get("stop") == stop


# --- history


def test_calls_join_the_content() -> None:
    spoken = said(call("a"), call("b", "set"), content="Let me look.", reasoning_content="hm", refusal=None)
    [made] = history(spoken)
    assert made == {
        "role": "assistant",
        "content": "Let me look.\n<call>get city=Ulm</call>\n<call>set city=Ulm</call>",
        "reasoning_content": "hm",
        "refusal": None,
    }


@pytest.mark.parametrize("content", [None, "", [], "missing"])
def test_calls_without_content(content: object) -> None:
    spoken = said(call("a"), content=content)
    if content == "missing":
        del spoken["content"]
    [made] = history(spoken)
    text = "<call>get city=Ulm</call>"
    assert made["content"] == ([{"type": "text", "text": text}] if content == [] else text)


def test_calls_join_a_list() -> None:
    part = {"type": "text", "text": "x", "cache_control": {}}
    [made] = history(said(call("a"), content=[part]))
    assert made["content"][0] is part
    assert made["content"][1] == {"type": "text", "text": "<call>get city=Ulm</call>"}


def test_consecutive_results_are_one_message() -> None:
    made = history(
        said(call("a"), call("b"), call("c", "set")), result("b", "B"), result("a"), result("c"), USER
    )
    assert made[1] == {
        "role": "user",
        "content": '<tool-result name="get" number="2">B</tool-result>\n'
        '<tool-result name="get" number="1">21</tool-result>\n<tool-result name="set">21</tool-result>',
    }
    assert made[2] is USER


def test_malformed_calls_are_kept() -> None:
    [made] = history(said("odd", {"id": 7}, {"id": 8, "function": {"name": None}}))  # type: ignore[arg-type]
    assert made["content"].count("<call>unknown") == 3
    assert "odd" in made["content"]


def test_ids_of_any_kind() -> None:
    [_, made] = history(said(call(7)), result(7))  # type: ignore[arg-type]
    assert made["content"] == '<tool-result name="get">21</tool-result>'


def test_legacy_messages() -> None:
    spoken = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "get", "arguments": '{"city":"Ulm"}'},
    }
    first, second = history(spoken, {"role": "function", "name": "get", "content": "21"})
    assert first == {"role": "assistant", "content": "<call>get city=Ulm</call>"}
    assert second == {"role": "user", "content": '<tool-result name="get">21</tool-result>'}


def test_errors() -> None:
    [_, made] = history(said(call("a")), result("a", "no", is_error=True))
    assert made == {"role": "user", "content": '<tool-error name="get">no</tool-error>'}


def test_images_and_files_stand_beside_their_result() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}
    file = {"type": "file", "file": {"file_id": "x"}}
    video = {"type": "video", "mime_type": "video/mp4", "data": "QQ=="}
    content = [{"type": "text", "text": "See"}, image, video]
    [_, made] = history(said(call("a"), call("b", "set")), result("a", content), result("b", [file]))
    first, second, third, fourth = made["content"]
    assert first == {
        "type": "text",
        "text": '<tool-result name="get">See\n[image beside this result]\n'
        "[left out: video, video/mp4]</tool-result>",
    }
    assert second is image
    assert third["text"] == '<tool-result name="set">[file beside this result]</tool-result>'
    assert fourth is file


def test_breakpoints_and_other_keys_of_results_stay() -> None:
    mark = {"type": "ephemeral"}
    content = [{"type": "text", "text": "21", "cache_control": mark}]
    [_, made] = history(
        said(call("a"), call("b")), result("a", content), result("b", "22", cache_control=mark, x=1)
    )
    assert [part["cache_control"] for part in made["content"]] == [mark, mark]
    assert made["x"] == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ([], ""),
        ("x", "x"),
        (["x", {"type": "text", "text": "y"}], "x\ny"),
        ([{"type": "refusal", "refusal": "no"}], "no"),
        ([1, 2], "[1,2]"),
        ([{"a": 1}], '[{"a":1}]'),
        ({"a": 1}, '{"a":1}'),
        (5, "5"),
    ],
)
def test_results_of_any_kind(content: object, text: str) -> None:
    [_, made] = history(said(call("a")), result("a", content))
    assert made["content"] == f'<tool-result name="get">{text}</tool-result>'


def test_native_calls_and_their_results_stay() -> None:
    native = {"id": "n", "type": "custom", "custom": {"name": "search", "input": "x"}}
    answer = result("n")
    made = history(said(call("a"), native), result("a"), answer, USER)
    assert made[0]["content"] == "<call>get city=Ulm</call>"
    assert made[0]["tool_calls"] == [native]
    assert made[1] is answer
    assert made[2]["content"] == '<tool-result name="get">21</tool-result>'
    assert made[3] is USER


@pytest.mark.laws
@LAW
@given(CONTENT)
def test_native_results_forge_nothing(content: Any) -> None:
    native = {"id": "n", "type": "custom", "custom": {"name": "search", "input": "x"}}
    answer = result("n", content)
    written = history(said(native), answer)[1]
    texts = "\n".join(strings(written))
    assert not re.search("(?i:</?tool-(result|error))|<call>", texts)
    assert texts.replace("\\", "") == "\n".join(strings(answer)).replace("\\", "")


def test_again() -> None:
    request = {"messages": [USER], "x": 1}
    before = copy.deepcopy(request)
    assert chat.again(request, "my words", "do it")["messages"] == [
        USER,
        {"role": "assistant", "content": "my words"},
        {"role": "user", "content": "do it"},
    ]
    assert chat.again(request, "", "do it")["messages"] == [USER, {"role": "user", "content": "do it"}]
    assert request == before


def test_a_rewritten_request_is_json_and_final() -> None:
    """What was rewritten once has nothing left to be rewritten: middlewares stack."""
    request = asking(USER, said(call("a")), result("a"))
    made = rewritten(request)
    assert json.loads(json.dumps(made)) == made
    assert rewritten(made) is made
