"""The cells of `wirecall bench live`: what models answered, and how right it was."""

import itertools
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from wirecall._bench.artifact import BenchError, Cell, Key, key_of
from wirecall._bench.asking import Asking
from wirecall._bench.budget import Budget, Usage
from wirecall._bench.catalogue import BUILT_IN, Case, catalogues
from wirecall._bench.endpoints import Endpoint, unasked
from wirecall._bench.judging import Judge, judge_folder, score
from wirecall._bench.plan import Plan, ablation_options, choose
from wirecall._bench.proof import Proof, proofs, violations
from wirecall._bench.recording import Api
from wirecall._bench.tables import Table, show
from wirecall._bench.turns import Turn, carry_on, endings, is_unjudged, tally
from wirecall._bench.vocabularies import Vocabulary, encoding
from wirecall._bench.ways import NATIVE, Way, as_asked_for, way_of
from wirecall.tokens import Count, compact

# Before anything is sent ------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """The first request of a case and way, as it would be sent."""

    body: str
    sha256: str


def prepare(plan: Plan, endpoints: Mapping[Way, Endpoint]) -> dict[tuple[Way, str], Prepared]:
    """All first requests, by way and name of the case; a case without a prompt has none.

    Raises:
        BenchError: Two ways would send the same, or a tool cannot be used.
    """
    prepared: dict[tuple[Way, str], Prepared] = {}
    for case, way in itertools.product(plan.cases, plan.ways):
        if not case.prompt:
            continue
        request = endpoints[way].prepare(plan.messages(case), plan.tools_of(case))
        prepared[way, case.name] = Prepared(request.body, request.sha256)
    _prove(
        {**way.members, "case": case, "requests": [{"sha256": request.sha256}]}
        for (way, case), request in prepared.items()
    )
    return prepared


def _prove(cells: Any) -> None:
    if said := violations(cells):
        more = f" … and {len(said) - 3} more" if len(said) > 3 else ""
        raise BenchError(f"Two variants would send the same requests. {'; '.join(said[:3])}{more}.")


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
    prepared: Mapping[tuple[Way, str], Prepared],
    vocabulary: Vocabulary,
    budget: Budget,
) -> Table:
    """What the plan would cost: what is sent as it is counted here, what comes back at its most."""
    rows = []
    used = []
    for way in plan.ways:
        sizes = [
            prompt_tokens(request.body, vocabulary.count)
            for (of, _), request in prepared.items()
            if of == way
        ]
        asked = len(sizes) * plan.asking.reps
        usage = Usage(sum(sizes) * plan.asking.reps, asked * plan.asking.max_output_tokens)
        used.append((way.model, usage))
        mean = sum(sizes) / len(sizes) if sizes else 0.0
        numbers = (asked, round(mean), usage.input, usage.output)
        rows.append([*way, *(f"{one:,}" for one in numbers), _dollars(budget.cost(used[-1:]))])
    total = sum((usage for _, usage in used), Usage())
    sums = ["total", "", "", f"{len(plan.turns()):,}", "", f"{total.input:,}", f"{total.output:,}"]
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


class Run:
    """Makes cells.

    Args:
        prepared: What `prepare` made of the plan.
        cells: Those that there are; what they have sent must be what would be sent now. One that the judge
            gave no verdict on is judged again, and not asked again.
        endpoints: One for each way; all share the budget.
        judge: Judges arguments that the schema does not find the same.
    """

    def __init__(
        self,
        plan: Plan,
        prepared: Mapping[tuple[Way, str], Prepared],
        cells: Iterable[Cell],
        endpoints: Mapping[Way, Endpoint],
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
            self._check(way_of(cell), cell["case"], cell["requests"])

    def cell(self, turn: Turn[Case]) -> Cell:
        """Ask, and judge the answer."""
        way, case = turn.way, turn.subject
        if (earlier := self._unjudged.get(turn.key)) is not None:
            return self._judged({**earlier, "judged_again": True}, case)
        if case.prompt:
            answer = self._endpoints[way].ask(self.plan.messages(case), self.plan.tools_of(case))
        else:
            answer = unasked(self.plan.asking.api, "the case has no prompt")
        fields = answer.fields()
        self._check(way, case.name, fields["requests"])
        cell = {
            **turn.members("case"),
            **fields,
            "scores": None,
            "judge": None,
            "usd": self._budget.cost([(way.model, answer.usage)]),
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

    def _check(self, way: Way, case: str, requests: list[dict[str, Any]]) -> None:
        if requests and requests[0]["sha256"] != self._prepared[way, case].sha256:
            raise BenchError(
                f"{way}, case {case}: what was sent is not what would be sent now. A run is carried "
                "on with the versions that it was begun with."
            )


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
    budget, stop = asking.budget([*asking.models, *filter(None, [judge])]), threading.Event()
    with ExitStack() as stack:

        def endpoint(of: Asking, way: Way) -> Endpoint:
            options = ablation_options(way.ablation) if way.ablation else {}
            made = of.endpoint(way.model, way.mode, options, budget=budget, stop=stop)
            return stack.enter_context(closing(made))

        endpoints = {one: endpoint(asking, one) for one in plan.ways}
        prepared = prepare(plan, endpoints)
        if asking.dry_run:
            _show_requests(prepared)
            show([forecast(plan, prepared, encoding(asking.encoding), budget)])
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
            judging = Judge(endpoint(of, Way(judge, NATIVE)), judge_cache or judge_folder())
        artifact = stack.enter_context(asking.artifact("live", plan.options()))
        there = artifact.cells.values()
        run = Run(plan, prepared, there, endpoints, budget=budget, judge=judging)
        code = carry_on("live", asking, artifact, plan.turns(), run.cell, budget=budget, stop=stop)
        _prove(there)
        show([summary(plan, list(there), asking.output)])
        return code


def _show_requests(prepared: Mapping[tuple[Way, str], Prepared]) -> None:
    """One request of each way, whole."""
    shown = set()
    for (way, case), request in prepared.items():
        if way not in shown:
            shown.add(way)
            body = json.dumps(json.loads(request.body), indent=2, ensure_ascii=False)
            print(f"{way}, case {case}, SHA-256 {request.sha256}:\n{body}\n")


def summary(plan: Plan, cells: Sequence[Cell], path: Path) -> Table:
    """What there is now. How good it is, is for the report, which has the intervals."""
    rows = []
    for way in plan.ways:
        _, counts = tally(way, cells)
        rows.append([*way, *(f"{one:,}" for one in counts)])
    notes = [_said(proof) for proof in proofs(as_asked_for(cells, plan.options())) if proof.way.ablation]
    notes += endings(cells)
    notes.append(f"Scores with their intervals: wirecall bench report {path}")
    head = ["model", "mode", "ablation", "ok", "failed", "skipped", "input", "output"]
    return Table("What was asked", head, rows, left=3, notes=notes)


def _said(proof: Proof) -> str:
    what = "the request differs" if not proof.reading else "answers are read otherwise, the request differs"
    differ, cases = len(proof.differ), len(proof.same) + len(proof.differ)
    return f"{proof.way.model}, {proof.way.ablation}: {what} in {differ} of {cases} cases"
