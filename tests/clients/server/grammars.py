"""Servers that sample under a grammar: the fields that they add to OpenAI's APIs, and what they refuse.

The messages are those of llama.cpp (`tools/server`) and vLLM (`vllm/entrypoints`, `vllm/sampling_params.py`).
"""

import json
from typing import Any, Literal

from . import checks
from .answers import Json, RefusedError
from .checks import openai_refused

GrammarServer = Literal["llama.cpp", "vllm"]
# Of each server, the APIs with a field for a grammar.
FIELDS: dict[GrammarServer, dict[str, str]] = {
    "llama.cpp": {"chat": "grammar"},
    "vllm": {"chat": "structured_outputs", "responses": "structured_outputs"},
}
_CONSTRAINTS = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
_OTHERS = ("disable_any_whitespace", "disable_additional_properties", "whitespace_pattern")


def check(body: Json, api: str, server: GrammarServer) -> frozenset[str]:
    """The fields that the server adds to the API. Raises `RefusedError` as the server would."""
    field = FIELDS[server].get(api)
    if field is None:
        return frozenset()
    if body.get(field) is not None:
        (_check_gbnf if server == "llama.cpp" else _check_structured_outputs)(body)
    return frozenset({field})


def _check_gbnf(body: Json) -> None:
    text = checks.text(body["grammar"], "grammar", openai_refused, empty=False)
    if body.get("json_schema") is not None or _format(body.get("response_format")) != "text":
        raise RefusedError("Cannot use both json_schema and grammar")
    if body.get("tools") and body.get("tool_choice", "auto") != "none":
        raise RefusedError("Cannot use custom grammar constraints with tools.")
    if not any(line.startswith("root ::=") for line in text.splitlines()):
        raise RefusedError("Failed to parse grammar: it has no rule 'root'")


def _check_structured_outputs(body: Json) -> None:
    given = checks.mapping(body["structured_outputs"], "structured_outputs", openai_refused)
    for key in checks.unknown_keys(given, (*_CONSTRAINTS, *_OTHERS)):
        raise RefusedError(f"structured_outputs.{key}: Unexpected keyword argument")
    if "text" in body and "format" in (body["text"] or {}):
        raise RefusedError("Cannot specify both structured_outputs and text.format")
    count = sum(given.get(key) is not None for key in _CONSTRAINTS)
    count += _format(body.get("response_format")) != "text"
    if count > 1:
        raise RefusedError("You can only use one kind of structured outputs constraint")
    if count < 1:
        raise RefusedError("You must use one kind of structured outputs constraint")
    if "structural_tag" in given:
        _check_structural_tag(given["structural_tag"])


def _check_structural_tag(given: Any) -> None:
    text = checks.text(given, "structured_outputs.structural_tag", openai_refused, empty=False)
    try:
        tag = json.loads(text)
    except ValueError:
        tag = None
    whole = isinstance(tag, dict) and tag.keys() == {"type", "format"} and tag["type"] == "structural_tag"
    if not whole or not isinstance(tag["format"], dict) or "type" not in tag["format"]:
        raise RefusedError("Invalid structured_outputs structural_tag specification.")


def _format(given: Any) -> Any:
    return given.get("type") if isinstance(given, dict) else "text"
