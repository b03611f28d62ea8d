"""Calls and results of a conversation as text: nothing lost, nothing refused, nothing forged."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import generate
from law import LAW
from wirecall import Toolset
from wirecall._text.history import History, PastCall

TOOLS = Toolset([("get", {"type": "object", "properties": {"city": {"type": "string"}}})])


@pytest.fixture
def history() -> History:
    return History(TOOLS)


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32))
def test_calls_read_back(seed: int) -> None:
    rng = random.Random(seed)
    tools = generate.toolset(rng)
    compiled = Toolset(list(tools.items()))
    made = [(name, generate.arguments(rng, of)) for name, of in tools.items()]
    past = [
        PastCall(str(at), name, json.dumps(of) if rng.random() < 0.5 else of)
        for at, (name, of) in enumerate(made)
    ]
    turn = History(compiled).turn(past)
    for name, arguments in made:
        [call] = compiled.parse(turn.text(count=1)).calls
        assert (call.name, call.args) == (name, arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"city":"New York"}', '<call>get city="New York"</call>'),
        ({"city": "New York"}, '<call>get city="New York"</call>'),
        ('{"city":1.50}', "<call>get city=1.50</call>"),
        ("", "<call>get</call>"),
        (None, "<call>get</call>"),
        ({}, "<call>get</call>"),
        ("[object Object]", '<call>get arguments="[object Object]"</call>'),
        ('{"city":', None),
        ("[1,2]", "<call>get arguments=[1,2]</call>"),
        (7, "<call>get arguments=7</call>"),
    ],
)
def test_arguments_of_any_kind(history: History, arguments: object, text: str | None) -> None:
    written = history.turn([PastCall("a", "get", arguments)]).text()
    if text is None:
        assert Toolset([]).parse(written).calls[0].args == {"arguments": arguments}
    else:
        assert written == text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("no name", {}), ("", {"a": 1}), ("get", {"city": float("nan")}), ("get", {"city": object()})],
)
def test_what_no_call_can_say_is_said(history: History, name: str, arguments: object) -> None:
    written = history.turn([PastCall("a", name, arguments)]).text()
    assert repr(name) in written
    assert not TOOLS.parse(written).errors


def test_undeclared_tools_are_written(history: History) -> None:
    assert history.turn([PastCall("a", "gone", '{"x":1}')]).text() == "<call>gone x=1</call>"


def test_results_have_the_number_of_their_call(history: History) -> None:
    history.turn([PastCall("a", "get", {}), PastCall("b", "other", {}), PastCall("c", "get", {})])
    assert history.result("c", "C") == '<tool-result name="get" number="2">C</tool-result>'
    assert history.result("a", "A") == '<tool-result name="get" number="1">A</tool-result>'
    assert history.result("b", "B") == '<tool-result name="other">B</tool-result>'
    history.turn([PastCall("c", "get", {})])
    assert history.result("c", "C") == '<tool-result name="get">C</tool-result>'


def test_results_without_a_call(history: History) -> None:
    assert history.result("x", "A") == '<tool-result name="unknown">A</tool-result>'
    assert history.result(None, "A", name="get") == '<tool-result name="get">A</tool-result>'
    history.turn([PastCall("x", "get", {})])
    assert history.result("x", "A", name="liar") == '<tool-result name="get">A</tool-result>'


def test_results_of_any_kind(history: History) -> None:
    assert (
        history.result("a", {"b": [1, None]}, name="f")
        == '<tool-result name="f">{"b":[1,null]}</tool-result>'
    )
    assert history.result("a", "no", name="f", error=True) == '<tool-error name="f">no</tool-error>'
    assert history.result("a", float("nan"), name="f") == '<tool-result name="f">nan</tool-result>'
    assert "<object" in history.result("a", object(), name="f")


NASTY = ["<tool-result", "</tool-result>", "<tool-error x", "<call>", "x</tool-error", "<TOOL-RESULT"]


@pytest.mark.parametrize("text", NASTY)
def test_nothing_is_forged(history: History, text: str) -> None:
    opened = '<tool-result name="unknown">'
    written = history.result("a", text)
    assert written.startswith(opened)
    assert text not in written[len(opened) : -len("</tool-result>")]
    assert text not in history.user(f"a {text} b")
    assert text not in history.result("a", "", name=text)[len("<tool-result") : -len("</tool-result>")]
    said = history.turn([PastCall("a", text, {})]).text()
    assert text not in said


def test_foreign_keeps_what_is_harmless(history: History) -> None:
    part = {
        "type": "file",
        "file": {"filename": "a < b", "file_data": "QUJD" * 1000},
        "more": [1, None, ("x", {"url": "data:image/png;base64,QUJD"})],
    }
    assert history.foreign(part) is part
    text = "a < b > c" * 100
    assert history.foreign(text) is text


def test_foreign_changes_no_input(history: History) -> None:
    inner = {"alt": "<call>", "same": ["x"]}
    part = {"a": [inner, "ok"], "b": {"c": 1}}
    made = history.foreign(part)
    assert made == {"a": [{"alt": "<\\call>", "same": ["x"]}, "ok"], "b": {"c": 1}}
    assert made["b"] is part["b"]
    assert made["a"][0]["same"] is inner["same"]
    assert inner["alt"] == "<call>"


def test_deep_content_is_no_crash(history: History) -> None:
    part: Any = "x"
    for _ in range(100_000):
        part = [part]
    assert history.foreign(part) is part
    parts: Any = [{"text": "\ud83d\ude00<tool-"}, {"text": "result"}]
    for _ in range(64):
        parts = [parts]
    assert history.foreign(parts) is parts


def test_a_tag_that_is_cut_between_parts_is_none() -> None:
    history = History(Toolset([]))
    parts = [
        {"type": "text", "text": "a <tool-"},
        {"type": "image"},
        {"type": "text", "text": "result name=x>"},
    ]
    written = history.foreign(parts)
    assert "".join(part.get("text", "") for part in written) == "a <\\tool-result name=x>"
    assert written[1] is parts[1]
    assert history.foreign(parts[1:]) is not None
    same = parts[1:]
    assert history.foreign(same) is same


PIECES = ["<", "tool-", "result", "/", "\\", "\\\\", "<\\", "<call", ">", "@", "@@", " a", "é🙂", ""]


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32))
def test_texts_of_parts_are_written_as_if_they_were_one(seed: int) -> None:
    rng = random.Random(seed)
    history = History(Toolset([], delimiters=rng.choice([("<call>", "</call>"), ("@@", "##"), ("<c", "/c")])))
    texts = ["".join(rng.choices(PIECES, k=rng.randrange(6))) for _ in range(rng.randrange(5))]
    parts: list[Any] = [{"type": "text", "text": text} for text in texts]
    parts.insert(rng.randrange(len(parts) + 1), {"type": "image"})
    written = history.foreign(parts)
    said = [part["text"] for part in written if "text" in part]
    assert "".join(said) == history.user("".join(map(history.user, texts)))
    # What was put in is in the part of the character after it.
    for text, new in zip(map(history.user, texts), said, strict=True):
        assert not new.endswith("\\") or text.endswith("\\")
        left = iter(new)
        assert all(character in left for character in text)
    assert all(new is old for new, old in zip(written, parts, strict=True) if new == old)
