"""Runs a server's own tests with its parsers and with wirecall's, and groups the failures by reason."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "scripts"))

from downloads import DownloadError  # noqa: E402

SECONDS = 1800
# A test that the server marks as failing with its own parser has passed, too, if it passes.
PASSED = ("passed", "xpassed")
FAILED = ("failed", "xfailed")


@dataclass(frozen=True)
class OwnTests:
    """The tests of a server.

    Attributes:
        server: The name of its environment, and of the plugin `own_tests_NAME_plugin`.
        fetch: Puts the tests into `folder`.
        arguments: The tests, for pytest.
        environment: What pytest needs beside the environment of this process.
        prefix: What the names of all tests begin with, and are shown without.
        suffix: What the names of files end with, after the name of the format.
        reasons: For the name of each file, without prefix and suffix, patterns of the tests that differ, and
            why.
        least: The number of tests that pass with wirecall. Fewer are an error, even if each failure has a
            reason.
    """

    server: str
    fetch: Callable[[], None]
    arguments: Sequence[str]
    environment: Mapping[str, str]
    prefix: str
    suffix: str
    reasons: Mapping[str, Mapping[str, str]]
    least: int

    @property
    def folder(self) -> Path:
        return ROOT / "target" / "servers" / f"{self.server}-tests"

    def outcomes(self, parsers: str) -> dict[str, str]:
        """The outcome of each test."""
        results = self.folder.with_name(f"{self.folder.name}-{parsers}.json")
        results.unlink(missing_ok=True)
        plugins = ["-p", "no:cacheprovider", "-p", f"own_tests_{self.server}_plugin"]
        # Not the settings of this repository.
        options = ["-q", "-W", "ignore", "-c", os.devnull, "--rootdir", "."]
        python = ROOT / ".venv-servers" / self.server / "bin" / "python"
        log = results.with_suffix(".log")
        with log.open("w", encoding="utf-8") as output:
            subprocess.run(
                [str(python), "-m", "pytest", *plugins, *options, *self.arguments],
                cwd=self.folder,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([str(self.folder), str(HERE)]),
                    "OWN_TESTS_PARSERS": parsers,
                    "OWN_TESTS_RESULTS": str(results),
                    "HF_HUB_OFFLINE": "1",
                    "OMP_NUM_THREADS": "1",
                    **self.environment,
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
            )
        if not results.is_file():
            sys.exit(f"pytest did not run; see {log}")
        return dict(json.loads(results.read_text(encoding="utf-8")))

    def reason_of(self, test: str) -> str:
        """Why a test fails with wirecall; empty if that is not known."""
        file, _, name = test.partition("::")
        slug = Path(file).stem.removeprefix("test_").removesuffix(self.suffix)
        patterns = self.reasons.get(slug, {})
        return next((reason for pattern, reason in patterns.items() if re.search(pattern, name)), "")

    def report(self, parsers: str) -> bool:
        """Run the tests and print what they say. Whether they are as expected."""
        found = self.outcomes(parsers)
        kinds = Counter(found.values())
        passed, failed = (sum(kinds[kind] for kind in group) for group in (PASSED, FAILED))
        marked = ""
        if kinds["xpassed"] or kinds["xfailed"]:
            marked = (
                f" Of the tests that the server marks as failing with its own parsers, {kinds['xpassed']} "
                f"passed and {kinds['xfailed']} failed."
            )
        counts = f"{passed + failed} tests, {passed} passed, {failed} failed, {kinds['skipped']} skipped"
        print(f"{parsers}: {counts}.{marked}")
        if parsers == "built-in":
            # Tests that are newer or older than the server may fail.
            return True
        grouped: dict[str, list[str]] = {}
        for test, outcome in found.items():
            if outcome in FAILED:
                grouped.setdefault(self.reason_of(test), []).append(test.removeprefix(self.prefix))
        for reason, tests in sorted(grouped.items(), key=lambda item: -len(item[1])):
            print(f"\n{len(tests)}: {reason or 'NO REASON KNOWN'}")
            for test in tests:
                print(f"    {test}")
        if passed < self.least:
            print(f"\nFewer tests passed than before, which were {self.least}.")
        return "" not in grouped and passed >= self.least

    def main(self) -> int:
        """The command line."""
        options = argparse.ArgumentParser(description=f"Run the tests of tool parsers of {self.server}.")
        options.add_argument("--parsers", choices=["built-in", "wirecall"], help="whose; both if not given")
        chosen = options.parse_args().parsers
        try:
            self.fetch()
        except DownloadError as error:
            print(f"{error} The server's own tests are skipped.")
            return 1
        explained = [self.report(one) for one in ([chosen] if chosen else ["built-in", "wirecall"])]
        return 0 if all(explained) else 1
