"""`wirecall protocols`: the protocols and native formats, and which one a model writes."""

import textwrap
from typing import Any

import click
from rich.text import Text

from wirecall import FAMILIES, PROTOCOLS, ToolError
from wirecall._cli.console import OutputConsole, printable
from wirecall._cli.inputs import UserError
from wirecall._cli.outputs import to_json
from wirecall._core import native_formats
from wirecall._tools.model_table import NO_FORMAT, entries
from wirecall._tools.models import find_model, protocol_for

# The columns without a terminal, and the fewest that are used on one.
_WIDTH, _MIN_WIDTH = 80, 40


@click.command(
    epilog="""MODEL is a name as on Hugging Face, the name of a GGUF file, a local path or a tag of Ollama.

\b
Examples:
  wirecall protocols
  wirecall protocols --model Qwen/Qwen3-Coder-30B-A3B-Instruct
  wirecall protocols --model qwen3-coder:30b --json
""",
)
@click.option("--model", metavar="NAME", help="Say which format this model writes, and why.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of paragraphs: one object on each line."
)
def protocols(model: str | None, as_json: bool) -> None:
    """List protocols and native formats, or find that of a model."""
    rows = {name: row for row in native_formats() for name in (row["name"], *row["aliases"])}
    if model is None:
        listed = _rows(rows)
        if as_json:
            for row in listed:
                print(to_json(row))
        else:
            _show(listed)
        return
    try:
        protocol = protocol_for(model)
    except ToolError as error:
        raise UserError(printable(str(error))) from error
    found = find_model(model)
    assert found is not None
    begins = _begins(rows.get(protocol))
    chosen = {"model": model, **found._asdict(), "begins_in": begins}
    if as_json:
        print(to_json(chosen))
        return
    _print(
        OutputConsole(width=_WIDTH),
        {
            "protocol": [protocol],
            "pattern": [found.pattern],
            "begins in": [f"{begins}, unless in_reasoning says how the prompt ends"],
            "source": [found.source],
        },
    )


def _rows(native: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """All protocols, and the models that have none."""
    rows = [_row(name, native.get(name)) for name in dict.fromkeys((*PROTOCOLS, *FAMILIES))]
    for entry in NO_FORMAT:
        reason = entry.several or "no native format"
        models = entry.patterns.split()
        rows.append({"protocol": None, "models": models, "sources": [entry.source], "reason": reason})
    return rows


def _row(name: str, native: dict[str, Any] | None) -> dict[str, Any]:
    aliases = native["aliases"] if native else []
    own = [entry for entry in entries() if entry.protocol == name]
    return {
        "protocol": name,
        "aliases": aliases,
        "native": native is not None,
        "call": native["call"] if native else None,
        "begins_in": _begins(native),
        "models": [pattern for entry in own for pattern in entry.patterns.split()],
        "sources": list(dict.fromkeys(entry.source for entry in own)),
    }


def _begins(native: dict[str, Any] | None) -> str:
    return "reasoning" if native and native["starts_in_reasoning"] else "text"


def _show(rows: list[dict[str, Any]]) -> None:
    console = OutputConsole(width=_WIDTH)
    for row in rows:
        if row["protocol"] is None:
            title, members = f"none: {row['reason']}", {}
        else:
            names = ", ".join([row["protocol"], *row["aliases"]])
            title = names if row["native"] else f"{names} (prompted)"
            members = {"begins in": [row["begins_in"]]}
        members |= {"models": [", ".join(row["models"])], "source": row["sources"]}
        console.print(Text(_wrapped(console, title, " " * 2), "bold"), soft_wrap=True)
        _print(console, members, indent="  ")


def _print(console: OutputConsole, members: dict[str, list[str]], indent: str = "") -> None:
    """Prints the name of each member, with its texts below each other."""
    for name, texts in members.items():
        for at, text in enumerate(filter(None, texts)):
            first = f"{indent}{'' if at else name:<11}"
            lines = _wrapped(console, text, " " * len(first), first)
            console.print(Text(lines), soft_wrap=True)


def _wrapped(console: OutputConsole, text: str, indent: str, first: str = "") -> str:
    """Text in the columns of the console. Words are never divided, nor cut off."""
    return textwrap.fill(
        text,
        max(console.width, _MIN_WIDTH),
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
