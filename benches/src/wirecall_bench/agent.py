"""`wirecall bench agent`: what models did with each task, and whether they completed it."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wirecall_bench.answers import Answer, arguments_of
from wirecall_bench.artifact import BenchError, Cell
from wirecall_bench.budget import Usage
from wirecall_bench.endpoints import Endpoint
from wirecall_bench.environment import Environment, ToolUseError, definition
from wirecall_bench.modes import mode_of
from wirecall_bench.options import RunOptions
from wirecall_bench.recording import ReceivedCall
from wirecall_bench.schedule import Trial, check, endings, run_trials, schedule, shared_options, tally
from wirecall_bench.tables import Table, show
from wirecall_bench.tasks import SYSTEM, TASKS, Task
from wirecall_bench.variants import Variant
from wirecall_bench.vocabularies import encoding

# The members of a cell that collect values from all answers of a task.
_LISTS = ("repairs", "problems", "errors", "retries", "requests")


@dataclass(frozen=True)
class AgentPlan:
    """What is run, which determines the cells.

    Attributes:
        limit: Maximum answers for one task.
    """

    run_options: RunOptions
    tasks: Sequence[Task]
    limit: int

    def __post_init__(self) -> None:
        check(self.run_options)
        for mode in self.run_options.modes:
            if mode_of(mode).forced:
                raise BenchError(
                    f"The mode {mode!r} is not for agents: an agent that must call a tool never ends."
                )

    @property
    def variants(self) -> list[Variant]:
        return [Variant(model, mode) for model in self.run_options.models for mode in self.run_options.modes]

    def trials(self) -> list[Trial[Task]]:
        return list(schedule(self.variants, self.tasks, self.run_options))

    def options(self) -> dict[str, Any]:
        """The options that a resumed run must share with the original one."""
        told = [[task.name, task.prompt, [definition(name) for name in task.tools]] for task in self.tasks]
        return {
            **shared_options(self.run_options),
            "tasks": [task.name for task in self.tasks],
            "tasks_sha256": hashlib.sha256(json.dumps(told).encode()).hexdigest(),
            "turns": self.limit,
            "cells": len(self.trials()),
        }


def choose(patterns: Sequence[str]) -> list[Task]:
    """The tasks whose names match one of the patterns; without patterns, all.

    Raises:
        BenchError: A pattern matches no task.
    """
    for pattern in patterns:
        if not any(fnmatchcase(task.name, pattern) for task in TASKS):
            names = ", ".join(task.name for task in TASKS)
            raise BenchError(f"No task matches {pattern!r}. Available tasks: {names}.")
    return [task for task in TASKS if not patterns or any(fnmatchcase(task.name, one) for one in patterns)]


def begin(task: Task) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages of a task before the first answer, and its tools."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task.prompt}]
    return messages, [definition(name) for name in task.tools]


# One trial --------------------------------------------------------------------------------------------------


def work(task: Task, ask: Callable[..., Answer], limit: int) -> Cell:
    """Let a model work on a task. Returns the members of a cell except those of its trial.

    A task ends with the first answer without a call, after `limit` answers, or with a failed one.

    Args:
        ask: `Endpoint.ask`.
    """
    environment = task.environment()
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
        if not answer.calls or steps == limit:
            break
        messages = [*messages, answer.message()]
        for call in answer.calls:
            result = _do(environment, call)
            calls.append(
                {"step": steps, "name": call.name, "arguments": arguments_of(call), "result": result}
            )
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    done = answer.status == "ok"
    missed = task.missed(environment, answer.said.text) if done else []
    if done and answer.calls:
        missed.append(f"no final answer within {limit} turns")
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


def _do(environment: Environment, call: ReceivedCall) -> str:
    """The result, as the model sees it."""
    try:
        return environment.call(call.name, arguments_of(call))
    except ToolUseError as error:
        return f"Error: {error}"


# The run ----------------------------------------------------------------------------------------------------


def command(run_options: RunOptions, *, tasks: Sequence[str], turns: int) -> int:
    """Run `wirecall bench agent` and return its exit code."""
    plan = AgentPlan(run_options, choose(tasks), turns)
    budget, stop = run_options.budget(run_options.models), threading.Event()
    with ExitStack() as stack:

        def endpoint(variant: Variant) -> Endpoint:
            made = run_options.endpoint(variant.model, variant.mode, budget=budget, stop=stop)
            return stack.enter_context(closing(made))

        endpoints = {variant: endpoint(variant) for variant in plan.variants}
        if run_options.dry_run:
            show([forecast(plan, endpoints, run_options.encoding)])
            return 0
        artifact = stack.enter_context(run_options.artifact("agent", plan.options()))

        def attempt(trial: Trial[Task]) -> Cell:
            fields = work(trial.subject, endpoints[trial.variant].ask, turns)
            usd = budget.cost([(trial.variant.model, Usage.of(fields["usage"]))])
            return {**trial.members("task"), **fields, "usd": usd}

        code = run_trials("agent", run_options, artifact, plan.trials(), attempt, budget=budget, stop=stop)
        show([summary(plan, list(artifact.cells.values()), run_options.output)])
        return code


def forecast(plan: AgentPlan, endpoints: Mapping[Variant, Endpoint], vocabulary: str) -> Table:
    """The size of first requests. How many follow, and how large they become, depends on the model."""
    count = encoding(vocabulary)
    rows = []
    for variant, endpoint in endpoints.items():
        sizes = [count.count(endpoint.prepare(*begin(task)).body) for task in plan.tasks]
        tries = len(sizes) * plan.run_options.reps
        numbers = [tries, round(sum(sizes) / len(sizes)), sum(sizes) * plan.run_options.reps]
        counts = (f"{one:,}" for one in (*numbers, tries * plan.limit))
        rows.append([variant.model, variant.mode, *counts])
    return Table(
        "What would be sent",
        ["model", "mode", "tasks", "first request, mean", "first requests", "requests, at most"],
        rows,
        left=2,
        notes=[
            f"Counted in {count.name}, in the requests as they are sent. Each further request of a task "
            "contains all before it; --max-tokens and --max-usd stop the run before the limit is passed.",
        ],
    )


def summary(plan: AgentPlan, cells: Sequence[Cell], path: Path) -> Table:
    """The results so far. Intervals are in the report."""
    rows = []
    for variant in plan.variants:
        those, counts = tally(variant, cells)
        done = sum(bool(cell["scores"] and cell["scores"]["success"]) for cell in those)
        rows.append([variant.model, variant.mode, *(f"{one:,}" for one in (done, *counts))])
    head = ["model", "mode", "done", "answered", "failed", "skipped", "input", "output"]
    notes = [*endings(cells), f"Intervals, and the comparison with native: wirecall bench report {path}"]
    return Table("Results of the tasks", head, rows, left=2, notes=notes)
