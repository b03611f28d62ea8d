"""`wirecall bench live` against models with known mistakes: what comes out is what was planted."""

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from live_support import CASES, KNOWN, MODES, Bench, case_of, serving, total, variant_of
from server import Answer, Asked, ErringModel, Request, Slip
from server import Usage as Tokens
from server.answers import Reply

from wirecall_bench.artifact import read

NAMES = [case["name"] for case in CASES]


# What is asked, and in which order --------------------------------------------------------------------------


def test_every_cell_is_there(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--ablation", "no-manual", "--ablation", "strict", models="m,n")
        bench.run("--reps", "2", "--concurrency", "3")
    variants = [("native", ""), ("wire", ""), ("wire", "no-manual"), ("wire", "strict")]
    assert {tuple(cell["key"]) for cell in bench.cells} == {
        (model, mode, ablation, name, repetition)
        for model in "mn"
        for mode, ablation in variants
        for name in NAMES
        for repetition in "12"
    }
    assert read(bench.path).options["cells"] == len(bench.cells) == len(server.requests) == 96
    for cell in bench.cells:
        assert cell["status"] == "ok"
        assert cell["scores"] == {
            "called": True,
            "tool": True,
            "valid": True,
            "exact": True,
            "normalised": True,
            "judged": None,
            "share": 1.0,
        }
        assert cell["key"] == [
            cell["model"],
            cell["mode"],
            cell["ablation"] or "",
            cell["case"],
            str(cell["repetition"]),
        ]
        assert cell["calls"][0]["name"] == next(
            case["tool"] for case in CASES if case["name"] == cell["case"]
        )


def test_variants_take_turns(tmp_path: Path) -> None:
    """All variants of a case follow each other, and none of them is always first."""
    with serving() as server:
        bench = Bench(server, tmp_path, models="m,n")
        bench.run("--reps", "5", "--concurrency", "1", "--modes", "native,wire,hermes")
        asked = [(case_of(request), variant_of(request)) for request in server.requests]
    blocks = [asked[start : start + 6] for start in range(0, len(asked), 6)]
    assert [block[0][0] for block in blocks] == NAMES * 5
    for block in blocks:
        assert len({case for case, _ in block}) == 1
        assert len({variant for _, variant in block}) == 6
    firsts = Counter(block[0][1] for block in blocks)
    assert len(firsts) == 6
    assert max(firsts.values()) < len(blocks) / 2


def test_the_order_is_that_of_the_seed(tmp_path: Path) -> None:
    orders = []
    for number, seed in enumerate("112"):
        folder = tmp_path / str(number)
        folder.mkdir()
        with serving() as server:
            Bench(server, folder, "--seed", seed, "--concurrency", "1").run("--reps", "3")
            orders.append([variant_of(request) for request in server.requests])
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(("scope", "numbers"), [("own", {1}), ("group", {1}), ("all", {3})])
def test_which_tools_are_sent(tmp_path: Path, scope: str, numbers: set[int]) -> None:
    with serving() as server:
        Bench(server, tmp_path, "--tools", scope, "--modes", "native").run()
        assert {len(request.json["tools"]) for request in server.requests} == numbers


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--cases", "mail*"], ["mail", "mail with copies"]),
        (["--cases", "lima", "--cases", "*off"], ["lima", "light off"]),
        (["--group", "light"], ["light on", "light off"]),
        (["--group", "mail", "--group", "weather", "--cases", "*i*"], [*NAMES[:1], *NAMES[2:4]]),
    ],
)
def test_cases_are_chosen(tmp_path: Path, options: list[str], names: list[str]) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, *options, "--modes", "wire")
        bench.run()
    assert {cell["case"] for cell in bench.cells} == set(names)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_both_apis(tmp_path: Path, api: str) -> None:
    with serving() as server:
        address = server.openai_url if api == "openai" else server.url
        bench = Bench(server, tmp_path, "--api", api, "--base-url", address)
        bench.run("--reps", "2")
        assert {request.api for request in server.requests} == {"chat" if api == "openai" else "messages"}
        assert total(bench.cells) == bench.paid
    assert all(cell["scores"]["exact"] for cell in bench.cells)


# Planted mistakes -------------------------------------------------------------------------------------------

# What a slip makes of the scores, natively and in wire, where nothing is asked again: called, tool, exact.
RIGHT = (True, True, True)
SLIPS: dict[Slip, tuple[tuple[bool, bool, bool], tuple[bool, bool, bool]]] = {
    "prose_first": (RIGHT, RIGHT),
    "wrong_name": ((True, False, False), (False, False, False)),
    "wrong_value": ((True, True, False), (True, True, False)),
    "missing": ((True, True, False), (True, True, False)),
    "bad_quotes": ((True, True, False), (True, True, False)),
    "broken": ((True, True, False), (False, False, False)),
    "no_call": ((False, False, False), (False, False, False)),
    "two_calls": ((False, False, False), (False, False, False)),
    "refusal": ((False, False, False), (False, False, False)),
    "cut_off": ((True, True, False), (False, False, False)),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_what_a_slip_costs(tmp_path: Path, slip: Slip) -> None:
    with serving(lambda asked: slip) as server:
        bench = Bench(server, tmp_path, "--cases", "three days")
        bench.run()
        assert total(bench.cells) == bench.paid
    for cell in bench.cells:
        scores = cell["scores"]
        assert cell["status"] == "ok"
        wanted = SLIPS[slip][MODES.index(cell["mode"])]
        assert (scores["called"], scores["tool"], scores["exact"]) == wanted, cell


@pytest.mark.parametrize(("native", "wire"), [(4, 0), (0, 3), (2, 5), (0, 0)])
def test_a_planted_rate_comes_out(tmp_path: Path, native: int, wire: int) -> None:
    """Every so many-th answer of a case is wrong."""
    every = {"native": native, "wire": wire}

    def rule(asked: Asked) -> Slip | None:
        each = every[asked.mode]
        return "wrong_value" if each and asked.count % each == 0 else None

    with serving(rule) as server:
        bench = Bench(server, tmp_path)
        bench.run("--reps", "20", "--concurrency", "4")
    wrong = Counter(cell["mode"] for cell in bench.cells if not cell["scores"]["normalised"])
    assert wrong == Counter({mode: 6 * math.ceil(20 / each) for mode, each in every.items() if each})
    assert Counter(cell["mode"] for cell in bench.cells) == {"native": 120, "wire": 120}


def test_what_wirecall_asks_again_is_right_and_paid_for(tmp_path: Path) -> None:
    """An unreadable call is asked for again, natively it is a wrong one."""

    def rule(asked: Asked) -> Slip | None:
        return "broken" if asked.attempt == 0 else None

    with serving(rule) as server:
        bench = Bench(server, tmp_path)
        bench.run()
        assert total(bench.cells) == bench.paid
        assert len(bench.answered) == 18
    for cell in bench.cells:
        is_wire = cell["mode"] == "wire"
        assert cell["scores"]["exact"] == is_wire
        assert len(cell["requests"]) == 1 + is_wire
        assert [retry["kind"] for retry in cell["retries"]] == ["model"] * is_wire
        assert len(cell["errors"]) == 1


def test_what_got_no_verdict_is_judged_later_and_not_asked_again(tmp_path: Path) -> None:
    model = ErringModel(KNOWN, lambda asked: "wrong_value")
    silent = True

    def script(request: Request) -> Reply:
        if request.json["model"] != "judge":
            return model(request)
        said = "I cannot say." if silent else json.dumps({"reason": "It is vague.", "same": True})
        return Answer(said, usage=Tokens(1000, 100))

    with serving(script=script) as server:
        bench = Bench(server, tmp_path, "--judge", "judge", "--judge-cache", str(tmp_path / "verdicts"))
        bench.run("--cases", "lima", "--modes", "native", code=1)
        bench.run("--cases", "lima", "--modes", "native", "--resume", code=1)
        silent = False
        (before,) = bench.cells
        assert (before["scores"]["judged"], before["judge"]["same"]) == (None, None)
        # No budget is left, as all that was paid counts, once: then the judge is not asked, either.
        asked = len(server.requests)
        paid = bench.paid.input + bench.paid.output
        bench.run("--cases", "lima", "--modes", "native", "--resume", "--max-tokens", str(paid + 10), code=1)
        assert len(server.requests) == asked
        # A judge's question is at most half as many tokens as it has bytes; an answer 2048.
        room = len(server.requests[-1].body) + 2048 + 10
        bench.run("--cases", "lima", "--modes", "native", "--resume", "--max-tokens", str(paid + room))
        (cell,) = bench.cells
        assert (cell["scores"]["judged"], cell["judge"]["reason"]) == (True, "It is vague.")
        assert cell["requests"] == before["requests"]
        assert [request.json["model"] for request in server.requests] == ["m", "judge", "judge", "judge"]
        bench.run("--cases", "lima", "--modes", "native", "--resume")
        assert len(server.requests) == 4


def test_what_nobody_counted_is_taken_as_spent_when_a_run_is_carried_on(tmp_path: Path) -> None:
    model = ErringModel(KNOWN)

    def script(request: Request) -> Reply:
        reply = model(request)
        assert isinstance(reply, Answer)
        return replace(reply, usage=Tokens(0, 0))

    options = ("--modes", "native", "--concurrency", "1", "--max-tokens", "10000", "--tools", "own")
    with serving(script=script) as server:
        bench = Bench(server, tmp_path, *options)
        bench.run(code=1)
        asked = len(server.requests)
        assert 0 < asked < len(KNOWN)
        bench.run("--resume", code=1)
        assert len(server.requests) == asked
