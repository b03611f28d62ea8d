"""Compresses requests: a summary replaces older turns. It is made once, and remembered in its session."""

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wirecall._apis.base import Api
from wirecall._apis.conversation import Message, MessageFormat
from wirecall._apis.registry import apis
from wirecall._apis.values import dict_of, listed
from wirecall._shown import written
from wirecall.compaction._compression import Compress, Compressed, ContextNotice, Kind
from wirecall.compaction._counting import Count, estimate, texts, tokens_of
from wirecall.compaction._host import AsyncFunctionError, Host
from wirecall.compaction._pruning import CLEARED, EXPLANATION, Prune, pruned
from wirecall.compaction._sessions import Remembered, Session, digests, job_for, summary_for
from wirecall.compaction._summary import INTRODUCTION, SummaryLimit, cleaned, question, wrapped
from wirecall.compaction._truncation import Truncate, truncated
from wirecall.compaction._turns import Conversation, joined, turns_of

log = logging.getLogger("wirecall")

# This many failures in a row open the breaker.
MAX_FAILURES = 3
# From this summary on, a host that does not store summaries is warned.
_WARN_AFTER = 3
# The largest scale applied to a summary's limit. A larger difference from the provider's count has another
# cause, such as tools that are not in the request.
_MAX_SCALE = 4
# Seconds that a request waits for the summary that another request makes, before it makes its own.
MAX_WAIT = 120.0
# Replaces messages that could not be summarised.
NOTICE = (
    "[Earlier messages of this conversation are left out here, because they did not fit and could not be "
    "summarised. Continue from what follows.]"
)


class Trimmed(NamedTuple):
    """Messages, and the index that each had in the request; -1 for new ones."""

    messages: list[Message]
    origins: list[int]


class Trim(NamedTuple):
    """Truncation and pruning, which are applied to every request first."""

    truncate: Truncate | None
    prune: Sequence[Prune]

    def apply(
        self, format: MessageFormat, given: Sequence[Message], remembered: Remembered | None = None
    ) -> Trimmed:
        """Truncates and prunes messages, after a remembered summary has replaced the first of them."""
        start = 0 if remembered is None else remembered.length
        messages = list(given[start:])
        origins = list(range(start, len(given)))
        if remembered is not None:
            front = [*system_of(format, given[:start]), format.user(wrapped(remembered.text))]
            messages, origins = [*front, *messages], [*([-1] * len(front)), *origins]
        if self.truncate is not None:
            messages = truncated(format, messages, self.truncate)
        for rule in self.prune:
            left = pruned(format, messages, rule)
            origins = [origin for origin, message in zip(origins, left, strict=True) if message is not None]
            messages = [message for message in left if message is not None]
        return Trimmed(messages, origins)


class _Task(NamedTuple):
    """A request to compress."""

    format: MessageFormat
    given: Sequence[Message]
    session: Session
    host: Host


# The compressors that make a summary in this context: requests sent here are from their summarizers.
_busy: "ContextVar[tuple[Compressor, ...]]" = ContextVar("wirecall_summarising", default=())


@dataclass(eq=False)
class Compressor:
    """Serves any number of requests at once; what changes is in their sessions. See `compact_context`."""

    options: Compress
    window: int
    count: Count | None
    usage: Literal["max", "fed", "own"]
    on_compress: Callable[[Compressed], object] | None
    on_event: Callable[[ContextNotice], object] | None
    max_wait: float = MAX_WAIT
    # Whether old results are cleared afterwards: placeholders may be longer than results, and are explained.
    clears: bool = False
    # Acquired for the one warning that summaries are not stored, and never released.
    _warning: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def is_busy(self) -> bool:
        """Whether this request is sent by the summarizer itself."""
        return self in _busy.get()

    async def compress(
        self, api: Api, request: Mapping[str, Any], session: Session, trim: Trim, host: Host
    ) -> list[Message]:
        """The messages to send. A request waits if another one makes a summary that it can use."""
        format, given = api.message_format, request[api.messages_key]
        overhead = self._overhead(request)
        may_wait = True
        while True:
            with session.lock:
                version, known, jobs = session.version, session.remembered, [*session.jobs]
            if may_wait and (other := job_for(jobs, given)) is not None:
                may_wait = await host.wait(other.done, self.max_wait)
                continue
            remembered = summary_for(known, given)
            trimmed = trim.apply(format, given, remembered)
            messages = trimmed.messages
            if remembered is not None:
                conversation = turns_of(format, messages)
                recent = joined(format, conversation.turns, ended=True)
                messages = [*conversation.system, *conversation.summary, *recent]
            own = overhead + self._weigh(format, messages)
            with session.lock:
                if version == session.version:  # else another request makes a summary, or has made one
                    tokens = self._tokens(session, own)
                    job = session.check(given, over=tokens > self.window)
                    break
        compressed = None
        if job is not None:
            cancelled = True  # also if the summarizer is async in a sync host
            try:
                scale = max(1, tokens / max(own, 1))
                task = _Task(format, given, session, host)
                compressed = await self._summarize(task, trimmed, overhead, scale)
                cancelled = False
            finally:
                with session.lock:
                    session.end(job, cancelled=cancelled)
                job.done.set_result(None)
        return messages if compressed is None else compressed

    def _tokens(self, session: Session, own: float) -> float:
        """The number of tokens that a check compares with the window."""
        if session.failures >= MAX_FAILURES:
            return 0
        if session.skips:
            # What was fed is about an earlier request; a counter knows what will be sent now.
            return own if self.count is not None and self.usage != "fed" and not session.failures else 0
        if session.fed is None or self.usage == "own":
            return own
        return max(own, session.fed) if self.usage == "max" and self.count is not None else session.fed

    async def _summarize(
        self, task: _Task, trimmed: Trimmed, overhead: float, scale: float
    ) -> list[Message] | None:
        """The conversation with a summary of its older turns, or with a notice if it could not be made; None
        if there are no older turns."""
        options, format = self.options, task.format
        conversation = turns_of(format, trimmed.messages)
        allowed = min(options.max_summary_tokens, max(1, self.window // 4))
        always = [*conversation.system, format.user(INTRODUCTION)]
        fixed = allowed + scale * (overhead + self._weigh(format, always))
        room = min(math.floor(options.keep_share * self.window), self.window - fixed)
        kept = self._kept(conversation, room / scale)
        old, recent = conversation.turns[:-kept], conversation.turns[-kept:]
        if not old:
            return None
        failure: Exception | None = None
        busy = _busy.set((*_busy.get(), self))
        try:
            given = [*conversation.summary, *joined(format, old, ended=True)]
            threshold = options.tool_result_stub_threshold
            asked = question(given, threshold, options.instructions, allowed, format.name)
            if not asked:
                return None
            length = trimmed.origins[recent[0].at]
            # Now: an application may edit its messages while they are summarised.
            (digest,) = digests(task.given, [length])
            text = cleaned(await task.host.call(options.summarize, asked))
        except AsyncFunctionError:
            raise
        except Exception as error:
            text, failure = "", error
        finally:
            _busy.reset(busy)
        tail = joined(format, recent, ended=True)
        if not text:
            self._fail(task.session, failure)
            return [*conversation.system, *conversation.summary, format.user(NOTICE), *tail]
        limit = SummaryLimit(
            allowed / min(scale, _MAX_SCALE) if self.count else allowed, self.count or estimate
        )
        text, whole = limit.fit(format, text), text
        if text != whole:
            detail = f"the summary had more than {allowed} tokens and was cut off"
            self._notify("truncated", task.session.id, detail)
        await self._succeed(task, Remembered(length, digest, text))
        return [*conversation.system, format.user(wrapped(text)), *tail]

    def _kept(self, conversation: Conversation, room: float) -> int:
        """How many turns at the end are kept."""
        least = self.options.keep_turns
        if self.count is None:
            return least
        kept, taken = 0, 0.0
        for turn in reversed(conversation.turns):
            taken += self._weigh(conversation.format, turn.messages(conversation.format, ended=True))
            if kept >= least and taken > room:
                break
            kept += 1
        # If all turns fit, an earlier summary is too long.
        return max(least, min(kept, len(conversation.turns) - 1))

    def _fail(self, session: Session, failure: Exception | None) -> None:
        """The summarizer raised `failure`, or, None, its summary is empty."""
        with session.lock:
            session.add_attempt(failed=True)
            opened = session.failures == MAX_FAILURES
        why = "the summary is empty" if failure is None else _logged(failure)
        log.warning("A conversation could not be summarised: %s", why)
        self._notify("failed", session.id, why if failure is None else f"{type(failure).__name__}: {failure}")
        if opened:
            detail = f"{MAX_FAILURES} failures in a row: summaries are off in this session until reset()"
            log.warning("%s", detail)
            self._notify("opened", session.id, detail)

    async def _succeed(self, task: _Task, made: Remembered) -> None:
        format, given, session, host = task
        with session.lock:
            session.add_attempt(failed=False)
            session.remember(made)
            attempts = session.attempts
        if self.on_compress is not None:
            recent = joined(format, turns_of(format, given[made.length :]).turns, ended=False)
            messages = [*system_of(format, given), format.user(wrapped(made.text)), *recent]
            try:
                compressed = Compressed(session.id, format.name, messages, made.text, made.length)
                await host.call(self.on_compress, compressed)
            except Exception as error:
                log.warning("on_compress failed: %s", _logged(error))
        elif attempts >= _WARN_AFTER and self._warning.acquire(blocking=False):
            log.warning(
                "A conversation was summarised %d times, and the summaries are not stored: pass on_compress "
                "and store what it receives, or shorten the stored conversation with compact_messages",
                attempts,
            )
        self._notify("compressed", session.id, f"a summary replaces the first {made.length} messages")

    def _notify(self, kind: Kind, session: str | None, detail: str) -> None:
        if self.on_event is None:
            return
        try:
            self.on_event(ContextNotice(kind, session, detail))
        except Exception as error:
            log.warning("on_event failed: %s", _logged(error))

    def _overhead(self, request: Mapping[str, Any]) -> float:
        """Tokens of the system text and the tools that are not messages, wherever an API has them."""
        count, known = self.count or estimate, apis().values()
        system = (text for api in known if api.system_key for text in texts(request.get(api.system_key)))
        keys = dict.fromkeys(key for api in known for key in api.tool_keys)
        tools = (written(tool) for key in keys for tool in listed(request.get(key)))
        return sum(map(count, system)) + sum(map(count, tools)) + (count(EXPLANATION) if self.clears else 0)

    def _weigh(self, format: MessageFormat, messages: Iterable[Message]) -> float:
        return sum(self._weight(format, one) for one in messages)

    def _weight(self, format: MessageFormat, message: Message) -> float:
        """Tokens of a message, with its results as they are or cleared, whichever are more."""
        count = self.count or estimate
        own = tokens_of(message, count)
        results = format.inspect(dict_of(message)).results if self.clears else ()
        if not results:
            return own
        cleared = format.with_results(message, dict.fromkeys((one.id for one in results), CLEARED))
        return max(own, tokens_of(cleared, count))


def _logged(error: Exception) -> str:
    """An error as logs show it: mostly without its message, which may quote the conversation."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, AsyncFunctionError) else name


def system_of(format: MessageFormat, messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if format.inspect(dict_of(message)).role == "system"]
