"""Reasoning as events and as text, and other formats that are read, too."""

from typing import Any

import pytest

from reasoning_support import NATIVE, PLAN, PROMPTED, TOOLS, gaps, kinds, streamed
from wirecall import FAMILIES, ToolError, Toolset


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
        ({"recover": ["hermes", "json"]}, "hermes and json are names of the same format"),
        ({"recover": ["harmony"]}, "harmony divides whole messages into parts"),
        ({"protocol": "kimi-k3", "recover": ["hermes"]}, "kimi-k3 divides whole messages into parts"),
        ({"protocol": "harmony", "recover": True}, "harmony divides whole messages into parts"),
        ({"recover": ["auto"]}, "recover lists formats, and auto is not one of them"),
        ({"recover": ["nope"]}, 'there is no protocol "nope"'),
        ({"protocol": "auto", "recover": ["hermes"]}, "auto reads the protocol of each message's first call"),
    ],
)
def test_formats_that_cannot_be_read_together(options: Any, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        Toolset(TOOLS, **options)


@pytest.mark.parametrize("row", ["harmony", "kimi-k3", "functionary-v3.2", "muse", "solar-open"])
@pytest.mark.parametrize("reasoning", [None, ("[A]", "[/A]"), ("[A]", "[/A]", "separate")])
def test_messages_in_parts_have_no_other_tags(row: str, reasoning: Any) -> None:
    with pytest.raises(ToolError, match=f"{row} divides .* leave out reasoning"):
        Toolset(TOOLS, protocol=row, reasoning=reasoning)
    for mode in ("auto", "content", "separate"):
        Toolset(TOOLS, protocol=row, reasoning=mode)


@pytest.mark.parametrize("row", sorted({*FAMILIES}))
def test_json_is_refused_where_calls_are_not_json(row: str) -> None:
    encoding = Toolset(TOOLS, protocol=row).plan("get").encoding
    if row in ("qwen3coder", "qwen3.5", "k-exaone-2", "nemotron-3", "step-3.5"):
        # The manual of these can ask for JSON.
        assert "JSON object" in Toolset(TOOLS, protocol=row, syntax="json").manual()
    elif encoding == "json":
        assert '"city"' in Toolset(TOOLS, protocol=row, syntax="json").encode("get", {"city": "Ulm"})
    else:
        with pytest.raises(ToolError, match=f'{row} has one way .* leave out syntax="json"'):
            Toolset(TOOLS, protocol=row, syntax="json")


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
