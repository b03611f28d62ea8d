"""Chat completions: a history in which nothing is forged, lost or mutated."""

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_support import (
    GET,
    SET,
    USER,
    Json,
    asking,
    call,
    history,
    result,
    rewritten,
    said,
)
from law import LAW

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


# --- examples


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
    assert made["content"][1] == {"type": "text", "text": "\n<call>get city=Ulm</call>"}
    [made] = history(said(call("a"), content=[{"type": "text", "text": "x"}]))
    assert made["content"] == [{"type": "text", "text": "x\n<call>get city=Ulm</call>"}]


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
