"""The Makefile: slow steps say what they do, and each target builds with its profile."""

import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
MAKEFILE = ROOT / "Makefile"
# What is said, and the slow command behind it.
DEMO_STEPS = [
    ("creating .venv with ", "-m venv .venv"),
    ("installing click ", "--no-deps --require-hashes"),
    ("compiling the Rust extension with the profile quick (a minute ", "maturin develop"),
]
TEST_STEPS = [*DEMO_STEPS, ("installing the development tools into .venv ", "uv pip install")]


pytestmark = [
    pytest.mark.skipif(shutil.which("make") is None, reason="no make"),
    pytest.mark.skipif(not MAKEFILE.exists(), reason="not in a checkout"),
]


def make(
    *arguments: str, folder: Path = ROOT, dry: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    # The options and variables of an outer make do not apply to this one.
    outer = ("MAKE", "MFLAGS", "WIRECALL_LAW_CASES", "PROFILE")
    env = {key: value for key, value in os.environ.items() if not key.startswith(outer)}
    command = ["make", *(["--dry-run"] if dry else []), *arguments]
    return subprocess.run(
        command, cwd=folder, env=env | environment, capture_output=True, text=True, timeout=60
    )


def dry_run(*arguments: str, folder: Path = ROOT, **environment: str) -> str:
    done = make(*arguments, folder=folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("target", "steps"), [("demo", DEMO_STEPS), ("test", TEST_STEPS)])
def test_slow_steps_are_announced(target: str, steps: list[tuple[str, str]]) -> None:
    said = dry_run("--always-make", "PROFILE=quick", target)
    places = [said.index(text) for step in steps for text in step]
    assert places == sorted(places)


def test_the_demo_installs_only_what_it_imports() -> None:
    said = dry_run("--always-make", "demo")
    for absent in ("development tools", "-m pytest", "vocabularies", "cargo test", "./benches"):
        assert absent not in said
    found = re.search(r"^QUICKSTART := (.+)$", MAKEFILE.read_text(), re.MULTILINE)
    assert found is not None
    needed, left = set(), ["click", "rich", "maturin"]
    while left:
        if (name := left.pop()) not in needed:
            needed.add(name)
            for line in metadata.requires(name) or []:
                requirement = Requirement(line)
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                    left.append(requirement.name.lower())
    assert found[1].split() == sorted(needed)
    pinned = re.findall(r"^([a-z-]+)==", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE)
    assert needed <= set(pinned)


def test_tests_of_python_come_before_those_of_rust() -> None:
    said = dry_run("test", "PROFILE=quick")
    assert said.index("-m pytest") < said.index("--no-fail-fast")


@pytest.mark.parametrize(("first", "second", "fails"), [(0, 0, False), (1, 0, True), (0, 1, True)])
def test_tests_of_both_languages_run_even_if_one_fails(
    first: int, second: int, fails: bool, tmp_path: Path
) -> None:
    done = make(
        f"PYTEST=echo one; exit {first}",
        f"CARGO_TEST=echo two; exit {second}",
        f"LOGS={tmp_path}",
        "TESTED=--help",
        *(f"--old-file={name}" for name in ("build", ".venv/.vocabularies", ".venv/.templates")),
        "test",
        dry=False,
    )
    assert done.stdout.splitlines()[-2:] == ["one", "two"]
    assert (done.returncode != 0) == fails


def test_laws_have_few_cases_in_tests_and_many_in_checks() -> None:
    # A recipe that runs even so, once before the tests of each language.
    show = (
        "test test-rust test-python: show-cases\nshow-cases:\n\t+@echo each law: $$WIRECALL_LAW_CASES cases"
    )
    for target, environment, cases in (
        ("test", {}, "200"),
        ("check", {}, "1000"),
        ("check", {"WIRECALL_LAW_CASES": "7"}, "7"),
    ):
        said = dry_run(f"--eval={show}", target, **environment)
        assert f"each law: {cases} cases" in said.splitlines()


def test_the_profile_is_that_of_the_last_build_unless_a_target_has_its_own(tmp_path: Path) -> None:
    shutil.copy(MAKEFILE, tmp_path)
    (tmp_path / ".venv").mkdir()
    # `--eval` comes before the Makefile, so what it shows is expanded after it.
    show = "--eval=.SECONDEXPANSION:\nshow: $$(info the profile is $$(PROFILE))\n\t@true"

    def chosen(*arguments: str) -> str:
        said = dry_run(show, "show", *arguments, folder=tmp_path)
        [found] = re.findall(r"^the profile is (.*)$", said, re.MULTILINE)
        return found

    assert chosen() == "quick"
    assert chosen("PROFILE=release") == "release"
    (tmp_path / ".venv" / ".built-release").touch()
    assert chosen() == "release"
    (tmp_path / ".venv" / ".built-release").rename(tmp_path / ".venv" / ".built-dev")
    assert chosen() == "dev"


def recipes() -> dict[str, str]:
    text = MAKEFILE.read_text() if MAKEFILE.exists() else ""
    return dict(re.findall(r"^([a-z][a-z0-9-]*):(?!=)[^\n]*\n((?:\t[^\n]*\n)+)", text, re.MULTILINE))


# `local_server` only starts one.
MEASURES = re.compile(
    r"wirecall bench |wirecall_bench\.(?!local_server)|cargo bench|benches/[a-z0-9]+/\w+\.py"
)
MEASURED = sorted(target for target, recipe in recipes().items() if MEASURES.search(recipe))


def test_targets_that_measure_are_found() -> None:
    assert {"bench", "bench-against", "bench-clients", "bench-v8", "benchmarks", "live"} <= {*MEASURED}


@pytest.mark.parametrize("target", MEASURED)
@pytest.mark.parametrize("other", ["quick", "dev"])
def test_a_benchmark_refuses_any_profile_but_release(target: str, other: str) -> None:
    for given in ({}, {"PROFILE": other}):
        done = make(target, *([] if given else [f"PROFILE={other}"]), **given)
        assert done.returncode == 2
        assert f"{target} would measure the profile {other}: leave PROFILE out" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("target", [name for name in MEASURED if name != "bench-against"])
def test_a_benchmark_builds_the_release_whatever_is_built(target: str) -> None:
    said = dry_run("--always-make", target)
    assert "maturin develop --skip-install --profile release" in said
    assert said.count("--profile ") == 2
