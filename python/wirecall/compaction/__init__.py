"""Long conversations kept short: durably, as lists that applications own, and in flight, for each request."""

from wirecall.compaction.base import MixedFormats
from wirecall.compaction.planning import CompactionPlan, Repair, plan_compaction

__all__ = ["CompactionPlan", "MixedFormats", "Repair", "plan_compaction"]
