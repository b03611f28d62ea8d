"""Which parser reads which format, and whether it reads it correctly: fast but wrong results do not count."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns

from wirecall_bench.peers import Contestant, MissingPackageError, Reader, Stream, WrongResultError, written
from wirecall_bench.workloads import Message, Step, Workload, steps

# Exceptions of other parsers may contain the whole input.
_REASON_CHARS = 300


@dataclass
class Entry:
    """One contestant on one workload."""

    contestant: Contestant
    workload: Workload
    texts: list[str]
    expected: list[Message]
    open_stream: Callable[[], Stream] | None = None
    correct: bool | None = None
    reason: str | None = None
    # The number of completed steps, if the time limit was reached.
    cut: int | None = None
    # Nanoseconds of each step, for each reading of the workload.
    times: list["array[int]"] = field(default_factory=list)
    memory: int | None = None

    @property
    def steps(self) -> Iterator[Step]:
        return steps(self.texts, in_turn=len(self.workload.messages) > 1)


def entries_of(workload: Workload, who: Sequence[Contestant]) -> list[Entry]:
    """All contestants that can take part in this workload."""
    found = []
    for contestant in who:
        texts = written(workload, contestant.reads)
        found.append(
            Entry(contestant, workload, [text for text, _ in texts], [message for _, message in texts])
        )
    return found


def judge(entry: Entry, limit: float) -> None:
    """Determine whether the contestant finds the written calls, and whether it does so in time."""
    if not entry.texts:
        entry.reason = "the work has no call, and this contestant is given nothing else"
        return
    try:
        entry.open_stream = entry.contestant.prepare(entry.workload.tools)
    except MissingPackageError as missing:
        entry.reason = str(missing)
        return
    make = entry.contestant.reader
    if make is None:
        return
    streams = [entry.open_stream() for _ in entry.texts]
    readers = [make() for _ in entry.texts]
    until = perf_counter_ns() + int(limit * 1e9)
    try:
        for done, (index, delta) in enumerate(entry.steps):
            stream = streams[index]
            readers[index].take(stream.finish() if delta is None else stream.feed(delta))
            if perf_counter_ns() > until:
                entry.cut = done + 1
                return
        _compare(entry, readers)
        entry.correct = True
    except WrongResultError as wrong:
        entry.correct, entry.reason = False, str(wrong)
    except Exception as error:  # other parsers can raise anything
        entry.correct, entry.reason = False, f"it raised {type(error).__name__}: {error}"[:_REASON_CHARS]


def _compare(entry: Entry, readers: Sequence[Reader]) -> None:
    for number, (reader, expected) in enumerate(zip(readers, entry.expected, strict=True), start=1):
        found = reader.message()
        place = f" in message {number}" if len(readers) > 1 else ""
        if len(found.calls) != len(expected.calls):
            raise WrongResultError(
                f"{len(found.calls)} calls were found{place}, and {len(expected.calls)} were written"
            )
        for count, (call, right) in enumerate(zip(found.calls, expected.calls, strict=True), start=1):
            if call != right:
                raise WrongResultError(f"call {count}{place} is not the one that was written")
        # Some parsers omit the text between calls.
        if found.text.strip() != expected.text.strip():
            raise WrongResultError(f"the text{place} is not the one that was written")
