"""Chooses a format by a checkpoint: its name, its chat template, or its response template."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from wirecall._tools.files import read_file
from wirecall._tools.formats.description import Format, built_in
from wirecall._tools.models import protocol_for
from wirecall._tools.templates import protocol_from_template
from wirecall.errors import ToolError

# The files of a checkpoint that are read, and the most bytes of one. A tokenizer's configuration has up to
# about 10 MB.
_CONFIG, _TEMPLATE, _TEMPLATES = "tokenizer_config.json", "chat_template.jinja", "chat_template.json"
_MOST_BYTES = 1 << 25
# Of several chat templates, the one for tools.
_NAMED = ("tool_use", "default")
_TOKENS = ("bos_token", "eos_token")


class Checkpoint(NamedTuple):
    """The parts of a checkpoint that say how its model writes calls; None for what it does not have."""

    name: str | None = None
    chat_template: str | None = None
    response_template: Mapping[str, Any] | None = None
    tokens: Mapping[str, str] = MappingProxyType({})
    """The variables of the chat template that the tokenizer gives: `bos_token` and `eos_token`."""


def format_for(source: str | Path | Mapping[str, Any], /, **variables: object) -> Format:
    """The format in which a model writes its calls.

    Tried in this order: a built-in format of this name, or of a model of this name; one that is recognised by
    marks in the templates; the `response_template`; and what rendering the chat template shows (needs the
    extra `templates`; see `Format.from_chat_template`). Nothing is fetched.

    Args:
        source: The name of a format or of a model (`glm-4.7`, `Qwen/Qwen3-8B`, `qwen3:8b`); the folder of a
            checkpoint, with `tokenizer_config.json` or `chat_template.jinja`; one of these files; or the
            object in `tokenizer_config.json`.
        variables: Variables of the chat template, such as `enable_thinking=False`.

    Returns:
        The format. Its name is that of the built-in format, of the folder, or of the model in the
        configuration; otherwise `chat_template` or `response_template`.

    Raises:
        ToolError: None of these finds a format, and the message says what each has found; or a file cannot be
            read.
        TypeError: The source has another type.
    """
    if isinstance(source, Mapping):
        checkpoint = _of_config(source)
    elif isinstance(source, str | Path):
        checkpoint = read_checkpoint(Path(source)) if _exists(source) else Checkpoint(str(source))
    else:
        raise TypeError(f"source must be a str, a path or a mapping, not {type(source).__name__}")
    found: list[str] = []
    for step, search in _searches(checkpoint, variables):
        try:
            return search()
        except (ToolError, ImportError, TypeError, ValueError) as error:
            found.append(f"{step}: {error}")
    if checkpoint.chat_template is None and checkpoint.response_template is None:
        at = "" if isinstance(source, Mapping) or _exists(source) else f" ({source} is no file or folder)"
        found.append(f"by templates: there is no chat template and no response_template{at}")
    raise ToolError("\n".join(["no format was found", *found]))


def _searches(
    checkpoint: Checkpoint, variables: Mapping[str, object]
) -> Iterator[tuple[str, Callable[[], Format]]]:
    """Each way to find the format of a checkpoint, after its name for errors."""
    name, chat, response, tokens = checkpoint
    if name is not None:
        yield "by name", lambda: _named(name)
    if chat is not None or response is not None:
        yield "by the marks of the templates", lambda: _recognised(chat or "", response)
    if response is not None:
        title = Path(name).name if name else "response_template"
        yield "by response_template", lambda: Format.from_response_template(response, name=title)
    if chat is not None:
        title = Path(name).name if name else "chat_template"
        yield (
            "by rendering the chat template",
            lambda: Format.from_chat_template(chat, name=title, **{**tokens, **variables}),
        )


def _exists(source: str | Path) -> bool:
    try:
        return Path(source).exists()
    # Such as a name that is too long.
    except (OSError, ValueError):
        return False


def _named(name: str) -> Format:
    try:
        return built_in(name)
    except ToolError:
        return built_in(protocol_for(name))


def _recognised(chat: str, response: Mapping[str, Any] | None) -> Format:
    name = protocol_from_template(chat, response)
    if name is None:
        raise ToolError("it has the marks of no built-in format, or of several")
    return built_in(name)


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a folder, or in one of its files.

    Raises:
        ToolError: A file cannot be read; the message names it.
    """
    if not path.is_dir():
        if path.suffix == ".toml":
            raise ToolError(f"{path.name} is a description of a format; read it with Format.load")
        if path.name == _CONFIG:
            return read_checkpoint(path.parent)._replace(name=None)
        if path.suffix == ".json":
            return _of_config(_object(path))._replace(name=None)
        return Checkpoint(chat_template=_text(path))
    config = _of_config(_object(path / _CONFIG)) if (path / _CONFIG).exists() else Checkpoint()
    chat = config.chat_template
    if (path / _TEMPLATE).exists():
        chat = _text(path / _TEMPLATE)
    elif (path / _TEMPLATES).exists():
        chat = _of_config(_object(path / _TEMPLATES)).chat_template or chat
    return config._replace(name=path.resolve().name, chat_template=chat)


def _of_config(config: Mapping[str, Any]) -> Checkpoint:
    name, response = config.get("name_or_path"), config.get("response_template")
    return Checkpoint(
        name if isinstance(name, str) and name else None,
        _chat_template(config.get("chat_template")),
        response if isinstance(response, Mapping) else None,
        dict(_tokens(config)),
    )


def _tokens(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _TOKENS:
        token = config.get(name)
        text = token.get("content") if isinstance(token, Mapping) else token
        if isinstance(text, str):
            yield name, text


def _chat_template(given: object) -> str | None:
    """The template, or of several named ones that for tools."""
    if isinstance(given, list):
        items = [one for one in given if isinstance(one, Mapping)]
        given = {name: one.get("template") for one in items if isinstance(name := one.get("name"), str)}
    if isinstance(given, Mapping):
        given = next((given[name] for name in _NAMED if name in given), None)
    return given if isinstance(given, str) else None


def _object(path: Path) -> Mapping[str, Any]:
    try:
        read = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise ToolError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(read, dict):
        raise ToolError(f"{path.name}: an object is expected")
    return read


def _text(path: Path) -> str:
    try:
        return read_file(path, _MOST_BYTES)
    except OSError as error:
        raise ToolError(f"{path.name} cannot be read: {error}") from None
