"""Toolsets are shared by threads, a parser belongs to one at a time, parse_many runs without the GIL."""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from wirecall import CallEnd, CallError, CallStart, Event, Message, Text, Toolset

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array"}},
    "required": ["city"],
}
TOOLS = Toolset([("get", PARAMETERS)], validate="error")
TEXTS = [
    f"{number} <call>get city='New York {number}' days={number}</call> "
    f"<call>no a={number}</call><call>get days={number} tags=[{number}]</call><call>get city=x {number}"
    for number in range(200)
]
THREADS = 16


def without_ids(message: Message) -> list[Any]:
    return [
        tuple(getattr(item, name) for name in item.__match_args__ if name != "id") for item in message.items
    ]


def in_threads(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """All start at the same time."""
    barrier = threading.Barrier(count)

    def run(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@pytest.fixture(autouse=True)
def _eager_switches() -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_one_toolset_in_many_threads() -> None:
    def work(number: int) -> Any:
        found = []
        for text in TEXTS[number:] + TEXTS[:number]:
            parser = TOOLS.parser()
            events = [event for char in text for event in parser.feed(char)] + parser.finish()
            ends = [(event.name, event.arguments) for event in events if isinstance(event, CallEnd)]
            written = TOOLS.encode("get", {"city": text, "days": len(text)})
            found.append((ends, without_ids(TOOLS.parse(text)), written, TOOLS.segments(text)))
        return found[-number:] + found[:-number] if number else found

    alone = work(0)
    assert all(found == alone for found in in_threads(work))


def test_toolsets_are_made_in_many_threads() -> None:
    made = in_threads(lambda number: Toolset([(f"f{number}", PARAMETERS)], validate="error").manual())
    assert made == [Toolset([(f"f{number}", PARAMETERS)]).manual() for number in range(THREADS)]


def test_a_message_in_many_threads() -> None:
    for text in TEXTS:
        message = TOOLS.parse(text)
        found = in_threads(lambda _, message=message: (message.items, message.calls, message.text), 4)
        assert all(items is message.items for items, _, _ in found)


def test_an_event_in_many_threads() -> None:
    [end] = TOOLS.parse("<call>get city=x</call>").calls
    found = in_threads(lambda _: [(end.arguments, end.args, hash(end), repr(end)) for _ in range(100)])
    assert all(each == found[0] for each in found)


def test_a_parser_is_handed_from_thread_to_thread() -> None:
    text = TEXTS[7]
    parser = TOOLS.parser()
    events: list[Event] = []
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for number, char in enumerate(text):
            events += (one, other)[number % 2].submit(parser.feed, char).result()
    events += parser.finish()
    assert "".join(event.text for event in events if isinstance(event, Text)) == TOOLS.parse(text).text
    kinds = [(event.type, event.start) for event in events if isinstance(event, (CallEnd, CallError))]
    assert kinds == [
        (item.type, item.start) for item in TOOLS.parse(text).items if not isinstance(item, Text)
    ]


@pytest.mark.parametrize("use", ["feed", "finish", "reset"])
def test_a_parser_in_two_threads_at_once(use: str) -> None:
    """Deterministic: the first thread stays inside `feed`, in `ids`, until the second has tried."""
    inside, tried = threading.Event(), threading.Event()

    def ids() -> str:
        inside.set()
        assert tried.wait(10)
        return "id"

    parser = TOOLS.parser(ids=ids)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(parser.feed, "before <call>get city=x</call> after")
        assert inside.wait(10)
        with pytest.raises(RuntimeError, match="in use, by another thread"):
            {"feed": lambda: parser.feed("x"), "finish": parser.finish, "reset": parser.reset}[use]()
        tried.set()
        events = first.result(10)
    # The first continues as if nothing had happened.
    assert [event.type for event in events if event.type != "arguments_delta"] == [
        "text",
        "call_start",
        "call_end",
        "text",
    ]
    assert parser.finish() == []


def test_many_threads_at_one_parser_raise_or_wait() -> None:
    parser = TOOLS.parser()

    def work(_: int) -> tuple[int, int]:
        fed = refused = 0
        for _ in range(2000):
            try:
                parser.feed("word ")
                fed += 1
            except RuntimeError:
                refused += 1
        return fed, refused

    counts = in_threads(work)
    assert all(fed + refused == 2000 for fed, refused in counts)
    parser.finish()


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 64, None])
def test_parse_many_equals_parse(threads: int | None) -> None:
    for texts in (TEXTS, TEXTS[:1], TEXTS[:17], []):
        messages = TOOLS.parse_many(texts, threads=threads)
        assert [without_ids(message) for message in messages] == [
            without_ids(TOOLS.parse(text)) for text in texts
        ]


def test_parse_many_with_options() -> None:
    for options in ({"truncated": False}, {"truncated": True}, {"in_reasoning": True}):
        for threads in (1, 4):
            messages = TOOLS.parse_many(TEXTS, threads=threads, **options)
            wanted = [without_ids(TOOLS.parse(text, **options)) for text in TEXTS]
            assert [without_ids(message) for message in messages] == wanted


@pytest.mark.parametrize("threads", [1, 2])
def test_parse_many_releases_the_gil(threads: int) -> None:
    """While it reads, another thread of Python makes progress, which it could not if the GIL were held.

    A busy machine may have no core for that thread for a while, so one success in several attempts is enough:
    with the GIL held there would be none.
    """
    texts = ["<call>get city='" + "x y <" * 100_000 + "'</call>"] * 200
    # Threads give the GIL away on their own only after this long, so progress comes from its release.
    sys.setswitchinterval(60)
    assert any(progress_while_reading(texts, threads) for _ in range(8))


def progress_while_reading(texts: list[str], threads: int) -> bool:
    """Whether another thread took a step in the middle of the time that reading took."""
    steps: list[float] = []
    started, done = threading.Event(), threading.Event()

    def progress() -> None:
        started.set()
        while not done.wait(0.0005):
            steps.append(time.perf_counter())

    thread = threading.Thread(target=progress)
    thread.start()
    assert started.wait(10)
    begin = time.perf_counter()
    messages = TOOLS.parse_many(texts, threads=threads)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert len(messages) == len(texts)
    middle = (begin + end) / 2
    quarter = (end - begin) / 4
    return any(abs(step - middle) < quarter for step in steps)


def test_starts_and_ends_pair_up_under_load() -> None:
    def work(number: int) -> bool:
        parser = TOOLS.parser()
        open_id = None
        for text in TEXTS:
            for char in text:
                for event in parser.feed(char):
                    if isinstance(event, CallStart):
                        assert open_id is None
                        open_id = event.id
                    elif isinstance(event, (CallEnd, CallError)):
                        assert event.id == open_id
                        open_id = None
        parser.finish()
        return True

    assert all(in_threads(work, 8))


@pytest.mark.parametrize(
    ("threads", "error", "match"),
    [
        (0, ValueError, "threads is 0; it must be at least 1"),
        (-1, ValueError, "threads is -1; it must be at least 1"),
        (2**70, ValueError, "threads is 1180591620717411303424; it is out of range"),
        (-(2**70), ValueError, "it is out of range"),
        ("2", TypeError, "int"),
        (1.5, TypeError, "int"),
    ],
)
def test_threads_that_are_no_number(threads: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        TOOLS.parse_many(TEXTS, threads=threads)
