"""Write docs/benchmarks.md from artifacts of `wirecall bench`.

Run `python scripts/benchmarks_page.py ARTIFACT… > docs/benchmarks.md`. `make benchmarks` creates the
artifacts and the page; those of live models are in benches/live, where `make live PUBLISH=1` writes them.
With `--live PAGE`, only the section of live models is written anew, into a page that has the others. All
figures are computed from the artifacts. The text around them is in this script.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wirecall_bench.artifact import BenchError, Cell, Run, read
from wirecall_bench.mistakes import ANSWERS, MEMBERS, counts
from wirecall_bench.modes import LONGEST
from wirecall_bench.outcomes import MEASURES, Measure, Outcome, outcomes
from wirecall_bench.report import Report, Section, change_text, head_of, markdown, report
from wirecall_bench.statistics import LEVEL, Difference, holm
from wirecall_bench.tables import Table
from wirecall_bench.tables import markdown as grid_of
from wirecall_bench.variants import Variant, in_run_order

HEAD = """\
# Benchmarks

`make benchmarks` and `make live PUBLISH=1` generate the tables from the artifacts of the commands below.
The text around them is written by hand.
`wirecall bench report` generates such a page, or an HTML page with plots, from your own artifacts.
"""
KINDS = {
    "offline": """\
**Offline** counts texts. It shows what definitions and calls cost in each format and in each named
vocabulary, and that each call parses back as it was written. It does not show whether a model
writes a format well. The costs of definitions as JSON are an estimate, because providers do not
publish how they render tools for a model. Formats without delimiters would need some to be found
in a text.

Third-party tools save less than the tools of our catalogues, whose descriptions are short. Counted once, on
28 November 2026, in `o200k_base`: the `tools/list` of 46 public MCP servers (1,503 tools) has 890,923 tokens
as minified OpenAI chat tools, and 645,471 as a manual, 28 % less. Without the largest server, Microsoft 365,
the manual saves 38 %. The 3,416 functions of BFCL v4 save 37 %, and the operations of three OpenAPI
documents 11 %. The 140 schemas from tests of SDKs cost 25 % more as text: 14 of them are longer, because
they are recursive or have wide unions, which the manual expands.
""",
    "latency": """\
**Latency** times parsers on the same calls in the same deltas in one run. Each parser is first
checked for correctness. The figures show what a delta costs as a call grows. Some parsers start
again from the beginning with every delta, because they were made for short arguments, and some do
other work as well. The work of a server around its parser is not measured.
""",
}
WELL_FORMED, RIGHT_TOOL, RIGHT_CALL = (
    next(one for one in MEASURES["live"] if one.name == name)
    for name in ("well-formed", "tool", "normalised")
)
LIVE_FOLDER = Path(__file__).parents[1] / "benches" / "live"
LIVE_ORDER = (
    "reference",
    "built-in",
    "manuals-reference",
    "manuals",
    "manuals-wire",
    "manuals-constraints",
)
LIVE_TITLE = "## Live models and agents\n"
LIVE = """\
To measure your model, natively and through `wirecall.wrap`, interleaved, with every request and answer
saved:

```sh skip
pip install . ./benches
wirecall bench live --models MODEL --reps 3 --ablation no-manual --output live.jsonl
wirecall bench agent --models MODEL --reps 3 --output agent.jsonl
wirecall bench report live.jsonl agent.jsonl --html report.html
```

`--base-url` and `--api` select any endpoint with an OpenAI or Anthropic API. `--dry-run` shows what
would be sent and its price. `--max-usd` stops the run before more is spent. Keys are read from the
environment.
"""
NOT_MEASURED = "No live model has been measured yet.\n"
MEASURED = """\
`make live` runs SmolLM2-135M-Instruct, a model of 135 million parameters, with llama-server on this machine,
without a GPU. The artifacts without texts are in `benches/live`. All modes ask the same cases with the same
tools, at temperature 0 and at most 512 tokens for an answer; the variants of the manual were asked with at
most 128, and without a bound of values.

{samples}

**In short.** {outcome}

**What such a model can show.** Under a grammar, it shows what the grammar and the manual make of a model that
hardly follows instructions: whether calls are well-formed, what they cost in tokens, and which mistakes the
format invites.

**What it cannot show.** Without a grammar it hardly calls tools in any mode, so it says nothing about how
often a model does. Its choices of tools and arguments say little about a model that was trained to call
tools. Intervals are over cases, of one model on one machine. The machine was busy with other work, so compare
times only as ratios within a table, and only roughly.

**native and native-forced.** The model's own chat template ignores tools, and llama-server then drops them
without an error. Therefore the server has a template that adds tools in the form of Qwen2.5 and Hermes, and
is the same otherwise (`benches/src/wirecall_bench/data/chatml_tools.jinja`). With `tool_choice="required"`,
this llama-server samples under a grammar of its own, which accepts any text before the first call. A model
that starts with prose goes on with it until the limit. The grammars of wirecall for `required` accept calls
only, and a difference from native-forced is mostly this. hermes-grammar writes JSON like native-forced, but
under wirecall's grammar, so wire-grammar against hermes-grammar compares the formats.

**Mistakes.** If a call copies the manual's example, the manual is the cause. If a value is cut off at a
space, the format is: an unquoted value cannot contain spaces. Numbers and texts that never end, and other
values, are mistakes of the model.

**Well-formed.** {formed} A grammar does not end a value: within a number or a text, a model of this size can
repeat itself until the limit of tokens. So in the modes with a grammar of wirecall, strings, numbers and
lists without a bound in the schema get one (`grammar_longest={longest}`). The grammar of native-forced has no
such option.
"""


def page(paths: Sequence[str]) -> str:
    """The page, with a section for each artifact."""
    runs = {path: read(path) for path in paths}
    others = [path for path, run in runs.items() if run.kind not in MEASURES]
    kinds = {runs[path].kind for path in others}
    parts = [HEAD, *(said for kind, said in KINDS.items() if kind in kinds), body(others)]
    live = {path: run for path, run in runs.items() if run.kind in MEASURES}
    return "\n".join([*parts, live_section(live)])


def with_live(text: str, paths: Sequence[str]) -> str:
    """A page with another section of live models, which is the last one."""
    before, found, _ = text.partition(LIVE_TITLE)
    if not found:
        raise BenchError(f"the page has no section {LIVE_TITLE.strip()!r}")
    return before + live_section({path: read(path) for path in paths})


def body(paths: Sequence[str]) -> str:
    """The report of artifacts, without its title."""
    return body_of(report(paths).sections)


def body_of(sections: Sequence[Section]) -> str:
    # The page says in its own words what was found.
    tables = [replace(section, findings=[]) for section in sections]
    return markdown(Report("", tables)).partition("\n")[2].lstrip("\n")


# Live models ------------------------------------------------------------------------------------------------


def live_section(runs: Mapping[str, Run]) -> str:
    if not runs:
        return "\n".join([LIVE_TITLE, NOT_MEASURED, LIVE])
    modes = {path: run for path, run in runs.items() if not run.options.get("ablations")}
    variants = {path: run for path, run in runs.items() if run.options.get("ablations")}
    parts = [
        LIVE_TITLE,
        MEASURED.format(
            samples=samples(runs),
            outcome=outcome(modes.values()),
            formed=formed(modes.values()),
            longest=LONGEST,
        ),
        LIVE,
    ]
    parts += [f"{grid}\n" for run in modes.values() for grid in comparisons(run)]
    if variants:
        parts.append(manuals(variants))
    first, *others = report([*modes, *variants]).sections
    # The table above has what there is to say about the variants.
    sections = [replace(first, title="Runs of live models"), *others[: len(modes)]]
    return "\n".join([*parts, body_of(sections)])


def samples(runs: Mapping[str, Run]) -> str:
    """The sizes of the samples, and how they were drawn."""
    said = []
    for path, run in runs.items():
        options = run.options
        asked = {cell["case"] for cell in run.cells}
        groups = {cell["group"] for cell in run.cells}
        of = "all"
        if "--sample" in run.header["run"]["command"].split():
            of = f"drawn with seed {options['seed']}"
            of += f" from {len(groups)} groups" if len(groups) > 1 else ""
        said.append(
            f"{Path(path).stem}: {len(asked)} cases of the catalogue {options['catalogue']} ({of}), begun on "
            f"{run.header['run']['date'][:10]}, {len(run.cells)} of {options['cells']} planned answers"
        )
    stopped = any(len(run.cells) < run.options["cells"] for run in runs.values())
    why = " Runs with fewer answers than planned were stopped early." if stopped else ""
    return f"Samples: {'; '.join(said)}.{why}"


def under_grammar(runs: Iterable[Run], mode: str = "-grammar") -> list[Cell]:
    """The answers under a grammar of wirecall, in all modes or in one."""
    return [cell for run in runs for cell in run.cells if cell["mode"].endswith(mode)]


def outcome(runs: Iterable[Run]) -> str:
    """What the model did, in a few figures."""
    runs = list(runs)
    whole = counted(under_grammar(runs), WELL_FORMED)
    said = [
        "The model hardly ever calls a tool without a grammar. Under a grammar of wirecall, "
        f"{whole} of its {len(under_grammar(runs))} answers were well-formed calls."
    ]
    for run in runs:
        wire, hermes = (under_grammar([run], f"{name}-grammar") for name in ("wire", "hermes"))
        tools, calls = (
            [counted(cells, measure) for cells in (wire, hermes)] for measure in (RIGHT_TOOL, RIGHT_CALL)
        )
        said.append(
            f"Of the {len(wire)} cases of {run.options['catalogue']}, it chose the right tool in {tools[0]} "
            f"with wire and in {tools[1]} with the JSON of Hermes; the arguments were right, too, in "
            f"{calls[0]} and {calls[1]}."
        )
    return " ".join(said)


def counted(cells: Iterable[Cell], measure: Measure) -> int:
    return sum(bool(measure.of(cell)) for cell in cells)


def formed(runs: Iterable[Run]) -> str:
    """What became of the answers under a grammar of wirecall."""
    cells = under_grammar(runs)
    whole = [cell for cell in cells if WELL_FORMED.of(cell)]
    cut = sum(cell["finish"] == "length" for cell in cells if cell not in whole)
    return (
        f"Of {len(cells)} answers under a grammar of wirecall, {len(whole)} were well-formed, {cut} were cut "
        f"off by the limit of tokens within a call, and {len(cells) - len(whole) - cut} were malformed."
    )


def titled(title: str, table: Table) -> str:
    return "\n\n".join([f"### {title}", grid_of(table), *table.notes])


def comparisons(run: Run) -> list[str]:
    """The differences that the report does not have, where wire loses, and the mistakes."""
    cells = in_run_order(run.cells, run.options)
    name = run.options["catalogue"]
    found = outcomes("live", cells)
    modes = {variant.mode: variant for variant in found}
    pairs = [("wire-grammar", "native-forced"), ("wire-grammar", "hermes-grammar"), ("wire", "wire-grammar")]
    known = [(modes[one], modes[other]) for one, other in pairs if one in modes and other in modes]
    chosen = [one for one in MEASURES["live"] if one.name not in ("judged", "first call", "tokens")]
    return [
        titled(f"Differences between modes: {name}", differences(found, known, chosen)),
        losses(found, known, chosen),
        titled(f"Mistakes: {name}", mistaken(cells)),
    ]


def differences(
    found: Mapping[Variant, Outcome], pairs: Sequence[tuple[Variant, Variant]], measures: Sequence[Measure]
) -> Table:
    """One row for each measure, because there are more of them than modes."""
    rows = [
        [
            head_of(one),
            *(change_text(found[variant].beside(found[other], one), one) for variant, other in pairs),
        ]
        for one in measures
    ]
    titles = [f"{variant.mode} against {other.mode}" for variant, other in pairs]
    return Table("", ["measure", *titles], rows, notes=["Scores in percentage points, paired by case."])


def losses(
    found: Mapping[Variant, Outcome], pairs: Sequence[tuple[Variant, Variant]], measures: Sequence[Measure]
) -> str:
    """Where the first mode of a pair is shown to be worse."""
    said = []
    for variant, other in pairs:
        worse = []
        for measure in measures:
            change = found[variant].beside(found[other], measure)
            if change.shown and change.interval is not None and (change.interval.mean < 0) == measure.more:
                worse.append(measure.name)
        said.append(
            f"{variant.mode} loses to {other.mode} in: {', '.join(worse) or 'nothing that is shown'}."
        )
    return " ".join(said)


def mistaken(cells: Sequence[Cell]) -> Table:
    found = counts(cells)
    names = [name for name in (*ANSWERS, *MEMBERS) if any(of[name] for of in found.values())]
    rows = [[str(variant.mode), *(str(of[name]) for name in names)] for variant, of in found.items()]
    notes = [
        f"{what}: {' '.join(f'{name}: {means}' for name, means in explained.items())}"
        for what, explained in (
            ("Answers", ANSWERS),
            ("Members of arguments, in calls of the right tool", MEMBERS),
        )
    ]
    return Table("", ["mode", *names], rows, notes=notes)


def uncompared(runs: Mapping[str, Run]) -> list[str]:
    """What came of variants without a baseline, because the run was stopped before it."""
    said = []
    for path, run in runs.items():
        if all(cell["ablation"] for cell in run.cells):
            called = sum(bool(cell["calls"]) for cell in run.cells)
            variants = len({cell["ablation"] for cell in run.cells})
            said.append(
                f"{Path(path).stem} was stopped before the built-in manual: of {len(run.cells)} answers in "
                f"the mode {run.cells[0]['mode']}, with {variants} variants, {called} have a call."
            )
    return said


def manuals(runs: Mapping[str, Run]) -> str:
    """The variants of the manual against the built-in one, corrected for their number."""
    chosen = {one.name: one for one in MEASURES["live"]}
    shown = [chosen[name] for name in ("share", "tool", "well-formed", "input tokens")]
    rows: list[list[str]] = []
    found: list[Difference] = []
    for path, run in runs.items():
        of = outcomes("live", in_run_order(run.cells, run.options))
        for variant in of:
            base = Variant(variant.model, variant.mode)
            if variant.ablation and base in of:
                changes = [of[variant].beside(of[base], one) for one in shown]
                texts = [change_text(change, one) for change, one in zip(changes, shown, strict=True)]
                rows.append([Path(path).stem, variant.mode, variant.ablation.removeprefix("manual="), *texts])
                # What variants are chosen by.
                found += changes[:2]
    corrected = holm([change.chance for change in found])
    won = []
    for index, row in enumerate(rows):
        pair = slice(2 * index, 2 * index + 2)
        row += [f"{chance:.2f}" for chance in corrected[pair]]
        if any(
            chance <= 1 - LEVEL and change.shown and change.interval is not None and change.interval.mean > 0
            for chance, change in zip(corrected[pair], found[pair], strict=True)
        ):
            won.append(f"{row[2]} ({row[0]})")
    heads = ["artifact", "mode", "variant", *map(head_of, shown), "chance: share", "chance: tool"]
    notes = [
        f"Better in share or tool after the correction: {', '.join(won)}."
        if won
        else "Tried, changed nothing: no variant is better in share or tool after the correction.",
        "Differences from the built-in manual, paired by case. chance: how often random signs make a "
        f"difference as large, corrected for {len(found)} comparisons by Holm's method.",
        *uncompared(runs),
        "tools-first: signatures before the explanation. neutral-example: an example with a tool that is not "
        "declared. no-example: a sentence instead. named-values: the example's texts name their parameters. "
        "example-per-tool, examples-last: an example for each tool, below its signature or at the end. "
        "short-header, long-header: one sentence, or nine. no-constraints: without limits and formats.",
    ]
    return titled("Variants of the manual", Table("", heads, rows, left=3, notes=notes)) + "\n"


def main(arguments: Sequence[str]) -> str:
    live = [str(LIVE_FOLDER / f"{name}.jsonl") for name in LIVE_ORDER]
    live = [path for path in live if Path(path).exists()]
    if arguments[:1] == ["--live"] and len(arguments) == 2:
        return with_live(Path(arguments[1]).read_text(encoding="utf-8"), live)
    return page([*arguments, *live])


if __name__ == "__main__":
    try:
        sys.stdout.write(main(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"benchmarks_page.py: {error}")
