"""What SGLang knows of a server's model and tools."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import sglang

import wirecall
from wirecall._serving.served import ServedFormat, Serving
from wirecall._serving.settings import read_settings
from wirecall.errors import ToolError

logger = logging.getLogger("sglang.wirecall")
serving = Serving(f"wirecall {wirecall.__version__} in SGLang {sglang.__version__}", logger)

# True in the process that serves requests, which alone has the counters.
serves = False


def format_of(parser: str, tokenizer: Any) -> ServedFormat:
    """The format that a parser reads.

    Args:
        parser: The name of the parser: `wirecall`, or `wirecall_FORMAT`.
        tokenizer: The tokenizer of the model, or None.

    Raises:
        ToolError: The format of the model is not known.
    """
    prompted = read_settings().prompted
    return serving.format(parser, _names(), tokenizer, prompted=prompted, counted=serves)


def check_formats(tools: str | None, reasoning: str | None, tokenizer: Any) -> None:
    """Choose the format when a server starts, and log it.

    Args:
        tools: The name of the tool parser, if it is wirecall's.
        reasoning: The name of the reasoning parser, if it is wirecall's.
        tokenizer: The tokenizer of the model, or None.

    Raises:
        ToolError: The format of the model is not known, or the names of both parsers have different formats.
    """
    found = [format_of(name, tokenizer) for name in (tools, reasoning) if name]
    first, last = (served.choice.format.name for served in (found[0], found[-1]))
    if first != last:
        raise ToolError(
            f"--tool-call-parser {tools} reads {first}, and --reasoning-parser {reasoning} reads {last}; "
            "give both the same name"
        )
    serving.log_start(found[0])
    if tools and not reasoning:
        logger.info(
            "wirecall: --reasoning-parser is not wirecall, so reasoning that it does not read is text"
        )


def definitions(tools: object) -> list[Mapping[str, Any]]:
    """The functions among the tools of a request."""
    return list(_definitions(tools))


def _definitions(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in tools or ():
        function = tool.function
        if function.name:
            yield {
                "name": function.name,
                "description": function.description or "",
                "parameters": function.parameters or {"type": "object", "properties": {}},
            }


def _names() -> list[tuple[str, str | None]]:
    """The names of the model among the arguments of the server; none outside of one."""
    try:
        from sglang.srt.runtime_context import get_model, get_serving

        model, served = get_model().model_path, get_serving().served_model_name
    # SGLang does not document how a process reads its arguments.
    except Exception:
        return []
    return [("--model-path", model), ("--served-model-name", served)]
