"""Reads the source of a chat template: what it writes, without comments, in one spelling."""

import re

# A longer text is not a chat template; the longest official one has 18,000 characters.
MAX_SOURCE = 500_000

_TAG = re.compile(r"\{[%{#]")
_NEXT = re.compile(r"""['"{}]|%\}""")
_STRINGS = {quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*){quote}", re.DOTALL) for quote in "'\""}
_SPACES = re.compile(r"\s+")


def canonical(source: str) -> str | None:
    """The template as transformers reads it, in one spelling.

    Strings are in single quotes, and words of code one space apart. Comments are left out, and whitespace
    around tags that is not written. None if the source is too long, or ends in a tag. Each character is read
    once.
    """
    if len(source) > MAX_SOURCE:
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    out: list[str] = []
    at = 0
    stripped = "none"
    while True:
        tag = _TAG.search(source, at)
        text = source[at : tag.start() if tag else len(source)]
        if stripped == "all":
            text = text.lstrip()
        elif stripped == "line":
            text = text.removeprefix("\n")
        if tag is None:
            out.append(text)
            return "".join(out)
        control = source[tag.end() : tag.end() + 1]
        if control == "-":
            text = text.rstrip()
        elif tag[0] != "{{" and control != "+":
            line = text.rpartition("\n")[2]
            if not line.strip(" \t") and (len(line) < len(text) or at == 0 or stripped == "line"):
                text = text[: len(text) - len(line)]
        out.append(text)
        inside = tag.end() + (control in ("-", "+") and control != "")
        if tag[0] == "{#":
            end = source.find("#}", inside)
            if end < 0:
                return None
            last, at = source[max(inside, end - 1) : end], end + 2
        else:
            code = _code(source, inside, tag[0] == "{{")
            if code is None:
                return None
            written, last, at = code
            out.append(f"{tag[0]} {written} {'}}' if tag[0] == '{{' else '%}'}")
        stripped = "all" if last == "-" else "line" if tag[0] != "{{" and last != "+" else "none"


def _code(source: str, at: int, expression: bool) -> tuple[str, str, int] | None:
    """The code of a tag, the sign before its end, and where the text after it begins."""
    parts: list[str] = []
    depth = 0
    start = at
    while (found := _NEXT.search(source, at)) is not None:
        at = found.end()
        if found[0] in _STRINGS:
            string = _STRINGS[found[0]].match(source, found.start())
            if string is None:
                return None
            parts += [_words(source[start : found.start()]), f"'{_decoded(string[1])}'"]
            start = at = string.end()
        elif found[0] == "{":
            depth += 1
        elif found[0] == "}" and depth > 0:
            depth -= 1
        elif found[0] == "%}" if not expression else source.startswith("}}", found.start()):
            code = source[start : found.start()]
            last = code[-1:] if code[-1:] in ("-", "+") else ""
            parts.append(_words(code.removesuffix(last)))
            return "".join(parts).strip(), last, found.start() + 2
    return None


def _words(code: str) -> str:
    return _SPACES.sub(" ", code)


def _decoded(text: str) -> str:
    """The text of a string, as Jinja reads it."""
    if "\\" not in text:
        return text
    try:
        return text.encode("ascii", "backslashreplace").decode("unicode-escape")
    except UnicodeDecodeError:
        return text
