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

    def __init__(
        self, kind: str, at: int, state: str, depth: int = 0, quote: "Quote | str | None" = None
    ) -> None:
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


def is_cut(text: str, at: int, marks: tuple[str, ...]) -> bool:
    """Whether the text ends in one of them there."""
    rest = text[at:].lower()
    return any(len(rest) < len(mark) and mark.startswith(rest) for mark in marks)


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
            if match.end() < len(text) and quotes_open(match[0], opens=True):
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
# What opens a text: what ends it. Of characters, their numbers.
_PAIRS = {
    chr(opener): tuple(map(chr, closers))
    for opener, *closers in (
        (0x201C, 0x201D),
        (0x201E, 0x201C, 0x201D),
        (0x201F, 0x201D),
        (0x2018, 0x2019),
        (0x201A, 0x2018, 0x2019),
        (0x201B, 0x2019),
        (0xAB, 0xBB),
        (0xBB, 0xAB),
        (0x2039, 0x203A),
        (0x203A, 0x2039),
        (0x300C, 0x300D),
        (0x300E, 0x300F),
        (0x301D, 0x301E, 0x301F),
        (0xFF02, 0xFF02),
        (0xFF07, 0xFF07),
        (0xFF62, 0xFF63),
    )
} | {
    "&quot;": ("&quot;",),
    "&#34;": ("&#34;",),
    "&apos;": ("&apos;",),
    "&#39;": ("&#39;",),
    "&ldquo;": ("&rdquo;",),
    "&lsquo;": ("&rsquo;",),
    "&laquo;": ("&raquo;",),
    "&bdquo;": ("&ldquo;",),
}
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"


class Quote(NamedTuple):
    """What opened a quoted text."""

    opener: str
    # With a backslash before the opener, there is one before what ends the text.
    escaped: bool = False

    def end(self, text: str, at: int) -> int | None:
        """The place after the text that is open at this place."""
        if closers := _PAIRS.get(self.opener):
            inner = False
            for end in range(at + 1, len(text) + 1):
                inner ^= text[end - 1] == '"'
                if not inner and any(text.endswith(close, at, end) for close in closers):
                    return end
            return None
        while at < len(text):
            backslash = text[at] == "\\"
            if text[at + backslash : at + backslash + 1] == self.opener and backslash == self.escaped:
                return at + backslash + 1
            at += 1 + backslash
        return None


def begins_quote(text: str, at: int) -> str:
    """The quote other than `"` and `'` that is at this place, or ""."""
    return next((opener for opener in (*_PAIRS, "`") if text.startswith(opener, at)), "")


class QuotePlace(NamedTuple):
    """Section 11, "quotes": what precedes a place outside quoted texts."""

    opens: bool = True
    backslash: bool = False
    # Letters that may be a prefix.
    letters: int = 0

    def step(self, text: str, at: int) -> tuple["QuotePlace", int, Quote | None]:
        """The place after the next character, and the quote if it opens a text there."""
        char, opener = text[at], begins_quote(text, at) or text[at]
        if self.opens and (opener in _PAIRS or opener in "\"'`"):
            escaped = self.backslash and opener in "\"'`"
            return OPENS, at + len(opener), Quote(opener, escaped)
        if char == "\\" and self.opens and not self.letters:
            return QuotePlace(backslash=not self.backslash), at + 1, None
        if char in "rRbBfFuU" and self.opens and not self.backslash and self.letters < 2:
            return QuotePlace(letters=self.letters + 1), at + 1, None
        opens = char in _OPENERS or (not char.isascii() and char.isspace()) or char in _INVISIBLE
        return QuotePlace(opens), at + 1, None


OPENS, WORD = QuotePlace(), QuotePlace(False)


def place_after(text: str, at: int) -> QuotePlace:
    """The place at an error there: a quote opens a text, unless a word ends there."""
    before = text[at - 1 : at]
    if not (before.isalnum() or before == "\\"):
        return OPENS
    begin = max(at - 3, 0)
    place = WORD if begin else OPENS
    while begin < at:
        place, begin, _ = place.step(text, begin)
    return place


def behind_quote(quote: Quote, start: int, end: int) -> QuotePlace:
    """The place after a quoted text that began at `start`: after an empty one, a quote opens a text."""
    closers = _PAIRS.get(quote.opener, (quote.opener,))
    lengths = {len(close) + quote.escaped for close in closers}
    return OPENS if end - start in lengths and quote.opener != "`" else WORD


def quotes_open(text: str, *, opens: bool) -> Quote | None:
    """Section 11, "kept quotes": the quote that is open after the text.

    `opens`: one at its start would open.
    """
    place, at = OPENS if opens else WORD, 0
    while at < len(text):
        place, at, quote = place.step(text, at)
        if quote:
            end = quote.end(text, at)
            if end is None:
                return quote
            place, at = behind_quote(quote, at, end), end
    return None


def opened_behind(value: str, quote: str) -> Quote | None:
    """Section 11, "kept quotes": the quote that would be open after the value, had the first kept one
    ended it.

    `value`: its text, escapes replaced, up to the quote that would close it.
    """
    inside, place, at = True, WORD, 0
    other: tuple[Quote, int] | None = None
    while at < len(value):
        char = value[at]
        if char == quote:
            before, after = value[at - 1 : at] if at else "", value[at + 1 : at + 2]
            is_letter = [c.isalnum() for c in (before, after)]
            if other:
                other = other[0], -9
            elif char == "'" and all(is_letter):
                place = WORD
            else:
                inside, place = not inside, OPENS
        elif inside:
            pass
        elif other:
            end = other[0].end(value[: at + 8], at)
            if char == "\\":
                at, other = at + 1, (other[0], -9)
            elif end == at + len(min(_PAIRS.get(other[0].opener, "x"), key=len)):
                place, other = behind_quote(other[0], other[1], end), None
                at = end - 1
        elif char == "\\":
            place = WORD
        else:
            place, end, opened = place.step(value, at)
            at, other = end - 1, (opened, end) if opened else None
        at += 1
    if other:
        return other[0]
    return Quote(quote) if place.opens and not inside else None


# Recovery after an error -------------------------------------------------------------------------

_CLOSE = re.compile(r"</call[ \t]{0,8}>")


def close_at(text: str, at: int) -> int:
    """The end of the CLOSE at this place, in either spelling; -1 if there is none."""
    match = _CLOSE.match(text, at)
    return match.end() if match else -1


def read_on(
    text: str,
    at: int,
    state: str,
    depth: int = 0,
    quote: Quote | str | None = None,
    closers: tuple[str, ...] = (),
) -> int:
    """Section 11, "Recovery after an error": after the CLOSE of the call, or the end of the text."""
    place = place_after(text, at) if state == "bracketed" else OPENS
    if state in ("key", "bare word", "after"):
        place = WORD
    if state == "after empty":
        state = "after"
    # The quote that is open, and where its text began.
    inside = (Quote(quote) if isinstance(quote, str) else quote, -9) if quote else None
    if state == "opened":
        state, inside = "quoted", (inside[0], at) if inside else None
    while at < len(text):
        char = text[at]
        if inside:
            end = inside[0].end(text, at)
            if end is None:
                return len(text)
            place, at, inside = behind_quote(*inside, end), end, None
            state = "after" if state == "quoted" else state
            continue
        opened = None
        if state == "bracketed" and char in "{[":
            depth, place, at = depth + 1, OPENS, at + 1
        elif state == "bracketed" and char in "}]":
            depth, place, at = depth - 1, WORD, at + 1
            state = "bracketed" if depth else "after"
        elif state == "bracketed":
            place, at, opened = place.step(text, at)
        elif closers and any(text[at : at + len(close)].lower() == close for close in closers):
            return at + next(len(close) for close in closers if text[at : at + len(close)].lower() == close)
        elif not closers and close_at(text, at) >= 0:
            return close_at(text, at)
        elif char in WS:
            state, place, at = "token start", OPENS, at + 1
        elif char == "=" and state in ("token start", "key", "after"):
            state, place, at = "value start", OPENS, at + 1
        elif char == "," and state == "after":
            state, place, at = "token start", OPENS, at + 1
        elif state in ("token start", "value start") and char in "{[":
            state, depth, place, at = "bracketed", 1, OPENS, at + 1
        else:
            begins = state in ("token start", "value start")
            place, at, opened = (OPENS if begins else place).step(text, at)
            if not opened:
                state = "bare word" if state in ("value start", "bare word") else "key"
                place = OPENS if state == "key" and char == "." else place
        if opened:
            inside = (opened, at)
            state = state if state == "bracketed" else "quoted"
    return len(text)


def end_of_brackets(text: str, at: int) -> int | None:
    """The place after the bracket that matches the one at `at`, by the rule for bracketed text above."""
    depth, place = 0, OPENS
    while at < len(text):
        if text[at] in "{[":
            depth, place, at = depth + 1, OPENS, at + 1
            continue
        if text[at] in "}]":
            depth, place, at = depth - 1, WORD, at + 1
            if depth == 0:
                return at
            continue
        place, at, quote = place.step(text, at)
        if quote:
            end = quote.end(text, at)
            if end is None:
                return None
            place, at = behind_quote(quote, at, end), end
    return None
