"""One call, read by the oracle: the body, its values, and where they go."""

import re
from dataclasses import dataclass
from typing import Any

from oracle_arguments import Arguments
from oracle_json import JsonReader, Repair
from oracle_parts import Items, Place, Tool, dump, is_declared, tool_named, tool_style
from oracle_text import (
    CLOSE,
    CUT_KEY,
    OPEN,
    QUOTES,
    VALUE_ESCAPES,
    WS,
    Cut,
    Fault,
    Key,
    close_at,
    colon_after,
    end_of_brackets,
    has_line_break,
    key_at,
    opened_behind,
    quotes_open,
    read_on,
    skip_ws,
    unescape,
)
from oracle_types import (
    Path,
    Schema,
    Type,
    collects,
    field_path,
    properties,
    takes_container,
    takes_text,
    takes_tuples,
)
from oracle_values import Notes

WRAPPER = re.compile(r"(?:<json>|```[A-Za-z0-9]*)[ \t\r\n]*(?={)")
_IN_PARENTHESES = re.compile(r"\([ \t\r\n]*(?={)")
# What models write instead of a quote, and what ends a value in typographic quotes.
_LIKE_QUOTES = ("```", "&quot;", "&#34;", "&apos;", "&#39;", "<<", '\\"', "\\'")
_TYPOGRAPHIC = {"“": "”", "‘": "’"}


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str
    start: int
    end: int
    repairs: tuple[str, ...]
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Error:
    kind: str
    name: str | None
    start: int
    end: int


@dataclass(frozen=True)
class Opened:
    """A committed call: its name as written, where that ends, and what the opening has of other forms."""

    written: str
    at: int
    tool: str | None = None  # the declared one that a decorated name means
    repairs: tuple[str, ...] = ()
    closers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bad:
    """What is committed as a `malformed_call`, behind its opening."""

    name: str | None
    at: int
    closers: tuple[str, ...] = ()


class CallReader(Arguments):
    """One committed call. `complete`: the message is known not to be cut."""

    # What ends a call that was opened in another spelling and has failed.
    closers: tuple[str, ...] = ()

    def __init__(self, text: str, start: int, tools: dict[str, Schema], strict: bool, complete: bool) -> None:
        super().__init__(strict)
        self.text, self.start, self.tools, self.complete = text, start, tools, complete
        # The last value was bare and has the first character of a delimiter, or could have gone on.
        self.bare_mark = self.open_ended = False

    def read(self, opened: Opened) -> Call | Error:
        self.name: str | None = opened.written
        self.closers = opened.closers
        try:
            self.tool = self.find_tool(opened.written, opened.tool, opened.at)
            for repair in opened.repairs:
                self.repair(repair, opened.at, "token start")
            end = self.body(opened.at)
            self.missing(self.tool.type, self.arguments, ())
            problems = dict.fromkeys((kind, field_path(path)) for kind, path in self.problems)
            arguments = dump(self.arguments)
            return Call(self.tool.name, arguments, self.start, end, tuple(self.repairs), tuple(problems))
        except Fault as fault:
            end = read_on(self.text, fault.at, fault.state, fault.depth, fault.quote, self.closers)
            return Error(fault.kind, self.name, self.start, end)
        except Cut as cut:
            kind = cut.kind if self.complete else "incomplete_call"
            return Error(kind, self.name, self.start, len(self.text))

    def bad(self, attempt: Bad) -> Error:
        at, closers = attempt.at, attempt.closers
        if closers[:1] == ("/>",):
            # In the opening tag; after it `/>` is content.
            at = read_on(self.text, at, "token start", closers=(">",))
            if self.text[:at].lower().endswith(closers) or at == len(self.text):
                return Error("malformed_call", attempt.name, self.start, at)
            closers = closers[1:]
        end = read_on(self.text, at, "token start", closers=closers)
        return Error("malformed_call", attempt.name, self.start, end)

    def find_tool(self, written: str, meant: str | None, at: int) -> Tool:
        tool = None if meant else tool_named(self.tools, written)
        if tool is not None:
            return tool
        near = meant or tool_style(self.tools, written)
        tool = tool_named(self.tools, near) if near else None
        if tool is None:
            raise Fault("unknown_tool", at, "token start")
        self.name = tool.name
        self.repair("tool_style", at, "token start")
        return tool

    # Lookahead

    def closes(self, at: int) -> bool:
        return close_at(self.text, at) >= 0

    def undecided(self) -> None:
        """The end of the message came too soon: it decides, if it is known to be the end."""
        if not self.complete:
            raise Cut

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
        """The same in front of what the end of a complete message decides."""
        key = self.pair_at(at, only_declared=only_declared)
        if key is CUT_KEY:
            self.undecided()
        return key is not None and key is not CUT_KEY

    # The body

    def body(self, at: int) -> int:
        """Reads all behind the name, and returns where the call ends."""
        first = skip_ws(self.text, at)
        if self.text.startswith("{", first):
            return self.between(self.object_body(first), pairs=False)
        wrapper = WRAPPER.match(self.text, first)
        if self.tools and self.text.startswith("(", first):
            wrapper = _IN_PARENTHESES.match(self.text, first)
            if wrapper is None:
                return self.keywords(first)
        if wrapper is None:
            return self.between(at, pairs=True)
        self.repair("json_wrapper", wrapper.end(), "token start")
        behind = self.object_body(wrapper.end())
        close = {"<": "</json>", "`": "```", "(": ")"}[wrapper[0][0]]
        place = skip_ws(self.text, behind)
        if self.text.startswith(close, place):
            behind = place + len(close)
        elif self.is_cut(place, close):
            self.undecided()
        return self.between(behind, pairs=False)

    def object_body(self, at: int) -> int:
        self.arguments, end = self.read_json(self.tool.type, at, ())
        return end

    def read_json(self, of: Type, at: int, path: Path) -> tuple[str, int]:
        notes = Notes()
        text, end = JsonReader(self.text, self.tool.schemas, notes, self.repair).value(of, at, path)
        self.problems += notes.problems
        return text, end

    def keywords(self, at: int) -> int:
        """Section 5, `call_style`: keyword arguments, which are no JSON at all."""
        self.repair("call_style", at, "token start")

        def repair(name: str, *place: Any) -> None:
            if name != "relaxed_json":
                self.repair(name, *place)

        self.arguments, end = self.in_parentheses(self.tool.type, at, (), repair, keywords=True)
        return self.between(end, pairs=False)

    def in_parentheses(
        self, of: Type, at: int, path: Path, repair: Repair, *, keywords: bool = False
    ) -> tuple[str, int]:
        notes = Notes()
        reader = JsonReader(self.text, self.tool.schemas, notes, repair)
        reader.parentheses, reader.keywords = True, keywords
        try:
            text, end = reader.value(of, at, path)
        except Fault as fault:
            if keywords and fault.kind == "invalid_json":
                fault.kind = "malformed_call"
            if fault.state == "bracketed":
                word = self.text[fault.at - 1].isalnum()
                fault.state = "quoted" if fault.quote else "key" if word else "token start"
            raise
        self.problems += notes.problems
        return text, end

    def between(self, at: int, *, pairs: bool) -> int:
        """From behind the name or a value to the end of the call."""
        while True:
            ws, at = at, skip_ws(self.text, at)
            line = has_line_break(self.text[ws:at])
            if self.closes(at):
                end = close_at(self.text, at)
                if end - at != len(CLOSE):
                    self.repair("tag_style", at, "token start")
                return end
            closed_here = not {"unquoted_spaces", "inner_quotes"} & set(self.repairs)
            if at == len(self.text):
                if not (self.complete and closed_here) or self.bare_mark:
                    raise Cut
                self.repair("missing_close", at, "token start")
                return at
            if self.opens_line(ws, at) and closed_here:
                self.repair("missing_close", at, "token start")
                return at
            if self.is_cut(at, CLOSE, OPEN):
                if pairs:
                    raise Cut
                self.undecided()
            key = self.pair_at(at) if pairs else None
            if key is CUT_KEY:
                raise Cut
            if pairs and self.text[at] == "(" and self.equals_at(at) is not None:
                raise Fault("malformed_call", at, "token start")
            colon = self.colon_pair(at) if pairs and self.equals_at(at) is None else None
            if colon is not None:
                self.repair("colon_separator", at, "token start")
                self.bare_mark = self.open_ended = False
                at = self.pair(*colon, colon=True)
                continue
            if key is None:
                if self.strict and self.open_ended and not line:
                    raise Fault("unquoted_spaces", at, "token start")
                raise Fault("malformed_call", at if pairs else ws, "token start" if pairs else "after")
            equals = skip_ws(self.text, key.end)
            if equals > key.end:
                self.repair("spaced_equals", at, "token start")
            self.bare_mark = self.open_ended = False
            at = self.pair(key, equals + 1)

    def colon_pair(self, at: int) -> tuple[Key, int] | None:
        """The declared key here and the place after its colon."""
        found = next((found for found in colon_after(self.text, at) if self.declared(found[0])), None)
        if found is not None and found[1] == len(self.text):
            self.undecided()
        return found

    def follows_colon(self, at: int) -> bool:
        """Whether the text after a value goes on with another pair in which a colon stands for `=`."""
        behind = skip_ws(self.text, at + self.text.startswith(",", at))
        return "colon_separator" in self.repairs and behind > at and self.colon_pair(behind) is not None

    def pair(self, key: Key, at: int, *, colon: bool = False) -> int:
        """Behind the `=`; returns the place behind the value and its comma."""
        place = self.place(key.segments, at)
        appends = isinstance(place.taken, Items) and collects(place.type)
        if not (place.taken is None or isinstance(place.taken, str) or appends):
            raise Fault("duplicate_argument", at, "value start")
        value = self.behind_equals(key, at, colon)
        if value is None:
            self.give(place, "", True, at)
            return at
        char = self.text[value]
        if self.text.startswith(_LIKE_QUOTES, value):
            raise Fault("malformed_call", at, "value start")
        if self.is_cut(value, *_LIKE_QUOTES):
            self.undecided()
        if char == "(" and takes_tuples(place.type):
            self.repair("relaxed_json", at, "value start")
            if appends:
                raise Fault("duplicate_argument", value, "value start")
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
                    raise Fault("duplicate_argument", value, "value start")
                text, end = self.read_json(place.type, value, place.path)
                self.store(place, text, Notes(), end)
                return self.behind_value(end, "malformed_call")
            if self.text[value : value + 2] in ('{"', '["', "[{"):
                end_or_none = end_of_brackets(self.text, value)
                if end_or_none is None:
                    raise Cut("unterminated_value")
                self.give(place, self.text[value:end_or_none], True, end_or_none)
                return self.behind_value(end_or_none, "malformed_call")
        return self.bare(place, value, colon)

    def typographic(self, place: Place, start: int) -> int:
        close, first = _TYPOGRAPHIC[self.text[start]], CLOSE[0]
        ends = re.compile(rf"{close}(?=[ \t\r\n,;>/{first}])").search(self.text, start)
        if ends is None:
            raise Cut("unterminated_value")
        value = self.text[start + 1 : ends.start()]
        open_with = quotes_open(value, opens=True)
        if open_with:
            raise Fault("malformed_call", ends.start(), "quoted", quote=open_with)
        self.give(place, value, True, ends.end())
        return self.behind_value(ends.end(), "malformed_call")

    def behind_equals(self, key: Key, at: int, colon: bool = False) -> int | None:
        """Where the value begins; None if it is empty."""
        first = skip_ws(self.text, at)
        if first == len(self.text):
            if first == at:
                raise Cut
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
                    raise Fault("malformed_call", at, "token start")
                self.repair("spaced_equals", first, "token start")
                return first
        self.repair("empty_value", at, "token start")
        return None

    # Values

    def quoted(self, place: Place, start: int) -> int:
        quote, kept, at = self.text[start], 0, start + 1
        if not self.strict and self.text.startswith(3 * quote, start):
            return self.triple(place, start)
        while True:
            if at >= len(self.text):
                raise Cut("unterminated_value")
            if self.text[at] == "\\":
                at += 2
            elif self.text[at] != quote:
                at += 1
            elif self.strict or self.quote_closes(start, at + 1, bool(kept)):
                break
            else:
                if not kept:
                    self.closed_on_its_line(at + 1)
                elif self.otherwise_open(start, at) == quote and self.ends_in_a_key(
                    self.text[start + 1 : at]
                ):
                    raise Fault("malformed_call", at + 1, "opened", quote=quote)
                kept = kept or at
                at += 1
        raw, end = self.text[start + 1 : at], at + 1
        if kept:
            self.repair("inner_quotes", end, "after")
            open_with = self.otherwise_open(start, at)
            if open_with:
                raise Fault("malformed_call", end, "quoted", quote=open_with)
            if OPEN in raw or CLOSE[:-1] in raw:
                raise Fault("unterminated_value", end, "after")
        behind = skip_ws(self.text, end)
        if not self.strict and not kept and self.opens_line(end, behind) and self.ends_in_a_key(raw):
            raise Fault("malformed_call", end, "quoted", quote=quote)
        self.give(place, unescape(raw, VALUE_ESCAPES), True, end)
        junk = "inner_quotes" if self.strict else "malformed_call"
        if self.strict and not raw and self.text[end : end + 1] in ('"', "'"):
            junk = "quote_style"
        return self.behind_value(end, junk, "after empty" if not raw else "after")

    def triple(self, place: Place, start: int) -> int:
        """A text in three quotes, as in Python."""
        end = re.compile(rf"(?:\\.|[^\\])*?{3 * self.text[start]}", re.DOTALL).match(self.text, start + 3)
        if end is None:
            raise Cut("unterminated_value")
        self.repair("quote_style", start, "value start")
        self.give(place, unescape(end[0][:-3], VALUE_ESCAPES), True, end.end())
        return self.behind_value(end.end(), "malformed_call")

    def otherwise_open(self, start: int, at: int) -> str:
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
            raise Fault("malformed_call", at + close, "token start")

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
        """What stands behind a quote decides whether it ends its value."""
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
        """Behind a quoted value or JSON."""
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
        raise Fault(junk, at, state)

    def fits_string(self, of: Type) -> bool:
        """Whether a string can stand here, or first in an array here."""
        return takes_text(of) or (collects(of) and takes_text(self.tool.schemas.item(of, 0)))

    def bare(self, place: Place, start: int, colon: bool) -> int:
        open_ended = self.fits_string(place.type) and bool(properties(self.tool.type)) and not colon
        taken = False
        at = start
        while not self.closes(at):
            if at == len(self.text):
                raise Cut  # It may be half a value.
            char, value = self.text[at], self.text[start:at]
            runs_into_call = taken and OPEN in value
            if self.is_cut(at, OPEN, CLOSE):
                raise Cut
            if char in ",;>/" and value and not runs_into_call:
                length = 2 if char == "/" else 1
                if self.text[at:] in (",", ";", ">", "/", "/>"):
                    raise Cut
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
            raise Fault("malformed_call", end, "quoted" if open_with else "bare word", quote=open_with)
        if open_with:
            raise Fault("malformed_call", end, "quoted", quote=open_with)
        self.give(place, value, False, end)
