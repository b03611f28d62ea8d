"""That ablations changed what was sent, read off the hashes of the requests.

The first request of a case is compared, of the same model: it depends on nothing that the model says.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# These change how answers are read; so the request has to be the same.
READING = frozenset({"strict"})
# Of which mode ablations are.
ABLATED = "wire"


@dataclass(frozen=True)
class Proof:
    """What one ablation did to the requests of one model.

    Attributes:
        cases: How many were compared.
        differ: In how many of them it was another request.
        reading: It changes how answers are read, and must not change the request.
        hashes: Of one case, without the ablation and with it.
    """

    model: str
    ablation: str
    cases: int
    differ: int
    reading: bool
    hashes: tuple[str, str]

    @property
    def holds(self) -> bool:
        return self.differ == (0 if self.reading else self.cases)


def proofs(cells: Iterable[Mapping[str, Any]]) -> list[Proof]:
    """One for each model and ablation that cells were made of."""
    found = []
    sent = _sent(cells)
    ablations = {(model, ablation): None for model, _, _, ablation in sent if ablation}
    for model, ablation in ablations:
        pairs = [
            (sent[model, case, ABLATED, None], sha256)
            for (of, case, _, other), sha256 in sent.items()
            if (of, other) == (model, ablation) and (model, case, ABLATED, None) in sent
        ]
        if pairs:
            differ = sum(one != other for one, other in pairs)
            found.append(Proof(model, ablation, len(pairs), differ, ablation in READING, pairs[0]))
    return found


def violations(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """What makes a comparison void: two variants that sent the same, or one that changed what it must not."""
    sent = _sent(cells)
    same: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    said = []
    for (model, case, mode, ablation), sha256 in sent.items():
        if ablation not in READING:
            name = mode if ablation is None else f"{mode} with {ablation}"
            same[model, case, sha256].append(name)
        elif sent.get((model, case, mode, None), sha256) != sha256:
            said.append(
                f"{model}, case {case}: {ablation} changes how answers are read, but the request differs"
            )
    said += [
        f"{model}, case {case}: {' and '.join(names)} send the same request (SHA-256 {sha256})"
        for (model, case, sha256), names in same.items()
        if len(names) > 1
    ]
    return said


def _sent(cells: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str, str | None], str]:
    """The hash of the first request, by model, case, mode and ablation; what was not sent is not there."""
    return {
        (cell["model"], cell["case"], cell["mode"], cell["ablation"]): cell["requests"][0]["sha256"]
        for cell in cells
        if cell["requests"]
    }
