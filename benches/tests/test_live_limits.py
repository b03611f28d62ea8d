"""`wirecall bench live`: what fails, is refused or would cost too much is counted, and no limit is passed."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from live_support import KNOWN, Bench, serving, total
from server import Answer, Asked, ErringModel, Failure, Request
from server import Usage as Tokens
from server.answers import Reply

from wirecall_bench.artifact import read
from wirecall_bench.budget import Usage


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


def test_what_a_server_says_moves_no_cursor_and_a_run_without_an_answer_failed(tmp_path: Path) -> None:
    with serving(lambda asked: Failure(400, "No\x1b[2J \u202elights.")) as server:
        said = Bench(server, tmp_path).run(code=1).stdout
    assert "12 failed: HTTP 400: No\N{REPLACEMENT CHARACTER}[2J \N{REPLACEMENT CHARACTER}lights." in said


def test_an_account_without_money_moves_no_cursor(tmp_path: Path) -> None:
    broke = Failure(429, "No money.\x1b[2J", code="insufficient_quota")
    with serving(lambda asked: broke) as server:
        said = Bench(server, tmp_path).run(code=1).output
    assert "Error: HTTP 429: No money.\N{REPLACEMENT CHARACTER}[2J" in said


def test_what_fails_is_a_cell_and_is_asked_again_if_that_is_wanted(tmp_path: Path) -> None:
    workloads = False

    def rule(asked: Asked) -> Failure | None:
        failing = "light" in asked.prompt and asked.mode == "native" and not workloads
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
        assert "2 failed: HTTP 400: No lights today." in said.splitlines()
        assert "To run again what failed, use --resume --retry-failed." in said

        before = len(server.requests)
        bench.run("--resume")
        assert len(server.requests) == before
        workloads = True
        bench.run("--resume", "--retry-failed")
        assert len(server.requests) == before + 2
    assert all(cell["scores"]["exact"] for cell in bench.cells)
    assert len(read(bench.path).replaced) == 2


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_the_budget_in_tokens_is_not_passed(tmp_path: Path, concurrency: str) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--max-output-tokens", "200", "--concurrency", concurrency)
        told = bench.run("--reps", "4", "--max-tokens", "6000", code=1).stdout.splitlines()
        assert 3000 < bench.paid.input + bench.paid.output <= 6000
        assert total(bench.cells) == bench.paid
        assert len(bench.cells) == 48
        skipped = [cell for cell in bench.cells if cell["status"] == "skipped"]
        assert {cell["reason"] for cell in skipped} == {"budget"}
        assert f"{len(skipped)} skipped: budget" in told
        assert "To run what was skipped, use --resume with a larger --max-tokens or --max-usd." in told
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
        assert "--max-usd needs --price-in and --price-out for n." in bench.run(code=1).output
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


def test_without_any_prompt_there_is_nothing_to_ask(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path)
        catalogue = tmp_path / "catalogue.json"
        changed = json.loads(catalogue.read_text())
        for case in changed["cases"]:
            del case["prompt"]
        catalogue.write_text(json.dumps(changed))
        assert 'has a "prompt", the user message that leads to the call' in bench.run(code=1).output
        assert not server.requests
    assert not bench.path.exists()
