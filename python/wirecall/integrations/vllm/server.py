"""What all messages of a server share: the format of its model, toolsets, and ids of tokens."""

import logging
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import vllm
from vllm.tool_parsers.utils import custom_tool_parameters

import wirecall
from wirecall._serving.choice import ChosenFormat, Model, choose_format
from wirecall._serving.message import MessageReader
from wirecall._serving.prompts import Prompts, stop_ids
from wirecall._serving.reports import Counters, Reports
from wirecall._serving.settings import read_settings
from wirecall._serving.toolsets import Toolsets
from wirecall._tools.toolset import Toolset

MODE = "wirecall"

# vLLM shows the loggers below its own.
logger = logging.getLogger("vllm.wirecall")

# Set by the renderer, which vLLM makes before the parsers.
prompted = False


class Server:
    """The format of a server's model, and what is made from it."""

    def __init__(self, choice: ChosenFormat, tokenizer: Any) -> None:
        format = choice.format
        self.choice = choice
        self.held = read_settings().held
        self.reports = Reports(format.name, logger, _counters())
        self.toolsets = Toolsets(format, self.reports)
        # Another parser takes the reasoning, or leaves it in the text.
        self._without_reasoning = Toolsets(format, self.reports, reasoning="content")
        self.prompts = Prompts(format)
        # Whether the id of a call says its tool and its number.
        self.numbers_calls = format.name.startswith("kimi")
        self.special_tokens = bool((format._native or {}).get("special_tokens"))
        self._ends = stop_ids(format, tokenizer.get_vocab(), [getattr(tokenizer, "eos_token_id", None)])

    def stops(self, model_config: Any) -> frozenset[int]:
        """The ids of tokens that end messages."""
        if model_config is None:
            return self._ends
        try:
            ends = model_config.try_get_generation_config().get("eos_token_id")
        except Exception:
            # A model without a generation config; vLLM raises what its libraries do.
            ends = None
        return self._ends | ({ends} if isinstance(ends, int) else frozenset(ends or ()))

    def toolset(self, tools: object) -> Toolset:
        """The toolset of a request's tools."""
        return self.toolsets.of(definitions(tools))

    def reader(
        self,
        tools: object,
        *,
        calls: bool,
        in_reasoning: bool | None,
        separate: bool = True,
        request: str | None = None,
    ) -> MessageReader:
        """A reader of one message; without `calls`, calls are text; without `separate`, reasoning is, too."""
        toolsets = self.toolsets if separate else self._without_reasoning
        toolset = toolsets.of(definitions(tools)) if calls else toolsets.text
        return MessageReader(
            toolset, self.reports, in_reasoning=in_reasoning, held=self.held, request=request
        )


@lru_cache(maxsize=8)
def _server(parser: str, model: str | None, is_prompted: bool, tokenizer: "_ById") -> Server:
    settings = read_settings()
    held = tokenizer.held
    names = [("the model", model or ""), ("the tokenizer", getattr(held, "name_or_path", None) or "")]
    choice = choose_format(
        Model(tuple(names), dict(_configuration(held))),
        parser=parser,
        setting=settings.format,
        prompted=is_prompted,
    )
    calls = "held until they are complete" if settings.held else "streamed"
    logger.info(
        "wirecall %s in vLLM %s: format %s, by %s; calls are %s",
        wirecall.__version__,
        vllm.__version__,
        choice.format.name,
        choice.reason,
        calls,
    )
    return Server(choice, held)


class _ById:
    """A tokenizer as a key: it is hashed by its identity."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


def server_of(parser: str, tokenizer: Any, model: str | None = None, mode: str | None = None) -> Server:
    """The server's format, toolsets and ids; made once.

    Args:
        parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
        tokenizer: The tokenizer of the model.
        model: The name or folder of the model, if it is known.
        mode: The tokenizer mode, if it is known.

    Raises:
        ToolError: The format of the model is not known. At start-up, vLLM shows the message and stops.
    """
    return _server(parser, model, prompted if mode is None else mode == MODE, _ById(tokenizer))


def definitions(tools: object) -> list[Mapping[str, Any]]:
    """The functions among the tools of a request, of chat completions and of Responses."""
    return list(_definitions(tools))


def _definitions(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in tools or ():
        function = getattr(tool, "function", tool)
        name = getattr(function, "name", None)
        if not name:
            continue
        if getattr(tool, "type", None) == "custom":
            parameters = custom_tool_parameters()
        elif hasattr(function, "parameters"):
            parameters = function.parameters or {"type": "object", "properties": {}}
        else:
            continue
        yield {
            "name": name,
            "description": getattr(function, "description", None) or "",
            "parameters": parameters,
        }


def _configuration(tokenizer: Any) -> Iterator[tuple[str, Any]]:
    """The tokenizer's configuration, as far as it says how calls are written."""
    yield "chat_template", getattr(tokenizer, "chat_template", None)
    yield "response_template", (getattr(tokenizer, "init_kwargs", None) or {}).get("response_template")
    for token in ("bos_token", "eos_token"):
        yield token, getattr(tokenizer, token, None)


@lru_cache(maxsize=1)
def _counters() -> Counters | None:
    """The counters, beside vLLM's own; None without its registry."""
    try:
        from prometheus_client import Counter
    except ImportError:
        return None
    return Counters(Counter)
