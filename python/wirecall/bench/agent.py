"""The cells of `wirecall bench agent`: what models did with a task, turn by turn, and whether it was done."""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from wirecall.bench.artifact import BenchError, Cell
from wirecall.bench.asking import Asking
from wirecall.bench.budget import Budget, Prices, Usage
from wirecall.bench.endpoints import Answer, Endpoint, arguments_of
from wirecall.bench.recording import Call
from wirecall.bench.tables import Table, show
from wirecall.bench.tasks import SYSTEM, TASKS, Task
from wirecall.bench.turns import carry_on, check, shared_options, take_turns
from wirecall.bench.vocabularies import encoding
from wirecall.bench.world import ToolFailed, World, definition

# What a cell sums up over the answers of a task, or lists.
_LISTS = ("repairs", "problems", "errors", "retries", "requests")


class Way(NamedTuple):
    """How a task is worked on."""

    model: str
    mode: str


class Trial(NamedTuple):
    way: Way
    task: Task
    repetition: int

    @property
    def key(self) -> tuple[str, ...]:
        return (*self.way, self.task.name, str(self.repetition))


@dataclass(frozen=True)
class Plan:
    """What is tried, and so which cells there are.

    Attributes:
        turns: Answers that a task may take.
    """

    asking: Asking
    tasks: Sequence[Task]
    turns: int

    def __post_init__(self) -> None:
        check(self.asking)

    @property
    def ways(self) -> list[Way]:
        return [Way(model, mode) for model in self.asking.models for mode in self.asking.modes]

    def trials(self) -> list[Trial]:
        """In their order."""
        return [Trial(*turn) for turn in take_turns(self.ways, self.tasks, self.asking)]

    def options(self) -> dict[str, Any]:
        """What a run has to share with the one that it carries on."""
        told = [[task.name, task.prompt, [definition(name) for name in task.tools]] for task in self.tasks]
        return {
            **shared_options(self.asking),
            "tasks": [task.name for task in self.tasks],
            "tasks_sha256": hashlib.sha256(json.dumps(told).encode()).hexdigest(),
            "turns": self.turns,
            "cells": len(self.trials()),
        }


def choose(patterns: Sequence[str]) -> list[Task]:
    """The tasks whose name is like one of the patterns; all without any.

    Raises:
        BenchError: A pattern fits no task.
    """
    for pattern in patterns:
        if not any(fnmatchcase(task.name, pattern) for task in TASKS):
            names = ", ".join(task.name for task in TASKS)
            raise BenchError(f"No task is called {pattern!r}; there are: {names}.")
    return [task for task in TASKS if not patterns or any(fnmatchcase(task.name, one) for one in patterns)]


def begin(task: Task) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages of a task before the first answer, and its tools."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task.prompt}]
    return messages, [definition(name) for name in task.tools]


# One trial --------------------------------------------------------------------------------------------------


def work(task: Task, ask: Callable[..., Answer], turns: int) -> Cell:
    """Let a model work on a task. Gives the fields of a cell but for those that name it.

    A task is over with the first answer without a call, after so many answers, or with one that failed.

    Args:
        ask: Of an `Endpoint`.
    """
    world = task.world()
    messages, tools = begin(task)
    start = time.monotonic()
    lists: dict[str, list[Any]] = {name: [] for name in _LISTS}
    usage, calls, steps = Usage(), [], 0
    while True:
        answer = ask(messages, tools)
        fields = answer.fields()
        usage += answer.usage
        for name, found in lists.items():
            found += fields[name]
        if answer.status != "ok":
            break
        steps += 1
        if not answer.calls or steps == turns:
            break
        messages = [*messages, answer.message()]
        for call in answer.calls:
            result = _do(world, call)
            calls.append(
                {"step": steps, "name": call.name, "arguments": arguments_of(call), "result": result}
            )
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    done = answer.status == "ok"
    missed = task.missed(world, answer.said.text) if done else []
    if done and answer.calls:
        missed.append(f"no final answer within {turns} turns")
    return {
        "status": answer.status,
        "reason": answer.reason,
        "scores": {"success": not missed} if done else None,
        "missed": answer.without_key(missed),
        "steps": steps,
        "usage": usage.as_dict(),
        "times": {"total": time.monotonic() - start},
        "calls": answer.without_key(calls),
        "text": fields["text"],
        "finish": fields["finish"],
        **lists,
    }


def _do(world: World, call: Call) -> str:
    """The result as the model is shown it."""
    try:
        return world.call(call.name, arguments_of(call))
    except ToolFailed as error:
        return f"Error: {error}"


def _skipped(reason: str) -> Cell:
    empty: Cell = {name: [] for name in (*_LISTS, "calls", "missed")}
    nothing = {"scores": None, "steps": 0, "usage": Usage().as_dict(), "times": {"total": None}}
    return {"status": "skipped", "reason": reason, "text": "", "finish": None, **nothing, **empty}


# The run ----------------------------------------------------------------------------------------------------


def command(asking: Asking, *, tasks: Sequence[str], turns: int) -> int:
    """`wirecall bench agent`; gives its exit code."""
    plan = Plan(asking, choose(tasks), turns)
    prices = asking.prices(asking.models)
    budget, stop = asking.budget(prices), threading.Event()
    with ExitStack() as stack:

        def endpoint(way: Way) -> Endpoint:
            made = asking.endpoint(way.model, way.mode, budget=budget, stop=stop)
            return stack.enter_context(closing(made))

        endpoints = {way: endpoint(way) for way in plan.ways}
        if asking.dry_run:
            show([forecast(plan, endpoints, asking.encoding)])
            return 0
        artifact = stack.enter_context(asking.artifact("agent", plan.options()))

        def attempt(trial: Trial) -> Cell:
            return _cell(trial, endpoints[trial.way], turns, budget, prices)

        code = carry_on("agent", asking, artifact, plan.trials(), attempt, budget=budget, stop=stop)
        show([summary(plan, list(artifact.cells.values()), asking.output)])
        return code


def _cell(trial: Trial, endpoint: Endpoint, turns: int, budget: Budget, prices: Mapping[str, Prices]) -> Cell:
    way, task, repetition = trial
    fields = _skipped("budget") if budget.reached else work(task, endpoint.ask, turns)
    usd = prices[way.model].usd(Usage.of(fields["usage"])) if way.model in prices else None
    names = {
        "key": list(trial.key),
        "task": task.name,
        "group": task.group,
        **way._asdict(),
        "ablation": None,
    }
    return {**names, "repetition": repetition, **fields, "usd": usd}


def forecast(plan: Plan, endpoints: Mapping[Way, Endpoint], vocabulary: str) -> Table:
    """What first requests are; how many follow, and how they grow, is the model's affair."""
    count = encoding(vocabulary)
    rows = []
    for way, endpoint in endpoints.items():
        sizes = [count.count(endpoint.prepare(*begin(task)).body) for task in plan.tasks]
        tries = len(sizes) * plan.asking.reps
        numbers = [tries, round(sum(sizes) / len(sizes)), sum(sizes) * plan.asking.reps]
        rows.append([*way, *(f"{one:,}" for one in numbers), f"{tries * plan.turns:,}"])
    return Table(
        "What would be sent",
        ["model", "mode", "tasks", "first request, mean", "first requests", "requests, at most"],
        rows,
        left=2,
        notes=[
            f"In {count.name}, of the requests as they are sent. Every further request of a task holds all "
            "that came before it; --max-tokens or --max-usd ends the run in front of a limit.",
        ],
    )


def summary(plan: Plan, cells: Sequence[Cell], path: Path) -> Table:
    """What there is now. Intervals are the report's."""
    rows = []
    for way in plan.ways:
        those = [cell for cell in cells if (cell["model"], cell["mode"]) == way]
        counts = Counter(cell["status"] for cell in those)
        done = sum(bool(cell["scores"] and cell["scores"]["success"]) for cell in those)
        usage = sum((Usage.of(cell["usage"]) for cell in those), Usage())
        numbers = [
            done,
            *(counts[status] for status in ("ok", "failed", "skipped")),
            usage.input,
            usage.output,
        ]
        rows.append([*way, *(f"{one:,}" for one in numbers)])
    head = ["model", "mode", "done", "answered", "failed", "skipped", "input", "output"]
    notes = [f"With intervals, beside native: wirecall bench report {path}"]
    return Table("What became of the tasks", head, rows, left=2, notes=notes)
