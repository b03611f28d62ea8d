"""The commands of `wirecall bench`. Libraries for measuring are imported only when they are used."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wirecall._cli.console import printable
from wirecall_bench.artifact import BenchError
from wirecall_bench.options import FiniteRange, RunOptions, listed, with_run_options

# The libraries that all commands need.
_NEEDED = (
    "anthropic",
    "jinja2",
    "jsonschema",
    "matplotlib",
    "numpy",
    "openai",
    "scipy",
    "tenacity",
    "tiktoken",
    "tokenizers",
    "toon_format",
)


class Bench(click.Group):
    """A group that says what to install if one of the libraries that it needs is missing."""

    def __init__(self, *args: Any, needed: Sequence[str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.needed = needed

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        missing = [name for name in self.needed if importlib.util.find_spec(name) is None]
        if missing:
            raise click.ClickException(f"{missing[0]} is not installed: pip install ./benches, in a clone")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BenchError as error:
            raise click.ClickException(printable(str(error))) from error


@click.group(
    cls=Bench,
    needed=_NEEDED,
    epilog="""Results are JSON lines, one artifact for each run.

\b
Questions and their commands:
  how many tokens does it save me?          offline --catalogue MINE
  does my model still call tools correctly? live, agent, then report
  what does parsing cost?                   latency

docs/bench.md explains how to measure your own tools and models, and what the results do not show.
""",
)
def bench() -> None:
    """Measure tokens, correctness and speed."""


@bench.command(
    epilog="""Exit code 0 if every call was read back as it was written, in every format that can write it;
1 if not.

\b
Examples:
  wirecall bench offline
  wirecall bench offline --catalogue mine.json --catalogue built-in --encoding o200k_base,cl100k_base
  wirecall bench offline --tokenizer Qwen3-8B/tokenizer.json --totals
  wirecall bench offline --encoding characters --output offline.jsonl
""",
)
@click.option(
    "--catalogue",
    "paths",
    metavar="FILE",
    multiple=True,
    help='Tools and expected calls: {"tools": […], "cases": [{"name", "group", "tool", "arguments"}, …]}; '
    "docs/bench.md has an example.  [default: built-in]",
)
@click.option(
    "--encoding",
    "encodings",
    metavar="NAME,…",
    multiple=True,
    help="tiktoken vocabularies, or characters.  [default: o200k_base]",
)
@click.option(
    "--tokenizer", "tokenizers", metavar="FILE", multiple=True, help="A Hugging Face tokenizer.json."
)
@click.option(
    "--cached-price",
    type=FiniteRange(0, 1),
    default=0.1,
    help="Price of a cached input token, as a fraction of the normal price.",
)
@click.option("--totals", "only_totals", is_flag=True, help="Leave out the rows of single tools and calls.")
@click.option("--output", metavar="ARTIFACT", help="Write the results to this file, which must not exist.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.pass_context
def offline(ctx: click.Context, /, **given: Any) -> None:
    """Count the tokens of definitions and calls in every format.

    Every call is parsed again and compared. Native definitions are counted as minified JSON. How providers
    render them for the model is not public, so these counts are an estimate.
    """
    from wirecall_bench.offline import command

    ctx.exit(command(**given))


@bench.command(
    epilog="""\b
Examples:
  wirecall bench live --base-url http://localhost:8000/v1 --models qwen3 --reps 3 \\
    --output-parameter max_tokens
  wirecall bench live --models small,large --ablation no-manual --ablation syntax=json --dry-run
  wirecall bench live --api anthropic --models one --judge other --group unicode --max-usd 5 \\
    --price-in 3 --price-out 15

\b
Each ablation changes one thing in the mode wire, and in wire-grammar if that is run:
  syntax=json, placement=first, no-manual, descriptions=none, protocol=NAME, manual=VARIANT
    must change the request: if two variants would send the same, nothing is sent
  strict
    changes how answers are read, and must not change the request

Exit codes: 0 every case was run; 1 some were skipped (budget used up, or no prompt) or not judged, or all
failed; 2 wrong usage or a file that cannot be used; 130 interrupted. After 1 and 130, --resume continues.
""",
)
@with_run_options("live.jsonl", modes="native,wire")
@click.option(
    "--ablation",
    "ablations",
    multiple=True,
    metavar="WHAT",
    help="Also run with one thing changed: see below. Repeatable.",
)
@click.option(
    "--catalogue",
    metavar="FILE",
    help='As for `offline`; each case needs a "prompt", the user message that leads to the call.  '
    "[default: built-in]",
)
@click.option("--cases", multiple=True, metavar="GLOB", help="Only cases whose name matches.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only cases of this group.")
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Only N cases of each group, drawn with --seed."
)
@click.option(
    "--tools",
    type=click.Choice(["all", "group", "own"]),
    default="group",
    help="Tools in a request: all of the catalogue, those of the case's group, or only the expected one.",
)
@click.option(
    "--system",
    default="You are a helpful assistant.",
    metavar="TEXT",
    help="System prompt; '' for none.",
)
@click.option(
    "--judge",
    metavar="MODEL",
    help="Another model, which judges arguments that differ from the expected ones.",
)
@click.option(
    "--judge-api", type=click.Choice(["openai", "anthropic"]), help="API of the judge.  [default: --api]"
)
@click.option("--judge-base-url", metavar="URL", help="Base URL of the judge.  [default: --base-url]")
@click.option(
    "--judge-key-variable", metavar="NAME", help="Key variable of the judge.  [default: --key-variable]"
)
@click.option(
    "--judge-cache",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder for verdicts.  [default: the user's cache folder]",
)
@click.pass_context
def live(ctx: click.Context, /, run_options: RunOptions, **given: Any) -> None:
    """Run the cases on real models, natively and as text.

    Keys are only read from the environment, and never written.
    """
    from wirecall_bench.live import command

    ctx.exit(command(run_options, **given))


@bench.command(
    epilog="""\b
Examples:
  wirecall bench agent --base-url http://localhost:8000/v1 --models qwen3 --reps 3 \\
    --output-parameter max_tokens
  wirecall bench agent --models small,large --modes native,wire,hermes,xml --tasks 'a *' --turns 8
  wirecall bench agent --api anthropic --models one --dry-run

Exit codes: 0 every task was run; 1 some were skipped (budget used up), or all failed; 2 wrong usage or a file
that cannot be used; 130 interrupted. After 1 and 130, --resume continues; unfinished tasks start over.
""",
)
@with_run_options("agent.jsonl", modes="native,wire,hermes")
@click.option("--tasks", multiple=True, metavar="GLOB", help="Only tasks whose name matches.")
@click.option(
    "--turns",
    type=click.IntRange(1),
    default=12,
    help="Maximum answers of the model in one task.",
)
@click.pass_context
def agent(ctx: click.Context, /, run_options: RunOptions, **given: Any) -> None:
    """Run tasks of several steps on real models.

    The resulting state is judged, not the calls. Keys are only read from the environment, and never written.
    """
    from wirecall_bench.agent import command

    ctx.exit(command(run_options, **given))


@bench.command(
    epilog="""\b
Examples:
  wirecall bench latency
  wirecall bench latency --lengths 1KB,4KB,16KB --rounds 2 --streams 100
  wirecall bench latency --rounds 15 --limit 60 --output quiet-machine.jsonl

Parsers of other projects are measured if their packages are installed: jiter, partial-json-parser, sglang,
vllm. A parser is timed only on texts that it reads correctly.

Exit codes: 0 everything was measured; 1 wirecall read something wrong; 2 wrong usage or a file that cannot be
used; 130 interrupted. After 130, --resume continues; an unfinished measurement starts over.
""",
)
@click.option(
    "--lengths",
    callback=listed,
    default="1KB,4KB,16KB,64KB,256KB,1MB",
    metavar="LENGTH,…",
    help="Lengths of the code argument of a call.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=5,
    help="Each round times every parser once.",
)
@click.option(
    "--streams",
    type=click.IntRange(0),
    default=1000,
    help="Messages that one thread reads concurrently.",
)
@click.option(
    "--limit",
    type=FiniteRange(0, min_open=True),
    default=10.0,
    metavar="SECONDS",
    help="Time limit of one reading; longer ones are stopped and reported as cut off.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default="latency.jsonl",
    metavar="FILE",
    help="File to write; `wirecall bench report` reads it.",
)
@click.option("--resume", is_flag=True, help="Continue FILE: what it contains is not measured again.")
@click.pass_context
def latency(ctx: click.Context, /, **given: Any) -> None:
    """Compare the time per delta of wirecall's parser and others.

    Run nothing else on the machine at the same time. With the defaults, this takes about five minutes, and
    with the second example about one. At the start, it prints an estimate for your machine.
    """
    from wirecall_bench.latency import command

    ctx.exit(command(**given))


@bench.command(
    epilog="""\b
Examples:
  wirecall bench report live.jsonl
  wirecall bench report live.jsonl agent.jsonl --html report.html
""",
)
@click.argument("artifacts", metavar="ARTIFACT...", nargs=-1, required=True)
@click.option(
    "--markdown",
    "markdown_path",
    metavar="FILE",
    help="Write Markdown to FILE. Without this and --html, it is printed.",
)
@click.option("--html", "html_path", metavar="FILE", help="Write one HTML page with plots to FILE.")
def report(artifacts: tuple[str, ...], markdown_path: str | None, html_path: str | None) -> None:
    """Show results as tables and plots, with intervals.

    ARTIFACT is a file that another command has written, such as live.jsonl.
    """
    from wirecall_bench.report import html, markdown
    from wirecall_bench.report import report as report_of

    document = report_of(artifacts)
    for path, write in ((markdown_path, markdown), (html_path, html)):
        if path is not None:
            _write(path, write(document))
            click.echo(f"wrote {path}", err=True)
    if markdown_path is None and html_path is None:
        click.echo(markdown(document), nl=False)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BenchError(f"{path} cannot be written: {error.strerror or error}") from error
