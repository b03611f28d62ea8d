"""Long conversations kept short: durably, as lists that applications own, and in flight, for each request."""

from wirecall.compaction.base import MixedFormats
from wirecall.compaction.durable import (
    acompact_messages,
    asummarize_messages,
    compact_messages,
    summarize_messages,
)
from wirecall.compaction.planning import CompactionPlan, Repair, plan_compaction
from wirecall.compaction.summarizers import NoSummary, summarizer

__all__ = [
    "CompactionPlan",
    "MixedFormats",
    "NoSummary",
    "Repair",
    "acompact_messages",
    "asummarize_messages",
    "compact_messages",
    "plan_compaction",
    "summarize_messages",
    "summarizer",
]
