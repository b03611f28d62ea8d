"""The public interface of the package: few symbols, each with a complete type. `make public`.

Counts what basedpyright counts: the names in modules without a leading underscore, and the members of classes
that are defined there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Everything that is public must be kept; so it must be little.
MOST = 200


def main() -> int:
    command = [
        Path(sys.executable).with_name("basedpyright"),
        "--verifytypes",
        "wirecall",
        "--ignoreexternal",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([*command, "--outputjson"], env=environment, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)["typeCompleteness"]
    except (ValueError, KeyError):
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        return 1
    exported = sum(report["exportedSymbolCounts"].values())
    for symbol in report["symbols"]:
        if not symbol["isTypeKnown"] or symbol["isTypeAmbiguous"]:
            for problem in symbol["diagnostics"]:
                print(f"{symbol['name']}: {problem['message']}", file=sys.stderr)
    print(f"{exported} exported symbols, of which {report['completenessScore']:.1%} have complete types")
    return 0 if 0 < exported <= MOST and report["completenessScore"] == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
