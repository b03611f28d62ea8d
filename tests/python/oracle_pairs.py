"""The pairs of one call, read by the oracle: what the text after a value decides, and the values."""

import re

from oracle_arguments import Arguments
from oracle_json import JsonReader, Repair
from oracle_parts import Items, Place, is_declared, tool_style
from oracle_text import (
    CLOSE,
    CUT_KEY,
    OPEN,
    QUOTES,
    VALUE_ESCAPES,
    WS,
    CutError,
    FaultError,
    Key,
    Quote,
    close_at,
    colon_after,
    end_of_brackets,
    has_line_break,
    key_at,
    opened_behind,
    place_after,
    quotes_open,
    skip_ws,
    unescape,
)
from oracle_types import (
    Path,
    Schema,
    Type,
    collects,
    properties,
    takes_container,
    takes_text,
    takes_tuples,
)
from oracle_values import Notes

# What models write instead of a quote, and what ends a value in typographic quotes.
_LIKE_QUOTES = ("```", "&quot;", "&#34;", "&apos;", "&#39;", "<<", '\\"', "\\'")
_TYPOGRAPHIC = {"“": "”", "‘": "’"}


class PairReader(Arguments):
    """Reads `key=value` in a text. `complete`: the message is known not to be cut."""

    def __init__(self, text: str, tools: dict[str, Schema], strict: bool, complete: bool) -> None:
        super().__init__(strict)
        self.text, self.tools, self.complete = text, tools, complete
        # The last value was bare and has the first character of a delimiter, or could have gone on.
        self.bare_mark = self.open_ended = False

    # Looking ahead

    def closes(self, at: int) -> bool:
        return close_at(self.text, at) >= 0

    def undecided(self) -> None:
        """The end of the message came too soon: it decides, if it is known to be the end."""
        if not self.complete:
            raise CutError

    def is_cut(self, at: int, *tags: str) -> bool:
        """Whether the message ends in the middle of one of these."""
        rest = self.text[at:]
        if CLOSE in tags and re.fullmatch(r"</call[ \t]{0,8}", rest):
            return True
        return any(len(rest) < len(tag) and tag.startswith(rest) for tag in tags)

    def opens_line(self, ws: int, at: int) -> bool:
        """OPEN at the start of a line; the ws run in front begins at `ws`."""
        return self.text.startswith(OPEN, at) and has_line_break(self.text[ws:at])

    def declared(self, key: Key) -> bool:
        return is_declared(self.tool.type, key)

    def equals_at(self, at: int) -> Key | None:
        """A key, ws*, `=`. CUT_KEY if the message ended too soon."""
        key = key_at(self.text, at)
        if key is None or key is CUT_KEY:
            return key
        behind = skip_ws(self.text, key.end)
        if behind == len(self.text):
            return CUT_KEY
        return key if self.text[behind] == "=" else None

    def pair_at(self, at: int, *, only_declared: bool = False) -> Key | None:
        """A key directly before `=`, or a declared key, ws*, `=`. CUT_KEY if the message ended too soon."""
        key = self.equals_at(at)
        if key is None or key is CUT_KEY or self.declared(key):
            return key
        return key if self.text[key.end] == "=" and not only_declared else None

    def is_pair(self, at: int, *, only_declared: bool = False) -> bool:
        """The same before what the end of a complete message decides."""
        key = self.pair_at(at, only_declared=only_declared)
        if key is CUT_KEY:
            self.undecided()
        return key is not None and key is not CUT_KEY

    def colon_pair(self, at: int) -> tuple[Key, int] | None:
        """The declared key here and the place after its colon."""
        found = next((found for found in colon_after(self.text, at) if self.declared(found[0])), None)
        if found is not None and found[1] == len(self.text):
            self.undecided()
        return found

    def follows_colon(self, at: int) -> bool:
        """Whether the text after a value continues with another pair that has a colon instead of `=`."""
        behind = skip_ws(self.text, at + self.text.startswith(",", at))
        return "colon_separator" in self.repairs and behind > at and self.colon_pair(behind) is not None

    # Values

    def read_json(self, of: Type, at: int, path: Path) -> tuple[str, int]:
        notes = Notes()
        text, end = JsonReader(self.text, self.tool.schemas, notes, self.repair).value(of, at, path)
        self.problems += notes.problems
        return text, end

    def in_parentheses(
        self, of: Type, at: int, path: Path, repair: Repair, *, keywords: bool = False
    ) -> tuple[str, int]:
        notes = Notes()
        reader = JsonReader(self.text, self.tool.schemas, notes, repair)
        reader.parentheses, reader.keywords = True, keywords
        try:
            text, end = reader.value(of, at, path)
        except FaultError as fault:
            if keywords and fault.kind == "invalid_json":
                fault.kind = "malformed_call"
            if fault.state == "bracketed":
                word = not place_after(self.text, fault.at).opens
                fault.state = "quoted" if fault.quote else "key" if word else "token start"
            raise
        self.problems += notes.problems
        return text, end

    def pair(self, key: Key, at: int, *, colon: bool = False) -> int:
        """After the `=`; returns the place after the value and its comma."""
        place = self.place(key.segments, at)
        appends = isinstance(place.taken, Items) and collects(place.type)
        if not (place.taken is None or isinstance(place.taken, str) or appends):
            raise FaultError("duplicate_argument", at, "value start")
        value = self.behind_equals(key, at, colon)
        if value is None:
            self.give(place, "", True, at)
            return at
        char = self.text[value]
        if self.text.startswith(_LIKE_QUOTES, value):
            raise FaultError("malformed_call", at, "value start")
        if self.is_cut(value, *_LIKE_QUOTES):
            self.undecided()
        if char == "(" and takes_tuples(place.type):
            self.repair("relaxed_json", at, "value start")
            if appends:
                raise FaultError("duplicate_argument", value, "value start")
            text, end = self.in_parentheses(place.type, value, place.path, self.repair)
            self.store(place, text, Notes(), end)
            return self.behind_value(end, "malformed_call")
        if char in _TYPOGRAPHIC:
            self.repair("quote_style", at, "value start")
            return self.typographic(place, value)
        if char in QUOTES:
            return self.quoted(place, value)
        if char in "{[":
            if takes_container(place.type) or not takes_text(place.type):
                if appends:
                    raise FaultError("duplicate_argument", value, "value start")
                text, end = self.read_json(place.type, value, place.path)
                self.store(place, text, Notes(), end)
                return self.behind_value(end, "malformed_call")
            if self.text[value : value + 2] in ('{"', '["', "[{"):
                end_or_none = end_of_brackets(self.text, value)
                if end_or_none is None:
                    raise CutError("unterminated_value")
                self.give(place, self.text[value:end_or_none], True, end_or_none)
                return self.behind_value(end_or_none, "malformed_call")
        return self.bare(place, value, colon)

    def typographic(self, place: Place, start: int) -> int:
        close, first = _TYPOGRAPHIC[self.text[start]], CLOSE[0]
        ends = re.compile(rf"{close}(?=[ \t\r\n,;>/{first}])").search(self.text, start)
        if ends is None:
            raise CutError("unterminated_value")
        value = self.text[start + 1 : ends.start()]
        open_with = quotes_open(value, opens=True)
        if open_with:
            raise FaultError("malformed_call", ends.start(), "quoted", quote=open_with)
        self.give(place, value, True, ends.end())
        return self.behind_value(ends.end(), "malformed_call")

    def behind_equals(self, key: Key, at: int, colon: bool = False) -> int | None:
        """Where the value begins; None if it is empty."""
        first = skip_ws(self.text, at)
        if first == len(self.text):
            if first == at:
                raise CutError
            self.undecided()
        elif not self.closes(first) and not self.opens_line(at, first):
            if first == at:
                return at
            if self.is_cut(first, CLOSE, OPEN):
                self.undecided()
            if not self.is_pair(first):
                if colon:
                    return first
                if not self.declared(key):
                    raise FaultError("malformed_call", at, "token start")
                self.repair("spaced_equals", first, "token start")
                return first
        self.repair("empty_value", at, "token start")
        return None

    def quoted(self, place: Place, start: int) -> int:
        quote, kept, at = self.text[start], 0, start + 1
        if not self.strict and self.text.startswith(3 * quote, start):
            return self.triple(place, start)
        while True:
            if at >= len(self.text):
                raise CutError("unterminated_value")
            if self.text[at] == "\\":
                at += 2
            elif self.text[at] != quote:
                at += 1
            elif self.strict or self.quote_closes(start, at + 1, bool(kept)):
                break
            else:
                if not kept:
                    self.closed_on_its_line(at + 1)
                elif self.otherwise_open(start, at) == Quote(quote) and self.ends_in_a_key(
                    self.text[start + 1 : at]
                ):
                    raise FaultError("malformed_call", at + 1, "opened", quote=quote)
                kept = kept or at
                at += 1
        raw, end = self.text[start + 1 : at], at + 1
        if kept:
            self.repair("inner_quotes", end, "after")
            open_with = self.otherwise_open(start, at)
            if open_with:
                raise FaultError("malformed_call", end, "quoted", quote=open_with)
            if OPEN in raw or CLOSE[:-1] in raw:
                raise FaultError("unterminated_value", end, "after")
        behind = skip_ws(self.text, end)
        if not self.strict and not kept and self.opens_line(end, behind) and self.ends_in_a_key(raw):
            raise FaultError("malformed_call", end, "quoted", quote=quote)
        self.give(place, unescape(raw, VALUE_ESCAPES), True, end)
        junk = "inner_quotes" if self.strict else "malformed_call"
        if self.strict and not raw and self.text[end : end + 1] in ('"', "'"):
            junk = "quote_style"
        return self.behind_value(end, junk, "after empty" if not raw else "after")

    def triple(self, place: Place, start: int) -> int:
        """A text in three quotes, as in Python."""
        end = re.compile(rf"(?:\\.|[^\\])*?{3 * self.text[start]}", re.DOTALL).match(self.text, start + 3)
        if end is None:
            raise CutError("unterminated_value")
        self.repair("quote_style", start, "value start")
        self.give(place, unescape(end[0][:-3], VALUE_ESCAPES), True, end.end())
        return self.behind_value(end.end(), "malformed_call")

    def otherwise_open(self, start: int, at: int) -> Quote | None:
        """The quote that is open after the one at `at`, had the first kept one ended the value."""
        # The value's escapes are characters that open nothing.
        escape = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[\"'\\nrt]|)")

        def plain(match: re.Match[str]) -> str:
            char = unescape(match[0], VALUE_ESCAPES) if match[0].startswith("\\u") else ""
            return char if char.isalnum() else "\0"

        return opened_behind(escape.sub(plain, self.text[start + 1 : at]), self.text[start])

    def ends_in_a_key(self, raw: str) -> bool:
        match = re.search(r"([\w$.-]+) *=\Z", unescape(raw, VALUE_ESCAPES))
        key = key_at(match[1] + "=", 0) if match else None
        return key is not None and key is not CUT_KEY and self.declared(key)

    def closed_on_its_line(self, at: int) -> None:
        """Section 6: the call ends on this line, and the next line begins with another."""
        window = self.text[at : at + 256]
        match = re.match(r"[^\n\r\"'()\[\]{}]*(?=[\n\r])", window)
        if match is None:
            return
        close = match[0].rfind(CLOSE[:-1])
        end = close_at(match[0], close) if close >= 0 else -1
        if end < 0 or match[0][end:].strip(" \t"):
            return
        behind = skip_ws(window, end)
        rest = self.text[at + behind :]
        if not rest.startswith(OPEN):
            return
        name = re.match(r"[^\s<{\"'=]{0,129}(?=[\s<{\"'=])", rest[len(OPEN) : len(OPEN) + 130])
        if name and (name[0] in self.tools or tool_style(self.tools, name[0])):
            raise FaultError("malformed_call", at + close, "token start")

    def trailing(self, at: int) -> int:
        """The length of the punctuation here, if then the call is closed; else 0."""
        match = re.match(r"(/>|[,;>])[ \t\r\n]*", self.text[at:])
        if match is None:
            if self.is_cut(at, "/>"):
                self.undecided()
            return 0
        behind = at + match.end()
        if behind == len(self.text) or self.is_cut(behind, CLOSE):
            self.undecided()
        return len(match[1]) if self.closes(behind) else 0

    def quote_closes(self, start: int, at: int, kept: bool) -> bool:
        """The text after a quote decides whether it ends its value."""
        behind = skip_ws(self.text, at)
        if behind == len(self.text):
            self.undecided()
            return True
        if self.closes(behind) or self.opens_line(at, behind):
            return True
        if behind == at:
            if self.is_cut(at, CLOSE):
                self.undecided()
            raw = self.text[start + 1 : at - 1]
            if self.trailing(at) and not kept and OPEN not in raw and CLOSE[:-1] not in raw:
                return True
            if self.text[at] != ",":
                return False
            behind = skip_ws(self.text, at + 1)
            if behind == len(self.text):
                self.undecided()
        elif self.is_cut(behind, CLOSE, OPEN):
            self.undecided()
        key = self.equals_at(behind)
        if key is CUT_KEY:
            self.undecided()
        if key is None:
            return not kept and self.follows_colon(at)
        return key is not CUT_KEY and (not kept or self.declared(key))

    def behind_value(self, at: int, junk: str, state: str = "after") -> int:
        """After a quoted value or JSON."""
        if self.text[at : at + 1] in ("", *WS) or self.closes(at):
            return at
        if self.is_cut(at, CLOSE):
            self.undecided()
        trailing = self.trailing(at)
        if trailing:
            self.repair("trailing_characters", at, "after")
            return at + trailing
        if self.text[at] == ",":
            key = self.equals_at(skip_ws(self.text, at + 1))
            if key is CUT_KEY:
                self.undecided()
            elif key is not None or self.follows_colon(at):
                self.repair("comma_separator", at, "after")
                return at + 1
            state = "after"
        raise FaultError(junk, at, state)

    def fits_string(self, of: Type) -> bool:
        """Whether a string is allowed here, or as the first item of an array here."""
        return takes_text(of) or (collects(of) and takes_text(self.tool.schemas.item(of, 0)))

    def bare(self, place: Place, start: int, colon: bool) -> int:
        open_ended = self.fits_string(place.type) and bool(properties(self.tool.type)) and not colon
        taken = False
        at = start
        while not self.closes(at):
            if at == len(self.text):
                raise CutError  # It may be half a value.
            char, value = self.text[at], self.text[start:at]
            runs_into_call = taken and OPEN in value
            if self.is_cut(at, OPEN, CLOSE):
                raise CutError
            entity = (
                char == ";" and quotes_open(value + char, opens=True) and not quotes_open(value, opens=True)
            )
            if char in ",;>/" and value and not runs_into_call and not entity:
                length = 2 if char == "/" else 1
                if self.text[at:] in (",", ";", ">", "/", "/>"):
                    raise CutError
                follows = self.text[at + length : at + length + 1]
                if (char != "/" or self.text[at + 1] == ">") and follows in (*WS, "<"):
                    behind = skip_ws(self.text, at + length)
                    trailing = self.trailing(at)
                    pair = char == "," and self.is_pair(behind, only_declared=taken)
                    pair = pair or (char == "," and self.equals_at(behind) is None and self.follows_colon(at))
                    if (trailing and not set("<\"'") & set(value)) or pair:
                        self.end_bare(place, start, at, taken)
                        self.open_ended = open_ended
                        if pair:
                            self.repair("comma_separator", at, "after")
                            return at + 1
                        self.repair("trailing_characters", at, "after")
                        return at + trailing
            if char not in WS:
                at += 1
                continue
            if not open_ended or self.strict or runs_into_call:
                break
            behind = skip_ws(self.text, at)
            at_end = behind == len(self.text)
            if at_end or self.is_cut(behind, CLOSE, OPEN):
                self.undecided()
            pair = self.is_pair(behind, only_declared=taken)
            if at_end or pair or self.closes(behind) or has_line_break(self.text[at:behind]):
                break
            self.repair("unquoted_spaces", behind, "token start")
            taken = True
            at = behind
        self.end_bare(place, start, at, taken)
        self.bare_mark, self.open_ended = "<" in self.text[start:at], open_ended
        return at

    def end_bare(self, place: Place, start: int, end: int, taken: bool) -> None:
        value = self.text[start:end]
        open_with = quotes_open(value, opens=True)
        if taken and OPEN in value:
            raise FaultError("malformed_call", end, "quoted" if open_with else "bare word", quote=open_with)
        if open_with:
            raise FaultError("malformed_call", end, "quoted", quote=open_with)
        self.give(place, value, False, end)
