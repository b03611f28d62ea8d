"""What all messages of a server share: the format of its model, and toolsets."""

import logging
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import sglang

import wirecall
from wirecall._serving.choice import ChosenFormat, Model, choose_format
from wirecall._serving.message import MessageReader
from wirecall._serving.prompts import Prompts
from wirecall._serving.reports import Counters, Reports
from wirecall._serving.settings import Settings, read_settings
from wirecall._serving.toolsets import Toolsets
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError

logger = logging.getLogger("sglang.wirecall")

# Formats whose prompts have ids with the ordinals of calls, and SGLang's parsers that make such ids.
_ORDINAL_IDS = {
    "kimi-k2": "kimi_k2",
    "kimi-k2-thinking": "kimi_k2",
    "kimi-k2.6": "kimi_k2",
    "kimi-k3": "kimi_k3",
}

# True in the process that serves requests, which alone has the counters.
serving = False


class Server:
    """The format of a server's model, and what is made from it."""

    def __init__(self, choice: ChosenFormat, settings: Settings) -> None:
        format = choice.format
        self.choice, self.settings = choice, settings
        self.reports = Reports(format.name, logger, _counters() if serving else None)
        self.toolsets = Toolsets(format, self.reports)
        # For messages that no reasoning parser of wirecall has read.
        self.with_reasoning = Toolsets(format, self.reports, reasoning="content")
        self.prompts = Prompts(format)
        native = format._native or {}
        self.special_tokens = bool(native.get("special_tokens"))
        self.ordinal_ids = _ORDINAL_IDS.get(format.name)
        self.starts_in_reasoning = bool(native.get("starts_in_reasoning"))

    def toolset(self, tools: object, *, reasoning: bool = False) -> Toolset:
        """The toolset of a request's tools; with `reasoning`, that is text, too."""
        return (self.with_reasoning if reasoning else self.toolsets).of(list(_definitions(tools)))

    def reader(self, toolset: Toolset, *, in_reasoning: bool | None) -> MessageReader:
        """A reader of one message."""
        return MessageReader(toolset, self.reports, in_reasoning=in_reasoning, held=self.settings.held)


def server_of(parser: str, tokenizer: Any) -> Server:
    """The server's format and toolsets; made once.

    Args:
        parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
        tokenizer: The tokenizer of the model, or None.

    Raises:
        ToolError: The format of the model is not known.
    """
    return _server(parser, _names(), _ById(tokenizer))


def check_server(tools: str | None, reasoning: str | None, tokenizer: Any) -> None:
    """Choose the format when a server starts, and log it.

    Args:
        tools: The name of the tool parser, if it is wirecall's.
        reasoning: The name of the reasoning parser, if it is wirecall's.
        tokenizer: The tokenizer of the model, or None.

    Raises:
        ToolError: The format of the model is not known, or the names of both parsers have different formats.
    """
    names = [name for name in (tools, reasoning) if name]
    servers = [server_of(name, tokenizer) for name in names]
    first, last = servers[0].choice, servers[-1].choice
    if first.format.name != last.format.name:
        raise ToolError(
            f"--tool-call-parser {tools} reads {first.format.name}, and --reasoning-parser {reasoning} reads "
            f"{last.format.name}; give both the same name"
        )
    calls = "held until they are complete" if servers[0].settings.held else "streamed"
    logger.info(
        "wirecall %s in SGLang %s: format %s, by %s; calls are %s",
        wirecall.__version__,
        sglang.__version__,
        first.format.name,
        first.reason,
        calls,
    )
    if tools and not reasoning:
        logger.info(
            "wirecall: --reasoning-parser is not wirecall, so reasoning that it does not read is text"
        )


class _ById:
    """A tokenizer as a key: it is hashed by its identity."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


@lru_cache(maxsize=8)
def _server(parser: str, names: tuple[tuple[str, str], ...], tokenizer: _ById) -> Server:
    settings = read_settings()
    held = tokenizer.held
    names = (*names, ("the tokenizer", getattr(held, "name_or_path", None) or ""))
    model = Model(names, None if held is None else dict(_configuration(held)))
    choice = choose_format(model, parser=parser, setting=settings.format, prompted=settings.prompted)
    return Server(choice, settings)


def _names() -> tuple[tuple[str, str], ...]:
    """The names of the model among the arguments of the server; none outside of one."""
    try:
        from sglang.srt.runtime_context import get_model, get_serving

        return (
            ("--model-path", get_model().model_path or ""),
            ("--served-model-name", get_serving().served_model_name or ""),
        )
    # SGLang does not document how a process reads its arguments.
    except Exception:
        return ()


def _definitions(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in tools or ():
        function = tool.function
        if function.name:
            yield {
                "name": function.name,
                "description": function.description or "",
                "parameters": function.parameters or {"type": "object", "properties": {}},
            }


def _configuration(tokenizer: Any) -> Iterator[tuple[str, Any]]:
    """The tokenizer's configuration, as far as it says how calls are written."""
    yield "chat_template", getattr(tokenizer, "chat_template", None)
    yield "response_template", (getattr(tokenizer, "init_kwargs", None) or {}).get("response_template")
    for token in ("bos_token", "eos_token"):
        yield token, getattr(tokenizer, token, None)


@lru_cache(maxsize=1)
def _counters() -> Counters | None:
    """The counters, beside SGLang's own; None without its registry."""
    try:
        # SGLang sets the folder of all processes before it imports this.
        from prometheus_client import Counter
    except ImportError:
        return None
    return Counters(Counter)
