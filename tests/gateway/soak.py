"""`wirecall serve` under many streams for some time; the report says what went wrong.

python tests/gateway/soak.py                            # 2,000 streams for 60 s, as in `make test-gateway`
python tests/gateway/soak.py --streams 5000 --seconds 600
"""

import argparse
import sys

from wirecall_bench.gateway.soak import run_soak


def main() -> int:
    parser = argparse.ArgumentParser(description="Soak wirecall serve.")
    parser.add_argument("--streams", type=int, default=2000, help="streams that are open at once [2000]")
    parser.add_argument("--seconds", type=float, default=60, help="for how long [60]")
    chosen = parser.parse_args()
    report = run_soak(chosen.streams, chosen.seconds)
    print(report)
    for problem in report.problems():
        print(problem, file=sys.stderr)
    return bool(report.problems())


if __name__ == "__main__":
    sys.exit(main())
