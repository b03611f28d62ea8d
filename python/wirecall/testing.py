"""Tests for your own formats: laws that every format must keep, on generated tools and values."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any

from wirecall import _core
from wirecall._tools.formats.description import Format
from wirecall._tools.protocol import Protocol
from wirecall._tools.toolset import Toolset

__all__ = ["check_format"]

Json = Any
_Tools = list[tuple[str, dict[str, Json]]]
# Makes a toolset of tools, strict or not.
_Make = Callable[[_Tools, bool], Any]


def check_format(format: str | Format | Protocol, *, cases: int = 100, seed: int = 0, **options: Any) -> None:
    """Check that a format keeps all laws.

    Calls must round-trip, messages must parse the same however they are cut, all text must be reported, a
    message that was cut off must not give other calls, and results must not be read as calls. In native
    formats, calls are written in messages, and those that the format cannot hold are skipped.

    Args:
        format: The name of a format, a `Format`, or a `Protocol` of your own.
        cases: How many tools and calls are generated.
        seed: Seed of the generated cases.
        options: Other options of `Toolset`.

    Raises:
        AssertionError: A law is broken; the message names it and shows the smallest case that was found.
        ToolError, ValueError, TypeError: As in `Toolset`: an unknown format or option, or unusable markers.
    """

    def make(tools: _Tools, strict: bool) -> Toolset:
        return Toolset(tools, protocol=format, strict=strict, **options)

    open_set = make([], False)
    marks = [format.open, format.close, *format.result] if isinstance(format, Protocol) else []
    if isinstance(format, Format) and format._native:
        marks = [*format._native["call"], *(format._native["section"] or ())]
    native = open_set._is_native and open_set.protocol not in _core.PROTOCOLS
    _check(make, list(filter(None, marks)), cases, seed, NATIVE_LAWS if native else LAWS)


def _check(make: _Make, marks: list[str], cases: int, seed: int, laws: "Mapping[str, _Law]") -> None:
    ordered = sorted(_cases(make, marks, cases, Random(seed)), key=lambda case: len(repr(case)))
    for name, law in laws.items():
        for case in ordered:
            if _broken(law, case):
                smallest = _shrunk(law, case)
                raise AssertionError(f"{name}: {_broken(law, smallest)}\n{smallest.described()}")


# Cases -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """A tool and a call of it between two texts, and text from an untrusted source."""

    make: _Make = field(repr=False)
    tool: str
    properties: dict[str, Json]
    arguments: dict[str, Json]
    before: str
    after: str
    untrusted: str

    def toolset(self, strict: bool = False) -> Any:
        schema = {"type": "object", "properties": self.properties}
        return self.make([(self.tool, schema), ("other", {"type": "object"})], strict)

    @cached_property
    def call(self) -> str:
        return str(self.toolset().encode(self.tool, self.arguments))

    @property
    def message(self) -> str:
        return f"{self.before}{self.call}{self.after}"

    def described(self) -> str:
        shown = {name: getattr(self, name) for name in ("tool", "properties", "arguments")}
        lines = [f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in shown.items()]
        around = f"  text around the call: {self.before!r}, {self.after!r}"
        return "\n".join([*lines, around, f"  untrusted text: {self.untrusted!r}"])


_FRAGMENTS = [
    "", "a", "New York", " two  spaces ", "5", "true", "null", "-0.5e3", "a\nb", "\n", "ä 🙂", "\\", "\\n",
    "{}", "[1]", '"', "'", '"quoted"', "a=b", "a: b", "<b>", "&lt;", "&", "]]>", "<![CDATA[", "```", "# x",
    "<call>", "</call>", "<tool_call>", "</tool_call>", "<tool-result", "</tool-result>", "<tool_response>",
    "</tool_response>", "<function=f>", "</function>", "<parameter=a>", "</parameter>", "</f>", "<f>",
]  # fmt: skip
_PROSE = ["", "", "Let me look. ", "a < b, 1 > 0\n", "🙂\n\n", "Done."]


def _cases(make: _Make, marks: list[str], count: int, random: Random) -> Iterator[_Case]:
    pool = [*_FRAGMENTS, *marks, *marks]

    def text() -> str:
        return "".join(random.choices(pool, k=random.choice([1, 1, 1, 2, 3, 6])))

    choices = ["word0", "word1", "word2"]

    def typed(levels: int) -> tuple[Json, Callable[[], Json]]:
        """A schema, and a function that generates its values."""
        scalars: dict[str, tuple[Json, Callable[[], Json]]] = {
            "string": ({"type": "string"}, text),
            "integer": ({"type": "integer"}, lambda: random.choice([0, -7, 3, 2**53 + 1])),
            "number": ({"type": "number"}, lambda: random.choice([0.5, -1.25, 3, 1e22])),
            "boolean": ({"type": "boolean"}, lambda: random.random() < 0.5),
            "enum": ({"type": "string", "enum": choices}, lambda: random.choice(choices)),
            "nullable": ({"type": ["string", "null"]}, lambda: random.choice([None, text()])),
        }
        kind = random.choice([*scalars, "string", *(["array", "array", "object"] if levels else [])])
        if kind == "array":
            schema, value = typed(levels - 1)
            return {"type": kind, "items": schema}, lambda: [value() for _ in range(random.randrange(4))]
        if kind == "object":
            schemas, values = members(random.sample("xyz", random.choice([1, 2])), levels - 1)
            return {"type": kind, "properties": schemas}, values
        return scalars[kind]

    def members(names: list[str], levels: int) -> tuple[dict[str, Json], Callable[[], dict[str, Json]]]:
        fields = {name: typed(levels) for name in names}
        schemas = {name: schema for name, (schema, _) in fields.items()}
        return schemas, lambda: {name: value() for name, (_, value) in fields.items()}

    for _ in range(count):
        names = [f"{name}_{at}" for at, name in enumerate(random.sample("abcd", random.randrange(4)))]
        properties, arguments = members(names, 2)
        # Long enough not to occur in the prose.
        tool = random.choice(["f", "get_weather", "read-page"])
        before, after = random.choices(_PROSE, k=2)
        yield _Case(make, tool, properties, arguments(), before, after, text())


def _shrunk(law: "_Law", case: _Case) -> _Case:
    """The smallest case that still breaks the law, as far as single steps lead."""
    for smaller in _smaller(case):
        if _broken(law, smaller):
            return _shrunk(law, smaller)
    return case


def _smaller(case: _Case) -> Iterator[_Case]:
    for name in case.properties:
        fields = [{k: v for k, v in d.items() if k != name} for d in (case.properties, case.arguments)]
        yield replace(case, properties=fields[0], arguments=fields[1])
    for name in ("before", "after", "untrusted"):
        for shorter in _shorter(getattr(case, name)):
            yield replace(case, **{name: shorter})
    for name, value in case.arguments.items():
        for shorter in _shorter(value):
            yield replace(case, arguments={**case.arguments, name: shorter})


def _shorter(value: Json) -> Iterator[Json]:
    if isinstance(value, (str, list)) and value:
        middle = len(value) // 2
        yield value[:0]
        if middle:
            yield from (value[:middle], value[middle:], value[1:], value[:-1])


# Laws --------------------------------------------------------------------------------------------

_Law = Callable[[_Case], str | None]


def _broken(law: _Law, case: _Case) -> str | None:
    """How the case breaks the law, if it does."""
    try:
        return law(case)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic is not an Exception
        return f"{type(error).__name__}: {error}"


def _pairs(text: str) -> Json:
    """JSON with the order of members, and with numbers as written."""
    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs), parse_float=str, parse_int=str)


def round_trip(case: _Case) -> str | None:
    """A written call parses as the same call, in both modes, and the text around it is unchanged."""
    for strict in (False, True):
        message = case.toolset(strict).parse(case.message, truncated=False)
        how = f"{'strictly ' if strict else ''}{case.call!r}"
        if message.errors:
            return f"{how} parses as an error: {message.errors[0].kind}: {message.errors[0].message}"
        if [call.name for call in message.calls] != [case.tool]:
            return f"{how} parses as calls of {[call.name for call in message.calls]}"
        call = message.calls[0]
        if _pairs(call.arguments) != _pairs(json.dumps(case.arguments)):
            return f"{how} parses as {call.arguments}"
        if call.repairs or call.problems:
            return f"{how} has repairs {call.repairs} and problems {call.problems}"
        around = case.before + case.after
        # Whitespace around the call may belong to the format.
        if message.text != around and not (
            message.framing and _without_blanks(message.text) == _without_blanks(around)
        ):
            return f"the text around {how} parses as {message.text!r}"
    return None


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def neighbours(case: _Case) -> str | None:
    """Calls may follow each other directly, or on separate lines."""
    tools = case.toolset()
    for between in ("", "\n"):
        text = between.join([case.call, tools.encode("other", {}), case.call])
        message = tools.parse(text)
        names = [call.name for call in message.calls]
        if names != [case.tool, "other", case.tool] or message.errors:
            return f"{text!r} parses as calls of {names} and {message.errors}"
    return None


def nothing_lost(case: _Case) -> str | None:
    """Texts, reasoning, calls, errors and framing cover the whole message, in order."""
    interrupted = f"{case.call[: len(case.call) // 2]}{case.untrusted}{case.call}"
    for message in (case.message, interrupted):
        at = 0
        parsed = case.toolset().parse(message)
        framing = dict(parsed.framing)
        for item in parsed.items:
            at = framing.get(at, at)
            if isinstance(item, _core.Text):
                begin, end, same = at, at + len(item.text), message[at : at + len(item.text)] == item.text
            elif isinstance(item, (_core.CallEnd, _core.Reasoning)):
                begin, end, same = item.start, item.end, item.end > item.start
            else:
                begin, end, same = item.start, item.end, item.raw == message[item.start : item.end]
            if begin != at or not same:
                return f"of {message!r}, {message[at:end]!r} is reported as {item}"
            at = end
        if framing.get(at, at) != len(message):
            return f"of {message!r}, {message[at:]!r} is not reported"
    return None


def chunks(case: _Case) -> str | None:
    """A message parses the same however it is cut; the joined deltas are the arguments."""
    tools = case.toolset()
    for message in (case.message, case.untrusted + case.call, case.call[:-1] + case.untrusted):
        for truncated in (None, False):
            whole = _items(tools.parse(message, truncated=truncated).items)
            cuts = [[message[:at], message[at:]] for at in range(len(message) + 1)]
            for pieces in (list(message), *cuts):
                parser = tools.parser()
                events = [event for piece in pieces for event in parser.feed(piece)]
                events += parser.finish(truncated=truncated)
                if wrong := _disorder(events):
                    return f"{pieces} gives events that {wrong}: {events}"
                if _items(events) != whole:
                    return f"{pieces} parses as {_items(events)}, in one piece as {whole}"
    return None


def _items(events: Any) -> list[tuple[Any, ...]]:
    """Events or items without ids, with adjacent texts joined and parts of calls left out."""
    items: list[tuple[Any, ...]] = []
    for event in events:
        if isinstance(event, (_core.CallEnd, _core.CallError)):
            items.append(tuple(getattr(event, name) for name in event.__match_args__ if name != "id"))
        elif isinstance(event, _core.Text):
            before = items.pop()[0] if items and len(items[-1]) == 1 else ""
            items.append((before + event.text,))
        elif isinstance(event, _core.Reasoning):
            joins = bool(items) and items[-1][0] == "reasoning" and items[-1][2] == event.start
            begin = items.pop()[1] if joins else event.start
            items.append(("reasoning", begin, event.end))
    return items


def _disorder(events: list[Any]) -> str | None:
    started: Any = None
    joined = ""
    for event in events:
        if isinstance(event, _core.CallStart):
            if started is not None:
                return "start a call inside another"
            started, joined = event, ""
        elif isinstance(event, _core.ArgumentsDelta):
            if started is None or started.index != event.index:
                return "have a delta outside of a call"
            joined += event.delta
        elif isinstance(event, (_core.CallEnd, _core.CallError)):
            if event.id != (started.id if started is not None else None):
                return "end a call that they did not start"
            if isinstance(event, _core.CallEnd) and joined != event.arguments:
                return "have deltas that are not the arguments"
            started = None
        elif started is not None:
            return "have text inside a call"
    return "never end a call" if started is not None else None


def truncation(case: _Case) -> str | None:
    """A call that was cut off is not a call; its deltas are the beginning of its arguments."""
    tools = case.toolset()
    arguments = tools.parse(case.call).calls[0].arguments
    for end in range(len(case.call)):
        start = case.call[:end]
        parser = tools.parser()
        events = [*parser.feed(start), *parser.finish()]
        if any(isinstance(event, _core.CallEnd) for event in events):
            return f"{start!r} parses as a call, although it was cut off"
        sent = "".join(event.delta for event in events if isinstance(event, _core.ArgumentsDelta))
        if not arguments.startswith(sent):
            return f"{start!r} gives the deltas {sent!r}, not the beginning of {arguments!r}"
    return None


def results(case: _Case) -> str | None:
    """No content of a result, and no neutralised text, can be parsed as a result or a call."""
    tools = case.toolset()
    mark = tools.result_marks[0]
    samples = [tools.encode_result("f", content) for content in ("a", "b", 1, [1], {"a": "b"})]
    ends = (samples[0][at:] for at in range(len(samples[0]) + 1))
    closing = next(end for end in ends if all(sample.endswith(end) for sample in samples))
    forged = tools.encode_result("f", "99")
    for content in (case.untrusted, case.call, forged, f"{closing}{case.call}{forged}", mark.upper()):
        written = tools.encode_result(case.tool, content)
        if not written.startswith(mark):
            return f"the result {written!r} does not begin with {mark!r}"
        found = tools.parse(f"x{written[len(mark) :]}")
        if found.calls or found.errors:
            return f"the result {written!r} contains {found.calls or found.errors}"
        for sign in filter(None, (mark, closing.strip())):
            if written.lower().count(sign.lower()) != 1:
                return f"the result {written!r} contains {sign!r} more than once"
        kinds = [error.kind for error in tools.parse(f"x {written}").errors]
        if content not in ("", case.untrusted) and kinds[:1] != ["forged_result"]:
            return f"the forged result {written!r} is not reported"
        neutral = tools.neutralise(content)
        found = tools.parse(neutral)
        if found.calls or found.errors or mark.lower() in neutral.lower():
            return f"the neutralised text {neutral!r} contains {found.calls or found.errors or mark}"
        if tools.neutralise(neutral) != neutral:
            return f"the neutralised text {neutral!r} changes when neutralised again"
    return None


def manual(case: _Case) -> str | None:
    """The manual names all tools, and is always the same text."""
    text = case.toolset().manual()
    for name in (case.tool, "other"):
        if name not in text:
            return f"the manual does not name {name}"
    return None if case.toolset().manual() == text else "the manual is not the same each time"


LAWS: dict[str, _Law] = {
    law.__name__: law for law in (round_trip, neighbours, nothing_lost, chunks, truncation, results, manual)
}

# Laws of native formats ----------------------------------------------------------------------------


def _same(written: Json, read: str) -> bool:
    """Whether arguments are the same. A format may sort keys, and leave out members that are null."""

    def plain(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in sorted(value.items()) if one is not None}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return bool(plain(json.loads(json.dumps(written))) == plain(json.loads(read)))


def _message(tools: Any, content: str, calls: list[tuple[str, Json]], native: bool) -> str | None:
    """The text of a message; None if the format cannot hold it."""
    try:
        return str(tools.encode_message(content, calls, native=native))
    except ValueError:
        return None


def native_round_trip(case: _Case) -> str | None:
    """A message with calls, as the official template writes it, is read as the same calls and text."""
    own: tuple[str, Json] = (case.tool, case.arguments)
    other: tuple[str, Json] = ("other", {})
    content = case.before
    for strict in (False, True):
        tools = case.toolset(strict)
        for calls in ([own], [own, other], [other, own, own]):
            text = _message(tools, content, calls, True)
            if text is None:
                continue
            message = tools.parse(text, truncated=False, in_reasoning=False)
            how = f"{'strictly ' if strict else ''}{text!r}"
            if message.errors:
                return f"{how} parses as an error: {message.errors[0].kind}: {message.errors[0].message}"
            if [call.name for call in message.calls] != [name for name, _ in calls]:
                return f"{how} parses as calls of {[call.name for call in message.calls]}"
            for call, (_, arguments) in zip(message.calls, calls, strict=True):
                if not _same(arguments, call.arguments):
                    return f"{how} parses as {call.arguments}"
                if call.repairs or call.problems:
                    return f"{how} has repairs {call.repairs} and problems {call.problems}"
            if _without_blanks(message.text) != _without_blanks(content):
                return f"the text of {how} parses as {message.text!r}"
    return None


def native_truncation(case: _Case) -> str | None:
    """A message that was cut off has no call with other arguments than the whole one."""
    tools = case.toolset()
    text = _message(tools, "", [(case.tool, case.arguments)], True)
    if text is None:
        return None
    for end in range(len(text)):
        for call in tools.parse(text[:end], in_reasoning=False).calls:
            if not _same(case.arguments, call.arguments):
                return f"{text[:end]!r} parses as {call.arguments}, although it was cut off"
    return None


def native_results(case: _Case) -> str | None:
    """Nothing in the content of a result, and in neutralised text, can be parsed as a call."""
    tools = case.toolset()
    call = _message(tools, "", [(case.tool, case.arguments)], False)
    for content in filter(None, (case.untrusted, call, f"a\n{call}")):
        neutral = tools.neutralise(content)
        for text in (neutral, f"x{neutral}"):
            found = tools.parse(text, in_reasoning=False)
            if found.calls or found.errors:
                return f"the neutralised text {text!r} contains {found.calls or found.errors}"
        if tools.neutralise(neutral) != neutral:
            return f"the neutralised text {neutral!r} changes when neutralised again"
        written = tools.encode_result(case.tool, content)
        # A result is never the whole text of a turn of the model.
        if tools.parse(f"x {written}", in_reasoning=False).calls:
            return f"the result {written!r} contains a call"
    return None


NATIVE_LAWS: dict[str, _Law] = {
    "round_trip": native_round_trip,
    "nothing_lost": nothing_lost,
    "chunks": chunks,
    "truncation": native_truncation,
    "results": native_results,
    "manual": manual,
}
