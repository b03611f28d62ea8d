"""`wirecall bench live` with a judge: it is asked only where the schema cannot say, and costs apart."""

import json
from pathlib import Path
from typing import Any

import pytest
from live_support import KNOWN, Bench, serving, total
from server import Answer, Asked, Call, ErringModel, Request, Slip
from server import Usage as Tokens
from server.answers import Reply

from wirecall_bench.budget import Usage


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
