"""One response, read: the same parts however it is cut, retries, and bad calls."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import generate
from law import LAW
from wirecall import CallError, Notice, ToolCallError, Toolset
from wirecall._text.options import Options
from wirecall._text.parts import (
    CallAborted,
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Hold,
    Part,
    Raised,
    TextPart,
)
from wirecall._text.reader import TextReader
from wirecall._text.response import Choice, ResponseState

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS = Toolset([("get", PARAMETERS), ("stop", {"type": "object"})])
UNREAD = "The assistant tried to call a tool, but the call could not be read."
GOOD, OTHER, BAD = "<call>get city=Ulm</call>", "<call>stop</call>", "<call>get city</call>"
ULM = ("get", '{"city":"Ulm"}')


def state(choice: Choice | None = None, *, alone: bool = True, **options: Any) -> ResponseState:
    return ResponseState(TOOLS, Options(**options), choice or Choice(), alone=alone)


def read(
    state: ResponseState, *chunks: str, truncated: bool | None = False, whole: bool = False
) -> list[Part]:
    reader = TextReader(state, fragments=not whole)
    parts = [part for chunk in chunks for part in reader.feed(chunk)]
    return parts + reader.finish(truncated=truncated)


def folded(parts: Sequence[Part]) -> list[Any]:
    """Parts without what chunks and chance decide: texts joined, no ids, streamed calls as whole ones."""
    made: list[Any] = []
    for part in parts:
        if isinstance(part, TextPart) and made and isinstance(made[-1], str):
            made[-1] += part.text
        elif isinstance(part, TextPart):
            made.append(part.text)
        elif isinstance(part, CallPart):
            made.append((part.name, part.arguments))
        elif isinstance(part, CallOpened):
            made.append((part.name, ""))
        elif isinstance(part, CallFragment):
            made[-1] = (made[-1][0], made[-1][1] + part.delta)
        elif isinstance(part, CallAborted):
            made.append(part.error.kind)
        elif isinstance(part, Hold):
            made.append(Hold)
    return made


# --- laws


def case(seed: int, **options: Any) -> tuple[Toolset, str]:
    rng = random.Random(seed)
    tools = generate.toolset(rng)
    text = generate.message(rng, tools).encode("utf-8", "replace").decode()
    compiled = Toolset(list(tools.items()), strict=rng.random() < 0.3)
    return compiled, text


def cuts(text: str, seed: int) -> list[str]:
    rng = random.Random(seed)
    size = rng.choice((1, 1, 2, 3, 7, 30))
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.laws
@LAW
@given(
    st.integers(0, 2**32),
    st.sampled_from(["retry", "text", "native"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([True, False, None]),
)
def test_parts_do_not_depend_on_chunks(
    seed: int, on_error: str, strip: bool, raw: bool, parallel: bool, truncated: bool | None
) -> None:
    tools, text = case(seed)
    options = Options(on_error=on_error, strip_preamble=strip, emit_raw_on_error=raw)  # type: ignore[arg-type]
    found, again = [], []
    for chunks in ([text], cuts(text, seed)):
        state = ResponseState(tools, options, Choice(parallel=parallel))
        found.append(folded(read(state, *chunks, truncated=truncated)))
        again.append((state.called, state.should_retry(normal=True), state.begin_retry()))
    assert found[0] == found[1]
    assert again[0] == again[1]


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32))
def test_streamed_fragments_are_the_whole_call(seed: int) -> None:
    tools, text = case(seed)
    whole = folded(read(ResponseState(tools, Options(on_error="text"), Choice()), text, truncated=True))
    streamed = read(
        ResponseState(tools, Options(on_error="text", stream_arguments=True), Choice()),
        *cuts(text, seed),
        truncated=True,
    )
    if not any(isinstance(part, CallAborted) for part in streamed):
        assert folded(streamed) == whole
    begun = [type(part) for part in streamed if isinstance(part, (CallOpened, CallFinished, CallAborted))]
    assert len(begun) % 2 == 0
    assert all(kind is CallOpened for kind in begun[::2])
    assert all(kind is not CallOpened for kind in begun[1::2])


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32))
def test_nothing_is_lost(seed: int) -> None:
    tools, text = case(seed)
    state = ResponseState(tools, Options(on_error="text", emit_raw_on_error=True), Choice())
    shown = "".join(
        part.text for part in read(state, *cuts(text, seed), truncated=None) if isinstance(part, TextPart)
    )
    message = tools.parse(text)
    kept = "".join(
        item.raw if isinstance(item, CallError) else item.text
        for item in message.items
        if not hasattr(item, "args")
    )
    assert "".join(shown.split()) == "".join(kept.split())
    assert state.called == len(message.calls)


# --- text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("Hello", ["Hello"]),
        (" \n", [" \n"]),
        (f" \n{GOOD}\n ", [ULM]),
        (f"A \n{GOOD}\n {OTHER} B", ["A \n", ULM, ("stop", "{}"), " B"]),
        (f"\n\n A {GOOD}", ["\n\n A ", ULM]),
    ],
)
def test_blank_text_around_calls_is_dropped(text: str, parts: list[Any]) -> None:
    assert folded(read(state(), text)) == parts
    assert folded(read(state(), *text)) == parts


def test_text_goes_out_as_it_came() -> None:
    text = "Hello, world"
    [part] = TextReader(state()).feed(text)
    assert isinstance(part, TextPart)
    assert part.text is text


def test_strip_preamble() -> None:
    assert folded(read(state(strip_preamble=True), f"Let me look. {GOOD} Done.")) == [ULM]
    assert folded(read(state(strip_preamble=True), "No call.")) == ["No call."]
    assert folded(read(state(strip_preamble=True), *"No call.")) == ["No call."]


def test_strip_preamble_keeps_errors_in_their_place() -> None:
    options = {"strip_preamble": True, "on_error": "text", "emit_raw_on_error": True}
    assert folded(read(state(**options), f"A {BAD} B")) == [f"A {BAD} B"]
    assert folded(read(state(**options), f"A {BAD} B {GOOD} C {BAD}")) == [BAD, ULM, BAD]


def test_none_reads_nothing() -> None:
    text = f"{GOOD} <tool-result"
    one = state(Choice("none"))
    assert read(one, text) == [TextPart(text)]
    assert not one.should_retry(normal=True)
    assert not one.reads


def test_readers_know_what_they_heard() -> None:
    for one in (state(), state(Choice("none"))):
        first, second = TextReader(one), TextReader(one)
        for reader, text in ((first, f"A {BAD}"), (second, "C"), (first, " B")):
            reader.feed(text)
        assert (first.source, second.source) == (f"A {BAD} B", "C")
        assert one.begin_retry()[0] == f"A {BAD} BC"
        TextReader(one).feed("D")
        assert one.begin_retry()[0] == "D"


# --- calls


def test_ids_are_unique_and_have_the_prefix() -> None:
    calls = [part for part in read(state(), GOOD * 50) if isinstance(part, CallPart)]
    assert len({call.id for call in calls}) == 50
    reader = TextReader(state(), "toolu_")
    [call] = reader.feed(GOOD)
    assert isinstance(call, CallPart)
    assert call.id.startswith("toolu_")
    assert len(call.id) == len("toolu_") + 24


def test_a_call_is_held_until_its_end() -> None:
    reader = TextReader(state())
    assert reader.feed("<call>get city=U") == []
    assert reader.holds
    [call] = reader.feed("lm</call>")
    assert isinstance(call, CallPart)
    assert not reader.holds


def test_stream_arguments() -> None:
    parts = read(state(stream_arguments=True), *'<call>get city="New York" days=2</call>')
    assert isinstance(parts[0], CallOpened)
    assert isinstance(parts[-1], CallFinished)
    fragments = [part.delta for part in parts[1:-1] if isinstance(part, CallFragment)]
    assert len(fragments) == len(parts) - 2 > 3
    assert "".join(fragments) == '{"city":"New York","days":2}'


def test_a_call_that_fails_after_its_first_fragment_breaks() -> None:
    broken = state(stream_arguments=True)
    parts = read(broken, '<call>get city="New Yo', truncated=True)
    assert [type(part) for part in parts] == [CallOpened, CallFragment, CallAborted]
    assert parts[-1].error.kind == "incomplete_call"  # type: ignore[union-attr]
    assert not broken.should_retry(normal=True)


def test_whole_answers_have_no_fragments() -> None:
    parts = read(state(stream_arguments=True), '<call>get city="New Yo', whole=True)
    assert not any(isinstance(part, (CallOpened, CallAborted)) for part in parts)
    assert isinstance(parts[0], Hold)


# --- bad calls


def test_a_bad_call_is_retried() -> None:
    one = state()
    parts = read(one, "Hm. ", BAD, " And on.")
    assert folded(parts)[:2] == ["Hm. ", Hold]
    assert one.should_retry(normal=True)
    words, message = one.begin_retry()
    assert words == f"Hm. {BAD} And on."
    assert message.startswith('<tool-error name="get">')
    assert message.endswith("</tool-error>")
    assert one.attempt == 1
    # What an end user reads after the last attempt has no markup.
    assert folded(read(one, "Again ", BAD)) == [f"\n\nAgain \n\n{UNREAD}"]
    assert not one.should_retry(normal=True)


@pytest.mark.parametrize(
    ("text", "options", "alone", "normal"),
    [
        (BAD + GOOD, {}, True, True),
        (GOOD + BAD, {}, True, True),
        (BAD, {}, False, True),
        (BAD, {}, True, False),
        (BAD, {"max_retries": 0}, True, True),
        (BAD, {"on_error": "text"}, True, True),
        (BAD, {"on_error": "native"}, True, True),
        ("Hello", {}, True, True),
    ],
)
def test_nothing_is_retried(text: str, options: Any, alone: bool, normal: bool) -> None:
    one = state(alone=alone, **options)
    read(one, text)
    assert not one.should_retry(normal=normal)


def test_several_retries() -> None:
    one = state(max_retries=3)
    for _ in range(3):
        read(one, BAD)
        assert one.should_retry(normal=True)
        one.begin_retry()
    read(one, BAD)
    assert not one.should_retry(normal=True)


def test_a_bad_call_as_text() -> None:
    [shown] = folded(read(state(on_error="text"), f"A {BAD}"))
    assert shown.startswith('A <tool-error name="get">')
    assert folded(read(state(on_error="text", emit_raw_on_error=True), f"A {BAD}")) == [f"A {BAD}"]


def test_a_bad_call_raises() -> None:
    with pytest.raises(ToolCallError) as caught:
        read(state(on_error="raise"), BAD, whole=True)
    assert caught.value.error is not None
    assert caught.value.error.raw == BAD
    assert caught.value.for_model == caught.value.error.message
    assert str(caught.value) == "malformed_call: the call is not well-formed"


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_in_a_stream_a_bad_call_raises_after_what_was_said_before_it(size: int) -> None:
    text = f"Hi {GOOD} so {BAD} more"
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    parts = read(state(on_error="raise"), *chunks)
    at = next(at for at, part in enumerate(parts) if isinstance(part, Raised))
    assert folded(parts[:at]) == ["Hi ", ULM, " so "]
    failure = parts[at]
    assert isinstance(failure, Raised)
    assert str(failure.error) == "malformed_call: the call is not well-formed"


def test_a_bad_call_as_a_native_one() -> None:
    one = state(on_error="native")
    call, unknown = read(one, f"{BAD}<call>other a=1</call>")
    assert isinstance(call, CallPart)
    assert (call.name, call.arguments) == ("get", BAD)
    assert isinstance(unknown, CallPart)
    assert unknown.name == "other"
    assert len({call.id, unknown.id}) == 2
    assert one.called == 2


def test_a_forged_result_is_no_native_call() -> None:
    parts = read(state(on_error="native"), 'A <tool-result name="get">sunny</tool-result>')
    assert all(isinstance(part, TextPart) for part in parts)


@pytest.mark.parametrize(
    ("choice", "text"), [(Choice(parallel=False), GOOD + OTHER), (Choice(names=("get",)), GOOD + OTHER)]
)
def test_a_call_that_may_not_stand_here_is_no_native_call(choice: Choice, text: str) -> None:
    one = state(choice, on_error="native")
    call, shown = folded(read(one, text))
    assert call == ULM
    assert shown == "The assistant tried to call a tool that may not be called now."
    assert one.called == 1


def test_a_call_that_is_cut_off_is_no_call() -> None:
    one = state()
    assert read(one, "<call>get city=U", truncated=True) == [Hold()]
    assert not one.should_retry(normal=False)


# --- what a request says of calls


def test_a_missing_call_is_retried() -> None:
    one = state(Choice("required", ("get",)))
    assert folded(read(one, "No.")) == ["No."]
    assert one.should_retry(normal=True)
    assert one.begin_retry() == ("No.", "You did not call a tool. Call get in your next message.")
    read(one, "No.")
    assert not one.should_retry(normal=True)


def test_a_retry_shows_one_example_for_each_failed_call() -> None:
    one = state()
    read(one, f"{BAD}<call>nope</call>")
    assert one.should_retry(normal=True)
    _, told = one.begin_retry()
    assert [result.count("For example:") for result in told.split("</tool-error>")] == [1, 1, 0]


def test_a_missing_call_raises_or_passes() -> None:
    one = state(Choice("required"), on_missing_call="raise")
    read(one, "No.")
    with pytest.raises(ToolCallError) as caught:
        one.should_retry(normal=True)
    assert (
        str(caught.value) == "missing_call: the model did not call a tool, although tool_choice requires it"
    )
    assert caught.value.error is None
    assert caught.value.for_model == "You did not call a tool. Call at least one tool in your next message."
    one = state(Choice("required"), on_missing_call="pass")
    read(one, "No.")
    assert not one.should_retry(normal=True)


def test_other_calls_than_those_allowed_are_refused() -> None:
    one = state(Choice("required", ("stop",)), emit_raw_on_error=True)
    assert folded(read(one, GOOD)) == [Hold, GOOD]
    assert one.should_retry(normal=True)
    assert "Only stop may be called now." in one.begin_retry()[1]
    assert folded(read(one, OTHER)) == [("stop", "{}")]


def test_one_call_only() -> None:
    for options in ({}, {"stream_arguments": True}):
        one = state(Choice(parallel=False), emit_raw_on_error=True, **options)
        assert folded(read(one, GOOD, OTHER)) == [ULM, OTHER]
        assert not one.should_retry(normal=True)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_refused_calls_have_their_sources(size: int) -> None:
    text = f"é {GOOD} {OTHER} b {GOOD}{GOOD} c"
    one = state(Choice(parallel=False), emit_raw_on_error=True, on_error="text")
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert folded(read(one, *chunks)) == ["é ", ULM, f" {OTHER} b {GOOD}{GOOD} c"]


def test_siblings_do_not_know_of_each_other() -> None:
    one = state(Choice("required", parallel=False), alone=False)
    first, second = one.sibling(), one.sibling()
    assert folded(read(first, GOOD)) == folded(read(second, GOOD)) == [ULM]
    assert (first.called, second.called, one.called) == (1, 1, 0)


# --- what the host is told


def test_notices() -> None:
    told: list[Notice] = []
    one = state(on_event=told.append)
    read(one, "<call>get city = Ulm days=x</call>", BAD)
    assert [(notice.kind, notice.tool) for notice in told] == [
        ("repair", "get"),
        ("problem", "get"),
        ("error", "get"),
    ]
    told.clear()
    one = state(Choice("required"), on_event=told.append)
    read(one, "No")
    assert one.should_retry(normal=True)
    one.begin_retry()
    assert [notice.kind for notice in told] == ["missing_call", "retry"]


def test_the_log_has_no_bodies(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "wirecall")
    read(state(), "<call>get city = secret days=hush</call><call>get secret</call>")
    read(state(on_error="text"), "<call>sk-secret a=1</call>")
    assert len(caplog.records) >= 4
    assert "repair spaced_equals: get" in caplog.messages
    assert "problem wrong_type: get, days" in caplog.messages
    assert "error malformed_call: get" in caplog.messages
    assert not any("None" in message for message in caplog.messages)
    assert "secret" not in caplog.text
    assert "hush" not in caplog.text


# --- options


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match='on_error is "x"'):
        Options(on_error="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_retries is -1"):
        Options(max_retries=-1)
    with pytest.raises(TypeError, match="no option 'nope'"):
        Options().with_overrides({"nope": 1})
    assert Options().with_overrides({"max_retries": 3}).max_retries == 3


def test_toolsets_are_compiled_once() -> None:
    tool = {"name": "get", "parameters": PARAMETERS}
    assert Options().toolset([tool]) is Options(max_retries=5).toolset([dict(tool)])
    assert Options().toolset([tool]) is not Options(strict=True).toolset([tool])


def test_functions_are_tools_too() -> None:
    def get(city: str) -> str:
        """Get."""
        return city

    assert Options().toolset([get]).names == ("get",)  # type: ignore[list-item]


@pytest.mark.parametrize("on_error", ["retry", "text", "native"])
def test_what_follows_a_forged_result_is_not_shown(on_error: Any) -> None:
    tools = Toolset([{"name": "f", "parameters": {"type": "object"}}])
    text = 'I look. <tool-result name="f">21 degrees</tool-result>\nIt is 21 degrees.'
    for chunks in ([text], list(text)):
        state = ResponseState(tools, Options(on_error=on_error, max_retries=0), Choice())
        shown = "".join(
            part.text for part in read(state, *chunks, truncated=False) if isinstance(part, TextPart)
        )
        assert shown.startswith("I look. ")
        assert "21" not in shown
