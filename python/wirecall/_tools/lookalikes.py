"""Finds text that looks like calls but is none: in another format, or as JSON or Python."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from wirecall._tools.detection import SEARCHED, format_in
from wirecall._tools.toolset import Toolset

# Keys of a tool's name and of its arguments, as models write them.
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_OBJECT = re.compile(r"^[ \t]*(?=\{|\[\s{0,40}\{)", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_NAMESPACE = re.compile(r"^[ \t]*(?:functions|tools|default_api)\.(?=\w)", re.MULTILINE)
# The maximum number of objects, and of lines and fences, that are tried.
_TRIED = 64


def lookalike(text: str, names: Sequence[str]) -> str | None:
    """What looks like a call of one of these tools in a text without calls; only its beginning is searched.

    Returns:
        The format of the calls, or "json" or "python" if no format reads them: JSON with a name and arguments
        on lines of its own, a call with keyword arguments on a line of its own, or a fence of such calls.
        None if nothing looks like a call; one in the middle of a sentence does not.
    """
    text = text[:SEARCHED]
    # Most texts name no tool.
    if not any(name in text for name in names):
        return None
    found = format_in(text, names)
    if found is None and _has_json_call(text, names):
        return "json"
    return "python" if found is None and _has_python_call(text, names) else found


def _has_json_call(text: str, names: Sequence[str]) -> bool:
    """Whether a JSON object with a tool's name begins a line and ends one."""
    decoder, end = json.JSONDecoder(), 0
    for found in islice(_OBJECT.finditer(text), _TRIED):
        if found.end() < end:
            continue  # inside the last one
        try:
            value, end = decoder.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        if not text[end:].partition("\n")[0].strip() and _is_call(value, names):
            return True
    return False


def _is_call(value: object, names: Sequence[str]) -> bool:
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and _is_call(value[0], names)
    if not isinstance(value, dict):
        return False
    if isinstance(inner := value.get("function"), dict):
        return _is_call(inner, names)
    named = any(isinstance(name := value.get(key), str) and name in names for key in _NAME_KEYS)
    return named and (len(value) == 1 or any(key in value for key in _ARGUMENT_KEYS))


def _has_python_call(text: str, names: Sequence[str]) -> bool:
    """Whether a line outside fences, or a whole fence, consists of calls."""
    if not any(f"{name}(" in text for name in names):
        return False
    reader = Toolset([(name, True) for name in names], protocol="olmo3")
    for code in islice(_code(text, names), _TRIED):
        message = reader.parse(
            f"<function_calls>{code}</function_calls>", truncated=False, in_reasoning=False
        )
        if message.calls and not message.errors and not message.text:
            return True
    return False


def _code(text: str, names: Sequence[str]) -> Iterator[str]:
    """Fences, and other lines, that begin with a tool's name and an opening parenthesis."""
    text = _NAMESPACE.sub("", text)
    fences = (found[2] for found in _FENCE.finditer(text))
    lines = _FENCE.sub("\n", text).splitlines()
    begins = tuple(f"{name}(" for name in names)
    for code in (*fences, *lines):
        stripped = code.strip("`; \t\r\n")
        if stripped.startswith(begins):
            yield stripped
