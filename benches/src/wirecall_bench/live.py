"""`wirecall bench live`: what models answered, and how correct it was."""

import itertools
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from wirecall.tokens import Count, compact
from wirecall_bench.artifact import BenchError, Cell, Key, key_of
from wirecall_bench.budget import Budget, Usage
from wirecall_bench.catalogue import BUILT_IN, Case, catalogues
from wirecall_bench.endpoints import Endpoint, unasked
from wirecall_bench.judging import Judge, judge_folder, score
from wirecall_bench.modes import NATIVE
from wirecall_bench.options import RunOptions
from wirecall_bench.plan import LivePlan, ablation_options, choose, drawn
from wirecall_bench.recording import Api
from wirecall_bench.request_checks import RequestCheck, request_checks, violations
from wirecall_bench.schedule import Trial, endings, is_unjudged, run_trials, tally
from wirecall_bench.tables import Table, show
from wirecall_bench.variants import Variant, in_run_order, variant_of
from wirecall_bench.vocabularies import Vocabulary, encoding

# Before anything is sent ------------------------------------------------------------------------------------


class PreparedRequest(NamedTuple):
    """The first request of a case and variant, as it would be sent."""

    body: str
    sha256: str


def prepare(
    plan: LivePlan, endpoints: Mapping[Variant, Endpoint]
) -> dict[tuple[Variant, str], PreparedRequest]:
    """All first requests, by variant and case; cases without a prompt have none.

    Raises:
        BenchError: Two variants would send the same request, or a tool cannot be used.
    """
    prepared: dict[tuple[Variant, str], PreparedRequest] = {}
    for case, variant in itertools.product(plan.cases, plan.variants):
        if not case.prompt:
            continue
        request = endpoints[variant].prepare(plan.messages(case), plan.tools_of(case))
        prepared[variant, case.name] = PreparedRequest(request.body, request.sha256)
    _check_requests(
        {**variant.members, "case": case, "requests": [{"sha256": request.sha256}]}
        for (variant, case), request in prepared.items()
    )
    return prepared


def _check_requests(cells: Any) -> None:
    if said := violations(cells):
        more = f" … and {len(said) - 3} more" if len(said) > 3 else ""
        raise BenchError(f"Two variants would send the same requests. {'; '.join(said[:3])}{more}.")


def prompt_tokens(body: str, count: Count) -> int:
    """The tokens of a request's texts and tools. How providers render them is not published."""
    request = json.loads(body)
    texts = [request.get("system") or "", *(message["content"] for message in request["messages"])]
    tools = request.get("tools")
    return sum(count(_plain(text)) for text in texts) + (count(compact(tools)) if tools else 0)


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def forecast(
    plan: LivePlan,
    prepared: Mapping[tuple[Variant, str], PreparedRequest],
    vocabulary: Vocabulary,
    budget: Budget,
) -> Table:
    """The maximum cost of the plan: requests as counted here, and answers of the maximum length."""
    rows = []
    used = []
    for variant in plan.variants:
        sizes = [
            prompt_tokens(request.body, vocabulary.count)
            for (of, _), request in prepared.items()
            if of == variant
        ]
        asked = len(sizes) * plan.run_options.reps
        usage = Usage(sum(sizes) * plan.run_options.reps, asked * plan.run_options.max_output_tokens)
        used.append((variant.model, usage))
        mean = sum(sizes) / len(sizes) if sizes else 0.0
        numbers = (asked, round(mean), usage.input, usage.output)
        rows.append([*variant, *(f"{one:,}" for one in numbers), _dollars(budget.cost(used[-1:]))])
    total = sum((usage for _, usage in used), Usage())
    sums = ["total", "", "", f"{len(plan.trials()):,}", "", f"{total.input:,}", f"{total.output:,}"]
    rows.append([*sums, _dollars(budget.cost(used))])
    head = [
        "model",
        "mode",
        "ablation",
        "requests",
        "input, mean",
        "input",
        "output, at most",
        "USD, at most",
    ]
    notes = [
        f"Input is counted in {vocabulary.name}: the texts and tools of the requests, without what a "
        "provider adds.",
        "Retries and a judge cost extra.",
    ]
    if skipped := len(plan.cases) - len({case for _, case in prepared}):
        notes.append(f"Skipped, without a prompt: {skipped} of {len(plan.cases)} cases.")
    return Table("What would be sent", head, rows, left=3, sums=1, notes=notes)


def _dollars(usd: float | None) -> str:
    return "" if usd is None else f"{usd:,.4f}"


# The run ----------------------------------------------------------------------------------------------------


class LiveRun:
    """Produces cells.

    Args:
        prepared: The requests from `prepare`.
        cells: Existing cells. Their requests must be those that would be sent now. Cells that the judge gave
            no verdict on are judged again, but not asked again.
        endpoints: One for each variant; all share the budget.
        judge: Judges arguments that are not equivalent according to the schema.
    """

    def __init__(
        self,
        plan: LivePlan,
        prepared: Mapping[tuple[Variant, str], PreparedRequest],
        cells: Iterable[Cell],
        endpoints: Mapping[Variant, Endpoint],
        *,
        budget: Budget,
        judge: Judge | None = None,
    ) -> None:
        self.plan = plan
        self._endpoints = endpoints
        self._budget = budget
        self._judge = judge
        self._prepared = prepared
        self._unjudged: dict[Key, Cell] = {}
        for cell in cells:
            if is_unjudged(cell):
                self._unjudged[key_of(cell)] = cell
            self._check(variant_of(cell), cell["case"], cell["requests"])

    def cell(self, trial: Trial[Case]) -> Cell:
        """Ask the model, and judge the answer."""
        variant, case = trial.variant, trial.subject
        if (earlier := self._unjudged.get(trial.key)) is not None:
            return self._judged({**earlier, "judged_again": True}, case)
        if case.prompt:
            answer = self._endpoints[variant].ask(self.plan.messages(case), self.plan.tools_of(case))
        else:
            answer = unasked(self.plan.run_options.api, "the case has no prompt")
        fields = answer.fields()
        self._check(variant, case.name, fields["requests"])
        cell = {
            **trial.members("case"),
            **fields,
            "scores": None,
            "judge": None,
            "usd": self._budget.cost([(variant.model, answer.usage)]),
        }
        if answer.status != "ok":
            return cell
        cell["scores"] = score(self.plan.tool(case.tool), case.arguments, fields["calls"]).as_dict()
        return self._judged(cell, case)

    def _judged(self, cell: Cell, case: Case) -> Cell:
        if self._judge is None:
            return cell
        scores = cell["scores"]
        arguments = cell["calls"][0]["arguments"] if scores["tool"] else None
        if scores["normalised"] or not isinstance(arguments, dict):
            return {**cell, "scores": {**scores, "judged": scores["normalised"]}}
        verdict = self._judge.compare(case.prompt, self.plan.tool(case.tool), case.arguments, arguments)
        said = {**verdict.as_dict(), "usd": self._budget.cost([(verdict.model, verdict.usage)])}
        return {**cell, "scores": {**scores, "judged": verdict.same}, "judge": said}

    def _check(self, variant: Variant, case: str, requests: list[dict[str, Any]]) -> None:
        if requests and requests[0]["sha256"] != self._prepared[variant, case].sha256:
            raise BenchError(
                f"{variant}, case {case}: the request differs from the one that would be sent now. "
                "Resume a run with the versions that it was started with."
            )


# The command ------------------------------------------------------------------------------------------------


def command(
    run_options: RunOptions,
    *,
    ablations: Sequence[str],
    catalogue: str | None,
    cases: Sequence[str],
    groups: Sequence[str],
    sample: int | None,
    tools: Any,
    system: str,
    judge: str | None,
    judge_api: Api | None,
    judge_base_url: str | None,
    judge_key_variable: str | None,
    judge_cache: Path | None,
) -> int:
    """Run `wirecall bench live` and return its exit code."""
    (source,) = catalogues([catalogue or BUILT_IN])
    chosen = choose(source, cases, groups)
    if sample is not None:
        chosen = drawn(chosen, sample, run_options.seed)
    plan = LivePlan(run_options, source, chosen, ablations, tools, system, judge)
    budget, stop = run_options.budget([*run_options.models, *filter(None, [judge])]), threading.Event()
    with ExitStack() as stack:

        def endpoint(of: RunOptions, variant: Variant) -> Endpoint:
            options = ablation_options(variant.ablation) if variant.ablation else {}
            made = of.endpoint(variant.model, variant.mode, options, budget=budget, stop=stop)
            return stack.enter_context(closing(made))

        endpoints = {one: endpoint(run_options, one) for one in plan.variants}
        prepared = prepare(plan, endpoints)
        if run_options.dry_run:
            _show_requests(prepared)
            show([forecast(plan, prepared, encoding(run_options.encoding), budget)])
            return 0
        judging = None
        if judge is not None:
            same = judge_api in (None, run_options.api)
            of = replace(
                run_options,
                api=judge_api or run_options.api,
                base_url=judge_base_url or (run_options.base_url if same else None),
                key_variable=judge_key_variable or (run_options.key_variable if same else None),
                parameter={},
            )
            judging = Judge(endpoint(of, Variant(judge, NATIVE)), judge_cache or judge_folder())
        artifact = stack.enter_context(run_options.artifact("live", plan.options()))
        there = artifact.cells.values()
        run = LiveRun(plan, prepared, there, endpoints, budget=budget, judge=judging)
        code = run_trials("live", run_options, artifact, plan.trials(), run.cell, budget=budget, stop=stop)
        _check_requests(there)
        show([summary(plan, list(there), run_options.output)])
        return code


def _show_requests(prepared: Mapping[tuple[Variant, str], PreparedRequest]) -> None:
    """Print one complete request of each variant."""
    shown = set()
    for (variant, case), request in prepared.items():
        if variant not in shown:
            shown.add(variant)
            body = json.dumps(json.loads(request.body), indent=2, ensure_ascii=False)
            print(f"{variant}, case {case}, SHA-256 {request.sha256}:\n{body}\n")


def summary(plan: LivePlan, cells: Sequence[Cell], path: Path) -> Table:
    """The results so far. Scores with their intervals are in the report."""
    rows = []
    for variant in plan.variants:
        _, counts = tally(variant, cells)
        rows.append([*variant, *(f"{one:,}" for one in counts)])
    notes = [
        _said(check)
        for check in request_checks(in_run_order(cells, plan.options()))
        if check.variant.ablation
    ]
    notes += endings(cells)
    notes.append(f"Scores with their intervals: wirecall bench report {path}")
    head = ["model", "mode", "ablation", "ok", "failed", "skipped", "input", "output"]
    return Table("What was asked", head, rows, left=3, notes=notes)


def _said(check: RequestCheck) -> str:
    what = (
        "answers are parsed differently, the request differs" if check.parsing_only else "the request differs"
    )
    differ, cases = len(check.differ), len(check.same) + len(check.differ)
    return f"{check.variant.model}, {check.variant.ablation}: {what} in {differ} of {cases} cases"
