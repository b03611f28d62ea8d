"""The arguments of one call, as the oracle gathers them: where values go, and what is wrong with them."""

import re

from oracle_parts import Items, Members, Node, Place, Tool, dump, put
from oracle_text import FaultError, Segment, joins
from oracle_types import Path, Type, allows, collects, is_undeclared, key_style, only_array, properties
from oracle_values import Notes, compact, read_scalar


class Arguments:
    """Those of a call whose tool is known before the first one is put in."""

    tool: Tool

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.pieces = Members()  # what pairs give
        self.arguments: Node = self.pieces  # a text where the body is an object
        self.repairs: list[str] = []
        self.problems: list[tuple[str, Path]] = []

    def repair(self, name: str, at: int, state: str, depth: int = 0, quote: str = "") -> None:
        """A near miss: in strict mode an error of that name."""
        if self.strict:
            raise FaultError(name, at, state, depth, quote)
        if name not in self.repairs:
            self.repairs.append(name)

    def missing(self, of: Type, node: Node, path: Path) -> None:
        """Required fields that are missing from objects that were collected piece by piece."""
        if isinstance(node, Members):
            for key, value in node.by_key.items():
                self.missing(self.tool.schemas.member(of, key), value, (*path, key))
            names = [name for name in self.tool.schemas.required(of) if name not in node.by_key]
            self.problems += [("missing_required", (*path, name)) for name in names]
        elif isinstance(node, Items):
            for index, value in enumerate(node.items):
                self.missing(self.tool.schemas.item(of, index), value, (*path, index))

    def steps(self, segments: tuple[Segment, ...], at: int) -> list[tuple[str | int, Type]]:
        """What a key means: from the root on a member or an index, and its type."""
        schemas = self.tool.schemas
        steps: list[tuple[str | int, Type]] = []
        path: Path = ()
        of, rest = self.tool.type, list(segments)
        while rest:
            slot: str | int | None = self.index(of, rest[0]) if path else None
            count = 1
            if slot is None:
                slot, count = self.member_key(of, rest, at)
            if path and not allows(of, "array" if isinstance(slot, int) else "object"):
                self.problems.append(("wrong_type", path))
            path, rest = (*path, slot), rest[count:]
            if isinstance(slot, str) and is_undeclared(of, slot):
                self.problems.append(("unknown_field", path))
            of = schemas.item(of, slot) if isinstance(slot, int) else schemas.member(of, slot)
            steps.append((slot, of))
        return steps

    @staticmethod
    def index(of: Type, segment: Segment) -> int | None:
        number = segment.kind == "bare" and re.fullmatch("[0-9]{1,9}", segment.text) is not None
        return int(segment.text) if segment.kind == "index" or (number and only_array(of)) else None

    def place(self, segments: tuple[Segment, ...], at: int) -> Place:
        """Follows a key from the root, making objects and arrays along it; `at` is after its `=`."""
        node: Members | Items = self.pieces
        steps = self.steps(segments, at)
        path = tuple(slot for slot, _ in steps)
        for step, (slot, of) in enumerate(steps, 1):
            child: Node | None
            if isinstance(node, Members):
                child = node.by_key.get(str(slot))
            else:
                if int(slot) > len(node.items):
                    raise FaultError("malformed_call", at, "value start")
                child = node.items[int(slot)] if int(slot) < len(node.items) else None
            if step == len(path):
                return Place(node, slot, child, of, path)
            is_index = isinstance(path[step], int)
            if child is None:
                child = Items() if is_index else Members()
                put(node, slot, child)
            if isinstance(child, str) or isinstance(child, Items) != is_index:
                raise FaultError("duplicate_argument", at, "value start")
            node = child
        raise AssertionError("a key has a segment")

    def member_key(self, of: Type, segments: list[Segment], at: int) -> tuple[str, int]:
        """The name of the member that a key means here, and how many segments that took."""
        first = segments[0]
        names = properties(of)
        if first.kind == "bracketed":
            self.repair("key_style", at, "value start")
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
        self.store(place, value, notes, end, "after empty" if quoted and not text else "after")

    def store(
        self, place: Place, value: str | list[str], notes: Notes, end: int, state: str = "after"
    ) -> None:
        pieces = isinstance(value, list) and collects(place.type)
        if isinstance(place.taken, Items) and not pieces:
            raise FaultError("duplicate_argument", end, state)
        for repair in notes.repairs:
            self.repair(repair, end, state)
        if pieces and isinstance(place.taken, Items):
            place.taken.items += value
        elif place.taken is None:
            put(place.container, place.slot, Items(list(value)) if pieces else compact(value))
        elif dump(place.taken) != compact(value):
            raise FaultError("duplicate_argument", end, state)
        else:
            return  # the same again
        self.problems += notes.problems
