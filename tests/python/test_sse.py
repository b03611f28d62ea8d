"""Server-sent events: nothing is lost, and cuts have no influence."""

import json
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirecall._clients import sse

LINE_ENDS = [b"\n", b"\r\n", b"\r"]
# Bytes that mean something, and others, so that all kinds of streams and half streams come up.
bits = st.sampled_from(
    [
        *LINE_ENDS,
        b"data:",
        b"data: ",
        b"event: ",
        b": ping",
        b"id: 7",
        b"{",
        b'"\xf0\x9f\x8e\x88"',
        b"\xf0\x9f",
        b" ",
    ]
)
streams = st.lists(bits | st.binary(max_size=3), max_size=25).map(b"".join)
lines = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)


def read(chunks: list[bytes]) -> list[sse.Event]:
    parser = sse.Parser()
    return feed_all(parser, chunks) + parser.finish()


def feed_all(parser: sse.Parser, chunks: Iterable[bytes]) -> list[sse.Event]:
    return [event for chunk in chunks for event in parser.feed(chunk)]


def cut(data: st.DataObject, stream: bytes) -> list[bytes]:
    places = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    return [stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)]


@given(streams, st.data())
def test_what_comes_out_is_what_came_in_however_it_was_cut(stream: bytes, data: st.DataObject) -> None:
    events = read([stream])
    assert b"".join(event.raw for event in events) == stream
    assert read(cut(data, stream)) == events
    assert read([bytes([byte]) for byte in stream]) == events


@given(
    st.lists(
        st.tuples(st.none() | lines, st.lists(lines, max_size=3), st.sampled_from(LINE_ENDS)), max_size=5
    ),
    st.booleans(),
    st.data(),
)
def test_fields_are_read_with_every_line_end(
    written: list[tuple[str | None, list[str], bytes]], bom: bool, data: st.DataObject
) -> None:
    stream = b""
    for name, texts, end in written:
        fields = [b": a comment"]
        fields += [] if name is None else [b"event: " + name.encode()]
        fields += [b"data: " + text.encode() for text in texts]
        stream += end.join(fields) + end + end
    if bom:
        stream = b"\xef\xbb\xbf" + stream
    events = read(cut(data, stream))
    if not written and not bom:
        assert events == []
        return
    expected = [
        (None if name is None else name.encode(), "\n".join(texts).encode() if texts else None)
        for name, texts, _ in written
    ]
    read_out = [(event.name, event.data) for event in events]
    assert read_out == (expected or [(None, None)])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_event_comes_with_the_byte_that_ends_it(end: bytes) -> None:
    parser = sse.Parser()
    stream = b"data: 1" + end + end
    assert parser.feed(stream[:-1]) == []
    assert [event.raw for event in parser.feed(stream[-1:])] == [stream]


def test_after_a_bare_carriage_return_the_next_byte_decides() -> None:
    parser = sse.Parser()
    assert parser.feed(b"data: 1\r\r") == []
    assert [event.raw for event in parser.feed(b"d")] == [b"data: 1\r\r"]
    parser = sse.Parser()
    assert parser.feed(b"data: 1\n\r") == []
    assert [event.raw for event in parser.feed(b"\nd")] == [b"data: 1\n\r\n"]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_event_beyond_the_limit_is_an_error_whole_or_in_pieces(size: int) -> None:
    stream = b"data: 1\n\n" + b"data: " + b"x" * 200 + b"\n\n"
    for limit in (207, 208):
        parser = sse.Parser(limit)
        chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
        if limit == 208:
            assert len(feed_all(parser, chunks)) == 2
        else:
            with pytest.raises(sse.TooLargeError, match="longer than 207 bytes"):
                feed_all(parser, chunks)


def test_an_event_that_never_ends_takes_no_more_memory_than_the_limit() -> None:
    parser = sse.Parser(1 << 16)
    tracemalloc.start()
    try:
        with pytest.raises(sse.TooLargeError):
            feed_all(parser, (b"x" * 1024 for _ in range(1 << 12)))
        assert tracemalloc.get_traced_memory()[1] < 1 << 19
    finally:
        tracemalloc.stop()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4), st.none() | st.just(b"message_start"))
def test_a_written_event_is_read_back(value: dict[str, object], name: bytes | None) -> None:
    (event,) = read([sse.format_event(value, name=name)])
    assert event.name == name
    assert event.data is not None
    assert sse.load(event.data) == value


@pytest.mark.parametrize(
    "text", [b"", b"[1]", b'"a"', b"{", b'{"a":"\xff"}', b"[" * 100_000, b'{"a":' * 100_000]
)
def test_what_is_no_object_is_none(text: bytes) -> None:
    assert sse.load(text) is None


def test_half_a_surrogate_pair_is_escaped() -> None:
    assert json.loads(sse.dump({"a": "\ud83c", "b": "é"})) == {"a": "\ud83c", "b": "é"}


def test_events_that_can_be_read_can_be_written() -> None:
    """However deep they are: writing needs no more of Python's stack than reading."""
    texts = [b'{"a":' + b"[" * levels + b"]" * levels + b"}" for levels in range(600, 1000)]
    read = [(text, value) for text in texts if (value := sse.load(text)) is not None]
    assert read
    assert all(sse.dump(value) == text for text, value in read)
