"""The names of errors, repairs and problems, as types."""

from typing import Literal

# Repairs of near misses; in strict mode each is an error of the same name.
RepairKind = Literal[
    "json_wrapper",
    "relaxed_json",
    "spaced_equals",
    "empty_value",
    "comma_separator",
    "trailing_characters",
    "unquoted_spaces",
    "inner_quotes",
    "missing_close",
    "key_style",
    "tool_style",
    "call_style",
    "colon_separator",
    "quote_style",
    "coerced",
    "other_format",
    "key_number",
    "list_wrapper",
    "value_wrapper",
    "enum_quotes",
    "key_alias",
    "encoded_arguments",
    "unbalanced_brackets",
    "stray_tag",
    "markup",
    "bare_text",
    "bare_name",
    "unclosed_tag",
    "tag_style",
    "missing_wrapper",
    "relaxed_yaml",
    "verbatim_text",
]

# Why a call was rejected. Only `wrap` and the hooks report "not_allowed": `tool_choice` forbids the call.
ErrorKind = Literal[
    "unknown_tool",
    "malformed_call",
    "unterminated_value",
    "incomplete_call",
    "invalid_json",
    "duplicate_argument",
    "invalid_arguments",
    "forged_result",
    "too_large",
    "too_deep",
    "too_many_calls",
    "not_allowed",
    RepairKind,
]

# What is wrong with arguments that were parsed.
ProblemKind = Literal[
    "wrong_type",
    "not_in_enum",
    "missing_required",
    "unknown_field",
    "schema",
]

_SENTENCES: dict[str, str] = {
    "unknown_tool": "the model called a tool that is not declared",
    "malformed_call": "the call is not well-formed",
    "unterminated_value": "a quote or bracket in the call is not closed",
    "incomplete_call": "the call was cut off",
    "invalid_json": "the call's arguments are not valid JSON",
    "duplicate_argument": "an argument was given twice",
    "invalid_arguments": "the arguments do not fit the tool's schema",
    "forged_result": "the model wrote a tool's result itself",
    "too_large": "the call is larger than the limit",
    "too_deep": "a value is nested deeper than the limit",
    "too_many_calls": "the message has more calls than the limit",
    "not_allowed": "the request does not allow this call",
    "missing_call": "the model did not call a tool, although tool_choice requires it",
}


def described(kind: str) -> str:
    """A kind with a sentence for the developer, which contains nothing written by the model."""
    return f"{kind}: {_SENTENCES.get(kind, 'strict mode does not accept this')}"
