"""A first `make` takes minutes: before each slow step it says what it does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What is said, and the slow command behind it.
STEPS = [
    ("creating .venv with ", "-m venv .venv"),
    ("installing the development tools into .venv ", "--require-hashes"),
    ("building the Rust extension ", "--editable ."),
]


pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def dry_run(*arguments: str, **environment: str) -> str:
    if not (ROOT / "Makefile").exists():
        pytest.skip("not in a checkout")
    # The options and variables of an outer make do not apply to this one.
    outer = ("MAKE", "MFLAGS", "WIRECALL_LAW_CASES")
    env = {key: value for key, value in os.environ.items() if not key.startswith(outer)}
    command = ["make", "--dry-run", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=env | environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("target", ["demo", "test"])
def test_slow_steps_are_announced(target: str) -> None:
    said = dry_run("--always-make", target)
    places = [said.index(text) for step in STEPS for text in step]
    assert places == sorted(places)


def test_laws_have_few_cases_in_tests_and_many_in_checks() -> None:
    # A recipe that runs even so, once before the tests of each language.
    show = "test-rust test-python: show-cases\nshow-cases:\n\t+@echo each law: $$WIRECALL_LAW_CASES cases"
    for target, environment, cases in (
        ("test", {}, "200"),
        ("check", {}, "1000"),
        ("check", {"WIRECALL_LAW_CASES": "7"}, "7"),
    ):
        said = dry_run(f"--eval={show}", target, **environment)
        assert f"each law: {cases} cases" in said.splitlines()
