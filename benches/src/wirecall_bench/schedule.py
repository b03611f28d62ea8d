"""What `wirecall bench live` and `bench agent` share: the order of trials, and resumed runs."""

import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from wirecall_bench.artifact import Artifact, BenchError, Cell, Key
from wirecall_bench.budget import REACHED, Budget, Usage, most
from wirecall_bench.modes import check_mode
from wirecall_bench.options import RunOptions
from wirecall_bench.progress import progress
from wirecall_bench.variants import Variant, variant_of
from wirecall_bench.workers import each


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...


# Fields that the run sets itself, and fields that request several answers.
_OWN_FIELDS = frozenset(
    {
        "grammar",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "model",
        "n",
        "parallel_tool_calls",
        "stream",
        "stream_options",
        "system",
        "tool_choice",
        "tools",
    }
)
# How many reasons a summary lists.
_REASONS = 5
_UNJUDGED = "not judged"

Subject = TypeVar("Subject", bound=Named)


@dataclass(frozen=True)
class Trial(Generic[Subject]):
    """The subject of a cell: a case or task, a variant, and the number of the repetition."""

    variant: Variant
    subject: Subject
    repetition: int

    @property
    def key(self) -> Key:
        return (*self.variant, self.subject.name, str(self.repetition))

    def members(self, what: str) -> Cell:
        """The members of the cell.

        Args:
            what: The name of the subject's member.
        """
        return {
            "key": list(self.key),
            what: self.subject.name,
            "group": self.subject.group,
            **self.variant.members,
            "repetition": self.repetition,
        }


def check(run_options: RunOptions) -> None:
    """Check the models, modes and parameters.

    Raises:
        BenchError: There is no model or mode, one is given twice, or a mode is unknown; or a parameter is a
            field that the run sets itself, which would change the model or exceed the budget.
    """
    for what, given in (("models", run_options.models), ("modes", run_options.modes)):
        if not given:
            raise BenchError(f"--{what} is empty.")
    if taken := sorted(_OWN_FIELDS & run_options.parameter.keys()):
        raise BenchError(
            f"--parameter {taken[0]}: this field is set by the run, or would make answers unreadable."
        )
    once("models", run_options.models)
    once("modes", run_options.modes)
    for mode in run_options.modes:
        check_mode(mode)


def once(what: str, given: Sequence[str]) -> None:
    """Check that no value is given twice.

    Raises:
        BenchError: A value is given twice.
    """
    if twice := {one for one in given if given.count(one) > 1}:
        raise BenchError(f"{twice.pop()!r} is given twice in the {what}.")


def schedule(
    variants: Sequence[Variant], subjects: Sequence[Subject], run_options: RunOptions
) -> Iterator[Trial[Subject]]:
    """Each variant with each subject and repetition, in the order in which they run.

    All variants run on a block before the next block, in an order that is drawn for each block and
    repetition. So changes at a provider during the run affect all variants. A block is one subject, or all
    subjects of a group, one after the other, so that a server which keeps prompts reads those of a variant
    once.
    """
    blocks: dict[str, list[Subject]] = {}
    for subject in subjects:
        blocks.setdefault(subject.name if run_options.block == "case" else subject.group, []).append(subject)
    for repetition, (name, block) in itertools.product(range(1, run_options.reps + 1), blocks.items()):
        drawn = list(variants)
        random.Random(f"{run_options.seed} {repetition} {name}").shuffle(drawn)
        yield from (Trial(variant, subject, repetition) for variant in drawn for subject in block)


def shared_options(run_options: RunOptions) -> dict[str, Any]:
    """The options that every resumed run must share with the original one."""
    return {
        "api": run_options.api,
        "base_url": run_options.address,
        "models": run_options.models,
        "modes": run_options.modes,
        "repetitions": run_options.reps,
        "seed": run_options.seed,
        "output": run_options.max_output_tokens,
        "output_parameter": run_options.output_parameter,
        "parameters": run_options.parameter,
    }


def run_trials(
    what: str,
    run_options: RunOptions,
    artifact: Artifact,
    trials: Sequence[Trial[Subject]],
    work: Callable[[Trial[Subject]], Cell],
    *,
    budget: Budget,
    stop: threading.Event,
) -> int:
    """Run trials that have no result, were skipped or not judged, and on request those that failed.

    Each cell is written immediately.

    Args:
        what: The name of the run.
        trials: All trials of the run.
        work: Returns the cell of a trial.
        budget: The cost of existing cells is added to it.
        stop: Set when the run is to be stopped.

    Returns:
        The exit code: 1 if cells were skipped or not judged, or if none succeeded.

    Raises:
        BenchError: The endpoint accepts no more requests.
        KeyboardInterrupt: The run was interrupted; the artifact is complete.
    """
    for model, usage in _spent((*artifact.cells.values(), *artifact.replaced), run_options.max_output_tokens):
        budget.add(model, usage)
    again = {"skipped", "failed"} if run_options.retry_failed else {"skipped"}
    before = {
        key: cell["status"]
        for key, cell in artifact.cells.items()
        if cell["status"] not in again and not is_unjudged(cell)
    }
    todo = [trial for trial in trials if trial.key not in before]
    found = Counter(before.values())
    with progress(len(trials), what, done=len(before)) as shown:

        def do(trial: Trial[Subject]) -> None:
            cell = work(trial)
            artifact.append(cell)
            found[cell["status"]] += 1
            found[_UNJUDGED] += is_unjudged(cell)
            shown.step(note=_note(found, budget))

        each(do, todo, concurrency=run_options.concurrency, stop=stop)
    return 1 if found["skipped"] or found[_UNJUDGED] or not found["ok"] else 0


def endings(cells: Iterable[Cell]) -> list[str]:
    """Why cells failed or were skipped, the most frequent reasons first, and how to continue."""
    counts = Counter((cell["status"], cell["reason"]) for cell in cells if cell["status"] != "ok")
    said = [f"{count:,} {status}: {reason}" for (status, reason), count in counts.most_common(_REASONS)]
    if len(counts) > _REASONS:
        said.append(f"{len(counts) - _REASONS:,} more reasons are in the report.")
    if any(reason == REACHED for _, reason in counts):
        said.append("To run what was skipped, use --resume with a larger --max-tokens or --max-usd.")
    if any(status == "failed" for status, _ in counts):
        said.append("To run again what failed, use --resume --retry-failed.")
    return said


def is_unjudged(cell: Cell) -> bool:
    """Whether a judge was asked and gave no verdict."""
    judge = cell.get("judge")
    return judge is not None and judge["same"] is None


def _spent(cells: Iterable[Cell], output: int) -> Iterator[tuple[str, Usage]]:
    """The models and their usage, including judges. Unknown usage counts as the maximum.

    Args:
        output: Maximum tokens of an answer.
    """
    for cell in cells:
        # A cell that was only judged again has the answer of an earlier cell.
        for request in () if cell.get("judged_again") else cell["requests"]:
            usage = Usage.of(request["usage"])
            yield cell["model"], most(len(request["body"]), output) if usage.unknown else usage
        if (judge := cell.get("judge")) is not None:
            usage = Usage.of(judge["usage"])
            yield judge["model"], usage
            if usage.unknown:
                yield judge["model"], most(judge["bytes"], usage.unknown * output)


def tally(variant: Variant, cells: Iterable[Cell]) -> tuple[list[Cell], list[int]]:
    """The cells of a variant; how many are ok, failed and skipped; and their input and output tokens."""
    those = [cell for cell in cells if variant_of(cell) == variant]
    counts = Counter(cell["status"] for cell in those)
    usage = sum((Usage.of(cell["usage"]) for cell in those), Usage())
    return those, [*(counts[status] for status in ("ok", "failed", "skipped")), usage.input, usage.output]


def _note(found: Mapping[str, int], budget: Budget) -> str:
    usage, usd = budget.usage, budget.usd
    parts = [f"{found[status]:,} {status}" for status in ("failed", "skipped", _UNJUDGED) if found[status]]
    parts.append(f"{usage.input + usage.output:,} tokens")
    return ", ".join(parts if usd is None else [*parts, f"{usd:.4f} USD"])
