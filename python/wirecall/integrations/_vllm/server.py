"""What vLLM knows of a server's model, tools and tokens."""

import logging
from collections.abc import Mapping
from typing import Any

import vllm
from vllm.tool_parsers.utils import get_function_tools

import wirecall
from wirecall._serving.prompts import stop_ids
from wirecall._serving.served import ServedFormat, Serving
from wirecall._serving.settings import FORMAT
from wirecall._tools.formats.description import Format
from wirecall.errors import ToolError

MODE = "wirecall"

# vLLM shows the loggers below its own.
logger = logging.getLogger("vllm.wirecall")
serving = Serving(f"wirecall {wirecall.__version__} in vLLM {vllm.__version__}", logger)

# The format that the prompt teaches. Set by the renderer, which vLLM makes before the parsers.
taught: Format | None = None


def format_of(parser: str, tokenizer: Any, model: str | None = None, mode: str | None = None) -> ServedFormat:
    """The format that a parser reads.

    Args:
        parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
        tokenizer: The tokenizer of the model.
        model: The name or folder of the model, if it is known.
        mode: The tokenizer mode, if it is known.

    Raises:
        ToolError: The format of the model is not known, or is not the one that the prompt teaches. At
            start-up, vLLM shows the message and stops.
    """
    names = [("the model", model)]
    prompted = taught is not None if mode is None else mode == MODE
    served = serving.format(parser, names, tokenizer, prompted=prompted)
    if taught is not None and served.choice.format != taught:
        raise ToolError(
            f"the prompt teaches {taught.name}, but the parser {parser} reads {served.choice.format.name}; "
            f"use the parser wirecall, and name the format by {FORMAT}"
        )
    return served


def stops_of(served: ServedFormat, tokenizer: Any, model_config: Any) -> frozenset[int]:
    """The ids of tokens that end messages: of the format, the tokenizer and the generation config."""
    try:
        ends = model_config.try_get_generation_config().get("eos_token_id")
    except Exception:
        # No configuration, or one that cannot be read; vLLM raises what its libraries do.
        ends = None
    own = getattr(tokenizer, "eos_token_id", None)
    return stop_ids(served.choice.format, tokenizer.get_vocab(), [own, ends])


def definitions(tools: Any) -> list[Mapping[str, Any]]:
    """The functions that vLLM shows to the model: of chat completions, of Responses and of its namespaces."""
    functions = (getattr(tool, "function", tool) for tool in get_function_tools(tools or ()))
    return [
        {
            "name": function.name,
            "description": function.description or "",
            "parameters": function.parameters or {"type": "object", "properties": {}},
        }
        for function in functions
        if function.name
    ]
