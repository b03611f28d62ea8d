"""`wirecall bench live` that ended early is carried on: nothing is asked twice, no other run is mixed in."""

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_support import KNOWN, Bench, case_of, serving, total, variant_of
from server import Answer, Delivery, ErringModel, Request, Server
from server.answers import Reply

from wirecall_bench.artifact import read


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
    with a_slow_run(tmp_path) as (server, bench):
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
    with a_slow_run(tmp_path) as (server, bench):
        with bench.start() as child:
            wait_for(lambda: lines_of(bench.path) > 16)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=30)
        assert child.returncode == 130
        assert b"Interrupted" in said
        assert f"The results so far are in {bench.path}; --resume continues from there.".encode() in said
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
        return Answer("…", delivery=Delivery(cut_after=10, ending="stalled")) if hangs else model(request)

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


@contextmanager
def a_slow_run(tmp_path: Path) -> Iterator[tuple[Server, Bench]]:
    """Of 60 cells."""
    with serving(script=ErringModel(KNOWN, delivery=Delivery(delay=0.005))) as server:
        yield server, Bench(server, tmp_path, "--reps", "5", "--concurrency", "3")


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
        assert "the request differs from the one that would be sent now" in said
        assert len(server.requests) == 12
