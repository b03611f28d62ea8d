"""`wirecall format`: formats in files, shown, inferred and checked."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from wirecall import Format, ToolError, Toolset, format_for
from wirecall._cli.console import printable
from wirecall._cli.inputs import UserError, blame, read_text, title_of
from wirecall._cli.options import is_description, load_format, load_tools, tools_option
from wirecall._cli.outputs import to_json
from wirecall._tools.checkpoints import Checkpoint, read_checkpoint


@click.group(
    epilog="""\b
Examples:
  wirecall format infer chat_template.jinja -o acme.toml
  wirecall format check acme.toml --template chat_template.jinja --samples answers.jsonl
  wirecall format show glm-4.7
""",
)
def format() -> None:
    """Show, infer and check formats."""


@format.command()
@click.argument("source", metavar="NAME|PATH")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of TOML.")
def show(source: str, as_json: bool) -> None:
    """Print the description of a format.

    NAME|PATH is a built-in format, a model, a .toml or .json file, or a checkpoint.
    """
    with blame(source):
        shown = _loaded(source)
    print(to_json(shown.to_dict()) if as_json else _printable_toml(shown), end="\n" if as_json else "")


_variables_option = click.option(
    "--set",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="A variable of the template; the value is JSON, or text.",
)


@format.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write this .toml or .json file.")
@_variables_option
def infer(path: Path, output: Path | None, variables: tuple[str, ...]) -> None:
    """Infer a format from a chat template, and prove it.

    PATH is a chat template, tokenizer_config.json, or the folder of a checkpoint. The template is rendered in
    a process of its own; nothing is fetched. The format is printed as TOML, unless --output is given.
    """
    with blame(str(path)):
        checkpoint, given = _with_template(path), dict(map(_variable, variables))
        name = output.stem if output else checkpoint.name or path.stem
        made = Format.from_chat_template(
            str(checkpoint.chat_template), name=name, **{**checkpoint.tokens, **given}
        )
    if output is None:
        print(_printable_toml(made), end="")
        return
    with blame(str(output)):
        made.save(output)
    click.echo(f"wirecall: {output} reads what {path} writes. Try it on answers of the model, too.", err=True)


@format.command()
@click.argument("source", metavar="FILE|NAME")
@click.option(
    "--template",
    type=click.Path(exists=True, path_type=Path),
    help="A chat template, tokenizer_config.json, or a folder: what it writes must be read back.",
)
@click.option(
    "--samples",
    metavar="FILE",
    help='A text file, or .jsonl with a JSON string or {"text": …, "calls": […]} on each line.',
)
@_variables_option
@tools_option(without="For --samples; without it, calls of any name are read.")
@click.option(
    "--cases", type=click.IntRange(min=1), default=100, help="How many cases each law is tried with."
)
def check(
    source: str,
    template: Path | None,
    samples: str | None,
    tools_path: str | None,
    cases: int,
    variables: tuple[str, ...],
) -> None:
    """Check a format.

    Tests the laws of all formats, and optionally a chat template and answers of the model. Exits with 1 if a
    check fails.
    """
    with blame(source):
        checked = _loaded(source)
    lines = [("laws", *_laws(checked, cases))]
    if template is not None:
        lines.append(("template", *_proof(checked, template, dict(map(_variable, variables)))))
    if samples is not None:
        lines += [("samples", *line) for line in _samples(checked, samples, tools_path)]
    for title, passed, text in lines:
        first, *rest = printable(text).splitlines() or [""]
        print(f"{'ok    ' if passed else 'FAILED'}  {title:<9} {first}")
        for line in rest:
            print(f"{'':18}{line}")
    if not all(passed for _, passed, _ in lines):
        raise SystemExit(1)


def _printable_toml(format: Format) -> str:
    """TOML in characters that standard output can carry."""
    if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8":
        return format.to_toml()
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\U{ord(found[0]):08x}", format.to_toml())


def _loaded(source: str) -> Format:
    return load_format(source) if is_description(source) else format_for(source)


def _with_template(path: Path) -> Checkpoint:
    checkpoint = read_checkpoint(path)
    if checkpoint.chat_template is None:
        raise ToolError("it has no chat template")
    return checkpoint


def _variable(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or name == "name":
        raise UserError(f"--set {text}: write NAME=VALUE, such as enable_thinking=false")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _laws(format: Format, cases: int) -> tuple[bool, str]:
    from wirecall.testing import check_format

    try:
        check_format(format, cases=cases)
    except (AssertionError, ToolError) as error:
        return False, str(error)
    return True, f"{cases} generated cases"


def _proof(format: Format, path: Path, given: Mapping[str, Any]) -> tuple[bool, str]:
    # Slow to load.
    from wirecall._tools.formats.inference import inferred
    from wirecall._tools.formats.proof import prove
    from wirecall._tools.formats.rendering import Renderer

    try:
        checkpoint = _with_template(path)
        with Renderer(str(checkpoint.chat_template), {**checkpoint.tokens, **given}) as renderer:
            calls = prove(format, renderer, inferred(renderer))
    except (ToolError, ImportError) as error:
        return False, str(error)
    return True, f"{calls} calls of random conversations are read back"


def _samples(format: Format, path: str, tools_path: str | None) -> Iterator[tuple[bool, str]]:
    """A line for each answer with an error or other calls than expected, and one for all."""
    tools = Toolset(load_tools(tools_path) if tools_path else [], protocol=format)
    answers = calls = wrong = 0
    repairs: dict[str, int] = {}
    for place, text, expected in _answers(path):
        message = tools.parse(text)
        answers, calls = answers + 1, calls + len(message.calls)
        for call in message.calls:
            repairs |= {repair: repairs.get(repair, 0) + 1 for repair in call.repairs}
        found = [{"name": call.name, "arguments": call.args} for call in message.calls]
        if message.errors:
            wrong += 1
            yield False, f"{place}: {message.errors[0].kind}: {message.errors[0].message}"
        elif expected is not None and found != expected:
            wrong += 1
            yield (
                False,
                f"{place}: expected {to_json(expected)}\n{'':{len(place)}}  found    {to_json(found)}",
            )
    repaired = ", ".join(f"{count} {repair}" for repair, count in sorted(repairs.items()))
    with_repairs = f", with repairs: {repaired}" if repaired else ""
    if calls == 0:
        yield False, f"no call was found in any of {answers} answers"
    else:
        yield wrong == 0, f"{answers} answers with {calls} calls{with_repairs}"


def _answers(path: str) -> Iterator[tuple[str, str, Any]]:
    """The place, the text and the expected calls of each answer."""
    expected = "answers of a model"
    text = read_text(path, expected)
    if not path.endswith(".jsonl"):
        yield title_of(path), text, None
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{title_of(path)}, line {number}"
        try:
            read = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{place}: not valid JSON: {error}") from None
        given = {"text": read} if isinstance(read, str) else read
        if (
            not isinstance(given, dict)
            or not isinstance(given.get("text"), str)
            or given.keys() - {"text", "calls"}
        ):
            raise UserError(f'{place}: expected a JSON string, or an object with "text" and perhaps "calls"')
        answer, calls = given["text"], given.get("calls")
        yield place, answer, calls
