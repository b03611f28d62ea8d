"""JSON for the oracle: one value, typed while it is read, so that each error is found in its place."""

import json
import re
from collections.abc import Callable

from oracle_text import (
    QUOTES,
    CutError,
    FaultError,
    begins_quote,
    end_of_quotes,
    quotes_open,
    skip_ws,
    unescape,
)
from oracle_types import (
    UNKNOWN,
    Number,
    Path,
    Schemas,
    Type,
    collects,
    decimal,
    equal_tree,
    has_kind,
    is_undeclared,
    json_literal,
    json_string,
    key_style,
    literals,
    tree_of,
)
from oracle_values import Notes, compact, misfit, read_scalar

_BARE_KEYWORD = re.compile(r"[^ \t\r\n\"'{}\[\],:()=]+")
_WORD_IN_PARENTHESES = re.compile(r"(?:[^ \t\r\n{}\[\],\"'()]|(?<![=:(>])[\"'])+")
_BARE_KEY = re.compile(r"[^ \t\r\n\"'{}\[\],:]+")
_WORD = re.compile(r"(?:[^ \t\r\n{}\[\],\"']|(?<![=:(>])[\"'])+")
_STRICT_STRING = re.compile(r"(?:[^\x00-\x1f\\]|\\(?:[\"\\/bfnrt]|u[0-9A-Fa-f]{4}))*")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_ESCAPES = {char: char for char in "\"'\\/"} | {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_KINDS = {"{": "object", "[": "array", "(": "array"}

# Told the name of a repair, and where reading continues if that is an error: place, state, brackets, quote.
Repair = Callable[[str, int, str, int, str], None]


class JsonReader:
    """One object or array. Each function gets a place, and returns what it read and the place after it."""

    # Parentheses are brackets of lists.
    parentheses = False
    # The outermost ones contain keyword arguments.
    keywords = False

    def __init__(self, text: str, schemas: Schemas, notes: Notes, repair: Repair) -> None:
        self.text, self.schemas, self.notes, self.repair = text, schemas, notes, repair

    def relax(self, at: int, depth: int, quote: str = "") -> None:
        self.repair("relaxed_json", at, "bracketed", depth, quote)

    def next(self, at: int) -> tuple[int, str]:
        """The place after ws, and the character there."""
        at = skip_ws(self.text, at)
        if at == len(self.text):
            raise CutError("unterminated_value")
        return at, self.text[at]

    def value(self, of: Type, at: int, path: Path, depth: int = 0) -> tuple[str, int]:
        at, char = self.next(at)
        if char in "{[" or (char == "(" and self.parentheses):
            return self.container(of, at, path, depth)
        if char in QUOTES:
            text, end = self.string(at, depth)
            return self.scalar(of, text, True, path, end, depth), end
        return self.word(of, at, path, depth)

    # Scalars

    def scalar(self, of: Type, text: str, quoted: bool, path: Path, end: int, depth: int) -> str:
        notes = Notes()
        value = compact(read_scalar(self.schemas, of, text, quoted, path, notes))
        for repair in notes.repairs:
            self.repair(repair, end, "bracketed", depth, "")
        self.notes.problems += notes.problems
        return value

    def word(self, of: Type, at: int, path: Path, depth: int) -> tuple[str, int]:
        if begins_quote(self.text, at):
            raise FaultError("invalid_json", at, "bracketed", depth)
        match = (_WORD_IN_PARENTHESES if self.parentheses else _WORD).match(self.text, at)
        if match is None:
            raise FaultError("invalid_json", at, "bracketed", depth)
        word, end = match[0], match.end()
        if end == len(self.text):
            raise CutError("unterminated_value")
        if quotes_open(word, opens=True):
            raise FaultError("invalid_json", at, "bracketed", depth)
        literal = {"True": "true", "False": "false", "None": "null"}.get(word, word)
        is_json = literal in ("true", "false", "null") or decimal(literal) is not None
        if word != literal or not is_json:
            self.relax(end, depth)
        if literal != "null":
            return self.scalar(of, literal, not is_json, path, end, depth), end
        if not any(a.kind in ("null", "unknown") or (a.kind == "literal" and a.value is None) for a in of):
            misfit(of, path, self.notes.problems)
        return "null", end

    def string(self, at: int, depth: int) -> tuple[str, int]:
        quote, end = self.text[at], end_of_quotes(self.text, at)
        if quote == "'":
            self.relax(at, depth)
        inside = len(self.text) if end is None else end - 1
        match = _STRICT_STRING.match(self.text, at + 1, inside)
        bad = match.end() if match else at + 1
        if bad < inside and not (end is None and _CUT_ESCAPE.match(self.text, bad)):
            self.relax(bad, depth, quote)
        if end is None:
            raise CutError("unterminated_value")
        return unescape(self.text[at + 1 : inside], _ESCAPES), end

    # Objects and arrays

    def takes(self, of: Type, kind: str) -> bool:
        return has_kind(of, kind, "unknown") or bool(literals(of, kind))

    def container(self, of: Type, at: int, path: Path, depth: int) -> tuple[str, int]:
        outermost = self.keywords and not depth
        kind = "object" if self.text[at] == "(" and outermost else _KINDS[self.text[at]]
        if kind == "object" and not self.takes(of, kind) and collects(of):
            item = self.schemas.item(of, 0)
            if self.takes(item, kind):
                self.repair("coerced", at, "bracketed" if depth else "value start", depth, "")
                text, end = self.container(item, at, (*path, 0), depth)
                return f"[{text}]", end
        if not self.takes(of, kind):
            misfit(of, path, self.notes.problems)
            of = UNKNOWN
        read = self.object if kind == "object" else self.array
        text, end = read(of, at + 1, path, depth + 1)
        fixed = literals(of, kind)
        if fixed and path:
            tree = tree_of(json.loads(text, parse_int=Number, parse_float=Number))
            for value in fixed:
                if equal_tree(tree, value):
                    return json_literal(value), end
            if not has_kind(of, kind):
                misfit(of, path, self.notes.problems)
        return text, end

    def closes(self, char: str, close: str, depth: int) -> bool:
        other = "}" if self.keywords and depth == 1 else "]"
        return char == close or (self.parentheses and char == ")" and close == other)

    def entries(self, at: int, close: str, depth: int, read: Callable[[int], int]) -> int:
        """The texts between commas, up to `close`. `read` is told where one begins, says where it ends."""
        is_first = True
        while True:
            at, char = self.next(at)
            if self.closes(char, close, depth):
                if not is_first:
                    self.relax(at, depth)  # a trailing comma
                return at + 1
            at, char = self.next(read(at))
            if self.closes(char, close, depth):
                return at + 1
            if char != ",":
                raise FaultError("invalid_json", at, "bracketed", depth)
            at, is_first = at + 1, False

    def object(self, of: Type, at: int, path: Path, depth: int) -> tuple[str, int]:
        members: dict[str, str] = {}

        def member(at: int) -> int:
            key, at = self.key(of, at, path, depth)
            value, at = self.value(self.schemas.member(of, key), at, (*path, key), depth)
            if members.setdefault(key, value) != value:
                raise FaultError("duplicate_argument", at, "bracketed", depth)
            return at

        at = self.entries(at, "}", depth, member)
        missing = [name for name in self.schemas.required(of) if name not in members]
        self.notes.problems += [("missing_required", (*path, name)) for name in missing]
        return "{" + ",".join(f"{json_string(key)}:{text}" for key, text in members.items()) + "}", at

    def key(self, of: Type, at: int, path: Path, depth: int) -> tuple[str, int]:
        """A key and its colon."""
        if self.text[at] in QUOTES:
            key, at = self.string(at, depth)
        elif begins_quote(self.text, at):
            raise FaultError("invalid_json", at, "bracketed", depth)
        else:
            match = (_BARE_KEYWORD if self.parentheses else _BARE_KEY).match(self.text, at)
            if match is None:
                raise FaultError("invalid_json", at, "bracketed", depth)
            if match.end() == len(self.text):
                raise CutError("unterminated_value")
            if quotes_open(match[0], opens=True):
                raise FaultError("invalid_json", at, "bracketed", depth)
            key, at = match[0], match.end()
            self.relax(at, depth)
        near = key_style(of, key, in_json=True)
        if near is not None:
            self.repair("key_style", at, "bracketed", depth, "")
            key = near
        if is_undeclared(of, key):
            self.notes.problems.append(("unknown_field", (*path, key)))
        at, char = self.next(at)
        if char != ":" and not (char == "=" and self.keywords and depth == 1):
            raise FaultError("invalid_json", at, "bracketed", depth)
        return key, at + 1

    def array(self, of: Type, at: int, path: Path, depth: int) -> tuple[str, int]:
        items: list[str] = []

        def item(at: int) -> int:
            index = len(items)
            text, at = self.value(self.schemas.item(of, index), at, (*path, index), depth)
            items.append(text)
            return at

        at = self.entries(at, "]", depth, item)
        return compact(items), at
