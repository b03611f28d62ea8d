"""The stream parser: identity of text, ids, the end, lone surrogates."""

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wirecall
from law import LAW
from wirecall import ArgumentsDelta, CallEnd, CallError, CallStart, Event, Text

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array"}},
}
TOOLS = wirecall.Toolset([("get", PARAMETERS)])
HIGH, LOW, JOINED, LOST = "\ud83d", "\ude00", "\U0001f600", "\ufffd"


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def ids_of(events: list[Event]) -> list[str | None]:
    return [event.id for event in events if isinstance(event, (CallStart, CallEnd, CallError))]


def test_plain_text_is_not_copied() -> None:
    parser = TOOLS.parser()
    for delta in ["Hello", " ", "w\u00f6rld " * 100, "\U0001f600", "a > b </call>"]:
        [event] = parser.feed(delta)
        assert isinstance(event, Text)
        assert event.text is delta


def test_a_plain_delta_is_not_copied() -> None:
    parser = TOOLS.parser()
    parser.feed('<call>get city="New')
    delta = " York and more of it" * 10
    [event] = parser.feed(delta)
    assert isinstance(event, ArgumentsDelta)
    assert event.delta is delta


def test_events_of_earlier_feeds_do_not_change() -> None:
    parser = TOOLS.parser()
    texts = [f"{number} " for number in range(100)]
    events = [event for text in texts for event in parser.feed(text)]
    assert events == [Text(text) for text in texts]


def test_lists_of_events_belong_to_the_caller() -> None:
    parser = TOOLS.parser()
    first = parser.feed("a")
    kept = list(first)
    first.append(Text("x"))
    second = parser.feed("b")
    assert second == [Text("b")]
    assert second is not first
    assert kept == [Text("a")]


def test_events_can_be_fed_into_a_list() -> None:
    text = 'Let me see.\n<call>get city="New York" days=2</call> and <call>no a=1</call>' + HIGH
    for size in (1, 4, len(text)):
        parser, other = (TOOLS.parser(ids=map("c{}".format, itertools.count()).__next__) for _ in range(2))
        before = Text("before")
        events: list[Event] = [before]
        fed: list[Event] = []
        for chunk in (text[at : at + size] for at in range(0, len(text), size)):
            assert other.feed_into(chunk, events) is None
            fed += parser.feed(chunk)
        assert events[0] is before
        assert events[1:] == fed
        assert other.finish() == parser.finish() == [Text(LOST)]


def test_what_is_fed_into_a_list_is_not_changed_by_later_feeds() -> None:
    parser = TOOLS.parser()
    events: list[Event] = []
    assert [event.text for event in parser.feed("a ")] == ["a "]
    parser.feed_into("b ", events)
    assert parser.feed("c ") == [Text("c ")]
    parser.feed_into("d ", events)
    assert events == [Text("b "), Text("d ")]


def test_a_list_is_unchanged_if_ids_raise() -> None:
    parser = TOOLS.parser(ids=lambda: 5)  # type: ignore[arg-type, return-value]
    events: list[Event] = []
    with pytest.raises(TypeError, match="the ids callable must return a str"):
        parser.feed_into("before <call>get</call> after", events)
    assert events == []
    with pytest.raises(RuntimeError, match="finished"):
        parser.feed_into("x", events)


@pytest.mark.parametrize("given", [(), None, {}])
def test_events_are_fed_into_lists_only(given: Any) -> None:
    with pytest.raises(TypeError):
        TOOLS.parser().feed_into("x", given)


def test_nothing_to_tell() -> None:
    parser = TOOLS.parser()
    assert parser.feed("") == []
    assert parser.feed("<call>") == []
    assert parser.feed("") == []
    assert parser.feed("get") == []
    assert parser.finish() == [Text("<call>get")]


def test_the_whole_story() -> None:
    parser = TOOLS.parser(ids=lambda: "id")
    assert parser.feed("Let me see.\n<call>get ci") == [Text("Let me see.\n")]
    assert parser.feed('ty="New ')[0] == CallStart(0, "id", "get")
    assert "".join(e.delta for e in parser.feed("York") if isinstance(e, ArgumentsDelta)).endswith("York")
    end = parser.feed('"</call>')[-1]
    assert end == CallEnd(0, "id", "get", '{"city":"New York"}', 12, 44)
    assert parser.finish() == []


def test_ids_are_unique_and_shared_by_the_events_of_a_call() -> None:
    parser = TOOLS.parser()
    events = [*parser.feed("<call>get</call><call>get days=1 days=2</call>" * 50), *parser.finish()]
    ids = ids_of(events)
    assert ids[0::2] == ids[1::2]
    assert len(set(ids)) == 100


def test_given_ids_are_asked_for_once_for_each_start() -> None:
    numbers = itertools.count()
    parser = TOOLS.parser(ids=lambda: f"c{next(numbers)}")
    text = "<call>get</call><call>no a=1</call><call>{}</call><call>get days=1 days=2</call><tool-result"
    ids = ids_of([*parser.feed(text), *parser.finish()])
    assert ids == ["c0", "c0", None, None, "c1", "c1", None]
    assert next(numbers) == 2


def test_given_ids_may_be_any_str() -> None:
    class Id(str):
        __slots__ = ()

    for id in ("", "\U0001f600", "x" * 1000, Id("sub")):
        parser = TOOLS.parser(ids=lambda id=id: id)
        assert ids_of(parser.feed("<call>get</call>")) == [id, id]


@pytest.mark.parametrize("given", [5, None, b"x", ["x"]])
def test_ids_that_are_no_str(given: Any) -> None:
    parser = TOOLS.parser(ids=lambda: given)
    with pytest.raises(TypeError, match="the ids callable must return a str"):
        parser.feed("<call>get city=")
    with pytest.raises(RuntimeError, match="finished"):
        parser.feed("x")


def test_ids_that_no_text_can_hold() -> None:
    parser = TOOLS.parser(ids=lambda: f"call_{HIGH}")
    with pytest.raises(ValueError, match="returned a str with a lone surrogate"):
        parser.feed("<call>get city=")
    with pytest.raises(RuntimeError, match="finished"):
        parser.feed("x")


def test_ids_that_raise() -> None:
    def ids() -> str:
        raise LookupError("none left")

    parser = TOOLS.parser(ids=ids)
    with pytest.raises(LookupError, match="none left"):
        parser.feed("before <call>get</call> after")
    with pytest.raises(RuntimeError, match="finished"):
        parser.finish()
    parser.reset()
    assert parser.feed("text") == [Text("text")]


@pytest.mark.parametrize("use", ["feed", "finish", "reset"])
def test_ids_that_use_the_parser(use: str) -> None:
    def ids() -> str:
        {"feed": lambda: parser.feed("x"), "finish": parser.finish, "reset": parser.reset}[use]()
        return "id"

    parser = TOOLS.parser(ids=ids)
    with pytest.raises(RuntimeError, match="in use"):
        parser.feed("<call>get city=")


def test_ids_may_use_another_parser() -> None:
    def ids() -> str:
        [event] = TOOLS.parser().feed("inner")
        assert isinstance(event, Text)
        return event.text

    assert ids_of(TOOLS.parser(ids=ids).feed("<call>get</call>")) == ["inner", "inner"]


@pytest.mark.parametrize("given", [5, "x", object()])
def test_ids_must_be_callable(given: Any) -> None:
    with pytest.raises(TypeError, match="ids must be a callable"):
        TOOLS.parser(ids=given)


def test_a_finished_parser_raises() -> None:
    parser = TOOLS.parser()
    parser.finish()
    for use in (lambda: parser.feed("x"), lambda: parser.feed(""), parser.finish):
        with pytest.raises(RuntimeError, match=r"finished; call reset\(\)"):
            use()


BEGUN = ["text", "<call>get", '<call>get city="x', "<think>", "<tool-result", HIGH]


@pytest.mark.parametrize("before", BEGUN)
@pytest.mark.parametrize("finished", [False, True])
def test_reset(before: str, finished: bool) -> None:
    parser = TOOLS.parser(ids=lambda: "id")
    parser.feed(before)
    if finished:
        parser.finish()
    parser.reset()
    wanted = [CallStart(0, "id", "get"), ArgumentsDelta(0, "{}"), CallEnd(0, "id", "get", "{}", 0, 16)]
    assert parser.feed("<call>get</call>") == wanted


def test_reset_keeps_in_reasoning() -> None:
    parser = TOOLS.parser(in_reasoning=True)
    for _ in range(2):
        assert text_of(parser.feed("<call>get</call>") + parser.finish()) == "<call>get</call>"
        parser.reset()


def test_truncated() -> None:
    kinds: dict[bool | None, str] = {}
    for truncated in (None, True, False):
        parser = TOOLS.parser()
        parser.feed("<call>get days=1 ")
        last = parser.finish(truncated=truncated)[-1]
        kinds[truncated] = last.kind if isinstance(last, CallError) else last.type
    assert kinds == {None: "incomplete_call", True: "incomplete_call", False: "call_end"}


@pytest.mark.parametrize("given", [b"x", None, 5, ["x"], bytearray(b"x")])
def test_text_must_be_str(given: Any) -> None:
    parser = TOOLS.parser()
    with pytest.raises(TypeError):
        parser.feed(given)
    assert parser.feed("still usable") == [Text("still usable")]


def test_subclasses_of_str() -> None:
    class Sub(str):
        __slots__ = ()

    assert text_of(TOOLS.parser().feed(Sub("text"))) == "text"
    assert TOOLS.parse(Sub("<call>get</call>")).calls


def test_a_parser_is_made_by_a_toolset() -> None:
    with pytest.raises(TypeError):
        wirecall.Parser()


# Lone surrogates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([HIGH, LOW], JOINED),
        (["a" + HIGH, LOW + "b"], f"a{JOINED}b"),
        ([HIGH, "", LOW], JOINED),
        ([HIGH], LOST),
        ([LOW], LOST),
        ([HIGH, "a", LOW], f"{LOST}a{LOST}"),
        ([HIGH, HIGH, LOW], LOST + JOINED),
        ([LOW, HIGH], LOST * 2),
        ([HIGH + LOW], JOINED),
        ([f"a{LOW}b"], f"a{LOST}b"),
        ([HIGH, JOINED], LOST + JOINED),
    ],
)
def test_halves_in_adjacent_chunks_join(chunks: list[str], text: str) -> None:
    parser = TOOLS.parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    assert text_of(events + parser.finish()) == text
    assert TOOLS.parse("".join(chunks)).text == text
    assert [message.text for message in TOOLS.parse_many(["".join(chunks)])] == [text]


def test_surrogates_inside_a_call() -> None:
    message = f'{JOINED}<call>get city="{HIGH}|{LOW}|{HIGH}{LOW}"</call>'
    for at in range(len(message)):
        parser = TOOLS.parser()
        events = [*parser.feed(message[:at]), *parser.feed(message[at:]), *parser.finish()]
        [end] = [event for event in events if isinstance(event, CallEnd)]
        assert end.args == {"city": f"{LOST}|{LOST}|{JOINED}"}
        # The joined pair is one character, in offsets too.
        assert (end.start, end.end) == (1, len(message) - 1)


# The first law -----------------------------------------------------------------------------------

# fmt: off
ALPHABET = (
    "<call>", "</call>", "get", " ", "city", "=", '"', "'", "days", "5", ",", "\n", "{", "}", "[", "]", "x",
    "<", "\\", "\\n", "<think>", "</think>", "<tool-result", HIGH, LOW, JOINED, "tags", ":", "true", "[0]",
)
# fmt: on
PIECES = st.lists(st.sampled_from(ALPHABET), max_size=40)
# Hypothesis takes ten times as long as the laws of Rust.


def cut(message: str, seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    at = 0
    while at < len(message):
        end = at + rng.randint(1, 6)
        yield message[at:end]
        at = end


def rest_of(event: Event) -> Iterator[Any]:
    return (getattr(event, name) for name in event.__match_args__[3:])


def told(events: list[Event]) -> list[tuple[Any, ...]]:
    """Events with joined texts and deltas, and without ids."""
    joined: list[tuple[Any, ...]] = []
    for event in events:
        match event:
            case Text(text):
                if joined and joined[-1][0] == "text":
                    joined[-1] = ("text", joined[-1][1] + text)
                else:
                    joined.append(("text", text))
            case ArgumentsDelta(index, delta):
                if joined[-1][0] == "delta":
                    joined[-1] = ("delta", index, joined[-1][2] + delta)
                else:
                    joined.append(("delta", index, delta))
            case CallStart(index, _, name):
                joined.append(("start", index, name))
            case CallEnd(index, _, name):
                joined.append(("end", index, name, *rest_of(event)))
            case CallError(index, _, name):
                # What came out of a call before its error depends on the chunks.
                if joined and joined[-1][0] == "delta" and index is not None:
                    joined.pop()
                joined.append(("error", index, name, *rest_of(event)))
    return joined


@pytest.mark.laws
@LAW
@given(PIECES, st.integers(0, 1000), st.booleans(), st.sampled_from([None, True, False]))
def test_chunking_does_not_matter(pieces: list[str], seed: int, strict: bool, truncated: bool | None) -> None:
    tools = wirecall.Toolset([("get", PARAMETERS)], strict=strict)
    message = "".join(pieces)
    whole = tools.parser()
    wanted = told([*whole.feed(message), *whole.finish(truncated=truncated)])
    parser = tools.parser()
    events = [event for chunk in cut(message, seed) for event in parser.feed(chunk)]
    assert told(events + parser.finish(truncated=truncated)) == wanted


@pytest.mark.laws
@LAW
@given(PIECES, st.sampled_from([None, True, False]))
def test_nothing_is_lost_and_arguments_are_json(pieces: list[str], truncated: bool | None) -> None:
    message = "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    found = ""
    for item in TOOLS.parse(message, truncated=truncated).items:
        match item:
            case Text(text):
                found += text
            case CallEnd():
                assert len(found) == item.start
                assert isinstance(json.loads(item.arguments), dict)
                found += message[item.start : item.end]
            case CallError():
                assert len(found) == item.start
                assert item.raw == message[item.start : item.end]
                found += item.raw
    assert found == message
