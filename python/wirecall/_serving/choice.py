"""Chooses the format of the model that a server runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from wirecall import _core
from wirecall._serving.settings import FORMAT
from wirecall._tools.checkpoints import format_for
from wirecall._tools.formats.description import Format, built_in
from wirecall._tools.models import protocol_for
from wirecall.errors import ToolError


class ChosenFormat(NamedTuple):
    """The format of a server's model.

    Attributes:
        format: The format.
        reason: What it was chosen by, for the log.
    """

    format: Format
    reason: str


class Model(NamedTuple):
    """What a server knows about its model.

    Attributes:
        names: Names of the model, each after its source: `("--model", "Qwen/Qwen3-8B")`. The first known
            name decides. A name may be the folder of a checkpoint.
        checkpoint: The tokenizer's configuration, as in `tokenizer_config.json`: `chat_template`,
            `response_template`, `bos_token`, `eos_token`.
    """

    names: tuple[tuple[str, str], ...] = ()
    checkpoint: Mapping[str, Any] | None = None


# What names of parsers begin with: `wirecall_glm-4.7`.
_PREFIX = "wirecall"


def parser_names() -> list[str]:
    """The names of a server's parsers: `wirecall`, which chooses the format, and one for each format."""
    aliases = [alias for row in _core.native_formats() for alias in row["aliases"]]
    names = dict.fromkeys([*_core.FAMILIES, *_core.PROTOCOLS, *aliases])
    return [_PREFIX, *(f"{_PREFIX}_{name}" for name in names)]


def is_parser_name(name: str | None) -> bool:
    """Whether a parser's name is one of wirecall's."""
    return name is not None and (name == _PREFIX or name.startswith(f"{_PREFIX}_"))


def named_format(parser: str | None) -> str | None:
    """The format in the name of a parser: `glm-4.7` of `wirecall_glm-4.7`; None if it names none."""
    return parser[len(_PREFIX) + 1 :] or None if parser is not None and is_parser_name(parser) else None


def choose_format(
    model: Model, *, parser: str | None = None, setting: str | None = None, prompted: bool = False
) -> ChosenFormat:
    """The format of a server's model.

    Tried in this order: the format in the parser's name; the setting; "wire", if the prompt teaches it; the
    names of the model; the folder of its checkpoint; the templates of its tokenizer. What an operator has
    named is not second-guessed: if it does not exist, that is an error.

    Args:
        model: The model.
        parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
        setting: The name of a format, or a file that describes one.
        prompted: Whether the server writes the manual into prompts, so that the model needs no native format.

    Raises:
        ToolError: No format is found. The message says what each step has found, and what to do.
    """
    if (name := named_format(parser)) is not None:
        return ChosenFormat(built_in(name), f"the parser {parser}")
    if setting is not None:
        return ChosenFormat(_of_setting(setting), f"{FORMAT}={setting}")
    if prompted:
        return ChosenFormat(built_in("wire"), "the prompt teaches it")
    found: list[str] = []
    for source, name in _distinct(model.names):
        try:
            return ChosenFormat(built_in(protocol_for(name)), f"{source} {name}")
        except ToolError as error:
            found.append(f"{source} {name}: {_sentence(error)}")
    for source, name in _distinct(model.names):
        if _is_folder(name):
            try:
                return ChosenFormat(format_for(name), f"the checkpoint in {source} {name}")
            except ToolError as error:
                found.append(f"the checkpoint {name}: {_sentence(error)}")
    if model.checkpoint is not None:
        try:
            return ChosenFormat(format_for({**model.checkpoint}), "the chat template")
        except ToolError as error:
            found.append(f"the tokenizer: {_sentence(error)}")
    raise ToolError(
        f"the format of the model's calls is not known; name it: the parser {_PREFIX}_FORMAT (`wirecall "
        f"protocols` lists formats), or {FORMAT}=FILE (docs/formats.md). Tried: "
        + ("; ".join(found) or "nothing, because the model has no name and no chat template")
    )


def _of_setting(setting: str) -> Format:
    path = Path(setting)
    if path.suffix in (".toml", ".json"):
        try:
            return Format.load(path)
        except OSError as error:
            raise ToolError(f"{FORMAT}={setting} cannot be read: {error.strerror}") from None
    try:
        return built_in(setting)
    except ToolError as error:
        raise ToolError(
            f"{FORMAT}={setting} is not the name of a format, nor a .toml or .json file: {error}"
        ) from None


def _distinct(names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The names, each once."""
    kept: dict[str, str] = {}
    for source, name in names:
        if name:
            kept.setdefault(name, source)
    return [(source, name) for name, source in kept.items()]


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    # Such as a name that is too long.
    except (OSError, ValueError):
        return False


def _sentence(error: ToolError) -> str:
    return "; ".join(str(error).splitlines())
