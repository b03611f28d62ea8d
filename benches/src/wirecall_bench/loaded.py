"""A format that is loaded at run time, beside the built-in one with the same description: `make bench`.

python -m wirecall_bench.loaded [--pairs N]

Both parse the same streams in deltas of 4 characters, in turn. A figure is the ratio of the loaded format to
the built-in one: of the fastest of a few short runs of each, since the machine is never quiet for long. It is
the mean over many such pairs, with its interval of 95 %. The goal is an upper end below 1.03.
"""

import argparse
import gc
from collections.abc import Callable
from time import perf_counter

from wirecall import Format, Toolset, format_for
from wirecall_bench.goals import many_calls, parallel_calls
from wirecall_bench.statistics import mean
from wirecall_bench.tables import Table, markdown
from wirecall_bench.workloads import Workload

NAMES = ("hermes", "glm-4.7", "deepseek-v3.2", "kimi-k2", "mistral", "lfm2", "gemma4", "harmony")
DELTA, GOAL = 4, 1.03
# Seconds of one run, and the runs of each in one pair.
_RUN, _RUNS = 0.004, 8


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure loaded formats against built-in ones.")
    arguments.add_argument("--pairs", type=int, default=40, help="pairs of runs for each format [40]")
    pairs = arguments.parse_args().pairs
    works = [("12 parallel calls", parallel_calls()), ("200 calls between prose", many_calls())]
    rows = [[name, *(_figure(name, work, pairs) for _, work in works)] for name in NAMES]
    head = ["format", *(title for title, _ in works)]
    print(markdown(Table("a loaded format, relative to the built-in one", head, rows)))


def _figure(name: str, work: Workload, pairs: int) -> str:
    loaded = Format.from_dict({**format_for(name).to_dict(), "name": f"loaded {name}"})
    sets = [Toolset(work.tools, protocol=protocol) for protocol in (name, loaded)]
    own, other = (_run(tools, work) for tools in sets)
    repeat = max(1, round(_RUN / _seconds(own, 1)))
    ratios = []
    for _ in range(pairs):
        times = [(_seconds(own, repeat), _seconds(other, repeat)) for _ in range(_RUNS)]
        ratios.append(min(after for _, after in times) / min(before for before, _ in times))
    found = mean({str(at): [ratio] for at, ratio in enumerate(ratios)})
    assert found is not None
    met = "" if found.high < GOAL else ", above the goal"
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]{met}"


def _run(tools: Toolset, work: Workload) -> Callable[[], None]:
    """Parses the messages of a workload in deltas."""
    texts = [
        tools.encode_message(message.text, [(call.name, call.arguments) for call in message.calls])
        for message in work.messages
    ]
    deltas = [text[at : at + DELTA] for text in texts for at in range(0, len(text), DELTA)]

    def run() -> None:
        parser = tools.parser(in_reasoning=False)
        for delta in deltas:
            parser.feed(delta)
        parser.finish(truncated=False)

    return run


def _seconds(run: Callable[[], None], repeat: int) -> float:
    gc.collect()
    started = perf_counter()
    for _ in range(repeat):
        run()
    return perf_counter() - started


if __name__ == "__main__":
    main()
