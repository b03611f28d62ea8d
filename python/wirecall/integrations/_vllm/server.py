"""What vLLM knows of a server's model, tools and tokens."""

import logging
from collections.abc import Mapping
from typing import Any

import vllm
from vllm.tool_parsers.utils import get_function_tools

import wirecall
from wirecall._serving.prompts import stop_ids
from wirecall._serving.served import ServedFormat, Serving

MODE = "wirecall"

# vLLM shows the loggers below its own.
logger = logging.getLogger("vllm.wirecall")
serving = Serving(f"wirecall {wirecall.__version__} in vLLM {vllm.__version__}", logger)

# Set by the renderer, which vLLM makes before the parsers.
prompted = False


def format_of(parser: str, tokenizer: Any, model: str | None = None, mode: str | None = None) -> ServedFormat:
    """The format that a parser reads.

    Args:
        parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
        tokenizer: The tokenizer of the model.
        model: The name or folder of the model, if it is known.
        mode: The tokenizer mode, if it is known.

    Raises:
        ToolError: The format of the model is not known. At start-up, vLLM shows the message and stops.
    """
    names = [("the model", model)]
    return serving.format(parser, names, tokenizer, prompted=prompted if mode is None else mode == MODE)


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
