"""Compaction of lists that an application owns and stores: the result is ready to be stored."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from wirecall._apis.conversation import Message
from wirecall._apis.registry import api_named
from wirecall._apis.values import dict_of
from wirecall._sync import run
from wirecall._tools.definitions import ApiName
from wirecall.compaction._checks import check_summarize
from wirecall.compaction._counting import Count
from wirecall.compaction._host import ASYNC, SYNC, Host
from wirecall.compaction._planning import CompactionPlan, plan_compaction
from wirecall.compaction._summary import MAX_SUMMARY_TOKENS, Flat, cleaned, question, wrapped

Summarize = Callable[[Flat], str | None]
AsyncSummarize = Callable[[Flat], "Awaitable[str | None]"] | Summarize
Messages = TypeVar("Messages", bound=Sequence[Any])


def compact_messages(
    messages: Messages,
    summarize: Summarize,
    *,
    keep_recent_turns: float | None = None,
    max_tokens: float | None = None,
    count: Count | None = None,
    usage: float | None = None,
    max_summary_tokens: int = MAX_SUMMARY_TOKENS,
    tool_result_stub_threshold: float | None = None,
    instructions: str | None = None,
    merge_summary: bool = False,
    format: ApiName | None = None,
) -> Messages | list[Message]:
    """The system messages, one summary of the older turns, and the recent turns unchanged.

    Args:
        messages: As for `plan_compaction`. Never mutated.
        summarize: Gets the older turns as `[{"role", "content"}]`, texts of users and assistants, followed by
            an instruction, and returns the summary. `summarizer(client, model=…)` makes one.
        keep_recent_turns: As for `plan_compaction`, as are `max_tokens`, `count`, `usage`,
            `max_summary_tokens` and `format`. With `max_tokens`, a longer summary is cut off, and ends with a
            sentence that says so.
        tool_result_stub_threshold: Of results with more characters, `summarize` gets only the length.
        instructions: Added to the instruction for `summarize`.
        merge_summary: Puts the summary into the first kept message, if it is a user's, for templates that
            require users and assistants to alternate.

    Returns:
        The given list itself if nothing is old enough or the summary is empty: None, whitespace, no letter or
        digit, only an analysis, or words like "none" and "N/A".

    Raises:
        MixedFormatsError: The messages are not all of one API.
        TypeError: `summarize` cannot be called, is async, or returned neither text nor None.
        Exception: Whatever `summarize` raises.
    """
    plan = plan_compaction(
        messages,
        keep_recent_turns=keep_recent_turns,
        max_tokens=max_tokens,
        count=count,
        usage=usage,
        max_summary_tokens=max_summary_tokens,
        format=format,
    )
    check_summarize(summarize)
    asked = question(
        plan.to_summarize, tool_result_stub_threshold, instructions, max_summary_tokens, plan.format
    )
    return compacted(plan, run(_summary(SYNC, summarize, asked)), merge=merge_summary) or messages


async def acompact_messages(
    messages: Messages,
    summarize: AsyncSummarize,
    *,
    keep_recent_turns: float | None = None,
    max_tokens: float | None = None,
    count: Count | None = None,
    usage: float | None = None,
    max_summary_tokens: int = MAX_SUMMARY_TOKENS,
    tool_result_stub_threshold: float | None = None,
    instructions: str | None = None,
    merge_summary: bool = False,
    format: ApiName | None = None,
) -> Messages | list[Message]:
    """`compact_messages` with a `summarize` that may be async.

    Messages that are appended to `messages` meanwhile are at the end of the result.
    """
    given = len(messages)
    plan = plan_compaction(
        messages,
        keep_recent_turns=keep_recent_turns,
        max_tokens=max_tokens,
        count=count,
        usage=usage,
        max_summary_tokens=max_summary_tokens,
        format=format,
    )
    check_summarize(summarize)
    asked = question(
        plan.to_summarize, tool_result_stub_threshold, instructions, max_summary_tokens, plan.format
    )
    made = compacted(plan, await _summary(ASYNC, summarize, asked), merge=merge_summary)
    return [*made, *messages[given:]] if made else messages


def summarize_messages(
    messages: Sequence[Message],
    summarize: Summarize,
    *,
    tool_result_stub_threshold: float | None = None,
    instructions: str | None = None,
    max_summary_tokens: int = MAX_SUMMARY_TOKENS,
    format: ApiName | None = None,
) -> str:
    """The summary alone; "" if it is empty, and without a call if there is nothing to summarise.

    Takes the arguments of `compact_messages`.
    """
    check_summarize(summarize)
    asked = question(messages, tool_result_stub_threshold, instructions, max_summary_tokens, format)
    return run(_summary(SYNC, summarize, asked))


async def asummarize_messages(
    messages: Sequence[Message],
    summarize: AsyncSummarize,
    *,
    tool_result_stub_threshold: float | None = None,
    instructions: str | None = None,
    max_summary_tokens: int = MAX_SUMMARY_TOKENS,
    format: ApiName | None = None,
) -> str:
    """`summarize_messages` with a `summarize` that may be async."""
    check_summarize(summarize)
    asked = question(messages, tool_result_stub_threshold, instructions, max_summary_tokens, format)
    return await _summary(ASYNC, summarize, asked)


async def _summary(host: Host, summarize: AsyncSummarize, asked: Flat) -> str:
    return cleaned(await host.call(summarize, asked)) if asked else ""


def compacted(plan: CompactionPlan, summary: str, *, merge: bool = False) -> list[Message]:
    """The conversation with a summary instead of what it summarises; [] if the summary is empty."""
    if not summary:
        return []
    format = api_named(plan.format).message_format
    text = wrapped(summary if plan._limit is None else plan._limit.fit(format, summary))
    first = dict_of(plan.to_keep[0]) if merge and plan.to_keep else {}
    if first and format.inspect(first).role == "user":
        return [*plan.system, format.merged(text, first), *plan.to_keep[1:]]
    return [*plan.system, format.user(text), *plan.to_keep]
