"""The proof that what is compared sent other requests, and that nothing changed that must not."""

from typing import Any

import pytest

from wirecall_bench.request_checks import RequestCheck, request_checks, violations
from wirecall_bench.variants import Variant


def sent(
    sha256: str | None, case: str = "a", mode: str = "wire", ablation: str | None = None
) -> dict[str, Any]:
    requests = [] if sha256 is None else [{"sha256": sha256}, {"sha256": "the second is of no interest"}]
    return {"model": "m", "case": case, "mode": mode, "ablation": ablation, "requests": requests}


RIGHT = [
    sent("1"),
    sent("2", mode="native"),
    sent("3", ablation="no-manual"),
    sent("1", ablation="strict"),
    sent("4", "b"),
    sent("5", "b", mode="native"),
    sent("6", "b", ablation="no-manual"),
    sent("4", "b", ablation="strict"),
    sent(None, "c", ablation="no-manual"),
    sent("7", "d", ablation="no-manual"),
]


def test_what_differs_is_proved() -> None:
    assert violations(RIGHT) == []
    wire = Variant("m", "wire")
    found = {check.variant.ablation: check for check in request_checks(RIGHT)}
    assert found == {
        "": RequestCheck(wire, Variant("m", "native"), [], ["a", "b"]),
        "no-manual": RequestCheck(Variant("m", "wire", "no-manual"), wire, [], ["a", "b"]),
        "strict": RequestCheck(Variant("m", "wire", "strict"), wire, ["a", "b"], []),
    }
    assert [check.void for check in found.values()] == [[], [], []]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (sent("1", ablation="placement=first"), "case a: wire and wire with placement=first send the same"),
        (
            sent("6", "b", ablation="syntax=json"),
            "case b: wire with no-manual and wire with syntax=json send",
        ),
        (sent("2", mode="hermes"), "case a: native and hermes send the same"),
        (
            sent("9", ablation="strict"),
            "case a: strict changes how answers are read, but the request differs",
        ),
    ],
)
def test_what_is_void(cell: dict[str, Any], said: str) -> None:
    cells = [one for one in RIGHT if (one["case"], one["ablation"]) != ("a", cell["ablation"])]
    cells = [*RIGHT, cell] if cell["ablation"] is None else [*cells, cell]
    (found,) = violations(cells)
    assert said in found


def test_one_equal_case_among_many_fails() -> None:
    cells = [*RIGHT, sent("4", "b", ablation="no-manual")]
    (check,) = [check for check in request_checks(cells) if check.variant.ablation == "no-manual"]
    assert (check.same, check.differ, check.void) == (["b"], ["a"], ["b"])
    assert len(violations(cells)) == 1


def test_models_are_apart() -> None:
    assert violations([*RIGHT, *({**cell, "model": "n"} for cell in RIGHT)]) == []
    assert len(request_checks([*RIGHT, *({**cell, "model": "n"} for cell in RIGHT)])) == 6
