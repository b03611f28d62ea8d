"""Formats as values: built-in ones, and those that a user describes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from wirecall import _core
from wirecall._tools.files import read_file
from wirecall._tools.formats.toml import toml
from wirecall._tools.option_types import checked
from wirecall.errors import ToolError

Texts = Sequence[str]
Pair = tuple[str, str] | list[str]
Table = Mapping[str, Any]

# As the core reads them.
_FILE_BYTES = 1 << 14


class Format(_core.Format):
    """How a model writes calls, for `protocol=` of `Toolset` and `wrap`, and for `--protocol FILE`.

        acme = Format(name="acme", call="<do>{name} {arguments}</do>", reasoning="<think>{reasoning}</think>")

    A format is described by templates with holes such as `{name}`; any other brace is text. The holes of
    `call` choose the reader, and the rest follows from the templates: the markers that open and close calls,
    what is neutralised in untrusted text, grammars and the text of past messages. docs/formats.md explains
    all fields.

    Immutable; equal to a format with the same description. It can be pickled. What is made from a description
    is kept as long as the process runs: at most 16 KiB each, and 16 MiB of different ones in all.

    Args:
        name: The name, for errors.
        like: The name of a built-in format that has the fields that are not given.
        call: One call with its markers: `<do>{"name": {name}, "arguments": {arguments}}</do>`; the name
            before a JSON object, `<do>{name} {arguments}</do>`; tags, `<do name="{name}">{args}</do>`, with
            `argument`; keyword arguments, `<do>{name}({kwargs})</do>`; `call:{name}{members}` as Gemma;
            nested elements, `{elements}`. With `like` a prompted protocol, its markers: `<do>{call}</do>`.
        argument: One argument in tags: `<arg name="{key}">{value}</arg>`.
        calls: The options of the reader that the template of a call does not show.
        message: The text around the content and the calls of a message: `{content|\\n}{calls|\\n}`. The text
            after the bar is written between content and calls, or between two calls.
        section: Calls are only read between the texts that `message` has around them; or a table with
            `begin`, `end` and `also`.
        result: A tool's result: `{name}`, `{content}`, `{json}` (the content as a JSON string), `{id}` and
            `{index}` (from 1).
        result_mark: The beginning of results, if a message of the model never has it.
        reasoning: `<think>{reasoning}</think>`, with line breaks as the chat template writes them; a table
            with more; or False.
        answer: Markers that may be around the content.
        starts_in_reasoning: The prompt opens the reasoning.
        stops: Tokens that end a message.
        special_tokens: The markers are special tokens, which servers remove unless they are told not to.
        trim_before_call: Whitespace before a call belongs to it. True, if nothing else is given.
        breaks_at_start: Line breaks at the start of a message are no text.
        parts: Messages consist of parts, as those of gpt-oss.
        spellings: Fields of other spellings that are also read.

    Raises:
        ToolError: A field cannot work; the message names it and says what it must be.
        TypeError: There is no such field, or its value has another type, or is not JSON.
    """

    @checked
    def __new__(
        cls,
        *,
        name: str = "custom",
        like: str | None = None,
        call: str | None = None,
        argument: str | None = None,
        calls: Table | None = None,
        message: str | None = None,
        section: bool | Table | None = None,
        result: str | None = None,
        result_mark: str | None = None,
        reasoning: str | Table | bool | None = None,
        answer: Pair | bool | None = None,
        starts_in_reasoning: bool | None = None,
        stops: Texts | None = None,
        special_tokens: bool | None = None,
        trim_before_call: bool | None = None,
        breaks_at_start: bool | None = None,
        parts: Table | bool | None = None,
        spellings: Sequence[Table] | None = None,
        version: int = 1,
    ) -> Self:
        given = {key: value for key, value in locals().items() if key not in ("cls", "__class__")}
        return cls.from_dict({key: value for key, value in given.items() if value is not None})

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], /) -> Self:
        """The format of a description, such as `to_dict` returns.

        Raises:
            ToolError: A field does not exist, or cannot work; the message names it.
            TypeError: The description is not a mapping, or not JSON.
        """
        if not isinstance(description, Mapping):
            raise TypeError(f"a description must be a mapping, not {type(description).__name__}")
        try:
            text = json.dumps(dict(description), default=_plain, allow_nan=False)
        except (ValueError, RecursionError) as error:
            raise TypeError(f"the description is not JSON: {error}") from None
        return super().__new__(cls, text)

    @classmethod
    def load(cls, path: str | Path, /) -> Self:
        """The format in a file: `.toml`, or JSON.

        Raises:
            OSError: The file cannot be read.
            ToolError: The file is too large, or not TOML or JSON, or its description cannot work. The message
                names the file.
        """
        import tomllib

        path = Path(path)
        is_toml = _is_toml(path)
        text = read_file(path, _FILE_BYTES)
        try:
            read = tomllib.loads(text) if is_toml else json.loads(text)
        except (ValueError, RecursionError) as error:
            hint = "; a text with quotes is in single quotes" if is_toml else ""
            raise ToolError(f"{path.name} is not {'TOML' if is_toml else 'JSON'}: {error}{hint}") from None
        if not isinstance(read, dict):
            raise ToolError(f"{path.name}: a description must be a table")
        if "version" not in read:
            raise ToolError(f"{path.name}: version is missing; this release reads version = 1")
        try:
            return cls.from_dict({"name": path.stem, **read})
        except (ToolError, TypeError) as error:
            raise ToolError(f"{path.name}: {error}") from None

    @classmethod
    def from_chat_template(
        cls, template: str, /, *, name: str = "chat_template", **variables: object
    ) -> Self:
        """The format that a chat template of Hugging Face writes. Needs the extra `templates`.

        Conversations are rendered that differ in one thing, in a process of its own with limited time and
        memory. What they show is proven: at least 50 random calls, with quotes, line breaks and the format's
        own markers in their values, are rendered and read back.

        Args:
            template: The source, as in `chat_template.jinja`.
            name: The name of the format.
            variables: Variables of the template, such as `enable_thinking=False`.

        Raises:
            ToolError: The template writes no calls, or not in a form that a description has; or what it
                writes is not read back, and the message shows both; or it runs too long.
            ImportError: The extra is not installed.
            TypeError: The template is not a str.
        """
        # Seldom needed, and slow to load.
        from wirecall._tools.formats.inference import inferred
        from wirecall._tools.formats.proof import prove
        from wirecall._tools.formats.rendering import Renderer

        with Renderer(template, variables) as renderer:
            found = inferred(renderer)
            format = cls.from_dict({**found.description, "name": name})
            prove(format, renderer, found)
        return format

    @classmethod
    def from_response_template(
        cls, template: Mapping[str, Any], /, *, name: str = "response_template"
    ) -> Self:
        """The format of a `response_template` of Hugging Face, as in `tokenizer_config.json`.

        Patterns are read as far as they are literal texts with optional whitespace and alternatives.

        Raises:
            ToolError: A region cannot be expressed; the message names it.
            TypeError: The template is not an object of the documented form.
        """
        from wirecall._tools.formats.response_template import described

        return cls.from_dict(described(template, name))

    def save(self, path: str | Path, /) -> None:
        """Writes the description into a file, as TOML if its name ends in `.toml`, as JSON if in `.json`.

        Raises:
            OSError: The file cannot be written.
            ToolError: Its name ends in neither.
        """
        path = Path(path)
        text = (
            self.to_toml()
            if path.suffix == ".toml"
            else json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
        )
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """The description, without fields that have their defaults: `Format(**description)` is the same."""
        read: dict[str, Any] = json.loads(self._json)
        return read

    def to_toml(self) -> str:
        """The description as TOML, as `save` writes it."""
        return toml(self.to_dict())

    def __repr__(self) -> str:
        shown = {key: value for key, value in self.to_dict().items() if key in ("name", "like", "call")}
        return f"Format({', '.join(f'{key}={value!r}' for key, value in shown.items())})"

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Format) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)


def built_in(name: str) -> Format:
    """The built-in format of this name or alias.

    Raises:
        ToolError: There is none. The message has names near it.
    """
    return Format.from_dict(json.loads(_core.Format._built_in(name)))


def _is_toml(path: Path) -> bool:
    """Whether a file is TOML, not JSON, by its name.

    Raises:
        ToolError: It is neither.
    """
    if path.suffix.lower() not in (".toml", ".json"):
        raise ToolError(f"{path.name}: the name of a format's file must end in .toml or .json")
    return path.suffix.lower() == ".toml"


def _plain(value: object) -> object:
    """A mapping as a dict, for JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(
        f"the description is not JSON: {type(value).__name__} is not a string, number, list or table"
    )
