"""Plans a compaction: which turns are summarised, and which are kept."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from wirecall._apis.conversation import Message
from wirecall._apis.detection import read_conversation
from wirecall._apis.values import dict_of
from wirecall._tools.definitions import ApiName
from wirecall.compaction._checks import above_zero, whole_turns
from wirecall.compaction._counting import Count, estimate, tokens
from wirecall.compaction._summary import INTRODUCTION, MAX_SUMMARY_TOKENS, SummaryLimit
from wirecall.compaction._turns import Conversation, ResultRepair, joined, turns_of


@dataclass(frozen=True)
class CompactionPlan:
    """A conversation in three parts; `system + to_summarize + to_keep` is all of it.

    Attributes:
        system: System and developer messages, in order: the same objects.
        to_summarize: The older turns, after an earlier summary; [] if nothing is old enough.
        to_keep: The recent turns: the same objects, except for those in `repairs`.
        turns: The number of turns.
        kept_turns: How many of them are kept.
        repairs: Results that were repaired, so that each call has its result right after it.
        format: The API of the messages.
    """

    system: list[Message]
    to_summarize: list[Message]
    to_keep: list[Message]
    turns: int
    kept_turns: int
    repairs: tuple[ResultRepair, ...]
    format: ApiName
    # How long the summary may be, if there is a `max_tokens`.
    _limit: SummaryLimit | None = field(default=None, repr=False, compare=False)


def plan_compaction(
    messages: Sequence[Message],
    *,
    keep_recent_turns: float | None = None,
    max_tokens: float | None = None,
    count: Count | None = None,
    usage: float | None = None,
    max_summary_tokens: int = MAX_SUMMARY_TOKENS,
    format: ApiName | None = None,
) -> CompactionPlan:
    """Plans what a compaction summarises and what it keeps, in linear time.

    If both `keep_recent_turns` and `max_tokens` are given, both apply: a summary that the one makes necessary
    also counts toward the other.

    Args:
        messages: Messages of chat completions, items of Responses, or messages of Anthropic: dicts, or
            objects of their SDKs. Never mutated.
        keep_recent_turns: Rounded down; 0 summarises everything. A last turn that waits for results is
            always kept.
        max_tokens: The maximum number of tokens of the result. If the messages have no more, none of them has
            to be summarised. Otherwise, as many turns are kept as fit beside the system messages and a
            summary, but at least one. So it must be much larger than `max_summary_tokens`. Results without a
            call do not count.
        count: Returns the number of tokens of a text. By default that of tiktoken's o200k_base (extra
            `tokens`).
        usage: The provider's count of input tokens for exactly these messages. An estimate of each message is
            scaled to it, so no tokenizer is needed.
        max_summary_tokens: How much of `max_tokens` is reserved for the summary, even if it is shorter.
        format: "chat", "responses" or "messages"; by default it is detected.

    Raises:
        MixedFormatsError: The messages are not all of one API.
        TypeError: Neither `keep_recent_turns` nor `max_tokens` is given, `messages` are not messages of these
            APIs, or `count` is not a function that returns a number.
        ValueError: `keep_recent_turns` is not a number, or one of the others is not above 0.
        VocabularyError: There is no `count`, no `usage`, and no tiktoken.
    """
    if keep_recent_turns is None and max_tokens is None:
        raise TypeError("give keep_recent_turns=…, max_tokens=…, or both")
    if max_tokens is not None:
        _check_tokens(max_tokens, count, usage, max_summary_tokens)
    keep = math.inf if keep_recent_turns is None else whole_turns(keep_recent_turns)
    found, mappings = read_conversation(messages, format)
    conversation = turns_of(found, messages, mappings)
    _, system, summary, turns, repairs = conversation
    limit = None
    if max_tokens is not None and turns:
        affordable, limit = _affordable(conversation, keep, max_tokens, count, usage, max_summary_tokens)
        keep = min(keep, affordable)
    waits = bool(turns and turns[-1].open)
    kept = int(max(min(keep, len(turns)), waits))
    old, recent = turns[: len(turns) - kept], turns[len(turns) - kept :]
    to_keep = joined(found, recent, ended=False)
    return CompactionPlan(
        system,
        [*summary, *joined(found, old, ended=True)] if old else [],
        to_keep if old else [*summary, *to_keep],
        len(turns),
        kept,
        tuple(repairs),
        found.name,
        limit,
    )


def _affordable(
    conversation: Conversation,
    keep: float,
    limit: float,
    count: Count | None,
    usage: float | None,
    reserved: float,
) -> tuple[int, SummaryLimit]:
    """Returns how many of the last turns to keep, and the summary's limit.

    All turns are kept if they fit into `limit` tokens and `keep` allows that. Otherwise, as many as fit
    beside the system messages and a summary, for which tokens are `reserved`; at least one.
    """
    format, system, summary, turns, _ = conversation
    if usage is not None:
        count = count or estimate
    elif count is None:
        from wirecall.tokens import tokenizer

        count = tokenizer()
    last, fixed = turns[-1], tokens(system, count)
    earlier = tokens((format.user(format.text(dict_of(one))) for one in summary), count)
    sizes: Iterable[int] = (
        tokens(turn.messages(format, ended=turn is not last), count) for turn in reversed(turns)
    )
    if usage is not None:
        sizes = list(sizes)
        scale = usage / (fixed + earlier + sum(sizes))
        # A summary has at least one letter.
        limit, reserved = limit / scale, max(1, reserved / scale)
    beside = reserved + tokens([format.user(INTRODUCTION)], count)
    summarised = fixed + beside
    # A summary counts as at least what is reserved, so that a compacted list is not compacted again.
    unchanged = fixed + max(earlier, beside) if summary else fixed
    kept = 0
    for size in sizes:
        summarised += size
        unchanged += size
        kept += summarised <= limit
        if min(summarised, unchanged) > limit:
            break
    fits = keep >= len(turns) and unchanged <= limit
    # Otherwise at least one is summarised, even if all fit beside a summary: the earlier one is too long.
    kept = len(turns) if fits else max(1, min(kept, len(turns) - 1))
    return kept, SummaryLimit(reserved, count)


def _check_tokens(limit: object, count: object, usage: object, reserved: object) -> None:
    above_zero("max_tokens", limit)
    above_zero("max_summary_tokens", reserved)
    if usage is not None:
        above_zero("usage", usage)
    if count is not None and not callable(count):
        raise TypeError(f"count must be callable, not {type(count).__name__}")
