"""One call, read by the oracle: its tool, the form of its body, and its end."""

import re
from dataclasses import dataclass
from typing import Any

from oracle_pairs import PairReader
from oracle_parts import Tool, dump, tool_named, tool_style
from oracle_text import (
    CLOSE,
    CUT_KEY,
    OPEN,
    CutError,
    FaultError,
    close_at,
    has_line_break,
    read_on,
    skip_ws,
)
from oracle_types import (
    Schema,
    field_path,
)

WRAPPER = re.compile(r"(?:<json>|```[A-Za-z0-9]*)[ \t\r\n]*(?={)")
_IN_PARENTHESES = re.compile(r"\([ \t\r\n]*(?={)")


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
    """What is committed as a `malformed_call`, after its opening."""

    name: str | None
    at: int
    closers: tuple[str, ...] = ()


class CallReader(PairReader):
    """One committed call. `complete`: the message is known not to be cut."""

    # What ends a call that was opened in another spelling and has failed.
    closers: tuple[str, ...] = ()

    def __init__(self, text: str, start: int, tools: dict[str, Schema], strict: bool, complete: bool) -> None:
        super().__init__(text, tools, strict, complete)
        self.start = start

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
        except FaultError as fault:
            end = read_on(self.text, fault.at, fault.state, fault.depth, fault.quote, self.closers)
            return Error(fault.kind, self.name, self.start, end)
        except CutError as cut:
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
            raise FaultError("unknown_tool", at, "token start")
        self.name = tool.name
        self.repair("tool_style", at, "token start")
        return tool

    def body(self, at: int) -> int:
        """Reads everything after the name, and returns where the call ends."""
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

    def keywords(self, at: int) -> int:
        """Section 5, `call_style`: keyword arguments, which are not JSON."""
        self.repair("call_style", at, "token start")

        def repair(name: str, *place: Any) -> None:
            if name != "relaxed_json":
                self.repair(name, *place)

        self.arguments, end = self.in_parentheses(self.tool.type, at, (), repair, keywords=True)
        return self.between(end, pairs=False)

    def between(self, at: int, *, pairs: bool) -> int:
        """From after the name or a value to the end of the call."""
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
                    raise CutError
                self.repair("missing_close", at, "token start")
                return at
            if self.opens_line(ws, at) and closed_here:
                self.repair("missing_close", at, "token start")
                return at
            if self.is_cut(at, CLOSE, OPEN):
                if pairs:
                    raise CutError
                self.undecided()
            key = self.pair_at(at) if pairs else None
            if key is CUT_KEY:
                raise CutError
            if pairs and self.text[at] == "(" and self.equals_at(at) is not None:
                raise FaultError("malformed_call", at, "token start")
            colon = self.colon_pair(at) if pairs and self.equals_at(at) is None else None
            if colon is not None:
                self.repair("colon_separator", at, "token start")
                self.bare_mark = self.open_ended = False
                at = self.pair(*colon, colon=True)
                continue
            if key is None:
                if self.strict and self.open_ended and not line:
                    raise FaultError("unquoted_spaces", at, "token start")
                raise FaultError("malformed_call", at if pairs else ws, "token start" if pairs else "after")
            equals = skip_ws(self.text, key.end)
            if equals > key.end:
                self.repair("spaced_equals", at, "token start")
            self.bare_mark = self.open_ended = False
            at = self.pair(key, equals + 1)
