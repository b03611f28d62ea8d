"""Checks that compared variants sent different requests, based on the hashes of the requests.

The first requests of a case to the same model are compared, because they do not depend on answers.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirecall_bench.variants import Variant, baselines, case_of, variant_of

# These change only how answers are parsed, so the request must be the same.
PARSING_ONLY = frozenset({"strict"})
# The protocol of the modes that ablations change.
ABLATED = "wire"

# The hash of the first request of each variant and case that was sent.
_Sent = Mapping[Variant, Mapping[str, str]]


@dataclass(frozen=True)
class RequestCheck:
    """The requests of a variant, compared with those of its baseline.

    Attributes:
        same, differ: The cases that both variants sent, by whether the requests were identical.
    """

    variant: Variant
    other: Variant
    same: list[str]
    differ: list[str]

    @property
    def parsing_only(self) -> bool:
        """Whether the variant changes only how answers are parsed, and must not change the request."""
        return self.variant.ablation in PARSING_ONLY

    @property
    def void(self) -> list[str]:
        """The cases in which the comparison is meaningless."""
        return self.differ if self.parsing_only else self.same


def request_checks(cells: Iterable[Mapping[str, Any]]) -> list[RequestCheck]:
    """One check for each variant that is compared with another, if both sent a common case."""
    return _request_checks(_sent(cells))


def violations(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """Why comparisons are meaningless: two variants sent the same, or one changed what it must not."""
    sent = _sent(cells)
    said = [
        f"{one.variant.model}, case {case}: {one.variant.ablation} changes how answers are read, "
        "but the request differs"
        for one in _request_checks(sent)
        if one.parsing_only
        for case in one.differ
    ]
    same: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for variant, hashes in sent.items():
        if variant.ablation not in PARSING_ONLY:
            name = f"{variant.mode} with {variant.ablation}" if variant.ablation else variant.mode
            for case, sha256 in hashes.items():
                same[variant.model, case, sha256].append(name)
    said += [
        f"{model}, case {case}: {' and '.join(names)} send the same request (SHA-256 {sha256})"
        for (model, case, sha256), names in same.items()
        if len(names) > 1
    ]
    return said


def _request_checks(sent: _Sent) -> list[RequestCheck]:
    found = []
    for variant, other in baselines(sent).items():
        own, theirs = sent[variant], sent[other]
        both = [case for case in own if case in theirs]
        if both:
            same = [case for case in both if own[case] == theirs[case]]
            differ = [case for case in both if own[case] != theirs[case]]
            found.append(RequestCheck(variant, other, same, differ))
    return found


def _sent(cells: Iterable[Mapping[str, Any]]) -> _Sent:
    found: dict[Variant, dict[str, str]] = {}
    for cell in cells:
        if requests := cell.get("requests"):
            found.setdefault(variant_of(cell), {})[case_of(cell)] = requests[0]["sha256"]
    return found
