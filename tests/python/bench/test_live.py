"""`wirecall bench live` against models with known mistakes: what comes out is what was planted."""

import json
import math
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_support import CASES, KEY, KNOWN, MODES, Bench, case_of, serving, total, variant_of
from server import Answer, Asked, Call, Delivery, ErringModel, Failure, Request, Slip
from server import Usage as Tokens
from server.answers import Reply

from wirecall.bench.artifact import read
from wirecall.bench.budget import Usage

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


def test_a_judge_has_the_last_word_and_costs_apart(tmp_path: Path) -> None:
    model = ErringModel(KNOWN, lambda asked: "wrong_value")

    def script(request: Request) -> Reply:
        if request.json["model"] != "judge":
            return model(request)
        # It lets pass what a city or a mail address may be, and nothing else.
        same = " or so" in request.body.decode()
        return Answer(json.dumps({"reason": "It is vague.", "same": same}), usage=Tokens(1000, 100))

    prices = [
        *("--price-in", "1", "--price-in", "judge=10", "--price-out", "2", "--price-out", "judge=20"),
        *("--judge", "judge", "--judge-cache", str(tmp_path / "verdicts")),
    ]
    with serving(script=script) as server:
        bench = Bench(server, tmp_path, *prices)
        bench.run("--concurrency", "1")
        judged = [request for request in server.requests if request.json["model"] == "judge"]
        judging = sum((Usage(1000, 100) for _ in judged), Usage())
        assert total(bench.cells) + judging == bench.paid
        # Both modes make the same mistakes: one is judged, of the other the verdict is there.
        assert len(judged) == 6
        for cell in bench.cells:
            assert cell["scores"]["judged"] == (cell["group"] != "light")
            assert cell["judge"]["same"] == cell["scores"]["judged"]
            assert cell["judge"]["reason"] == "It is vague."
            usage = Usage.of(cell["usage"])
            assert cell["usd"] == pytest.approx((usage.input + 2 * usage.output) / 1e6)
            assert cell["judge"]["usd"] == pytest.approx(0 if cell["judge"]["cached"] else 12_000 / 1e6)
        assert sum(cell["judge"]["cached"] for cell in bench.cells) == 6

        # What the judge has cost counts when the run is carried on: no tokens are left for the last cell.
        whole = bench.path.read_bytes()
        bench.path.write_bytes(whole[:-10])
        before = len(server.requests)
        bench.run("--resume", "--max-tokens", str(1000 * len(judged)), code=1)
        assert len(server.requests) == before

        again = Bench(server, tmp_path, *prices)
        again.path = tmp_path / "again.jsonl"
        again.arguments += ["--output", str(again.path)]
        before = len(server.requests)
        again.run()
        assert len(server.requests) - before == 12
        assert all(cell["judge"]["cached"] for cell in again.cells)


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


def test_what_the_schema_finds_the_same_needs_no_judge(tmp_path: Path) -> None:
    padded = {prompt: Call(call.name, _padded(call)) for prompt, call in KNOWN.items()}
    with serving(script=ErringModel(padded)) as server:
        bench = Bench(server, tmp_path, "--judge", "judge", "--judge-cache", str(tmp_path / "verdicts"))
        bench.run("--cases", "lima", "--cases", "three days")
        assert {request.json["model"] for request in server.requests} == {"m"}
    for cell in bench.cells:
        scores = cell["scores"]
        assert (scores["exact"], scores["normalised"], scores["judged"]) == (False, True, True)


def _padded(call: Call) -> dict[str, Any]:
    assert not isinstance(call.arguments, str)
    return {key: f" {value}" if isinstance(value, str) else value for key, value in call.arguments.items()}


def test_what_is_right_needs_no_judge(tmp_path: Path) -> None:
    def rule(asked: Asked) -> Slip | None:
        return "no_call" if "light" in asked.prompt else None

    with serving(rule) as server:
        bench = Bench(server, tmp_path, "--judge", "judge", "--judge-cache", str(tmp_path / "verdicts"))
        bench.run()
        assert {request.json["model"] for request in server.requests} == {"m"}
    for cell in bench.cells:
        assert cell["scores"]["judged"] == (cell["group"] != "light")
        assert cell["judge"] is None


# Failures and limits ----------------------------------------------------------------------------------------


def test_busy_servers_are_counted(tmp_path: Path) -> None:
    tries: Counter[str] = Counter()

    def rule(asked: Asked) -> Failure | None:
        tries[asked.mode + asked.prompt] += 1
        limit = {"native": 1, "wire": 2}[asked.mode]
        busy = tries[asked.mode + asked.prompt] <= limit
        return Failure(429, "Slow down.", headers={"retry-after": "0.01"}) if busy else None

    with serving(rule) as server:
        bench = Bench(server, tmp_path)
        bench.run()
        assert total(bench.cells) == bench.paid
        assert len(server.requests) == 6 * 2 + 6 * 3
    for cell in bench.cells:
        assert cell["status"] == "ok"
        reasons = [retry["reason"] for retry in cell["retries"]]
        assert reasons == ["HTTP 429: Slow down."] * (1 if cell["mode"] == "native" else 2)


def test_what_fails_is_a_cell_and_is_asked_again_if_that_is_wanted(tmp_path: Path) -> None:
    works = False

    def rule(asked: Asked) -> Failure | None:
        failing = "light" in asked.prompt and asked.mode == "native" and not works
        return Failure(400, "No lights today.") if failing else None

    with serving(rule) as server:
        bench = Bench(server, tmp_path)
        said = bench.run().stdout
        failed = [cell for cell in bench.cells if cell["status"] == "failed"]
        assert [(cell["group"], cell["reason"]) for cell in failed] == [
            ("light", "HTTP 400: No lights today.")
        ] * 2
        assert all(cell["scores"] is None for cell in failed)
        assert len(bench.cells) == 12
        assert ["m", "native", "4", "2", "0"] in [line.split()[:5] for line in said.splitlines()]

        before = len(server.requests)
        bench.run("--resume")
        assert len(server.requests) == before
        works = True
        bench.run("--resume", "--retry-failed")
        assert len(server.requests) == before + 2
    assert all(cell["scores"]["exact"] for cell in bench.cells)
    assert len(read(bench.path).replaced) == 2


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_the_budget_in_tokens_is_not_passed(tmp_path: Path, concurrency: str) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--max-output-tokens", "200", "--concurrency", concurrency)
        bench.run("--reps", "4", "--max-tokens", "6000", code=1)
        assert 3000 < bench.paid.input + bench.paid.output <= 6000
        assert total(bench.cells) == bench.paid
        assert len(bench.cells) == 48
        skipped = [cell for cell in bench.cells if cell["status"] == "skipped"]
        assert {cell["reason"] for cell in skipped} == {"budget"}
        assert all(cell["scores"] is None for cell in skipped)
        sent = len(server.requests)
        assert len(bench.cells) - len(skipped) == sent

        # No more of it, and nothing is sent; more of it, and the rest is.
        spent = bench.paid.input + bench.paid.output
        bench.run("--reps", "4", "--resume", "--max-tokens", str(spent + 100), code=1)
        assert len(server.requests) == sent
        bench.run("--reps", "4", "--resume", "--max-tokens", "6600", code=1)
        assert bench.paid.input + bench.paid.output <= 6600
        assert len(server.requests) > sent
        said = bench.run("--reps", "4", "--resume").stderr
        assert len(server.requests) == 48
        assert "skipped" not in said.splitlines()[-1]
    assert {cell["status"] for cell in bench.cells} == {"ok"}


def test_what_was_done_again_still_counts(tmp_path: Path) -> None:
    """Half of a cell was paid for when the budget ended it."""
    model = ErringModel(KNOWN, lambda asked: None if asked.attempt else "broken")

    def script(request: Request) -> Reply:
        reply = model(request)
        assert isinstance(reply, Answer)
        return replace(reply, usage=Tokens(600, 300))

    with serving(script=script) as server:
        bench = Bench(server, tmp_path, "--modes", "wire", "--cases", "lima", "--max-output-tokens", "300")
        # The second time, nothing is sent, and what was paid for is in the cell that was replaced.
        for _ in range(3):
            bench.run("--resume", "--max-tokens", "1500", code=1)
            (cell,) = bench.cells
            assert (cell["status"], cell["reason"]) == ("skipped", "budget")
            assert len(server.requests) == 1
            run = read(bench.path)
            assert total([*run.cells, *run.replaced]) == bench.paid == Usage(600, 300)
        bench.run("--resume", "--max-tokens", "5000")
        run = read(bench.path)
        assert total([*run.cells, *run.replaced]) == bench.paid == Usage(1800, 900)
        assert [cell["status"] for cell in run.cells] == ["ok"]


def test_the_budget_in_dollars_is_not_passed(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--max-output-tokens", "200", "--price-in", "3", "--price-out", "15")
        bench.run("--reps", "4", "--max-usd", "0.02", code=1)
        usd = (bench.paid.input * 3 + bench.paid.output * 15) / 1e6
        assert 0.012 < usd <= 0.02
        assert sum(cell["usd"] or 0 for cell in bench.cells) == pytest.approx(usd)


def test_dollars_need_prices(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(
            server, tmp_path, "--max-usd", "1", "--price-in", "m=3", "--price-out", "m=3", models="m,n"
        )
        assert "--max-usd needs --price-in and --price-out of n." in bench.run(code=1).output
        assert not server.requests
    assert not bench.path.exists()


def test_a_case_without_a_prompt_is_skipped(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path)
        catalogue = tmp_path / "catalogue.json"
        changed = json.loads(catalogue.read_text())
        changed["cases"][0]["prompt"] = ""
        catalogue.write_text(json.dumps(changed))
        bench.run(code=1)
        assert len(server.requests) == 10
    skipped = [cell for cell in bench.cells if cell["status"] == "skipped"]
    assert [(cell["case"], cell["reason"]) for cell in skipped] == [("lima", "the case has no prompt")] * 2


# Ends and resumptions ---------------------------------------------------------------------------------------


def requests_of(bench: Bench) -> "Counter[tuple[str, tuple[str, str]]]":
    return Counter((case_of(request), variant_of(request)) for request in bench.server.requests)


def test_a_torn_last_line_costs_one_cell(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--concurrency", "1")
        bench.run()
        lines = bench.path.read_bytes().splitlines(keepends=True)
        torn = json.loads(lines[7])
        bench.path.write_bytes(b"".join(lines[:7]) + lines[7][:100])
        assert read(bench.path).torn
        before = requests_of(bench)
        bench.run("--resume")
        missing = [json.loads(line) for line in lines[7:]]
        assert requests_of(bench) - before == Counter((cell["case"], ("m", cell["mode"])) for cell in missing)
    run = read(bench.path)
    assert not run.torn
    assert len(run.cells) == 12
    assert torn["key"] in [cell["key"] for cell in run.cells]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_after_a_kill_nothing_that_was_kept_is_sent_again(tmp_path: Path) -> None:
    delivery = Delivery(delay=0.005)
    with serving(script=ErringModel(KNOWN, delivery=delivery)) as server:
        bench = Bench(server, tmp_path, "--reps", "5", "--concurrency", "3")
        with bench.start() as child:
            wait_for(lambda: lines_of(bench.path) > 16)
            child.kill()
            child.communicate()
        server.settle()
        kept = {tuple(cell["key"]) for cell in bench.cells}
        sent = len(server.requests)
        assert 15 < len(kept) <= sent <= len(kept) + 3
        bench.run("--resume")
        assert len(server.requests) == sent + 60 - len(kept)
    run = read(bench.path)
    assert len(run.cells) == 60
    assert not run.replaced
    assert len(run.resumed) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_after_an_interrupt_nothing_is_sent_again_at_all(tmp_path: Path) -> None:
    delivery = Delivery(delay=0.005)
    with serving(script=ErringModel(KNOWN, delivery=delivery)) as server:
        bench = Bench(server, tmp_path, "--reps", "5", "--concurrency", "3")
        with bench.start() as child:
            wait_for(lambda: lines_of(bench.path) > 16)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=30)
        assert child.returncode == 130
        assert b"Interrupted" in said
        assert b"Traceback" not in said
        server.settle()
        run = read(bench.path)
        assert not run.torn
        assert len(run.cells) == len(server.requests) < 60
        assert total(run.cells) == bench.paid
        bench.run("--resume")
        assert len(server.requests) == 60
        assert total(bench.cells) == bench.paid


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    model = ErringModel(KNOWN)

    def script(request: Request) -> Reply:
        # The fifth and later ones never end.
        hangs = len(server.requests) > 4
        return Answer("…", delivery=Delivery(stall_after=10)) if hangs else model(request)

    with serving(script=script) as server:
        bench = Bench(server, tmp_path, "--concurrency", "2", "--timeout", "600")
        with bench.start() as child:
            wait_for(lambda: len(server.requests) >= 6)
            child.send_signal(signal.SIGINT)
            assert child.stderr is not None
            for line in child.stderr:
                if b"Interrupted" in line:
                    break
            start = time.monotonic()
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=30)
        assert time.monotonic() - start < 10
        assert child.returncode == 130
        run = read(bench.path)
        assert not run.torn
        assert len(run.cells) == 4


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--reps", "2"], "repetitions"),
        (["--modes", "wire"], "modes"),
        (["--ablation", "no-manual"], "ablations"),
        (["--system", "Be brief."], "system"),
        (["--tools", "all"], "tools"),
        (["--parameter", "temperature=0"], "parameters"),
        (["--cases", "m*"], "cases"),
    ],
)
def test_another_run_is_not_carried_on(tmp_path: Path, options: list[str], what: str) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path)
        bench.run()
        assert f"made with other options: {what} was" in bench.run(*options, "--resume", code=1).output
        assert "--resume" in bench.run(code=1).output
        assert len(server.requests) == 12


def test_a_changed_catalogue_is_another_run(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path)
        bench.run()
        catalogue = tmp_path / "catalogue.json"
        catalogue.write_text(catalogue.read_text().replace("Sends a mail.", "Sends mail."))
        assert "catalogue_sha256" in bench.run("--resume", code=1).output


def test_requests_that_changed_since_are_another_run(tmp_path: Path) -> None:
    """As with another version of wirecall, whose manual has other words."""
    with serving() as server:
        bench = Bench(server, tmp_path)
        bench.run()
        cell = next(cell for cell in bench.cells if cell["mode"] == "wire")
        sha256 = cell["requests"][0]["sha256"]
        bench.path.write_text(bench.path.read_text().replace(sha256, sha256[::-1]))
        said = bench.run("--resume", code=1).output
        assert "what was sent is not what would be sent now" in said
        assert len(server.requests) == 12


# The proof that requests differ -----------------------------------------------------------------------------


def test_ablations_are_proved(tmp_path: Path) -> None:
    ablations = (
        "syntax=json",
        "placement=first",
        "no-manual",
        "descriptions=none",
        "protocol=hermes",
        "strict",
    )
    with serving() as server:
        bench = Bench(server, tmp_path, *(part for one in ablations for part in ("--ablation", one)))
        said = bench.run().stdout
        hashes = {(cell["ablation"], cell["case"]): cell["requests"][0]["sha256"] for cell in bench.cells}
        assert len(server.requests) == len(hashes) + 6 == 48
    for ablation in ablations[:-1]:
        assert f"m, {ablation}: the request differs in 6 of 6 cases" in said
    assert "m, strict: answers are read otherwise, the request differs in 0 of 6 cases" in said
    native_and_wire = 2
    assert len({cell["requests"][0]["sha256"] for cell in bench.cells}) == 6 * (native_and_wire + 5)


@pytest.mark.parametrize("field", ['model="other"', "max_tokens=99999", "n=5", "stream=false", "tools=[]"])
def test_a_parameter_does_not_change_what_the_run_sets(tmp_path: Path, field: str) -> None:
    """Of another model, or past the budget, the numbers would be wrong."""
    with serving() as server:
        said = Bench(server, tmp_path, "--parameter", field).run(code=1).output
    assert f"--parameter {field.partition('=')[0]}: the run sets this field" in said
    assert server.requests == []


@pytest.mark.parametrize(
    "options",
    [
        ["--ablation", "placement=first", "--system", ""],
        ["--ablation", "protocol=wire"],
        ["--ablation", "syntax=wire"],
        ["--ablation", "descriptions=full"],
        ["--ablation", "protocol=hermes", "--modes", "native,wire,hermes"],
    ],
)
def test_two_equal_requests_fail_the_run(tmp_path: Path, options: list[str]) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, *options)
        said = bench.run(code=1).output
        assert "This would compare a thing with itself." in said
        assert "send the same request (SHA-256" in said
        assert not server.requests
    assert not bench.path.exists()


def test_that_failure_has_its_exit_code(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--ablation", "protocol=wire")
        with bench.start() as child:
            child.communicate(timeout=60)
        assert child.returncode == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ablation", "colour=red"], "There is no ablation 'colour=red'; there are: syntax, placement"),
        (["--ablation", "syntax=xml"], 'is none: syntax is "xml"; it must be one of "wire", "json".'),
        (["--ablation", "protocol=nope"], "'protocol=nope' is none"),
        (["--ablation", "strict=yes"], "write strict"),
        (["--ablation", "syntax"], "write syntax=VALUE"),
        (["--ablation", "strict", "--modes", "native"], "Ablations are of the mode 'wire'"),
        (["--ablation", "strict", "--ablation", "strict"], "'strict' stands twice among the ablations"),
        (["--modes", "native,nope"], "nope"),
        (["--judge", "m"], "m cannot be its own judge"),
        (["--cases", "nothing*"], "No case of small is called 'nothing*'"),
        (["--group", "no"], "small has no group 'no'; it has: light, mail, weather."),
        (["--parameter", "temperature"], "'temperature' is no NAME=JSON"),
        (["--models", ","], "--models names none"),
        (["--modes", ""], "--modes names none"),
        (["--base-url", "localhost:8000"], "'localhost:8000' is no base URL"),
        (["--base-url", ""], "'' is no base URL"),
        (["--price-in", "cheap"], "'cheap' is no price"),
        (["--base-url", "http://a:b@localhost/v1"], "no user name"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, options: list[str], said: str) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, *options)
        code = 2 if "--parameter" in options or "--price-in" in options else 1
        assert said in " ".join(bench.run(code=code).output.split())
        assert not server.requests
    assert not bench.path.exists()


# Dry runs and keys ------------------------------------------------------------------------------------------


def test_a_dry_run_shows_what_is_sent_and_sends_nothing(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--reps", "3", "--price-in", "1000", "--price-out", "1000")
        dry = ["--dry-run", "--encoding", "characters", "--max-output-tokens", "10"]
        said = bench.run(*dry, env={"OPENAI_API_KEY": ""}).stdout
        assert not server.requests
        assert not bench.path.exists()
        bench.run("--max-output-tokens", "10")
        shown, sizes = said, dict.fromkeys(MODES, 0)
        for request in server.requests:
            body = request.json
            texts = [message["content"] for message in body["messages"]]
            tools = json.dumps(body["tools"], separators=(",", ":")) if "tools" in body else ""
            sizes[variant_of(request)[1]] += sum(map(len, (*texts, tools)))
    decoder = json.JSONDecoder()
    bodies = []
    while (start := shown.find(":\n{")) >= 0:
        body, end = decoder.raw_decode(shown, start + 2)
        bodies.append(body)
        shown = shown[end:]
    assert len(bodies) == 2
    assert all(body in [request.json for request in server.requests] for body in bodies)
    rows = {tuple(line.split()[:2]): line.split() for line in said.splitlines()}
    for mode in MODES:
        tokens, output = sizes[mode], 18 * 10
        row = rows["m", mode]
        assert row[2:] == [
            "18",
            f"{round(tokens / 18):,}",
            f"{tokens:,}",
            str(output),
            f"{(tokens + output) / 1000:,.4f}",
        ]


def test_a_key_has_to_be_in_the_environment(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path)
        assert "OPENAI_API_KEY is not set" in bench.run(code=1, env={"OPENAI_API_KEY": ""}).output
        assert "MY_KEY is not set" in bench.run("--key-variable", "MY_KEY", code=1).output
        for wrong in ("two words", "schlüssel", "a\nb", "a\x07"):
            said = bench.run(code=1, env={"OPENAI_API_KEY": wrong}).output
            assert "OPENAI_API_KEY holds what can be no key" in said
            assert wrong not in said
        bench.run("--key-variable", "MY_KEY", env={"MY_KEY": " another\n", "OPENAI_API_KEY": ""})
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer another"}


def test_a_key_that_is_said_is_struck_out(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        words = request.headers["authorization"]
        return Answer(words) if "Lima" in request.body.decode() else Failure(400, words)

    with serving(script=script) as server:
        bench = Bench(server, tmp_path)
        bench.run()
        assert any(KEY in value for value in server.last.headers.values())
    assert {cell["reason"] for cell in bench.cells} == {"HTTP 400: Bearer [key]"}


def test_a_refused_key_ends_the_run(tmp_path: Path) -> None:
    with serving(script=lambda _: Failure(401, f"Incorrect API key provided: {KEY}.")) as server:
        bench = Bench(server, tmp_path, "--concurrency", "1")
        assert "refuses the key for m (HTTP 401)" in bench.run(code=1).output
        assert len(server.requests) == 1
    assert bench.cells == []
