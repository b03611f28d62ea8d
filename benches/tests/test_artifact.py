"""Artifacts: what was written is there, whatever became of the run, and no run is mixed with another."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import wirecall
from wirecall_bench.artifact import Artifact, BenchError, read
from wirecall_bench.commands import bench

OPTIONS = {"models": ["a", "b"], "reps": 3}


def cell(*key: str, **fields: Any) -> dict[str, Any]:
    return {"key": list(key), **fields}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_what_was_written_is_read(path: Path) -> None:
    with Artifact.create(path, "live", OPTIONS, libraries=["click", "no-such-library"]) as artifact:
        artifact.append(cell("a", "1", text="é\ud83d\n", value=None))
    run = read(path)
    assert run.kind == "live"
    assert run.options == OPTIONS
    assert run.cells == [cell("a", "1", text="é\ud83d\n", value=None)]
    assert not run.torn
    versions = run.header["run"]["versions"]
    assert versions["python"] == sys.version.partition(" ")[0]
    assert versions["wirecall"] == wirecall.__version__
    assert versions["click"]
    assert versions["no-such-library"] is None
    assert run.header["run"]["machine"]["cores"] == os.cpu_count()
    assert path.read_bytes().count(b"\n") == 2


def test_the_last_cell_of_a_key_holds(path: Path) -> None:
    with Artifact.create(path, "live", OPTIONS) as artifact:
        artifact.append(cell("a", status="skipped"))
        artifact.append(cell("b", status="ok"))
        artifact.append(cell("a", status="ok"))
        assert artifact.cells[("a",)]["status"] == "ok"
    run = read(path)
    assert run.cells == [cell("a", status="ok"), cell("b", status="ok")]
    assert run.replaced == [cell("a", status="skipped")]
    with Artifact.resume(path, "live", OPTIONS) as artifact:
        assert artifact.replaced == run.replaced


def test_a_run_is_not_overwritten(path: Path) -> None:
    Artifact.create(path, "live", OPTIONS).close()
    before = path.read_bytes()
    with pytest.raises(BenchError, match="--resume"):
        Artifact.create(path, "live", OPTIONS)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"nowhere.run\.jsonl cannot be written: No such file"):
        Artifact.create(tmp_path / "nowhere" / "run.jsonl", "live", OPTIONS)
    with pytest.raises(BenchError, match=r"nowhere.run\.jsonl cannot be read: No such file"):
        read(tmp_path / "nowhere" / "run.jsonl")


def test_a_file_that_may_not_be_written_is_not_carried_on(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"cannot be written: "):
        Artifact.resume(tmp_path, "live", OPTIONS)


@pytest.mark.parametrize("cut", [1, 5, 19])
def test_a_torn_line_is_left_out_and_cut_off(path: Path, cut: int) -> None:
    with Artifact.create(path, "live", OPTIONS) as artifact:
        artifact.append(cell("a", n=1))
        artifact.append(cell("b", n=2))
    path.write_bytes(path.read_bytes()[:-cut])
    torn = read(path)
    assert torn.torn
    assert torn.cells == [cell("a", n=1)]
    with Artifact.resume(path, "live", OPTIONS) as artifact:
        assert set(artifact.cells) == {("a",)}
        artifact.append(cell("b", n=3))
    run = read(path)
    assert not run.torn
    assert run.cells == [cell("a", n=1), cell("b", n=3)]
    assert [again["options"] for again in run.resumed] == [OPTIONS]


@pytest.mark.parametrize("left", [0, 10])
def test_a_run_without_a_header_begins_again(path: Path, left: int) -> None:
    Artifact.create(path, "live", OPTIONS).close()
    path.write_bytes(path.read_bytes()[:left])
    with Artifact.resume(path, "live", OPTIONS) as artifact:
        artifact.append(cell("a"))
    run = read(path)
    assert run.cells == [cell("a")]
    assert not run.resumed


def test_resuming_what_is_not_there_begins(path: Path) -> None:
    Artifact.resume(path, "live", OPTIONS).close()
    assert read(path).cells == []


@pytest.mark.parametrize("options", [{**OPTIONS, "reps": 4}, {"models": ["a", "b"]}, {**OPTIONS, "more": 1}])
def test_other_options_are_no_resumption(path: Path, options: dict[str, Any]) -> None:
    Artifact.create(path, "live", OPTIONS).close()
    before = path.read_bytes()
    with pytest.raises(BenchError, match=r"made with other options: (reps|more) was"):
        Artifact.resume(path, "live", options)
    assert path.read_bytes() == before


def test_options_are_compared_as_they_were_written(path: Path) -> None:
    Artifact.create(path, "live", {"models": ("a", "b")}).close()
    Artifact.resume(path, "live", {"models": ("a", "b")}).close()


def test_another_kind_is_no_resumption(path: Path) -> None:
    Artifact.create(path, "live", OPTIONS).close()
    with pytest.raises(BenchError, match="wirecall bench live"):
        Artifact.resume(path, "agent", OPTIONS)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"[]", "is not an artifact of wirecall bench"),
        (b"hello\n", "line 1"),
        (b"[]\n", "line 1"),
        (b'{"schema":"wirecall._bench/2","kind":"live","run":{"options":{}}}\n', "reads 'wirecall._bench/1'"),
        (b'{"schema":"wirecall._bench/1","kind":"live","run":{"options":{}}}\n{"a":1}\n', "line 2"),
        (b'{"schema":"wirecall._bench/1","kind":"live","run":{"options":{}}}\n{"key":[1]}\n', "line 2"),
    ],
)
def test_what_is_no_artifact(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    with pytest.raises(BenchError, match=said):
        read(path)


def test_a_wrong_cell_is_not_written(path: Path) -> None:
    with Artifact.create(path, "live", OPTIONS) as artifact:
        with pytest.raises(TypeError, match="list of strings"):
            artifact.append({"key": ["a", 1]})
        with pytest.raises(ValueError, match="JSON"):
            artifact.append(cell("a", n=float("nan")))
    assert read(path).cells == []


def test_threads_do_not_mix_their_lines(path: Path) -> None:
    with Artifact.create(path, "live", OPTIONS) as artifact:

        def write(name: str) -> None:
            for number in range(50):
                artifact.append(cell(name, str(number), text="x" * 5000))

        threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read(path).cells) == 200


KILLED = """
import sys
from wirecall_bench.artifact import Artifact
artifact = Artifact.create(sys.argv[1], "live", {"reps": 1})
for number in range(10**9):
    artifact.append({"key": [str(number)], "text": "x" * 100_000})
    print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no kill -9")
def test_what_was_appended_survives_a_kill(path: Path) -> None:
    source = Path(wirecall.__file__).parents[1]
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert child.stdout is not None
    with child:
        said = [int(child.stdout.readline()) for _ in range(20)]
        child.send_signal(signal.SIGKILL)
    found = [int(one["key"][0]) for one in read(path).cells]
    assert found == list(range(len(found)))
    assert len(found) >= len(said)
    with Artifact.resume(path, "live", {"reps": 1}) as artifact:
        assert len(artifact.cells) == len(found)


def test_a_full_disk_leaves_no_half_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with Artifact.create(path, "live", OPTIONS) as artifact:
        artifact.append(cell("a"))
        monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:5]))
        with pytest.raises(BenchError, match="only 5 of"):
            artifact.append(cell("b"))

        def full(descriptor: int, data: bytes) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(BenchError, match="cannot be written: No space left"):
            artifact.append(cell("b"))
        monkeypatch.undo()
        assert ("b",) not in artifact.cells
        artifact.append(cell("c"))
    assert read(path).cells == [cell("a"), cell("c")]


@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot tell")
def test_two_runs_do_not_write_one_artifact(path: Path) -> None:
    with (
        Artifact.create(path, "live", OPTIONS),
        pytest.raises(BenchError, match="is being written by another run"),
    ):
        Artifact.resume(path, "live", OPTIONS)
    Artifact.resume(path, "live", OPTIONS).close()
    with pytest.raises(BenchError, match="made with other options"):
        Artifact.resume(path, "live", {})
    Artifact.resume(path, "live", OPTIONS).close()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"key": ["a"], "tokens": NaN}', "NaN is not valid JSON"),
        ('{"key": ["a"], "x": ' + "[" * 100_000, "this is not a line of an artifact"),
        ('{"schema": "wirecall._bench/1"}', "'key' is missing"),
        ("[1]", "this is not a line of an artifact"),
    ],
)
def test_what_is_no_cell_is_said_with_its_line(path: Path, line: str, said: str) -> None:
    Artifact.create(path, "live", OPTIONS).close()
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(BenchError, match=f"line 2: .*{said}"):
        read(path)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"none.live\.jsonl cannot be written: No such file"):
        Artifact.create(tmp_path / "none" / "live.jsonl", "live", OPTIONS)


def test_nothing_is_appended_to_what_is_closed(path: Path) -> None:
    artifact = Artifact.create(path, "live", OPTIONS)
    artifact.close()
    artifact.close()
    with pytest.raises(ValueError, match="is closed"):
        artifact.append(cell("a"))
    assert read(path).cells == []


def test_lines_are_json_of_their_own(path: Path) -> None:
    with Artifact.create(path, "live", OPTIONS) as artifact:
        artifact.append(cell("a", text="one\u2028two\nthree"))
    assert [type(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n")[:-1]] == [
        dict,
        dict,
    ]


@pytest.mark.parametrize("kind", ["offline", "live", "agent", "latency"])
def test_resuming_is_named_only_where_the_option_exists(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "artifact.jsonl"
    Artifact.create(path, kind, OPTIONS).close()
    with pytest.raises(BenchError, match="exists: choose another file") as raised:
        Artifact.create(path, kind, OPTIONS)
    has_option = any("--resume" in one.opts for one in bench.commands[kind].params)
    assert ("--resume" in str(raised.value)) == has_option
