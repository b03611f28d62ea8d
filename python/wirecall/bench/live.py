"""The cells of `wirecall bench live`: what models answered, and how right it was."""

import itertools
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from wirecall.bench.artifact import BenchError, Cell
from wirecall.bench.asking import Asking
from wirecall.bench.budget import REACHED, Budget, Prices, Usage
from wirecall.bench.catalogue import BUILT_IN, catalogues
from wirecall.bench.endpoints import NATIVE, Endpoint
from wirecall.bench.judging import Judge, judge_folder, score
from wirecall.bench.plan import Plan, Task, Variant, choose
from wirecall.bench.proof import Proof, proofs, violations
from wirecall.bench.recording import Api
from wirecall.bench.tables import Table, show
from wirecall.bench.turns import carry_on, endings
from wirecall.bench.vocabularies import encoding
from wirecall.bench.ways import as_asked_for
from wirecall.tokens import Count, compact

# Before anything is sent ------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """The first request of a case and variant, as it would be sent."""

    body: str
    sha256: str


def prepare(plan: Plan, endpoints: Mapping[Variant, Endpoint]) -> dict[tuple[Variant, str], Prepared]:
    """All first requests, by variant and name of the case; a case without a prompt has none.

    Raises:
        BenchError: Two variants would send the same, or a tool cannot be used.
    """
    prepared: dict[tuple[Variant, str], Prepared] = {}
    for case, variant in itertools.product(plan.cases, plan.variants):
        if not case.prompt:
            continue
        request = endpoints[variant].prepare(plan.messages(case), plan.tools_of(case))
        prepared[variant, case.name] = Prepared(request.body, request.sha256)
    _prove(
        {**_names(variant), "case": case, "requests": [{"sha256": request.sha256}]}
        for (variant, case), request in prepared.items()
    )
    return prepared


def _prove(cells: Any) -> None:
    if said := violations(cells):
        more = f" … and {len(said) - 3} more" if len(said) > 3 else ""
        raise BenchError(f"This would compare a thing with itself. {'; '.join(said[:3])}{more}.")


def _names(variant: Variant) -> dict[str, Any]:
    return {"model": variant.model, "mode": variant.mode, "ablation": variant.ablation}


def prompt_tokens(body: str, count: Count) -> int:
    """What the texts and tools of a request are in tokens; how a provider renders them is not published."""
    request = json.loads(body)
    texts = [request.get("system") or "", *(message["content"] for message in request["messages"])]
    tools = request.get("tools")
    return sum(count(_plain(text)) for text in texts) + (count(compact(tools)) if tools else 0)


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def forecast(
    plan: Plan,
    prepared: Mapping[tuple[Variant, str], Prepared],
    count: Count,
    unit: str,
    prices: Mapping[str, Prices],
) -> Table:
    """What the plan would cost: what is sent as it is counted here, what comes back at its most."""
    rows = []
    total, dollars = Usage(), 0.0
    for variant in plan.variants:
        sizes = [prompt_tokens(request.body, count) for (of, _), request in prepared.items() if of == variant]
        asked = len(sizes) * plan.asking.reps
        usage = Usage(sum(sizes) * plan.asking.reps, asked * plan.asking.max_output_tokens)
        price = prices.get(variant.model)
        usd = None if price is None else price.usd(usage)
        total, dollars = total + usage, dollars + (usd or 0.0)
        mean = sum(sizes) / len(sizes) if sizes else 0.0
        row = (
            variant.model,
            variant.mode,
            variant.ablation or "",
            asked,
            round(mean),
            usage.input,
            usage.output,
        )
        rows.append([*(f"{one:,}" if isinstance(one, int) else one for one in row), _dollars(usd)])
    known = all(variant.model in prices for variant in plan.variants)
    sums = ["total", "", "", f"{len(plan.tasks()):,}", "", f"{total.input:,}", f"{total.output:,}"]
    rows.append([*sums, _dollars(dollars if known else None)])
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
        f"Input in {unit}: texts and tools of the requests, without what a provider puts around them.",
        "Answers that are asked for again, and a judge, come on top.",
    ]
    if skipped := len(plan.cases) - len({case for _, case in prepared}):
        notes.append(f"Skipped, without a prompt: {skipped} of {len(plan.cases)} cases.")
    return Table("What would be sent", head, rows, left=3, sums=1, notes=notes)


def _dollars(usd: float | None) -> str:
    return "" if usd is None else f"{usd:,.4f}"


# The run ----------------------------------------------------------------------------------------------------


class Run:
    """Makes cells.

    Args:
        prepared: What `prepare` made of the plan.
        cells: Those that there are; what they have sent must be what would be sent now.
        endpoints: One for each variant; all share the budget.
        judge: Judges arguments that the schema does not find the same.
    """

    def __init__(
        self,
        plan: Plan,
        prepared: Mapping[tuple[Variant, str], Prepared],
        cells: Iterable[Cell],
        endpoints: Mapping[Variant, Endpoint],
        *,
        budget: Budget,
        prices: Mapping[str, Prices] | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.plan = plan
        self._endpoints = endpoints
        self._budget = budget
        self._prices = prices or {}
        self._judge = judge
        self._prepared = prepared
        for cell in cells:
            variant = Variant(cell["model"], cell["mode"], cell["ablation"])
            self._check(variant, cell["case"], cell["requests"])

    def cell(self, task: Task) -> Cell:
        """Ask, and judge the answer; with the budget reached, nothing is asked."""
        variant, case, repetition = task
        names = {
            "key": list(task.key),
            "case": case.name,
            "group": case.group,
            **_names(variant),
            "repetition": repetition,
        }
        if not case.prompt:
            return {**names, **_skipped("the case has no prompt")}
        if self._budget.reached:
            return {**names, **_skipped(REACHED)}
        answer = self._endpoints[variant].ask(self.plan.messages(case), self.plan.tools_of(case))
        fields = answer.fields()
        self._check(variant, case.name, fields["requests"])
        cell = {
            **names,
            **fields,
            "scores": None,
            "judge": None,
            "usd": self._usd(variant.model, answer.usage),
        }
        if answer.status != "ok":
            return cell
        tool = self.plan.tool(case.tool)
        scores = score(tool, case.arguments, fields["calls"])
        cell["scores"] = scores.as_dict()
        if self._judge is None:
            return cell
        if scores.normalised or not isinstance(arguments := _given(scores.tool, fields["calls"]), dict):
            cell["scores"]["judged"] = scores.normalised
            return cell
        verdict = self._judge.compare(case.prompt, tool, case.arguments, arguments)
        cell["scores"]["judged"] = verdict.same
        cell["judge"] = {**verdict.as_dict(), "usd": self._usd(verdict.model, verdict.usage)}
        return cell

    def _check(self, variant: Variant, case: str, requests: list[dict[str, Any]]) -> None:
        if requests and requests[0]["sha256"] != self._prepared[variant, case].sha256:
            raise BenchError(
                f"{variant.name}, case {case}: what was sent is not what would be sent now. A run is carried "
                "on with the versions that it was begun with."
            )

    def _usd(self, model: str, usage: Usage) -> float | None:
        return self._prices[model].usd(usage) if model in self._prices else None


def _given(right_tool: bool, calls: list[dict[str, Any]]) -> Any:
    return calls[0]["arguments"] if right_tool else None


def _skipped(reason: str) -> Cell:
    """The fields of a cell that nothing was sent for."""
    return {
        "status": "skipped",
        "reason": reason,
        "usage": Usage().as_dict(),
        "times": dict.fromkeys(("first_token", "first_call", "total")),
        "calls": [],
        "text": "",
        "reasoning": "",
        "finish": None,
        "repairs": [],
        "problems": [],
        "errors": [],
        "retries": [],
        "requests": [],
        "scores": None,
        "judge": None,
        "usd": None,
    }


# The command ------------------------------------------------------------------------------------------------


def command(
    asking: Asking,
    *,
    ablations: Sequence[str],
    catalogue: str | None,
    cases: Sequence[str],
    groups: Sequence[str],
    tools: Any,
    system: str,
    judge: str | None,
    judge_api: Api | None,
    judge_base_url: str | None,
    judge_key_variable: str | None,
    judge_cache: Path | None,
) -> int:
    """`wirecall bench live`; gives its exit code."""
    (source,) = catalogues([catalogue or BUILT_IN])
    plan = Plan(asking, source, choose(source, cases, groups), ablations, tools, system, judge)
    prices = asking.prices([*asking.models, *filter(None, [judge])])
    budget, stop = asking.budget(prices), threading.Event()
    with ExitStack() as stack:

        def endpoint(of: Asking, model: str, mode: str, options: Mapping[str, Any]) -> Endpoint:
            made = of.endpoint(model, mode, options, budget=budget, stop=stop)
            return stack.enter_context(closing(made))

        endpoints = {one: endpoint(asking, one.model, one.mode, one.options) for one in plan.variants}
        prepared = prepare(plan, endpoints)
        if asking.dry_run:
            vocabulary = encoding(asking.encoding)
            _show_requests(prepared)
            show([forecast(plan, prepared, vocabulary.count, vocabulary.name, prices)])
            return 0
        judging = None
        if judge is not None:
            same = judge_api in (None, asking.api)
            of = replace(
                asking,
                api=judge_api or asking.api,
                base_url=judge_base_url or (asking.base_url if same else None),
                key_variable=judge_key_variable or (asking.key_variable if same else None),
                parameter={},
            )
            judging = Judge(endpoint(of, judge, NATIVE, {}), judge_cache or judge_folder())
        artifact = stack.enter_context(asking.artifact("live", plan.options()))
        there = artifact.cells.values()
        run = Run(plan, prepared, there, endpoints, budget=budget, prices=prices, judge=judging)
        code = carry_on("live", asking, artifact, plan.tasks(), run.cell, budget=budget, stop=stop)
        _prove(there)
        show([summary(plan, list(there), asking.output)])
        return code


def _show_requests(prepared: Mapping[tuple[Variant, str], Prepared]) -> None:
    """One request of each variant, whole."""
    shown = set()
    for (variant, case), request in prepared.items():
        if variant not in shown:
            shown.add(variant)
            body = json.dumps(json.loads(request.body), indent=2, ensure_ascii=False)
            print(f"{variant.name}, case {case}, SHA-256 {request.sha256}:\n{body}\n")


def summary(plan: Plan, cells: Sequence[Cell], path: Path) -> Table:
    """What there is now. How good it is, is for the report, which has the intervals."""
    rows = []
    for variant in plan.variants:
        those = [cell for cell in cells if (cell["model"], cell["mode"], cell["ablation"]) == variant]
        counts = Counter(cell["status"] for cell in those)
        usage = sum((Usage.of(cell["usage"]) for cell in those), Usage())
        numbers = [*(counts[status] for status in ("ok", "failed", "skipped")), usage.input, usage.output]
        rows.append([variant.model, variant.mode, variant.ablation or "", *(f"{one:,}" for one in numbers)])
    notes = [_said(proof) for proof in proofs(as_asked_for(cells, plan.options())) if proof.way.ablation]
    notes += endings(cells)
    notes.append(f"Scores with their intervals: wirecall bench report {path}")
    head = ["model", "mode", "ablation", "ok", "failed", "skipped", "input", "output"]
    return Table("What was asked", head, rows, left=3, notes=notes)


def _said(proof: Proof) -> str:
    what = "the request differs" if not proof.reading else "answers are read otherwise, the request differs"
    differ, cases = len(proof.differ), len(proof.same) + len(proof.differ)
    return f"{proof.way.model}, {proof.way.ablation}: {what} in {differ} of {cases} cases"
