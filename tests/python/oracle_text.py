"""The alphabet of the oracle: characters, keys, reading on after an error."""

import re
from typing import NamedTuple

OPEN, CLOSE = "<call>", "</call>"
WS = " \t\r\n"
QUOTES = "\"'"

_BARE_SEGMENT = re.compile(r"[^\x00-\x20\x7f-\x9f=.\[\]{}\"'<,`]+")
_INDEX = re.compile(r"\[([0-9]{1,9})\]")
_CUT_INDEX = re.compile(r"\[[0-9]{0,9}\Z")
_UNICODE_ESCAPE = re.compile(r"u([0-9A-Fa-f]{4})")


class Fault(Exception):
    """An error in a call: what, where it is found, and in which state the call is read on."""

    def __init__(self, kind: str, at: int, state: str, depth: int = 0, quote: str = "") -> None:
        super().__init__(kind)
        self.kind, self.at, self.state, self.depth, self.quote = kind, at, state, depth, quote


class Cut(Exception):
    """The message ended inside the call. `kind` is the error if the message is known to be complete."""

    def __init__(self, kind: str = "incomplete_call") -> None:
        super().__init__(kind)
        self.kind = kind


# Characters ---------------------------------------------------------------------------------------


def without_surrogates(message: str) -> str:
    """Halves that stand together join, lone ones become U+FFFD."""
    paired = re.sub(
        "[\ud800-\udbff][\udc00-\udfff]",
        lambda pair: chr(0x10000 + ((ord(pair[0][0]) - 0xD800) << 10) + ord(pair[0][1]) - 0xDC00),
        message,
    )
    return re.sub("[\ud800-\udfff]", "\ufffd", paired)


def skip_ws(text: str, at: int) -> int:
    while at < len(text) and text[at] in WS:
        at += 1
    return at


def has_line_break(text: str) -> bool:
    return "\n" in text or "\r" in text


def end_of_quotes(text: str, at: int) -> int | None:
    """Behind the first unescaped quote of the kind that stands at `at`."""
    quote, at = text[at], at + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    return None


def unescape(raw: str, escapes: dict[str, str], other: str = "\\") -> str:
    """Text between quotes. Before a character that is in no escape stands `other`."""
    out, at = "", 0
    while at < len(raw):
        if raw[at] != "\\":
            out, at = out + raw[at], at + 1
            continue
        after = raw[at + 1 : at + 2]
        code = _UNICODE_ESCAPE.match(raw, at + 1)
        if code:
            out, at = out + chr(int(code[1], 16)), at + 6
        elif after in escapes:
            out, at = out + escapes[after], at + 2
        else:
            out, at = out + other, at + 1
    return without_surrogates(out)


VALUE_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


# Keys ---------------------------------------------------------------------------------------------


class Segment(NamedTuple):
    kind: str  # "bare", "quoted", "index"
    text: str


class Key(NamedTuple):
    segments: tuple[Segment, ...]
    end: int


CUT_KEY = Key((), -1)  # the text ended before it was clear


def key_at(text: str, start: int) -> Key | None:
    """Section 2: the longest key that stands here."""
    at, segments = start, []
    cut = CUT_KEY if len(text) - start <= 128 else None
    while True:
        if at >= len(text):
            return cut
        if text[at] in QUOTES:
            end = end_of_quotes(text, at)
            if end is None:
                return cut
            segments.append(Segment("quoted", unescape(text[at + 1 : end - 1], VALUE_ESCAPES)))
            at = end
        else:
            match = _BARE_SEGMENT.match(text, at)
            if match is None or len(match[0]) > 64:
                return None
            segments.append(Segment("bare", match[0]))
            at = match.end()
        while text.startswith("[", at):
            index = _INDEX.match(text, at)
            if index is None:
                return cut if _CUT_INDEX.match(text, at) else None
            segments.append(Segment("index", index[1]))
            at = index.end()
        if not text.startswith(".", at):
            break
        at += 1
    if at - start > 128:
        return None
    return cut if at == len(text) else Key(tuple(segments), at)


def joins(segments: tuple[Segment, ...] | list[Segment]) -> list[tuple[str, int]]:
    """The names that the first segments can make, longest first, and how many segments each takes."""
    if segments[0].kind != "bare":
        return [(segments[0].text, 1)]
    count = next((i for i, segment in enumerate(segments) if segment.kind != "bare"), len(segments))
    return [(".".join(segment.text for segment in segments[:n]), n) for n in range(count, 0, -1)]


# Reading on after an error ------------------------------------------------------------------------


def read_on(text: str, at: int, state: str, depth: int = 0, quote: str = "") -> int:
    """Section 11, "Reading on after an error": behind the CLOSE of the call, or the end of the text."""
    start = at
    while at < len(text):
        char = text[at]
        if state == "quoted":
            if char == "\\":
                at += 1
            elif char == quote:
                state, quote = "after", ""
        elif state == "bracketed":
            if quote:
                if char == "\\":
                    at += 1
                elif char == quote:
                    quote = ""
            elif char in QUOTES:
                if at == start or text[at - 1] in "{[,:" + WS:
                    quote = char
            elif char in "{[":
                depth += 1
            elif char in "}]":
                depth -= 1
                if depth == 0:
                    state = "after"
        elif text.startswith(CLOSE, at):
            return at + len(CLOSE)
        elif char in WS:
            state = "token start"
        elif state in ("token start", "value start"):
            if char in QUOTES:
                state, quote = "quoted", char
            elif char in "{[":
                state, depth = "bracketed", 1
            elif state == "value start":
                state = "bare word"
            else:
                state = "value start" if char == "=" else "key"
        elif state in ("key", "after"):
            if char == "=":
                state = "value start"
            elif char in QUOTES and state == "key" and text[at - 1] == ".":
                state, quote = "quoted", char
            elif char == "," and state == "after":
                state = "token start"
            else:
                state = "key"
        at += 1
    return len(text)


def end_of_brackets(text: str, at: int) -> int | None:
    """Behind the bracket that matches the one at `at`, by the rule for bracketed text above."""
    depth, quote = 0, ""
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in QUOTES and text[at - 1] in "{[,:" + WS:
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None
