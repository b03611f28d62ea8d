"""Tool calling in vLLM: `vllm serve MODEL --enable-auto-tool-choice --tool-call-parser wirecall`.

vLLM finds `register` by the entry point `vllm.general_plugins`, in each of its processes. docs/servers.md
explains the flags. Supported: vLLM 0.32 and 0.33.
"""

import functools
import inspect
from typing import Any

from wirecall._serving.choice import is_parser_name, parser_names

__all__ = ["register"]

_HERE = "wirecall.integrations._vllm"
# The parameters of the method that composes parsers, in vLLM 0.32 and 0.33.
_COMPOSES = "_compose_parser"
_PARAMETERS = {
    "tool_parser_name",
    "reasoning_parser_name",
    "enable_auto_tools",
    "model_name",
    "is_harmony",
    "tool_strict_level",
    "tokenizer",
}


def register() -> None:
    """Add wirecall's parsers and its tokenizer mode to vLLM. Servers that do not name them do not change."""
    from vllm.reasoning import ReasoningParserManager
    from vllm.renderers.registry import RENDERER_REGISTRY
    from vllm.tokenizers.registry import TokenizerRegistry
    from vllm.tool_parsers import ToolParserManager

    if "wirecall" in RENDERER_REGISTRY.renderers:
        return
    for name in parser_names():
        ToolParserManager.register_lazy_module(name, f"{_HERE}.pair", f"tool:{name}")
        ReasoningParserManager.register_lazy_module(name, f"{_HERE}.pair", f"reasoning:{name}")
    RENDERER_REGISTRY.register("wirecall", f"{_HERE}.renderer", "WirecallRenderer")
    TokenizerRegistry.register("wirecall", "vllm.tokenizers.hf", "CachedHfTokenizer")
    _read_in_one_pass()


def _read_in_one_pass() -> None:
    """Let vLLM compose a parser of wirecall's names as one, instead of a pair. vLLM has no registry for this.

    If the method that composes parsers is another one, the pair works, too, and says so when it is used.
    """
    from vllm.parser import parser_manager

    manager = parser_manager.ParserManager
    method = getattr(manager, _COMPOSES, None)
    if not callable(method) or not inspect.signature(method).parameters.keys() >= _PARAMETERS:
        return

    @functools.wraps(method)
    def compose(*args: Any, **options: Any) -> Any:
        tool, reasoning = options.get("tool_parser_name"), options.get("reasoning_parser_name")
        # Another tool parser takes wirecall's reasoning parser as it takes any.
        if is_parser_name(tool or reasoning):
            from wirecall.integrations._vllm.parser import composed

            if (parser := composed(manager, **options)) is not None:
                return parser
        return method(*args, **options)

    setattr(manager, _COMPOSES, staticmethod(compose))
