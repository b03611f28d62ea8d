"""The format of a server's model, and what all of its messages share."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from wirecall._serving.choice import ChosenFormat, Model, choose_format
from wirecall._serving.message import MessageReader
from wirecall._serving.prompts import Prompts
from wirecall._serving.reports import Counters, Reports
from wirecall._serving.settings import Settings, read_settings
from wirecall._serving.toolsets import Toolsets
from wirecall._tools.toolset import Toolset

# The ids of their calls have the tool and a number, and templates write them into prompts.
_NUMBERING = ("kimi-k2", "kimi-k3")


class ServedFormat:
    """A format, its toolsets, and what is counted and logged of it. Any number of threads may use it."""

    def __init__(self, choice: ChosenFormat, settings: Settings, reports: Reports) -> None:
        format = choice.format
        native = format._native or {}
        self.choice, self.settings, self.reports = choice, settings, reports
        self.toolsets = Toolsets(format, reports)
        self.prompts = Prompts(format)
        self.special_tokens = bool(native.get("special_tokens"))
        self.starts_in_reasoning = bool(native.get("starts_in_reasoning"))
        self.numbers_calls = format.name.startswith(_NUMBERING)
        # Another parser takes the reasoning, or leaves it in the text.
        self._with_reasoning = Toolsets(format, reports, reasoning="content")

    def toolset(self, definitions: Iterable[Mapping[str, Any]] | None, *, separate: bool = True) -> Toolset:
        """The toolset of a request.

        Args:
            definitions: The tools; None if calls are text.
            separate: Whether reasoning is separate. Otherwise it is text, too.
        """
        toolsets = self.toolsets if separate else self._with_reasoning
        return toolsets.text if definitions is None else toolsets.of(definitions)

    def reader(
        self, toolset: Toolset, *, in_reasoning: bool | None, request: str | None = None
    ) -> MessageReader:
        """A reader of one message."""
        return MessageReader(
            toolset, self.reports, in_reasoning=in_reasoning, held=self.settings.held, request=request
        )


class Serving:
    """The formats of a server's process: mostly one, made once.

    Attributes:
        logger: Where the server shows what it logs.
    """

    def __init__(self, versions: str, logger: logging.Logger) -> None:
        """
        Args:
            versions: Those of wirecall and of the server, for the log.
            logger: The logger.
        """
        self.logger = logger
        self._versions = versions
        self._made = lru_cache(maxsize=8)(self._make)
        self._logged: set[ServedFormat] = set()

    def format(
        self,
        parser: str,
        names: Iterable[tuple[str, str | None]],
        tokenizer: Any,
        *,
        prompted: bool = False,
        counted: bool = True,
    ) -> ServedFormat:
        """The format that a parser reads.

        Args:
            parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
            names: Names of the model, each after its source.
            tokenizer: The tokenizer of the model, or None.
            prompted: Whether the server writes the manual into prompts.
            counted: Whether calls are counted in this process.

        Raises:
            ToolError: The format of the model is not known. At start-up, the server shows this and stops.
        """
        known = tuple((source, name) for source, name in names if name)
        return self._made(parser, known, _ById(tokenizer), prompted, counted)

    def log_start(self, served: ServedFormat) -> None:
        """Log which format was chosen, and why; once."""
        if served in self._logged:
            return
        self._logged.add(served)
        choice = served.choice
        calls = "held until they are complete" if served.settings.held else "streamed"
        self.logger.info(
            "%s: format %s, by %s; calls are %s",
            self._versions,
            choice.format.name,
            choice.reason,
            calls,
        )

    def forget(self) -> None:
        """Make the formats anew, with settings that have changed."""
        self._made.cache_clear()

    def _make(
        self,
        parser: str,
        names: tuple[tuple[str, str], ...],
        tokenizer: "_ById",
        prompted: bool,
        counted: bool,
    ) -> ServedFormat:
        settings, held = read_settings(), tokenizer.held
        named = (*names, ("the tokenizer", getattr(held, "name_or_path", None) or ""))
        choice = choose_format(
            Model(named, None if held is None else dict(_configuration(held))),
            parser=parser,
            setting=settings.format,
            prompted=prompted,
        )
        counters = _counters() if counted else None
        return ServedFormat(choice, settings, Reports(choice.format.name, self.logger, counters))


class _ById:
    """A tokenizer as a key: it is hashed by its identity."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


def _configuration(tokenizer: Any) -> Iterator[tuple[str, Any]]:
    """The tokenizer's configuration, as far as it says how calls are written."""
    yield "chat_template", getattr(tokenizer, "chat_template", None)
    yield "response_template", (getattr(tokenizer, "init_kwargs", None) or {}).get("response_template")
    for token in ("bos_token", "eos_token"):
        yield token, getattr(tokenizer, token, None)


@lru_cache(maxsize=1)
def _counters() -> Counters | None:
    """The counters, in the registry that servers publish; None without it."""
    try:
        from prometheus_client import Counter
    except ImportError:
        return None
    make: Callable[..., Any] = Counter
    return Counters(make)
