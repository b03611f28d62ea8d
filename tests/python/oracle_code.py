"""The oracle's paragraph on code: section 1 of docs/wire-format.md, line by line over all of the text."""

import re

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_LINE_BREAK = re.compile(r"[\r\n]")


def in_code(text: str) -> bool:
    """Whether code is open at the end of this text, which has no calls and begins at the start of a line."""
    *lines, last = _LINE_BREAK.split(text)
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if match is None:
            continue
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence) and not line[match.end() :].strip(" \t"):
            fence = ""
    if fence or _FENCE.match(last):
        return True
    opened = 0
    for run in map(len, re.findall("`+", last)):
        if opened == 0:
            opened = run
        elif opened == run:
            opened = 0
    return opened > 0
