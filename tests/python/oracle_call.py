"""One call, read by the oracle: the body, its values, and where they go."""

import re
from dataclasses import dataclass

from oracle_parts import Items, Members, Node, Place, Tool, dump, is_declared, put, tool_named, tool_style
from oracle_text import (
    CLOSE,
    CUT_KEY,
    OPEN,
    QUOTES,
    VALUE_ESCAPES,
    WS,
    Cut,
    Fault,
    JsonReader,
    Key,
    Segment,
    end_of_brackets,
    end_of_quotes,
    has_line_break,
    joins,
    key_at,
    read_on,
    skip_ws,
    unescape,
)
from oracle_types import (
    Path,
    Schema,
    Type,
    allows,
    collects,
    field_path,
    has_kind,
    is_undeclared,
    key_style,
    only_array,
    properties,
    required,
    takes_container,
    takes_text,
)
from oracle_values import Notes, compact, misfit, read_json, read_scalar

WRAPPER = re.compile(r"(?:<json>|```[A-Za-z0-9]*)[ \t\r\n]*(?={)")


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


class CallReader:
    """One committed call. `complete`: the message is known not to be cut."""

    def __init__(self, text: str, start: int, tools: dict[str, Schema], strict: bool, complete: bool) -> None:
        self.text, self.start, self.tools, self.strict, self.complete = text, start, tools, strict, complete
        self.pieces = Members()  # what pairs give
        self.arguments: Node = self.pieces  # a text where the body is an object
        self.repairs: list[str] = []
        self.problems: list[tuple[str, Path]] = []

    def read(self, written: str | None, at: int) -> Call | Error:
        name = written
        try:
            self.tool = self.find_tool(written, at)
            name = self.tool.name
            end = self.body(at)
            self.missing(self.tool.type, self.arguments, ())
            problems = tuple((kind, field_path(path)) for kind, path in self.problems)
            return Call(name, dump(self.arguments), self.start, end, tuple(self.repairs), problems)
        except Fault as fault:
            end = read_on(self.text, fault.at, fault.state, fault.depth, fault.quote)
            return Error(fault.kind, name, self.start, end)
        except Cut as cut:
            kind = cut.kind if self.complete else "incomplete_call"
            return Error(kind, name, self.start, len(self.text))

    def repair(self, name: str, at: int, state: str) -> None:
        """A near miss: in strict mode an error of that name."""
        if self.strict:
            raise Fault(name, at, state)
        if name not in self.repairs:
            self.repairs.append(name)

    def find_tool(self, written: str | None, at: int) -> Tool:
        if written is None:
            raise Fault("malformed_call", at, "token start")
        tool = tool_named(self.tools, written)
        if tool is not None:
            return tool
        near = tool_style(self.tools, written)
        tool = tool_named(self.tools, near) if near else None
        if tool is None:
            raise Fault("unknown_tool", at, "token start")
        self.repair("tool_style", at, "token start")
        return tool

    def missing(self, of: Type, node: Node, path: Path) -> None:
        """Required fields that are missing from objects that were collected piece by piece."""
        if isinstance(node, Members):
            for key, value in node.by_key.items():
                self.missing(self.tool.schemas.member(of, key), value, (*path, key))
            names = [name for name in required(of) if name not in node.by_key]
            self.problems += [("missing_required", (*path, name)) for name in names]
        elif isinstance(node, Items):
            for index, value in enumerate(node.items):
                self.missing(self.tool.schemas.item(of, index), value, (*path, index))

    # What stands ahead

    def closes(self, at: int) -> bool:
        return self.text.startswith(CLOSE, at)

    def is_cut(self, at: int, *tags: str) -> bool:
        """Whether the message ends in the middle of one of these."""
        rest = self.text[at:]
        return any(len(rest) < len(tag) and tag.startswith(rest) for tag in tags)

    def opens_line(self, ws: int, at: int) -> bool:
        """OPEN at the start of a line; the ws run in front begins at `ws`."""
        return self.text.startswith(OPEN, at) and has_line_break(self.text[ws:at])

    def declared(self, key: Key) -> bool:
        return is_declared(self.tool.type, key)

    def pair_at(self, at: int, *, only_declared: bool = False) -> Key | None:
        """A key directly before `=`, or a declared key, ws*, `=`. CUT_KEY if the message ended too soon."""
        key = key_at(self.text, at)
        if key is None or key is CUT_KEY:
            return key
        if self.text.startswith("=", key.end):
            return key if not only_declared or self.declared(key) else None
        if not self.declared(key):
            return None
        behind = skip_ws(self.text, key.end)
        if behind == len(self.text):
            return CUT_KEY
        return key if self.text[behind] == "=" else None

    def is_pair(self, at: int, *, only_declared: bool = False) -> bool:
        return self.pair_at(at, only_declared=only_declared) not in (None, CUT_KEY)

    def open_quote(self, at: int) -> Cut:
        """The message ended in what could have become a key."""
        return Cut("unterminated_value" if self.unclosed_quote(at) else "incomplete_call")

    def unclosed_quote(self, at: int) -> bool:
        """Whether a key that the end of the message cuts is cut in a quoted segment."""
        while at < len(self.text):
            if self.text[at] in QUOTES:
                end = end_of_quotes(self.text, at)
                if end is None:
                    return True
                at = end
            else:
                at += 1
        return False

    def token_end(self, at: int) -> int:
        while at < len(self.text) and self.text[at] not in WS and not self.closes(at):
            at += 1
        return at

    # The body

    def body(self, at: int) -> int:
        """Reads all behind the name, and returns where the call ends."""
        first = skip_ws(self.text, at)
        if self.text.startswith("{", first):
            return self.between(self.object_body(first), pairs=False)
        wrapper = WRAPPER.match(self.text, first)
        if wrapper is None:
            return self.between(at, pairs=True)
        self.repair("json_wrapper", wrapper.end(), "token start")
        behind = self.object_body(wrapper.end())
        close = "</json>" if wrapper[0].startswith("<") else "```"
        place = skip_ws(self.text, behind)
        if self.is_cut(place, close, CLOSE):
            raise Cut
        if not self.text.startswith(close, place):
            raise Fault("malformed_call", behind, "after")
        return self.between(place + len(close), pairs=False)

    def object_body(self, at: int) -> int:
        reader = JsonReader(self.text, self.strict)
        tree, end = reader.value(at)
        if reader.relaxed:
            self.repair("relaxed_json", end, "after")
        notes = Notes()
        self.arguments = read_json(self.tool.schemas, self.tool.type, tree, (), notes)
        self.take_notes(notes, end)
        self.problems += notes.problems
        return end

    def between(self, at: int, *, pairs: bool) -> int:
        """From behind the name or a value to the end of the call."""
        while True:
            ws, at = at, skip_ws(self.text, at)
            if self.closes(at):
                return at + len(CLOSE)
            closed_here = not {"unquoted_spaces", "inner_quotes"} & set(self.repairs)
            if at == len(self.text):
                if not (self.complete and closed_here):
                    raise Cut
                self.repair("missing_close", at, "token start")
                return at
            if self.opens_line(ws, at) and closed_here:
                self.repair("missing_close", at, "token start")
                return at
            if self.is_cut(at, CLOSE) or (has_line_break(self.text[ws:at]) and self.is_cut(at, OPEN)):
                raise Cut
            key = self.pair_at(at) if pairs else None
            if key is CUT_KEY:
                raise self.open_quote(at)
            if key is None:
                found, state = (at, "token start") if pairs else (ws, "after")
                raise Fault("malformed_call", found, state)
            equals = skip_ws(self.text, key.end)
            if equals > key.end:
                self.repair("spaced_equals", at, "token start")
            at = self.pair(key, equals + 1)

    def pair(self, key: Key, at: int) -> int:
        """Behind the `=`; returns the place behind the value and its comma."""
        place = self.place(key.segments, at)
        value = self.behind_equals(key, at)
        if value is None:
            self.give(place, "", True, at)
            return at
        char = self.text[value]
        if char in QUOTES:
            return self.quoted(place, value)
        if char in "{[":
            if takes_container(place.type) or not takes_text(place.type):
                return self.json(place, value)
            if self.text[value : value + 2] in ('{"', '["', "[{"):
                end = end_of_brackets(self.text, value)
                if end is None:
                    raise Cut("unterminated_value")
                self.give(place, self.text[value:end], False, end)
                return self.behind_value(end, "malformed_call")
        return self.bare(place, value)

    def behind_equals(self, key: Key, at: int) -> int | None:
        """Where the value begins; None if it is empty."""
        first = skip_ws(self.text, at)
        if first == len(self.text) and not (self.complete and first > at):
            raise Cut
        if first == len(self.text) or self.closes(first) or self.opens_line(at, first):
            self.repair("empty_value", at, "token start")
            return None
        if first == at:
            return at
        if self.is_cut(first, CLOSE, OPEN):
            raise Cut
        pair = self.pair_at(first)
        if pair is CUT_KEY:
            raise self.open_quote(first)
        if pair is not None:
            self.repair("empty_value", at, "token start")
            return None
        if not self.declared(key):
            raise Fault("malformed_call", at, "token start")
        self.repair("spaced_equals", first, "token start")
        return first

    # Values

    def quoted(self, place: Place, start: int) -> int:
        quote, kept, at = self.text[start], False, start + 1
        while True:
            if at >= len(self.text):
                raise Cut("unterminated_value")
            if self.text[at] == "\\":
                at += 2
            elif self.text[at] != quote:
                at += 1
            elif self.strict or self.quote_closes(at + 1, kept):
                break
            else:
                kept = True
                at += 1
        raw, end = self.text[start + 1 : at], at + 1
        if kept:
            self.repair("inner_quotes", end, "after")
            if OPEN in raw or CLOSE in raw:
                raise Fault("unterminated_value", end, "after")
        self.give(place, unescape(raw, VALUE_ESCAPES), True, end)
        return self.behind_value(end, "inner_quotes" if self.strict else "malformed_call")

    def quote_closes(self, at: int, kept: bool) -> bool:
        """What stands behind a quote decides whether it ends its value."""
        behind = skip_ws(self.text, at)
        if behind == len(self.text):
            if not self.complete:
                raise Cut
            return True
        if self.closes(behind) or self.opens_line(at, behind):
            return True
        if behind == at:
            if self.text[at] != ",":
                return False
            behind = skip_ws(self.text, at + 1)
        key = key_at(self.text, behind)
        if key is None or key is CUT_KEY or (kept and not self.declared(key)):
            return False
        return self.text.startswith("=", skip_ws(self.text, key.end))

    def json(self, place: Place, start: int) -> int:
        reader = JsonReader(self.text, self.strict)
        tree, end = reader.value(start)
        if reader.relaxed:
            self.repair("relaxed_json", end, "after")
        notes = Notes()
        text = read_json(self.tool.schemas, place.type, tree, place.path, notes)
        self.store(place, text, notes, end)
        return self.behind_value(end, "malformed_call")

    def behind_value(self, at: int, junk: str) -> int:
        """Behind a quoted value or JSON."""
        if self.text[at : at + 1] in ("", *WS) or self.closes(at):
            return at
        if self.is_cut(at, CLOSE):
            raise Cut
        if self.text[at] == ",":
            behind = skip_ws(self.text, at + 1)
            pair = self.pair_at(behind)
            if pair is CUT_KEY:
                raise self.open_quote(behind)
            if pair is not None:
                self.repair("comma_separator", at, "after")
                return at + 1
        raise Fault(junk, at, "after")

    def fits_string(self, of: Type) -> bool:
        """Whether a string can stand here, or in an array here."""
        items = self.tool.schemas.item_types(of) if has_kind(of, "array") else []
        return any(map(takes_text, (of, *items)))

    def bare(self, place: Place, start: int) -> int:
        spaces = self.fits_string(place.type) and bool(properties(self.tool.type))
        taken = False
        end = self.token_end(start)
        while not self.closes(end):
            if end == len(self.text):
                used = taken or {"unquoted_spaces", "inner_quotes"} & set(self.repairs)
                if not self.complete or used or "<" in self.text[start:end]:
                    raise Cut
                break
            behind = skip_ws(self.text, end)
            comma = self.text[end - 1] == "," and end - start > 1
            if comma and self.is_pair(behind, only_declared=taken):
                self.repair("comma_separator", end - 1, "after")
                self.give(place, self.text[start : end - 1], False, end)
                return end
            if not spaces or has_line_break(self.text[end:behind]) or self.closes(behind):
                break
            if behind == len(self.text):
                if not self.complete:
                    raise Cut
                break
            if self.is_pair(behind, only_declared=taken):
                break
            next_end = self.token_end(behind)
            if next_end == len(self.text):
                raise Cut
            self.repair("unquoted_spaces", behind, "token start")
            taken, end = True, next_end
            if OPEN in self.text[start:end]:
                raise Fault("malformed_call", end, "bare word")
        self.give(place, self.text[start:end], False, end)
        return end

    # Places

    def place(self, segments: tuple[Segment, ...], at: int) -> Place:
        """Follows a key from the root, making the objects and arrays on the way; `at` is behind its `=`."""
        node: Members | Items = self.pieces
        of, schemas = self.tool.type, self.tool.schemas
        path: Path = ()
        rest = list(segments)
        while True:
            slot: str | int
            child: Node | None
            if isinstance(node, Members):
                slot, count = self.member_key(of, rest, at)
                child = node.by_key.get(slot)
                if child is None and is_undeclared(of, slot):
                    self.problems.append(("unknown_field", (*path, slot)))
                of = schemas.member(of, slot)
            else:
                slot, count = int(rest[0].text), 1
                if slot > len(node.items):
                    raise Fault("malformed_call", at, "value start")
                child = node.items[slot] if slot < len(node.items) else None
                of = schemas.item(of, slot)
            path, rest = (*path, slot), rest[count:]
            if not rest:
                return Place(node, slot, child, of, path)
            number = rest[0].kind == "bare" and re.fullmatch("[0-9]{1,9}", rest[0].text) is not None
            is_index = rest[0].kind == "index" or (number and only_array(of))
            if child is None:
                child = Items() if is_index else Members()
                put(node, slot, child)
                if not allows(of, "array" if is_index else "object"):
                    misfit(of, path, self.problems)
            if isinstance(child, str) or isinstance(child, Items) != is_index:
                raise Fault("duplicate_argument", at, "value start")
            node = child

    def member_key(self, of: Type, segments: list[Segment], at: int) -> tuple[str, int]:
        """The name of the member that a key means here, and how many segments that took."""
        first = segments[0]
        names = properties(of)
        if first.kind == "bare":
            for name, count in joins(segments):
                if name in names:
                    return name, count
            near = key_style(of, first.text, in_json=False)
            if near is not None:
                self.repair("key_style", at, "value start")
                return near, 1
        return first.text, 1

    def give(self, place: Place, text: str, quoted: bool, end: int) -> None:
        """A quoted text or a bare word, complete at `end`."""
        notes = Notes()
        first = len(place.taken.items) if isinstance(place.taken, Items) and collects(place.type) else 0
        value = read_scalar(self.tool.schemas, place.type, text, quoted, place.path, notes, first)
        self.store(place, value, notes, end)

    def take_notes(self, notes: Notes, end: int) -> None:
        for event in notes.events:
            if event == "duplicate_argument":
                raise Fault(event, end, "after")
            self.repair(event, end, "after")

    def store(self, place: Place, value: str | list[str], notes: Notes, end: int) -> None:
        self.take_notes(notes, end)
        pieces = isinstance(value, list) and collects(place.type)
        if pieces and isinstance(place.taken, Items):
            place.taken.items += value
        elif place.taken is None:
            put(place.container, place.slot, Items(list(value)) if pieces else compact(value))
        elif dump(place.taken) != compact(value):
            raise Fault("duplicate_argument", end, "after")
        else:
            return  # the same again
        self.problems += notes.problems
