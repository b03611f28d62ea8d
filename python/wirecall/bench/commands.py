"""The commands of `wirecall bench`. What needs a library of the extra is imported where it is used."""

import importlib.util
from pathlib import Path
from typing import Any

import click

from wirecall.bench.artifact import BenchError

# What the commands share of the extra `bench`.
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
)


class _Bench(click.Group):
    """A group that says what to install, instead of half working."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise click.ClickException(f"{missing[0]} is not installed: pip install 'wirecall[bench]'")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BenchError as error:
            raise click.ClickException(str(error)) from error


@click.group(
    cls=_Bench,
    epilog="""\b
Needs: pip install 'wirecall[bench]'. Results are JSON lines, one artifact for each run.
""",
)
def bench() -> None:
    """Measure what the format costs and gains."""


@bench.command()
@click.argument("artifacts", metavar="ARTIFACT...", nargs=-1, required=True)
@click.option("--markdown", "markdown_path", metavar="FILE", help="Write Markdown there; else it is printed.")
@click.option("--html", "html_path", metavar="FILE", help="Write one page of HTML with plots there.")
def report(artifacts: tuple[str, ...], markdown_path: str | None, html_path: str | None) -> None:
    """Tables and plots of what artifacts say, with intervals."""
    from wirecall.bench import report as reporting

    document = reporting.report(artifacts)
    for path, write in ((markdown_path, reporting.markdown), (html_path, reporting.html)):
        if path is not None:
            _write(path, write(document))
    if markdown_path is None and html_path is None:
        click.echo(reporting.markdown(document), nl=False)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BenchError(f"{path} cannot be written: {error.strerror or error}") from error
