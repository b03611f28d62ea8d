"""Options for compressing requests, and what an application is told about it."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from wirecall._apis.conversation import Message
from wirecall._public import as_dict
from wirecall._tools.definitions import ApiName
from wirecall.compaction._checks import at_least, check_summarize
from wirecall.compaction._durable import AsyncSummarize
from wirecall.compaction._summary import MAX_SUMMARY_TOKENS

Kind = Literal["truncated", "compressed", "failed", "opened"]


@dataclass(frozen=True)
class Compress:
    """How older turns are summarised.

    Attributes:
        summarize: As for `compact_messages`; may be async. An empty summary is a failure.
        keep_share: The share of the window that the recent turns may take, if there is a `count`.
        keep_turns: How many turns at the end are always kept; without a `count`, exactly these are kept.
        instructions: Added to the instruction for `summarize`.
        tool_result_stub_threshold: As for `compact_messages`.
        max_summary_tokens: The maximum number of tokens of a summary, at most a quarter of the window. A
            longer one is cut off, and ends with a sentence that says so.
    """

    summarize: AsyncSummarize
    keep_share: float = 0.8
    keep_turns: int = 1
    instructions: str | None = None
    tool_result_stub_threshold: int | None = None
    max_summary_tokens: int = MAX_SUMMARY_TOKENS

    def __post_init__(self) -> None:
        check_summarize(self.summarize)
        share = self.keep_share
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise TypeError(f"keep_share must be a number, not {type(share).__name__}")
        if not 0 < share <= 1:
            raise ValueError(f"keep_share is {share}; it must be above 0 and at most 1")
        at_least("keep_turns", self.keep_turns, 1)
        at_least("max_summary_tokens", self.max_summary_tokens, 1)
        if self.tool_result_stub_threshold is not None:
            at_least("tool_result_stub_threshold", self.tool_result_stub_threshold, 0)


class Compressed(NamedTuple):
    """A compressed conversation, for `on_compress`: if the application stores it, it is not summarised again.

    Attributes:
        session: The id of the session; None for the default one.
        format: The API of the messages.
        messages: What can be stored instead of the request's messages: system messages, the summary, and the
            recent turns as they were given, neither truncated nor pruned.
        summary: The text of the summary, cut off if it was too long.
        replaced: How many of the request's first messages the summary replaces; system messages among them
            stay.
    """

    session: str | None
    format: ApiName
    messages: list[Message]
    summary: str
    replaced: int


class ContextNotice(NamedTuple):
    """What happened to a summary, for `on_event`.

    Attributes:
        kind: "compressed", "truncated" (the summary was too long and was cut off; "compressed" follows),
            "failed" (a summary could not be made), or "opened" (the third failure in a row: nothing is
            summarised until `reset`).
        session: The id of the session; None for the default one.
        detail: A sentence.
    """

    kind: Kind
    session: str | None
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)
