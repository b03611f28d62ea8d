"""The plan of `wirecall bench live`: cases and variants."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random
from typing import Any, Literal

from wirecall._text.options import Options
from wirecall._tools.definitions import Definition
from wirecall.tokens import compact
from wirecall_bench.artifact import BenchError
from wirecall_bench.catalogue import Case, Catalogue
from wirecall_bench.manuals import MANUALS
from wirecall_bench.modes import mode_of
from wirecall_bench.options import RunOptions
from wirecall_bench.request_checks import ABLATED
from wirecall_bench.schedule import Trial, check, once, schedule, shared_options
from wirecall_bench.variants import Variant

# What an ablation can change: options of `wrap`, and the manual.
ABLATIONS = ("syntax", "placement", "no-manual", "descriptions", "protocol", "manual", "strict")
_FLAGS = frozenset({"no-manual", "strict"})


def ablation_options(ablation: str) -> dict[str, Any]:
    """The options of `wrap` for an ablation: `syntax=json`, or `strict` for a flag.

    Raises:
        BenchError: The ablation or its value is unknown.
    """
    name, given, value = ablation.partition("=")
    if name not in ABLATIONS:
        raise BenchError(f"There is no ablation {ablation!r}. Available ablations: {', '.join(ABLATIONS)}.")
    options: dict[str, Any] = {name.replace("-", "_"): value if given else True}
    try:
        if bool(given) == (name in _FLAGS):
            raise ValueError(f"write {name}" if given else f"write {name}=VALUE")
        if name == "manual":
            if value not in MANUALS:
                raise ValueError(f"available manuals: {', '.join(MANUALS)}")
            options = {"template": MANUALS[value]}
        Options().with_overrides(options)
    except (TypeError, ValueError) as error:
        raise BenchError(f"The ablation {ablation!r} is not valid: {error}.") from error
    return options


@dataclass(frozen=True)
class LivePlan:
    """What is run, which determines the cells.

    Attributes:
        cases: The selected cases of the catalogue.
        tools: The tools in a request: "all", those of the cases in the same "group", or only the case's
            "own".
        system: The system prompt of the application.
        judge: The name of the judge, if there is one.
    """

    run_options: RunOptions
    catalogue: Catalogue
    cases: Sequence[Case]
    ablations: Sequence[str] = ()
    tools: Literal["all", "group", "own"] = "group"
    system: str = ""
    judge: str | None = None

    def __post_init__(self) -> None:
        check(self.run_options)
        once("ablations", self.ablations)
        if self.ablations and not self._ablated:
            raise BenchError(
                f"Ablations change the mode {ABLATED!r}, which is not in --modes, and neither is another "
                "mode of this protocol."
            )
        for ablation in self.ablations:
            ablation_options(ablation)
        if self.judge in self.run_options.models:
            raise BenchError(f"{self.judge} cannot be its own judge: choose another model.")
        if not self.cases:
            raise BenchError("No case of the catalogue was selected.")
        if not any(case.prompt for case in self.cases):
            raise BenchError(
                f'No selected case of {self.catalogue.name} has a "prompt", the user message that leads to '
                "the call. Cases without one cannot be sent to a model."
            )

    @property
    def _ablated(self) -> list[str]:
        return [mode for mode in self.run_options.modes if mode_of(mode).protocol == ABLATED]

    @property
    def variants(self) -> list[Variant]:
        kinds = [
            *((mode, "") for mode in self.run_options.modes),
            *((mode, one) for mode in self._ablated for one in self.ablations),
        ]
        return [
            Variant(model, mode, ablation) for model in self.run_options.models for mode, ablation in kinds
        ]

    def trials(self) -> list[Trial[Case]]:
        return list(schedule(self.variants, self.cases, self.run_options))

    def options(self) -> dict[str, Any]:
        """The options that a resumed run must share with the original one."""
        content = compact(
            [self.catalogue.tools, [[case.name, case.prompt, case.arguments] for case in self.cases]]
        )
        return {
            **shared_options(self.run_options),
            "ablations": list(self.ablations),
            "catalogue": self.catalogue.name,
            "cases": [case.name for case in self.cases],
            "catalogue_sha256": hashlib.sha256(content.encode()).hexdigest(),
            "tools": self.tools,
            "system": self.system,
            "judge": self.judge,
            "cells": len(self.trials()),
        }

    def messages(self, case: Case) -> list[dict[str, Any]]:
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": case.prompt}]

    def tools_of(self, case: Case) -> list[Definition]:
        """The tools for a case, in the catalogue's order."""
        if self.tools == "all":
            return self.catalogue.tools
        names = {case.tool}
        if self.tools == "group":
            names |= {other.tool for other in self.catalogue.cases if other.group == case.group}
        return [tool for tool in self.catalogue.tools if tool.name in names]

    def tool(self, name: str) -> Definition:
        return next(tool for tool in self.catalogue.tools if tool.name == name)


def choose(catalogue: Catalogue, patterns: Sequence[str] = (), groups: Sequence[str] = ()) -> list[Case]:
    """The cases that match one of the patterns and are in one of the groups; all if neither is given.

    Raises:
        BenchError: A pattern or group matches no case.
    """
    for pattern in patterns:
        if not any(fnmatchcase(case.name, pattern) for case in catalogue.cases):
            raise BenchError(f"No case of {catalogue.name} matches {pattern!r}.")
    known = {case.group for case in catalogue.cases}
    if unknown := [group for group in groups if group not in known]:
        raise BenchError(
            f"{catalogue.name} has no group {unknown[0]!r}. Available groups: {', '.join(sorted(known))}."
        )
    return [
        case
        for case in catalogue.cases
        if (not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns))
        and (not groups or case.group in groups)
    ]


def drawn(cases: Sequence[Case], count: int, seed: int) -> list[Case]:
    """At most `count` cases of each group, drawn at random, in the order of the catalogue."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    chosen = {
        case.name
        for group, own in groups.items()
        for case in Random(f"{seed} {group}").sample(own, min(count, len(own)))
    }
    return [case for case in cases if case.name in chosen]
