"""Long conversations kept short: durably, as lists that applications own, and in flight, for each request."""

from wirecall.compaction.base import MixedFormats
from wirecall.compaction.compression import Compress, Compressed, ContextNotice
from wirecall.compaction.context import CompactContext, compact_context
from wirecall.compaction.durable import (
    acompact_messages,
    asummarize_messages,
    compact_messages,
    summarize_messages,
)
from wirecall.compaction.planning import CompactionPlan, Repair, plan_compaction
from wirecall.compaction.pruning import Clear, Prune
from wirecall.compaction.summarizers import NoSummary, summarizer
from wirecall.compaction.truncation import Truncate

__all__ = [
    "Clear",
    "CompactContext",
    "CompactionPlan",
    "Compress",
    "Compressed",
    "ContextNotice",
    "MixedFormats",
    "NoSummary",
    "Prune",
    "Repair",
    "Truncate",
    "acompact_messages",
    "asummarize_messages",
    "compact_context",
    "compact_messages",
    "plan_compaction",
    "summarize_messages",
    "summarizer",
]
