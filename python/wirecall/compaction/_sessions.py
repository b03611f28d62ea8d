"""The state of sessions between requests, for the most recently used sessions."""

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wirecall._apis.conversation import Message
from wirecall._apis.values import dict_of
from wirecall._shown import written

log = logging.getLogger("wirecall")

# Conversations under one id (branches, sub-agents, hosts without ids) each have a summary of their own.
_MAX_REMEMBERED = 8


class Remembered(NamedTuple):
    """A summary, and how many of the first messages it replaces, with their digest."""

    length: int
    digest: bytes
    text: str


class Job(NamedTuple):
    """A summary that is being made for the messages of a request; `fed` is `Session.fed` before the check.
    `done` has a result once the job has ended, with or without a summary."""

    fed: int | None
    messages: tuple[Message, ...]
    done: "Future[None]"


@dataclass
class Session:
    """The state of one session. Hold `lock` to read or change it, and never wait meanwhile.

    Attributes:
        fed: Input tokens of the last answer; None if they are unknown, or a check has used them.
        skips: The next check does not use `fed`, which stays.
        failures: The number of failures in a row.
        attempts: The number of summaries that were made or tried.
        remembered: The most recent summaries.
        version: Changes when a job begins, and when its summary is remembered.
    """

    id: str | None
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    fed: int | None = None
    skips: bool = False
    failures: int = 0
    attempts: int = 0
    remembered: list[Remembered] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    version: int = 0

    def check(self, messages: Sequence[Message], *, over: bool) -> Job | None:
        """Counts a check. If there are too many tokens, it returns a job, which the caller must `end`."""
        fed = self.fed
        if self.skips:
            self.skips = False
        else:
            self.fed = None
        if not over:
            return None
        job = Job(fed, tuple(messages), Future())
        self.jobs.append(job)
        self.version += 1
        return job

    def end(self, job: Job, *, cancelled: bool) -> None:
        """Ends a job; if it was cancelled, its check is undone."""
        self.jobs = [other for other in self.jobs if other is not job]
        if cancelled and self.fed is None:
            self.fed = job.fed

    def add_attempt(self, *, failed: bool) -> None:
        self.skips = True
        self.attempts += 1
        self.failures = self.failures + 1 if failed else 0

    def remember(self, one: Remembered) -> None:
        kept = [old for old in self.remembered if old.digest != one.digest]
        self.remembered = [*kept, one][-_MAX_REMEMBERED:]
        self.version += 1


class Sessions:
    """Sessions by id. If there are more than `most`, the least recently used one is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._all: OrderedDict[str | None, Session] = OrderedDict()
        self._warned = False

    def of(self, id: object) -> Session:
        """The session with this id, a non-blank str. All other ids share the default session."""
        key = self._key(id)
        with self._lock:
            session = self._all.setdefault(key, Session(key))
            self._all.move_to_end(key)
            if len(self._all) > self._most:
                self._all.popitem(last=False)
            return session

    def forget(self, id: object) -> None:
        key = self._key(id)
        with self._lock:
            self._all.pop(key, None)

    def _key(self, id: object) -> str | None:
        if id is None:
            return None
        if isinstance(id, str) and id.strip():
            return id
        with self._lock:
            warns, self._warned = not self._warned, True
        if warns:
            log.warning("A session id must be a non-empty str, not %r: the default is used", id)
        return None


def summary_for(remembered: Sequence[Remembered], messages: Sequence[Message]) -> Remembered | None:
    """The summary that replaces the most of these messages."""
    fitting = {one.digest: one for one in remembered if one.length < len(messages)}
    counts = sorted({one.length for one in fitting.values()})
    found = None
    for digest in digests(messages, counts):
        found = fitting.get(digest, found)
    return found


def job_for(jobs: Sequence[Job], messages: Sequence[Message]) -> Job | None:
    """A job whose messages these begin with."""
    for job in jobs:
        pairs = zip(messages, job.messages, strict=False)
        if len(messages) >= len(job.messages) and all(
            one is other or _bytes(one) == _bytes(other) for one, other in pairs
        ):
            return job
    return None


def digests(messages: Sequence[Message], counts: Sequence[int]) -> Iterator[bytes]:
    """Digests of the first messages, for each of `counts`, which ascend."""
    # Slow to load, and rarely needed.
    from hashlib import sha256

    hashed = sha256()
    for start, end in zip([0, *counts], counts, strict=False):
        for message in messages[start:end]:
            hashed.update(_bytes(message) + b"\n")
        yield hashed.digest()


def _bytes(message: Message) -> bytes:
    given = dict_of(message)
    try:
        # A store may return keys in another order.
        return json.dumps(given, sort_keys=True, default=_plain).encode()
    except (TypeError, ValueError, RecursionError):
        return written(given).encode(errors="backslashreplace")


def _plain(value: object) -> Any:
    return dict(dict_of(value)) or repr(value)
