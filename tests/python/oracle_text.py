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


class FaultError(Exception):
    """An error in a call: what, where it is found, and in which state the call is read on."""

    def __init__(self, kind: str, at: int, state: str, depth: int = 0, quote: str = "") -> None:
        super().__init__(kind)
        self.kind, self.at, self.state, self.depth, self.quote = kind, at, state, depth, quote


class CutError(Exception):
    """The message ended inside the call. `kind` is the error if the message is known to be complete."""

    def __init__(self, kind: str = "incomplete_call") -> None:
        super().__init__(kind)
        self.kind = kind


# Characters ---------------------------------------------------------------------------------------


def without_surrogates(message: str) -> str:
    """Adjacent halves are joined, lone ones become U+FFFD."""
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
    """The place after the first unescaped quote of the kind at `at`."""
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
    """Text between quotes. `other` is written before a character that is not an escape."""
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
    kind: str  # "bare", "quoted", "bracketed", "index"
    text: str


class Key(NamedTuple):
    segments: tuple[Segment, ...]
    end: int


CUT_KEY = Key((), -1)  # the text ended before it was clear


def key_at(text: str, start: int) -> Key | None:
    """Section 2: the longest key at this place."""
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
            if text[at + 1 : at + 2] in ('"', "'"):
                end = end_of_quotes(text, at + 1)
                if end is None or end == len(text):
                    return cut
                if text[end] != "]":
                    return None
                segments.append(Segment("bracketed", unescape(text[at + 2 : end - 1], VALUE_ESCAPES)))
                at = end + 1
                continue
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


def colon_after(text: str, at: int) -> list[tuple[Key, int]]:
    """Section 5, `colon_separator`: the keys that a colon may end here, and the place after it."""
    if text[at : at + 1] and text[at] in QUOTES:
        end = end_of_quotes(text, at)
        ends = [] if end is None else [end]
    else:
        match = _BARE_SEGMENT.match(text, at)
        run = match[0] if match else ""
        ends = [at + i for i, char in enumerate(run) if char == ":" and i <= 64]
        ends += [at + len(run)] if len(run) <= 64 else []
    found = []
    for end in ends:
        colon = skip_ws(text, end)
        key = key_at(text[at:end] + "=", 0)
        if (
            text[colon : colon + 1] == ":"
            and text[colon + 1 : colon + 2] != "="
            and key
            and key is not CUT_KEY
        ):
            found.append((key, colon + 1))
    return found


def swapped(text: str, word: str) -> str:
    """The text with the tags of `call` and of that word in each other's place; a cut one at the end, too."""
    parts = "|".join(re.escape(name[:length]) for name in ("call", word) for length in (3, 2, 1))
    tags = re.compile(rf"(?<=<)(/?)(call|{re.escape(word)})|(?<=<)(/?)({parts})\Z")

    def swap(match: re.Match[str]) -> str:
        slash, name = (match[1], match[2]) if match[2] else (match[3], match[4])
        other = word if "call".startswith(name) else "call"
        return slash + other[: len(name)]

    return tags.sub(swap, text)


def joins(segments: tuple[Segment, ...] | list[Segment]) -> list[tuple[str, int]]:
    """The names that the first segments can make, longest first, and how many segments each takes."""
    if segments[0].kind != "bare":
        return [(segments[0].text, 1)]
    count = next((i for i, segment in enumerate(segments) if segment.kind != "bare"), len(segments))
    return [(".".join(segment.text for segment in segments[:n]), n) for n in range(count, 0, -1)]


# Quotes by their place -----------------------------------------------------------------------------

_OPENERS = WS + "=:,([{>"


def quotes_open(text: str, *, opens: bool) -> str:
    """Section 11, "kept quotes": the quote that is open after the text, or "".

    `opens`: one at its start would open.
    """
    open_with, escaped, empty, at = "", False, False, 0
    while at < len(text):
        char = text[at]
        backslash = char == "\\" and text[at + 1 : at + 2]
        if open_with:
            if backslash and not (escaped and backslash == open_with):
                at, empty = at + 2, False
                continue
            if backslash or (char == open_with and not escaped):
                open_with, opens = "", empty
                at += 2 if backslash else 1
                continue
            empty = False
        elif opens and (char in QUOTES or (backslash and backslash in QUOTES)):
            escaped, empty = bool(backslash), True
            open_with = backslash or char
            at += 2 if backslash else 1
            continue
        else:
            opens = char in _OPENERS
        at += 1
    return open_with


def opened_behind(value: str, quote: str) -> str:
    """Section 11, "kept quotes": the quote that would be open after the value, or "", had the first
    kept one ended it.

    `value`: its text, escapes replaced, up to the quote that would close it.
    """
    inside, other, opens, empty, at = True, "", False, False, 0
    while at < len(value):
        char = value[at]
        if char == quote:
            before, after = value[at - 1 : at] if at else "", value[at + 1 : at + 2]
            is_letter = [c.isalnum() for c in (before, after)]
            if other or (char == "'" and all(is_letter)):
                empty, opens = False, False
            else:
                inside, opens = not inside, True
        elif not inside and other:
            if char == "\\":
                at, empty = at + 1, False
            elif char == other:
                other, opens = "", empty
            else:
                empty = False
        elif not inside and opens and char in QUOTES:
            other, empty = char, True
        elif not inside:
            opens = char in _OPENERS
        at += 1
    return other or (quote if opens and not inside else "")


# Recovery after an error -------------------------------------------------------------------------

_CLOSE = re.compile(r"</call[ \t]{0,8}>")


def close_at(text: str, at: int) -> int:
    """The end of the CLOSE at this place, in either spelling; -1 if there is none."""
    match = _CLOSE.match(text, at)
    return match.end() if match else -1


def read_on(
    text: str, at: int, state: str, depth: int = 0, quote: str = "", closers: tuple[str, ...] = ()
) -> int:
    """Section 11, "Recovery after an error": after the CLOSE of the call, or the end of the text."""
    # Whether a quote would open here, and whether the open text is empty.
    before = text[at - 1 : at]
    opens = state != "bracketed" or not before.isalnum()
    empty = False
    if state == "opened":
        state, empty = "quoted", True
    if state in ("key", "bare word", "after"):
        opens = False
    if state == "after empty":
        state = "after"
    while at < len(text):
        char = text[at]
        is_opener = char in _OPENERS or (opens and char == "\\")
        if state == "quoted" or quote:
            if char == "\\":
                at, empty = at + 1, False
            elif char == quote:
                state = "after" if state == "quoted" else state
                quote, opens = "", empty
            else:
                empty = False
        elif state == "bracketed":
            if char in QUOTES and opens:
                quote, empty = char, True
            elif char in "{[":
                depth, opens = depth + 1, True
            elif char in "}]":
                depth, opens = depth - 1, False
                if depth == 0:
                    state = "after"
            else:
                opens = is_opener
        elif closers and any(text[at : at + len(close)].lower() == close for close in closers):
            return at + next(len(close) for close in closers if text[at : at + len(close)].lower() == close)
        elif not closers and close_at(text, at) >= 0:
            return close_at(text, at)
        elif char in WS:
            state = "token start"
        elif state in ("token start", "value start"):
            if char in QUOTES:
                state, quote, empty = "quoted", char, True
            elif char in "{[":
                state, depth, opens = "bracketed", 1, True
            elif state == "value start":
                state, opens = "bare word", char in _OPENERS or char == "\\"
            elif char == "=":
                state = "value start"
            else:
                state, opens = "key", char in _OPENERS or char in ".\\"
        elif char in QUOTES and opens:
            state, quote, empty = "quoted", char, True
        elif state == "after" and char == ",":
            state = "token start"
        elif state in ("key", "after") and char == "=":
            state = "value start"
        else:
            if state == "after":
                state, is_opener = "key", char in _OPENERS
            opens = is_opener or (state == "key" and char == ".")
        at += 1
    return len(text)


def end_of_brackets(text: str, at: int) -> int | None:
    """The place after the bracket that matches the one at `at`, by the rule for bracketed text above."""
    depth, quote, opens, empty = 0, "", True, False
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at, empty = at + 1, False
            elif char == quote:
                quote, opens = "", empty
            else:
                empty = False
        elif char in QUOTES and opens:
            quote, empty = char, True
        elif char in "{[":
            depth, opens = depth + 1, True
        elif char in "}]":
            depth, opens = depth - 1, False
            if depth == 0:
                return at + 1
        else:
            opens = char in _OPENERS or (opens and char == "\\")
        at += 1
    return None
