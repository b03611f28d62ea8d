"""The commands of `wirecall bench`. What needs a library of the extra is imported where it is used."""

import importlib.util
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
