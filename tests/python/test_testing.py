"""The suite for protocols: the built-in ones keep all laws, and each law finds a protocol that breaks it."""

import json
from typing import Any

import pytest

from test_protocol import AROUND_JSON, Lines
from wirecall import PROTOCOLS, CallEnd, Format, Text, ToolError, Toolset, testing
from wirecall.testing import check_format


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_built_in_protocols(protocol: str) -> None:
    check_format(protocol, cases=60)


@pytest.mark.parametrize("seed", range(3))
def test_protocols_of_ones_own(seed: int) -> None:
    check_format(Lines(), cases=40, seed=seed)
    check_format(AROUND_JSON, cases=40, seed=seed)
    check_format(Format(like="wire", call="<<c|{call}|c>>"), cases=40, seed=seed)


class Lossy(Lines):
    """Forgets what is null."""

    def format_call(self, name: str, arguments: str) -> str:
        kept = {key: value for key, value in json.loads(arguments).items() if value is not None}
        return super().format_call(name, json.dumps(kept))


class Hasty(Lines):
    """Takes the first closing mark for the call's end."""

    def parse(self, body: str) -> tuple[str, str] | None:
        name, _, arguments = body.partition("\n")
        return name, arguments if arguments.endswith("}") and arguments.count('"') % 2 == 0 else "{}"


class Greedy(Lines):
    """Continues to the last call's end."""

    def parse(self, body: str) -> tuple[str, str] | None:
        return None if body.count("<|call|>") < 1 else (body.partition("\n")[0], "{}")


class Forgetful(Lines):
    """Remembers what it was asked before, which depends on where the message was cut."""

    asked = 0

    def parse(self, body: str) -> tuple[str, str] | None:
        self.asked += 1
        return super().parse(body) if self.asked % 7 else None


class Untold(Lines):
    def format_tools(self, tools: Any, header: str | None) -> str:
        return "There are tools."


@pytest.mark.parametrize(
    ("protocol", "law"),
    [(Lossy(), "round_trip"), (Hasty(), "round_trip"), (Greedy(), "round_trip"), (Untold(), "manual")],
    ids=lambda value: type(value).__name__ if isinstance(value, Lines) else str(value),
)
def test_a_broken_class_is_found(protocol: Lines, law: str) -> None:
    with pytest.raises(AssertionError, match=f"^{law}: ") as raised:
        check_format(protocol)
    assert "  arguments: " in str(raised.value)


def test_a_class_that_remembers_is_found() -> None:
    with pytest.raises(AssertionError):
        check_format(Forgetful())


def test_the_smallest_case_is_shown() -> None:
    with pytest.raises(AssertionError) as raised:
        check_format(Lossy())
    [arguments] = [line for line in str(raised.value).splitlines() if line.startswith("  arguments: ")]
    [(_, value)] = json.loads(arguments.partition(": ")[2]).items()
    assert value is None


class _Altered:
    """A toolset that does some things differently."""

    def __init__(self, inner: Toolset) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Merged(_Altered):
    def parse(self, text: str, **options: Any) -> Any:
        if text.count("<call>") > 2 and "\n" not in text:
            text = text.replace("</call><call>", "</call>", 1)
        return self.inner.parse(text, **options)


class Items:
    def __init__(self, items: Any) -> None:
        self.items = items
        self.calls = tuple(item for item in items if isinstance(item, CallEnd))
        self.errors: Any = tuple(item for item in items if item.type == "call_error")
        self.text = "".join(item.text for item in items if isinstance(item, Text))


class Losing(_Altered):
    """Drops texts before errors."""

    def parse(self, text: str, **options: Any) -> Any:
        read = Items(self.inner.parse(text, **options).items)
        if read.errors:
            read.items = tuple(item for item in read.items if not isinstance(item, Text))
        return read


class Hurried(_Altered):
    """A parser that does not wait for the rest of a marker."""

    def parser(self, **options: Any) -> Any:
        return _Hurried(self.inner.parser(**options))


class _Hurried(_Altered):
    inner: Any

    def feed(self, text: str) -> Any:
        return [Text("<ca")] if text == "<ca" else self.inner.feed(text)


class Completing(_Altered):
    """Takes what was cut off for complete."""

    def parser(self, **options: Any) -> Any:
        return _Completing(self.inner.parser(**options))


class _Completing(_Altered):
    inner: Any

    def finish(self, **options: Any) -> Any:
        return self.inner.finish(**(options or {"truncated": False}))


class Forging(_Altered):
    """Writes results as they are."""

    def encode_result(self, name: str, content: object, **options: Any) -> str:
        return f'<tool-result name="{name}">{content}</tool-result>'


class Credulous(_Altered):
    def neutralise(self, text: str) -> str:
        return text


class Moody(_Altered):
    told = 0

    def manual(self) -> str:
        Moody.told += 1
        return self.inner.manual() + str(Moody.told)


@pytest.mark.parametrize(
    ("altered", "law"),
    [
        (Merged, "neighbours"),
        (Losing, "nothing_lost"),
        (Hurried, "chunks"),
        (Completing, "truncation"),
        (Forging, "results"),
        (Credulous, "results"),
        (Moody, "manual"),
    ],
)
def test_each_law_can_be_broken(altered: Any, law: str) -> None:
    def make(tools: Any, strict: bool) -> Any:
        return altered(Toolset(tools, strict=strict))

    with pytest.raises(AssertionError, match=f"^{law}: "):
        testing._check(make, [], 60, 0, testing.LAWS)


class Forgetting(_Altered):
    """Reads no calls."""

    def parse(self, text: str, **options: Any) -> Any:
        read = Items(self.inner.parse(text, **options).items)
        read.calls = ()
        return read


class Guessing(_Altered):
    """Reads a call that was cut off, without its arguments."""

    def parse(self, text: str, **options: Any) -> Any:
        if options == {"in_reasoning": False} and text.startswith("<call>") and "</call>" not in text:
            text = '<call>{"name": "other", "arguments": {}}</call>'
        return self.inner.parse(text, **options)


class Rescuing(_Altered):
    """Reads the call in a value of a call that cannot be read."""

    def parse(self, text: str, **options: Any) -> Any:
        read = self.inner.parse(text, **options)
        inner = text.find("<call>", 1)
        if options != {"in_reasoning": False} or read.calls or inner < 0:
            return read
        return self.inner.parse(text[inner:].replace('\\"', '"'), **options)


class Single(_Altered):
    """A parser that reads one call of a message."""

    def parser(self, **options: Any) -> Any:
        return _Single(self.inner.parser(**options))


class _Single(_Altered):
    inner: Any

    def feed(self, text: str) -> Any:
        return [event for event in self.inner.feed(text) if not getattr(event, "index", None)]


@pytest.mark.parametrize(
    ("altered", "law"),
    [
        (Forgetting, "round_trip"),
        (Losing, "nothing_lost"),
        (Hurried, "chunks"),
        (Single, "chunks"),
        (Rescuing, "quoted"),
        (Guessing, "truncation"),
        (Credulous, "results"),
        (Moody, "manual"),
    ],
)
def test_each_law_of_native_formats_can_be_broken(altered: Any, law: str) -> None:
    format = Format(call='<call>{"name": {name}, "arguments": {arguments}}</call>')

    def make(tools: Any, strict: bool) -> Any:
        return altered(Toolset(tools, protocol=format, strict=strict))

    with pytest.raises(AssertionError, match=f"^{law}: "):
        testing._check(make, ["<call>"], 60, 0, testing.NATIVE_LAWS)


def test_what_is_no_protocol_breaks_no_law() -> None:
    with pytest.raises(ToolError, match='there is no protocol "herms"'):
        check_format("herms")
    with pytest.raises(TypeError, match=r"protocol must be a str or a Format or a Protocol, not type"):
        check_format(Format)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="case"):
        check_format("hermes", case=3)


def test_all_laws_have_a_test() -> None:
    assert list(testing.LAWS) == [
        "round_trip", "neighbours", "nothing_lost", "chunks", "truncation", "results", "manual"
    ]  # fmt: skip
    assert list(testing.NATIVE_LAWS) == [
        "round_trip", "nothing_lost", "chunks", "quoted", "truncation", "results", "manual"
    ]  # fmt: skip
