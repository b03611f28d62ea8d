"""Options shared by several commands, and the toolsets that they select."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from wirecall import PROTOCOLS, Format, ToolError, Toolset
from wirecall._cli.console import printable
from wirecall._cli.inputs import UserError, blame, load_json, read_text, title_of
from wirecall._tools.models import protocol_for

_TOOLS = 'a JSON list of tools, or {"tools": […]}'


def tools_option(without: str | None = None) -> Callable[[Any], Any]:
    """`--tools FILE`, required unless the help says what happens `without` it."""
    forms = 'JSON list of tools (OpenAI, Anthropic or MCP form), or {"tools": […]}.'
    return click.option(
        "--tools",
        "tools_path",
        metavar="FILE",
        required=without is None,
        help=forms if without is None else f"{forms} {without}",
    )


def protocol_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--protocol` and `--model`: the format of the calls. The command gets a name, or a format of a file."""

    @functools.wraps(command)
    def with_protocol(*arguments: Any, protocol: str | Format | None, model: str | None, **given: Any) -> Any:
        if protocol is not None and model is not None:
            raise click.UsageError("--protocol and --model cannot be combined.")
        if model is not None:
            protocol = _protocol_of(model)
        return command(*arguments, protocol=protocol or _DEFAULT, **given)

    return _protocol_option(_model_option(with_protocol))


def protocol_source() -> str:
    """The option that selects the protocol of this command, as it was given, for errors."""
    given = click.get_current_context().params
    if given["model"] is not None:
        return f"--model {printable(given['model'])}"
    return f"--protocol {protocol_name(given['protocol'] or _DEFAULT)}"


def protocol_name(protocol: str | Format) -> str:
    return protocol if isinstance(protocol, str) else protocol.name


def _protocol_of(model: str) -> str:
    try:
        return protocol_for(model)
    except ToolError as error:
        raise UserError(f"--model: {printable(str(error))}") from error


def is_description(path: str) -> bool:
    """Whether a file has the description of a format, and not the configuration of a checkpoint."""
    name = Path(path).name
    return name.endswith((".toml", ".json")) and name not in ("tokenizer_config.json", "chat_template.json")


def load_format(path: str) -> Format:
    try:
        return Format.load(path)
    # It names the file.
    except ToolError as error:
        raise UserError(printable(str(error))) from error
    except OSError as error:
        raise UserError(f"{printable(path)}: {error.strerror or error}") from error


def _known_protocol(_ctx: object, _parameter: object, protocol: str | None) -> str | Format | None:
    if protocol is None:
        return None
    if is_description(protocol):
        return load_format(protocol)
    with blame("--protocol"):
        Toolset(protocol=protocol)
    return protocol


_DEFAULT = "wire"
_protocol_option = click.option(
    "--protocol",
    callback=_known_protocol,
    metavar="NAME|FILE",
    help=f"Format of the calls: {', '.join(PROTOCOLS)}, or auto; a model family's own, such as harmony or "
    f"glm-4.5: `wirecall protocols` lists them; or a .toml or .json file of `wirecall format`.  "
    f"[default: {_DEFAULT}]",
)
_model_option = click.option(
    "--model", metavar="NAME", help="Use the native format of this model, instead of --protocol."
)
_descriptions_option = click.option(
    "--descriptions",
    type=click.Choice(["full", "tools", "none"]),
    default="full",
    help="Descriptions in the manual: of tools and fields, of tools only, or none.",
)
_constraints_option = click.option(
    "--constraints/--no-constraints",
    default=True,
    help="Bounds, patterns, formats and examples of fields in the manual.",
)


def manual_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--descriptions` and `--constraints`: the content of the manual."""
    return _descriptions_option(_constraints_option(command))


def load_tools(path: str) -> list[Any]:
    loaded = load_json(read_text(path, _TOOLS), title_of(path), _TOOLS)
    tools = loaded.get("tools") if isinstance(loaded, dict) else loaded
    if not isinstance(tools, list):
        raise UserError(f"{title_of(path)}: expected {_TOOLS}")
    if any(isinstance(tool, dict) and "role" in tool and "name" not in tool for tool in tools):
        raise UserError(f"{title_of(path)}: this is a list of messages; expected {_TOOLS}")
    return tools


def load_toolset(path: str | None, protocol: str | Format, **options: Any) -> Toolset:
    if path is None:
        return Toolset(protocol=protocol, **options)
    tools = load_tools(path)
    with blame(title_of(path)):
        return Toolset(tools, protocol=protocol, **options)
