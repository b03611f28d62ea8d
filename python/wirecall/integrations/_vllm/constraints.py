"""Constrained decoding: grammars of calls in vLLM's requests."""

import json
from typing import Any

from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.exceptions import VLLMValidationError
from vllm.parser.abstract_parser import structured_outputs_to_format
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar

from wirecall._serving.served import ServedFormat
from wirecall.errors import ToolError
from wirecall.integrations._vllm.server import definitions


def wants_calls(request: Any) -> bool:
    """Whether calls in the answer are calls. Otherwise they are text."""
    return bool(request.tools) and request.tool_choice not in (None, "none")


def forces(request: Any) -> bool:
    """Whether the request demands a call."""
    return wants_calls(request) and _choice(request.tool_choice) != "auto"


def begins_constrained(request: Any) -> bool:
    """Whether the grammar of an adjusted request allows no free text, and so no reasoning."""
    outputs = request.extract_structured_outputs()
    if outputs is None or forces(request):
        return outputs is not None
    if outputs.structural_tag is None:
        return True
    # The combination with a response format; other tags are for calls within text.
    format = json.loads(outputs.structural_tag).get("format")
    return isinstance(format, dict) and format.get("type") == "or"


def constrain(request: Any, served: ServedFormat, tools: Any, *, level: ToolStrictLevel) -> None:
    """Put the grammar of the calls into a request, if the request or the operator asks for one.

    `required` and a named tool always do; otherwise a tool with `strict`, `parallel_tool_calls=False`, a
    `response_format` beside the tools, or `--tool-strict-level`.

    Raises:
        VLLMValidationError: The request has a `response_format` beside its tools, and the two cannot be
            combined.
    """
    outputs = request.extract_structured_outputs()
    forced = forces(request)
    single = request.parallel_tool_calls is False
    asked = level > ToolStrictLevel.AUTO or single or any(map(_is_strict, tools or ()))
    functions = definitions(tools)
    # Other tools are the server's own.
    if not functions or not (forced or asked or outputs is not None):
        return
    combined = outputs is not None and not forced
    try:
        grammar = served.toolsets.grammar(
            served.toolset(functions),
            # With a response format, text is what that allows.
            tool_choice="required" if combined else _choice(request.tool_choice),
            parallel=not single,
        )
    except ToolError as error:
        if combined:
            raise VLLMValidationError(
                f"response_format cannot be combined with tools: {error}", parameter="response_format"
            ) from None
        served.reports.warn("calls that are not constrained", str(error))
        return
    tag = json.dumps(_either(grammar, outputs)) if combined else grammar
    _set(request, StructuredOutputsParams(structural_tag=tag))


def _choice(choice: Any) -> str:
    """The name of the tool that a choice demands, "auto" or "required"."""
    if isinstance(choice, str):
        return choice
    named = getattr(choice, "function", choice)
    # The choice of some of the tools has a mode instead.
    return getattr(named, "name", None) or getattr(choice, "mode", None) or "auto"


def _is_strict(tool: Any) -> bool:
    return bool(getattr(getattr(tool, "function", tool), "strict", False))


def _either(grammar: str, outputs: StructuredOutputsParams) -> dict[str, Any]:
    """The grammar of calls, or of what the response format allows.

    Raises:
        VLLMValidationError: xgrammar does not support the response format in a structural tag.
    """
    try:
        other = structured_outputs_to_format(outputs)
        if other is None:
            raise ValueError("it has no grammar")
        elements = [json.loads(grammar)["format"], other.model_dump()]
        tag = {"type": "structural_tag", "format": {"type": "or", "elements": elements}}
        params = StructuredOutputsParams(structural_tag=json.dumps(tag))
        validate_xgrammar_grammar(SamplingParams(structured_outputs=params))
    except (TypeError, ValueError) as error:
        raise VLLMValidationError(
            f"response_format cannot be combined with tools: {error}; leave one of them out",
            parameter="response_format",
        ) from None
    return tag


def _set(request: Any, outputs: StructuredOutputsParams) -> None:
    request.structured_outputs = outputs
    if isinstance(request, ResponsesRequest):
        request.text = None
    else:
        request.response_format = None
