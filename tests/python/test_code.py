"""`code="text"`: a call inside Markdown's code is text, in every protocol, however the message is cut."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import wirecall
from chat_support import BAD, GOOD, ULM, asking, chunks, streamed, whole
from chat_support import accumulated as read_chunks
from law import count, seeded
from oracle_code import in_code
from support import FRAMED
from wirecall import PROTOCOLS, CallEnd, CallError, Text, Toolset, compact_tools
from wirecall._text.options import Options

NOTE: dict[str, Any] = {
    "name": "note",
    "parameters": {"type": "object", "properties": {"body": {"type": "string"}, "n": {"type": "integer"}}},
}


class Lines(wirecall.Protocol):
    """The tool's name on a line, then JSON."""

    def __init__(self) -> None:
        super().__init__(open="<|call|>", close="<|end|>", result=("<|result|>", "<|/result|>"))

    def format_call(self, name: str, arguments: str) -> str:
        return f"{name}\n{arguments}"

    def parse(self, body: str) -> tuple[str, Any]:
        import json

        name, _, arguments = body.partition("\n")
        return name, json.loads(arguments)


PROTOCOLS: list[Any] = [*PROTOCOLS, "auto", Lines()]
EACH = pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
# Text that begins no call. Gemma's calls begin with backticks, so none are directly before a call.
MARKDOWN = (
    *("`", "``", "```", "````", "~~~", "~~~~", "\n", "\n", "\r\n", "> ", "    ", "- ", "\\`", "\n```\n"),
    *("\n~~~\n", "```py\n", "word", "a `b` c", "\n> ```\n", "\t", "\xe9"),
)
LITTLE = ("x", " ", "\n", ": ", "> ")


def tools(protocol: Any = "wire", code: Any = "text", **options: Any) -> Toolset:
    return Toolset([NOTE], protocol=protocol, code=code, **options)


def names(message: wirecall.Message) -> list[str]:
    return [call.name for call in message.calls]


# --- what it does


@EACH
def test_an_example_in_a_fence_does_not_run(protocol: Any) -> None:
    call = tools(protocol).encode("note", {"body": "x"})
    text = f"It is called like this:\n\n~~~\n{call}\n~~~\n\nNow I call it: "
    message = tools(protocol).parse(text + call)
    assert message.text == (text.rstrip() if protocol in FRAMED else text)
    assert [found.args for found in message.calls] == [{"body": "x"}]
    assert not message.errors
    assert names(tools(protocol, code="call").parse(text + call)) == ["note", "note"]
    assert names(Toolset([NOTE], protocol=protocol).parse(text + call)) == ["note", "note"]


def test_an_example_in_backticks_does_not_run() -> None:
    call = "<call>note body=x</call>"
    message = tools().parse(f"Write `{call}`, or ``{call} ` ``, then: {call}")
    assert len(message.calls) == 1
    assert message.text == f"Write `{call}`, or ``{call} ` ``, then: "


@pytest.mark.parametrize(
    "text", ["`<tool-result>`", "```\n<tool-error name=x>", "`[call]note body='x'[/call]`"]
)
def test_what_would_be_an_error_is_text_in_code(text: str) -> None:
    message = tools().parse(text)
    assert (message.text, message.errors) == (text, ())
    assert Toolset([NOTE]).parse(text).errors


def test_an_open_fence_is_text_to_the_end() -> None:
    text = "```\n<call>note body=x</call>\n\n<call>note body=y</call>"
    for truncated in (None, False, True):
        assert tools().parse(text, truncated=truncated).items == (Text(text),)


def test_text_is_not_held_back() -> None:
    parser = tools().parser()
    for chunk in ("a `", "b", "``", "\n", "``", "`", "\n<call>", "x", "\n```", "\n"):
        assert parser.feed(chunk) == [Text(chunk)]
    assert [type(event).__name__ for event in parser.feed("<call>note n=1</call>")] == [
        "CallStart",
        "ArgumentsDelta",
        "CallEnd",
    ]
    assert parser.finish() == []


def test_reset_forgets_code() -> None:
    parser = tools().parser()
    parser.feed("```\n")
    parser.reset()
    assert any(isinstance(event, CallEnd) for event in parser.feed("<call>note n=1</call>"))


# --- generated Markdown


def generated(rng: random.Random, toolset: Toolset) -> tuple[str, list[int]]:
    """A message, and the offsets of calls in it that the oracle has outside of code."""
    text, since, starts = "", "", []
    for number in range(rng.randrange(1, 5)):
        added = "".join(rng.choices(MARKDOWN, k=rng.randrange(5))) + rng.choice(LITTLE)
        text, since = text + added, since + added
        call = toolset.encode("note", {"n": number})
        if not in_code(since):
            starts.append(len(text))
            since = "x"
        elif in_code(since + "\n") or "\n" not in call:
            since += call
        else:
            # A later line of it could begin a call.
            continue
        text += call
    return text, starts


def cut(rng: random.Random, text: str) -> list[str]:
    at = sorted(rng.sample(range(len(text) + 1), k=min(len(text), rng.randrange(8))))
    return [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]


def folded(events: list[Any]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for event in events:
        match event:
            case Text(text) if found and found[-1][0] == "text":
                found[-1] = ("text", found[-1][1] + text)
            case Text(text):
                found.append(("text", text))
            case CallEnd():
                found.append(("call", event.arguments, event.start, event.end))
            case CallError():
                found.append(("error", event.kind, event.start, event.end))
    return found


@pytest.mark.laws
@EACH
def test_calls_count_outside_of_code_however_a_message_is_cut(protocol: Any) -> None:
    toolset, made, shown = tools(protocol), 0, 0
    for number in range(count(1000, 10)):
        rng = seeded(number)
        text, starts = generated(rng, toolset)
        made, shown = made + len(starts), shown + text.count("note") - len(starts)
        message = toolset.parse(text)
        assert [call.start for call in message.calls] == starts, (number, text)
        assert not message.errors, (number, text)
        wanted = folded(list(message.items))
        for pieces in (list(text), cut(rng, text)):
            parser = toolset.parser()
            events = [event for piece in pieces for event in parser.feed(piece)]
            assert folded(events + parser.finish()) == wanted, (number, pieces)
        # What a message begins with has the first of its calls.
        end = rng.randrange(len(text) + 1)
        begun = [call.start for call in toolset.parse(text[:end]).calls]
        assert begun == starts[: len(begun)], (number, text[:end])
    assert min(made, shown) > 0


# --- options


def test_a_choice_that_does_not_exist() -> None:
    for make in (Toolset, lambda **options: Options(**options), lambda **options: compact_tools(**options)):
        with pytest.raises(ValueError, match=r'^code is "fence"; it must be one of "call", "text"$'):
            make(code="fence")
        with pytest.raises(TypeError):
            make(code=True)


Ask = Callable[..., tuple[Any, list[Any], str]]


def ask_whole(text: str, **options: Any) -> tuple[Any, list[Any], str]:
    found = whole(text, options=options)
    calls = [call["function"] for call in found["message"].get("tool_calls", ())]
    return found["message"]["content"], calls, found["finish_reason"]


def ask_streamed(text: str, **options: Any) -> tuple[Any, list[Any], str]:
    [found] = read_chunks(streamed(chunks(list(text)), **options)).values()
    calls = [{"name": name, "arguments": arguments} for name, arguments, _ in found["calls"]]
    return found["content"] or None, calls, found["reason"]


@pytest.mark.parametrize("ask", [ask_whole, ask_streamed])
def test_an_answer_with_code(ask: Ask) -> None:
    text = f"Like `{GOOD}`:\n```\n{BAD}\n```\n"
    assert ask(text, code="text") == (text, [], "stop")
    assert ask(text + GOOD, code="text") == (text, [ULM], "tool_calls")
    assert ask(f"```\n{GOOD}\n```")[1:] == ([ULM], "tool_calls")


def test_an_override_for_one_request() -> None:
    hooks = compact_tools()

    def generate(request: Any) -> Any:
        content = f"```\n{GOOD}\n```"
        return {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
            ]
        }

    made = hooks.wrap_generate(generate, asking())
    assert made["choices"][0]["finish_reason"] == "tool_calls"
    made = hooks.wrap_generate(generate, asking(), code="text")
    assert made["choices"][0]["finish_reason"] == "stop"
