"""Keeps long conversations short: durably, in lists that applications own, or in flight, in each request."""

from wirecall._apis.conversation import MixedFormatsError
from wirecall._public import publish
from wirecall.compaction._compression import Compress, Compressed, ContextNotice
from wirecall.compaction._context import CompactContext, compact_context
from wirecall.compaction._durable import (
    acompact_messages,
    asummarize_messages,
    compact_messages,
    summarize_messages,
)
from wirecall.compaction._planning import CompactionPlan, plan_compaction
from wirecall.compaction._pruning import Clear, Prune
from wirecall.compaction._summarizers import SummaryError, summarizer
from wirecall.compaction._truncation import Truncate
from wirecall.compaction._turns import ResultRepair

__all__ = [
    "Clear",
    "CompactContext",
    "CompactionPlan",
    "Compress",
    "Compressed",
    "ContextNotice",
    "MixedFormatsError",
    "Prune",
    "ResultRepair",
    "SummaryError",
    "Truncate",
    "acompact_messages",
    "asummarize_messages",
    "compact_context",
    "compact_messages",
    "plan_compaction",
    "summarize_messages",
    "summarizer",
]

publish(globals())
