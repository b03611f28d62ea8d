"""Changes to classes of SGLang that have no plug-in points, in servers that use wirecall."""

import functools
import inspect
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from wirecall._clients.hooks import CompactTools, compact_tools
from wirecall._serving.choice import is_parser_name
from wirecall._serving.served import ServedFormat
from wirecall._serving.settings import PROMPT, read_settings
from wirecall._tools.formats.description import Format
from wirecall.errors import ToolError
from wirecall.integrations._sglang import server
from wirecall.integrations._sglang.server import check_formats, format_of, logger

# This module would warn of each answer without calls, because the detector says that every text has one.
_SERVING = "sglang.srt.entrypoints.openai.serving_chat"
_KEEPS_TOKENS = "_patch_reasoning_skip_special_tokens"
_NO_CALL = "Tool call marker present but no complete call parsed"


def prepare(arguments: Any) -> None:
    """Change SGLang for a server that uses wirecall.

    Args:
        arguments: The arguments of the server.

    Raises:
        ToolError: A setting is not one of its choices, or the server has processes without plugins.
    """
    settings = read_settings()
    workers = getattr(arguments, "tokenizer_worker_num", 1)
    if workers and workers > 1:
        raise ToolError(
            f"wirecall does not work with --tokenizer-worker-num {workers}, because these processes "
            "load no plugins; leave the option out"
        )
    server.serves = True
    from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
    from sglang.srt.managers.tokenizer_manager import TokenizerManager

    logging.getLogger(_SERVING).addFilter(_is_wanted)
    _around(
        TokenizerManager,
        # Before it opens sockets, which would keep the process from ending.
        "init_tokenizer_and_processor",
        (),
        _check_model,
        "a model whose format is not known is noticed by the first request",
    )
    _around(
        OpenAIServingChat,
        _KEEPS_TOKENS,
        ("request",),
        _keep_special_tokens,
        "reasoning between special tokens is not seen in requests without tools",
    )
    _around(
        OpenAIServingChat,
        "_process_tool_call_id",
        ("call_item", "history_tool_calls_cnt"),
        _call_id,
        "ids of calls have not the form that Kimi's models know",
    )
    if settings.prompted:
        _around(
            OpenAIServingChat,
            "_apply_jinja_template",
            ("request", "tools", "is_multimodal"),
            _with_manual,
            f"{PROMPT} has no effect",
        )


def _around(
    kind: type, name: str, parameters: tuple[str, ...], hook: Callable[..., Any], without: str
) -> None:
    """Call `hook` instead of a method, with the method; or log what is missing without it."""
    method = getattr(kind, name, None)
    if hasattr(method, "_wirecall"):
        return
    if not callable(method) or not inspect.signature(method).parameters.keys() >= set(parameters):
        logger.warning(
            "this version of SGLang is not known to wirecall (0.5.23 is): there is no %s.%s, so %s",
            kind.__name__,
            name,
            without,
        )
        return

    @functools.wraps(method)
    def hooked(*args: Any, **options: Any) -> Any:
        return hook(method, *args, **options)

    hooked._wirecall = True  # type: ignore[attr-defined]
    setattr(kind, name, hooked)


def _check_model(method: Callable[..., Any], self: Any) -> None:
    """Stop a server whose model has no known format, as soon as its tokenizer is loaded."""
    method(self)
    names = [self.config_value("tool_call_parser"), self.config_value("reasoning_parser")]
    tools, reasoning = (name if is_parser_name(name) else None for name in names)
    if tools or reasoning:
        check_formats(tools, reasoning, getattr(self, "tokenizer", None))


def _keep_special_tokens(method: Callable[..., Any], self: Any, request: Any) -> None:
    method(self, request)
    if is_parser_name(self.reasoning_parser) and _served(self, self.reasoning_parser).special_tokens:
        request.skip_special_tokens = False


def _call_id(method: Callable[..., Any], self: Any, call_item: Any, history_tool_calls_cnt: int) -> Any:
    """The id of a call. Kimi's templates write ids into prompts, so they have a form of their own."""
    if is_parser_name(self.tool_call_parser):
        served = _served(self, self.tool_call_parser)
        if served.numbers_calls:
            # SGLang's parsers that make such ids.
            kind = "kimi_k3" if served.choice.format.name == "kimi-k3" else "kimi_k2"
            self = SimpleNamespace(tool_call_parser=kind)
    return method(self, call_item, history_tool_calls_cnt)


def _with_manual(
    method: Callable[..., Any], self: Any, request: Any, tools: list[Any] | None, is_multimodal: bool
) -> Any:
    """Put the manual of the tools, and past calls as text, into the messages."""
    if not is_parser_name(self.tool_call_parser):
        return method(self, request, tools, is_multimodal)
    chosen = _served(self, self.tool_call_parser).choice.format
    messages = [message.model_dump(exclude_none=True) for message in request.messages]
    params: dict[str, Any] = {"messages": messages}
    if tools:
        params["tools"] = tools
    sent = _teaching(chosen).transform_params(params).params
    # Validates the messages, too.
    rewritten = type(request)(model=request.model, messages=sent["messages"]).messages
    return method(self, request.model_copy(update={"messages": rewritten}), None, is_multimodal)


@functools.lru_cache(maxsize=8)
def _teaching(format: Format) -> CompactTools:
    """What writes the manual. It keeps compiled tools."""
    return compact_tools(protocol=format, invalid_tools="untyped")


def _served(serving: Any, parser: str) -> ServedFormat:
    return format_of(parser, serving.tokenizer_manager.tokenizer)


def _is_wanted(record: logging.LogRecord) -> bool:
    if not str(record.msg).startswith(_NO_CALL):
        return True
    return not (isinstance(record.args, tuple) and record.args and is_parser_name(str(record.args[0])))
