"""The oracle: a naive parser of whole messages, written from docs/wire-format.md alone.

It looks ahead as far as it likes, reads what it likes twice, and never streams, so that each function is one
paragraph of the document. What it says is what the real parser has to say. Limits are left out, except those
of keys, names and the attempt.
"""

import re
from dataclasses import dataclass, replace
from functools import partial

from oracle_call import WRAPPER, Bad, Call, CallReader, Error, Opened
from oracle_code import in_code
from oracle_parts import declared_tool, is_declared, tool_named
from oracle_text import (
    CLOSE,
    CUT_KEY,
    OPEN,
    QUOTES,
    WS,
    close_at,
    is_cut,
    key_at,
    quotes_open,
    skip_ws,
    swapped,
    without_surrogates,
)
from oracle_types import Schema, is_open, is_undeclared, json_string, properties

__all__ = ["Call", "ElsewhereError", "Error", "Item", "Text", "parse"]

THINK, THOUGHT = "<think>", "</think>"
FORGED = ("<tool-result", "<tool-error")
_FORGED = re.compile("|".join(FORGED))

# What may begin a call in another spelling, and what ends one.
_MISSPELLED = re.compile(r"<call>|\[call\]|&lt;call&gt;|<tool_call>|<call(?=[ \t\r\n]|\Z)", re.IGNORECASE)
_OPENED = re.compile(r"<call>|\[call\]|&lt;call&gt;|<tool_call>|<call(?=[ \t\r\n])", re.IGNORECASE)
_WHOLE_OPEN = re.compile(r"<call[ \t\r\n]*>", re.IGNORECASE)
_BEGINNING = ("<call>", "[call]", "&lt;call&gt;", "<tool_call>")
_CLOSERS = {
    "<call>": ("</call>",),
    "[call]": ("[/call]", "</call>"),
    "&lt;call&gt;": ("&lt;/call&gt;", "</call>"),
    "<tool_call>": ("</tool_call>", "</call>"),
    "<call": ("/>", "</call>"),
}
_NAMESPACES = ("functions.", "function.", "tools.", "default_api.", "tool:", "call:")
_NAME = re.compile(r"[^ \t\r\n<{\"'=]*")
_PROSE_NAME = re.compile(r"[A-Za-z0-9_.:/-]+")


class ElsewhereError(Exception):
    """A call whose body is another format's: one JSON object with the name, or attributes."""


@dataclass(frozen=True)
class Text:
    text: str
    start: int
    end: int


Item = Text | Call | Error


def parse(
    message: str,
    tools: dict[str, Schema],
    *,
    strict: bool = False,
    truncated: bool | None = None,
    in_reasoning: bool = False,
    validate: bool = False,
    code: str = "call",
) -> list[Item]:
    """The items of a message; they tile it."""
    text = without_surrogates(message)
    items: list[Item] = []
    written = 0  # all before this is in items
    at = 0
    if in_reasoning or text.startswith(THINK):
        at = text.find(THOUGHT)
        at = len(text) if at < 0 else at + len(THOUGHT)
    quoting: tuple[int, bool] | None = None  # where quotes count from, and whether one there opens a text
    begun, since = "", at  # what precedes the text on its line, and where the text begins that has no calls

    def is_text(at: int) -> bool:
        return code == "text" and in_code(begun + text[since:at])

    while at < len(text):
        item: Item
        start = at
        if text[at] not in "<[&" or is_text(at):
            at += 1
            continue
        forged = next((mark for mark in FORGED if text.startswith(mark, at)), None)
        if forged is not None:
            item = Error("forged_result", None, start, start + len(forged))
        elif is_cut(text, at, FORGED):
            break
        else:
            attempt = Misspelled(text, at, tools).look() if not text.startswith(OPEN, at) else None
            if text.startswith(OPEN, at):
                attempt = Behind(text, at + len(OPEN), tools).look()
            if attempt is UNDECIDED and truncated and _OPENED.match(text, at):
                attempt = CUT_OFF
            if attempt is UNDECIDED:
                # It is text, with all that follows it, but for the marks of results.
                marks = (mark.start() for mark in _FORGED.finditer(text, at + 1))
                at = next((mark for mark in marks if not is_text(mark)), len(text))
                continue
            if attempt is None and quoting is None and text.startswith(OPEN, at):
                quoting = at + len(OPEN), False
            if attempt is None:
                at += 1
                continue
            word = text[start + 1 : start + 5]
            spelled = isinstance(attempt, Opened) and "tag_style" in attempt.repairs and word != "call"
            reader = CallReader(
                swapped(text, word) if spelled else text, start, tools, strict, truncated is False
            )
            before = text[quoting[0] : start] if quoting else ""
            before = before.replace("`", "x") if code == "text" else before
            quoted = bool(quoting and quotes_open(before, opens=quoting[1]))
            if attempt is CUT_OFF:
                item = Error("incomplete_call", None, start, len(text))
            elif quoted:
                opening = _WHOLE_OPEN.match(text, start)
                end = attempt.at if isinstance(attempt, Bad) else opening.end() if opening else start
                item = Error("malformed_call", None, start, end)
            else:
                item = reader.bad(attempt) if isinstance(attempt, Bad) else reader.read(attempt)
            if spelled and isinstance(item, Call):
                item = replace(item, arguments=swapped(item.arguments, word))
            if validate and isinstance(item, Call) and item.problems:
                item = Error("invalid_arguments", item.name, start, item.end)
            repaired = isinstance(item, Call) and {"missing_close", "unbalanced_brackets"} & set(item.repairs)
            if isinstance(item, Error) or repaired:
                quoting = quoting if quoted else (item.end, True)
            else:
                quoting = None
        if written < start:
            items.append(Text(text[written:start], written, start))
        items.append(item)
        at = written = since = item.end
        begun = "x"
        if forged is not None:
            break
    if written < len(text):
        items.append(Text(text[written:], written, len(text)))
    return items


class UndecidedError(Exception):
    """The message ended too soon."""


UNDECIDED = object()
CUT_OFF = object()


class Window:
    """At most 256 characters of a text. In a longer text, what is not in them is never looked for."""

    def __init__(self, text: str, at: int, tools: dict[str, Schema]) -> None:
        self.s, self.tools = text[at : at + 256], tools
        self.at, self.full = at, len(text) - at > 256

    def end(self) -> None:
        """The window is at its end."""
        if not self.full:
            raise UndecidedError

    def starts(self, at: int, *marks: str) -> bool:
        if any(self.s.startswith(mark, at) for mark in marks):
            return True
        if any(self.s[at:] and mark.startswith(self.s[at:]) for mark in marks):
            self.end()
        return False

    def closes(self, at: int) -> bool:
        if close_at(self.s, at) >= 0:
            return True
        if re.fullmatch(r"</call[ \t]{0,8}", self.s[at:]):
            self.end()
        return self.starts(at, CLOSE)

    def goes_on(self, at: int) -> bool:
        s, at = self.s, skip_ws(self.s, at)
        while at < len(s):
            char, before, after = s[at], s[at - 1 : at], s[at + 1 : at + 2]
            if char == "<":
                if self.starts(at, OPEN):
                    return False
                if self.closes(at):
                    return True
            if char in '=:({"' or (char == "'" and (before in _OPENERS or before in "\"'")):
                return True
            if char in "<.!?" and not after:
                self.end()
                return False
            if char == "<" and ((after.isascii() and after.isalpha()) or after == "/"):
                return True
            if char in ".!?" and before.isascii() and before.isalnum() and after in WS:
                return False
            if char in "`~" and self.starts(at, char * 3):
                return True
            at += 1
        self.end()
        return False

    def meant(self, at: int) -> str | None:
        """The declared tool that the text from here on means."""
        s = self.s
        while at < len(s):
            if s[at] == "<" and (self.starts(at, OPEN) or self.closes(at)):
                return None
            if s[at] in " \t\r\n\x0c{[(\"':=,<>`“”‘’„«»‹›":  # noqa: RUF001
                at += 1
                continue
            match = re.compile(rf"[^{_WORD_ENDS}]*(?=[{_WORD_ENDS}])").match(s, at)
            if match is None:
                break
            word, at = match[0], match.end()
            tool = declared_tool(self.tools, word) if word else None
            if tool is None and "." in word:
                tool = declared_tool(self.tools, word.rpartition(".")[2])
            if tool is not None:
                return tool if self.goes_on(at) else None
            if word.lower() not in _FILLERS:
                return None
        self.end()
        return None


_CUT_WRAPPER = re.compile(r"<|<j|<js|<jso|<json|(<json>|```[A-Za-z0-9]*)[ \t\r\n]*|`|``")
_CUT_NAME = re.compile(r"n|na|nam|name[ \t\r\n]*", re.IGNORECASE)
_OPENERS = WS + "=:,([{>"
_WORD_ENDS = r" \t\r\n\x0c{\[(\"':=,<>`“”‘’„«»‹›;|)\]}?&"  # noqa: RUF001
_FILLERS = ("json", "tool_call", "name", "tool", "tool_name", "function", "functions", "call", "type")
_FILLERS += ("invoke", "parameter")
_NAME_KEYS = ("name", "tool", "tool_name", "function", "call")


class Misspelled(Window):
    """Section 11: an opening in another spelling."""

    def __init__(self, text: str, at: int, tools: dict[str, Schema]) -> None:
        super().__init__(text, at, tools)
        self.text = text

    def look(self) -> object:
        rest = self.text[self.at : self.at + 16].lower()
        if rest[:1] not in ("<", "[", "&"):
            return None
        match = _MISSPELLED.match(self.text, self.at)
        try:
            word = self.text[self.at + 1 : self.at + 5]
            tag = re.compile(r"<call([ \t\r\n]*)(>?)", re.IGNORECASE).match(self.s)
            if tag and tag.end() == len(self.s) and not tag[2]:
                self.end()
            elif tag and tag[2]:
                opened = self.respelled(word, tag.end())
                if opened is not None:
                    return opened
            elif tag and tag[1] and re.match(r"name[ \t\r\n]*=", self.s[tag.end() :], re.IGNORECASE):
                raise ElsewhereError
            elif (
                tag
                and tag[1]
                and re.fullmatch(r"n|na|nam|name[ \t\r\n]*", self.s[tag.end() :], re.IGNORECASE)
            ):
                self.end()
            if match is None or (match[0].lower() == "<call" and len(self.text) - self.at <= len("<call")):
                cut = is_cut(self.text, self.at, _BEGINNING)
                return UNDECIDED if cut else None
            if match[0].lower() == "<tool_call>":
                # JSON is another format's.
                behind = skip_ws(self.text, match.end())
                if behind == len(self.text):
                    return UNDECIDED
                if self.text[behind] in "{[":
                    return None
            if match[0].lower() != "<call":
                tool = Window(self.text, match.end(), self.tools).meant(0)
                return Bad(tool, match.end(), _CLOSERS[match[0].lower()]) if tool else None
            return self.tag()
        except UndecidedError:
            return UNDECIDED

    def respelled(self, word: str, length: int) -> object:
        """`<CALL>` and `<call >`, where a declared tool is named."""
        text = self.text if word == "call" else swapped(self.text, word)
        found = Behind(text, self.at + length, self.tools).attempt()
        if isinstance(found, Opened):
            if not found.tool and declared_tool(self.tools, found.written) is None:
                return None
            closers = () if word == "call" else ("</call>",)
            return replace(found, repairs=("tag_style", *found.repairs), closers=closers)
        if isinstance(found, Bad) and word != "call":
            return replace(found, closers=("</call>",))
        return found

    def tag(self) -> object:
        s, at, is_first = self.s, skip_ws(self.s, 5), True
        bad = partial(Bad, at=self.at + 5, closers=_CLOSERS["<call"])
        while at < len(s):
            if s[at] == ">" and is_first:
                behind = self.at + at + 1
                tool = Window(self.text, behind, self.tools).meant(0)
                return Bad(tool, behind, _CLOSERS["<call>"]) if tool else None
            if s[at] in "></":
                return None
            match = re.compile(r"[^ \t\r\n\x0c=:<>/\"']*(?=[ \t\r\n\x0c=:<>/\"'])").match(s, at)
            if match is None:
                break
            word, behind = match[0], skip_ws(s, match.end())
            if behind == len(s):
                break
            tool = declared_tool(self.tools, word) if is_first and word else None
            if tool:
                return bad(tool)
            if s[behind] not in "=:":
                if not word:
                    return None
                at, is_first = behind, False
                continue
            behind = skip_ws(s, behind + 1)
            value = re.compile(
                r"\"[^\"]*\"|'[^']*'|[^ \t\r\n\x0c<>\"'(){},;]*(?=[ \t\r\n\x0c<>\"'(){},;])"
            ).match(s, behind)
            if value is None or (s[behind : behind + 1] in QUOTES and len(value[0]) < 2):
                break
            tool = declared_tool(self.tools, value[0].strip("\"'")) if word.lower() in _NAME_KEYS else None
            if tool or not value[0]:
                return bad(tool) if tool else None
            at, is_first = skip_ws(s, value.end()), False
        self.end()
        return None


class Behind(Window):
    """Section 11, "Attempt": the text after OPEN."""

    def look(self) -> object:
        try:
            return self.attempt()
        except UndecidedError:
            return UNDECIDED

    def attempt(self) -> object:
        s, behind_open = self.s, self.at
        start = skip_ws(s, 0)
        if start == len(s):
            self.end()
            return None
        if s[start] == "[":
            inner = skip_ws(s, start + 1)
            if inner == len(s):
                self.end()
                return None
        fence = _NAME.match(s, start)
        assert fence is not None
        wrapped = WRAPPER.match(s, start) and not (fence[0] and declared_tool(self.tools, fence[0]))
        if s[start] == "{" or (s[start] == "[" and s[inner] == "{") or wrapped:
            raise ElsewhereError
        if _CUT_WRAPPER.fullmatch(s, start):
            self.end()
        match = _NAME.match(s, start)
        assert match is not None
        name, end = match[0], match.end()
        if name and end == len(s):
            self.end()
            return None
        resolved = declared_tool(self.tools, name) if name else None
        direct = not name or s[end : end + 1] in ("=", '"', "'")
        if resolved is None or direct:
            decorated = self.decorated(start)
            if decorated is not None:
                return self.body(*decorated)
            tool = self.meant(0)
            if tool is not None:
                return Bad(tool, behind_open)
            if s[end : end + 1] == "=":
                value = skip_ws(s, end + 1)
                if value == len(s):
                    self.end()
                elif s[value] in "\"'" if value > end + 1 else s[value] not in "=<>":
                    return Bad(None, behind_open)
            if (direct and (end < len(s) or not name)) or len(name) > 128:
                return None
        return self.body(name, end, end, resolved, None)

    def decorated(self, start: int) -> tuple[str, int, int, str | None, str | None] | None:
        """Section 5, `tool_style`: the name of a declared tool in quotes, after a namespace, or before a
        colon, a comma or a parenthesis: as written, where its last character is, where it ends, the tool."""
        s, quote = self.s, self.s[start] if self.s[start] in "\"'`" else ""
        first = start + len(quote)
        stops = (quote + "<" if quote else "(,<{\"'=`") + WS + "\x0c"
        length = next((i for i, char in enumerate(s[first:]) if char in stops), -1)
        if length < 0:
            self.end()
            return None
        last = end = first + length
        if quote and s[end] != quote:
            return None
        word, styled = s[first:end], bool(quote)
        end += len(quote)
        if not quote and word.endswith(":"):
            word, styled = word[:-1], True
        elif s[end : end + 1] in (",", ":"):
            end, styled = end + 1, True
        space = next((space for space in _NAMESPACES if word.startswith(space)), None)
        if declared_tool(self.tools, word) is None and space:
            word, styled = word.removeprefix(space), True
        tool = declared_tool(self.tools, word) if word else None
        if tool is None:
            return None
        if end == len(s):
            self.end()
            return None
        if s[end] not in WS + "(<{`":
            return None
        return s[start:end], last, end, tool, tool if styled else None

    def body(self, name: str, last: int, end: int, resolved: str | None, meant: str | None) -> object:
        """What follows the name, whose last character is before `last`."""
        s, behind_open = self.s, self.at
        start = skip_ws(s, 0)
        at = skip_ws(s, end)
        if at == len(s):
            self.end()
            return None
        result = Opened(name, behind_open + end, meant)
        if s[at] == "(" and resolved is not None:
            if skip_ws(s, at + 1) == len(s):
                self.end()
                return None
            return result
        if s[at] == "{" and resolved is not None and self.repeats_name(at, resolved):
            raise ElsewhereError
        if s[at] == "{" or WRAPPER.match(s, at):
            return result
        if _CUT_WRAPPER.fullmatch(s, at):
            self.end()
        if at > end and s[at] != "," and self.is_pair(at, resolved):
            return result
        if resolved is not None and self.goes_on(last):
            return result
        if not resolved and not (start == 0 and _PROSE_NAME.fullmatch(name)):
            return None
        closes = s.find("<", end)
        while closes >= 0:
            if self.starts(closes, OPEN):
                return None
            if self.closes(closes):
                return result
            closes = s.find("<", closes + 1)
        self.end()
        return None

    def repeats_name(self, at: int, tool: str) -> bool:
        """Whether the object begins with the tool's name, and can only contain its arguments."""
        named = tool_named(self.tools, tool)
        keys = {"name", "arguments"}
        if named is None or keys & set(properties(named.type)) or is_open(named.type):
            return False
        if not (set(named.schemas.required(named.type)) - keys or is_undeclared(named.type, "\0")):
            return False
        for part in ("{", '"name"', ":", json_string(tool), ","):
            at = skip_ws(self.s, at)
            if not self.starts(at, part):
                if at == len(self.s):
                    self.end()
                return False
            at += len(part)
        return True

    def is_pair(self, at: int, resolved: str | None) -> bool:
        s = self.s
        if self.closes(at) or self.starts(at, OPEN):
            return False
        key = key_at(s, at)
        if key is CUT_KEY:
            self.end()
            return False
        if key is None:
            return False
        behind = skip_ws(s, key.end)
        if behind == len(s):
            self.end()
            return False
        if s[behind] != "=":
            return False
        tool = tool_named(self.tools, resolved) if self.tools and resolved else None
        return behind == key.end or (tool is not None and is_declared(tool.type, key))
