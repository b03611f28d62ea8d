"""What `wirecall bench live` and `bench agent` share: ways of asking take turns, runs are carried on."""

import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from wirecall._bench.artifact import Artifact, BenchError, Cell, Key
from wirecall._bench.budget import REACHED, Budget, Usage, most
from wirecall._bench.options import RunOptions
from wirecall._bench.progress import progress
from wirecall._bench.variants import NATIVE, Variant, variant_of
from wirecall._bench.workers import each
from wirecall._rewriting.options import Options


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...


# Of a request, and what would ask for several answers.
_OWN_FIELDS = frozenset(
    {
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "model",
        "n",
        "stream",
        "stream_options",
        "system",
        "tools",
    }
)
# How many reasons a summary names.
_REASONS = 5
_UNJUDGED = "not judged"

Subject = TypeVar("Subject", bound=Named)


@dataclass(frozen=True)
class Trial(Generic[Subject]):
    """What a cell is of: a case or task, and how it is asked, for the how many-th time."""

    variant: Variant
    subject: Subject
    repetition: int

    @property
    def key(self) -> Key:
        return (*self.variant, self.subject.name, str(self.repetition))

    def members(self, what: str) -> Cell:
        """Of the cell.

        Args:
            what: The subject is.
        """
        return {
            "key": list(self.key),
            what: self.subject.name,
            "group": self.subject.group,
            **self.variant.members,
            "repetition": self.repetition,
        }


def check(run_options: RunOptions) -> None:
    """
    Raises:
        BenchError: There is no model or no mode, one stands there twice, or a mode is none; or a further
            field is one that the run sets: another model would be asked, or more would come than the budget
            knows.
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
        if mode != NATIVE:
            try:
                Options().with_overrides({"protocol": mode})
            except (TypeError, ValueError) as error:
                raise BenchError(f"The mode {mode!r} is not valid: {error}.") from error


def once(what: str, given: Sequence[str]) -> None:
    """
    Raises:
        BenchError: One of them stands there twice.
    """
    if twice := {one for one in given if given.count(one) > 1}:
        raise BenchError(f"{twice.pop()!r} is given twice in the {what}.")


def schedule(
    variants: Sequence[Variant], subjects: Sequence[Subject], run_options: RunOptions
) -> Iterator[Trial[Subject]]:
    """Each way with each subject, as often as is asked for, in their order.

    All ways have their turn at a subject before the next one comes, in an order that is drawn for each
    subject and repetition: whatever changes at a provider meanwhile meets all.
    """
    for repetition, subject in itertools.product(range(1, run_options.reps + 1), subjects):
        drawn = list(variants)
        random.Random(f"{run_options.seed} {repetition} {subject.name}").shuffle(drawn)
        yield from (Trial(variant, subject, repetition) for variant in drawn)


def shared_options(run_options: RunOptions) -> dict[str, Any]:
    """What any run has to share with the one that it carries on."""
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
    """Do what was never done, was skipped or not judged, and what failed if that is wanted.

    Each has its cell at once.

    Args:
        what: Is run.
        turns: All of the run.
        work: Makes a cell.
        budget: What all cells have cost so far is added to it.
        stop: Is set when the run is to end.

    Returns:
        The exit code: 1 if something was skipped or not judged, or if nothing worked.

    Raises:
        BenchError: The endpoint takes no request any more.
        KeyboardInterrupt: It was interrupted; the artifact is whole.
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
    """Why cells failed or were skipped, the most frequent reasons first, and what to do about it."""
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
    """Whether a judge was asked, and gave no verdict."""
    judge = cell.get("judge")
    return judge is not None and judge["same"] is None


def _spent(cells: Iterable[Cell], output: int) -> Iterator[tuple[str, Usage]]:
    """Models and their usage, judges too. What nobody counted has cost all that it could.

    Args:
        output: The tokens that an answer can have.
    """
    for cell in cells:
        # One that was only judged again has the answer of the cell before it.
        for request in () if cell.get("judged_again") else cell["requests"]:
            usage = Usage.of(request["usage"])
            yield cell["model"], most(len(request["body"]), output) if usage.unknown else usage
        if (judge := cell.get("judge")) is not None:
            usage = Usage.of(judge["usage"])
            yield judge["model"], usage
            if usage.unknown:
                yield judge["model"], most(judge["bytes"], usage.unknown * output)


def tally(variant: Variant, cells: Iterable[Cell]) -> tuple[list[Cell], list[int]]:
    """The cells of a way; how many are ok, failed, skipped, and their tokens of input and output."""
    those = [cell for cell in cells if variant_of(cell) == variant]
    counts = Counter(cell["status"] for cell in those)
    usage = sum((Usage.of(cell["usage"]) for cell in those), Usage())
    return those, [*(counts[status] for status in ("ok", "failed", "skipped")), usage.input, usage.output]


def _note(found: Mapping[str, int], budget: Budget) -> str:
    usage, usd = budget.usage, budget.usd
    parts = [f"{found[status]:,} {status}" for status in ("failed", "skipped", _UNJUDGED) if found[status]]
    parts.append(f"{usage.input + usage.output:,} tokens")
    return ", ".join(parts if usd is None else [*parts, f"{usd:.4f} USD"])
