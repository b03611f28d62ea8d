"""That what is compared was asked differently, read off the hashes of the requests.

The first request of a case is compared, of the same model: it depends on nothing that the model says.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirecall._bench.variants import Variant, baselines, case_of, variant_of

# These change how answers are read; so the request has to be the same.
PARSING_ONLY = frozenset({"strict"})
# Of which mode ablations are.
ABLATED = "wire"

# The hash of the first request of each way and case; what was not sent is not there.
_Sent = Mapping[Variant, Mapping[str, str]]


@dataclass(frozen=True)
class RequestCheck:
    """What the requests of a way were, beside those of the way that it is compared with.

    Attributes:
        same, differ: The cases of both, by whether the requests were the same to the byte.
    """

    variant: Variant
    other: Variant
    same: list[str]
    differ: list[str]

    @property
    def parsing_only(self) -> bool:
        """Whether it changes how answers are read, and must not change the request."""
        return self.variant.ablation in PARSING_ONLY

    @property
    def void(self) -> list[str]:
        """The cases in which the comparison says nothing."""
        return self.differ if self.parsing_only else self.same


def request_checks(cells: Iterable[Mapping[str, Any]]) -> list[RequestCheck]:
    """One for each way that is compared with another, if both were sent some case."""
    return _request_checks(_sent(cells))


def violations(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """What makes a comparison void: two ways that sent the same, or one that changed what it must not."""
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
