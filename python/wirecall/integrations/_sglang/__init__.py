"""Tool calling in SGLang: `sglang serve MODEL --tool-call-parser wirecall --reasoning-parser wirecall`.

SGLang finds `register` by the entry point `sglang.srt.plugins`, in each of its processes. docs/servers.md
explains the flags. Supported: SGLang 0.5.23.
"""

import logging
from typing import Any

from wirecall._serving.choice import is_parser_name, parser_names

__all__ = ["register"]

# The method that checks the arguments of a server before it starts anything.
_CHECKS = "check_server_args"


def register() -> None:
    """Add wirecall's parsers to SGLang. Servers that do not name them are not changed."""
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    from wirecall.integrations._sglang.reasoning import WirecallReasoningDetector
    from wirecall.integrations._sglang.tools import WirecallToolDetector

    parsers, detectors = FunctionCallParser.ToolCallParserEnum, ReasoningParser.DetectorMap
    if "wirecall" in parsers:
        return
    for name in parser_names():
        named = {"parser_name": name}
        parsers[name] = type("WirecallToolDetector", (WirecallToolDetector,), named)
        # SGLang looks for the name in lower case.
        detectors[name.lower()] = type("WirecallReasoningDetector", (WirecallReasoningDetector,), named)
    _check_arguments()


def _check_arguments() -> None:
    """Let SGLang check its arguments for wirecall, too. Only then is anything else of it changed."""
    from sglang.srt import server_args
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    if not callable(getattr(server_args.ServerArgs, _CHECKS, None)):
        logging.getLogger("sglang.wirecall").warning(
            "this version of SGLang is not known to wirecall (0.5.23 is): a model whose format is not known "
            "is noticed by the first request, and special tokens that mark reasoning are lost without tools"
        )
        return
    HookRegistry.register(f"sglang.srt.server_args.ServerArgs.{_CHECKS}", _after_check, HookType.AFTER)


def _after_check(_: object, arguments: Any) -> None:
    named = [arguments.tool_call_parser, arguments.reasoning_parser]
    if any(map(is_parser_name, named)):
        from wirecall.integrations._sglang.hooks import prepare

        prepare(arguments)
