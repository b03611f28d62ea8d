"""Options by name and type: what the annotations say is what is checked, wherever options are given."""

import dataclasses
import inspect
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx2
import pytest

import wirecall
from law import count, seeded
from standin import open_sync
from wirecall import Toolset, ToolsetOptions, WrapOptions, compact_context, compact_tools
from wirecall._clients.codec import Codec
from wirecall._text.options import Options

ERRORS = Path(__file__).parents[2] / "rust" / "core" / "src" / "error.rs"
REQUEST: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi."}]}


def test_the_typed_dict_and_the_dataclass_agree() -> None:
    assert get_type_hints(WrapOptions) == get_type_hints(Options)
    assert WrapOptions.__required_keys__ == frozenset()


def test_the_signature_of_the_toolset_agrees() -> None:
    """That is what type checkers and `help` show."""
    declared = get_type_hints(ToolsetOptions)
    defaults = {field.name: field.default for field in dataclasses.fields(Options)}
    # What clients get does not depend on the protocol.
    assert defaults.pop("reasoning") == "content"
    defaults["reasoning"] = "auto"
    tools, *options = inspect.signature(Toolset).parameters.values()
    assert tools.name == "tools"
    assert {one.name: one.annotation for one in options} == declared
    assert {one.name: one.default for one in options} == {name: defaults[name] for name in declared}


def by_codec(**options: Any) -> object:
    body = b'{"messages": [{"role": "user", "content": "Hi."}], "wirecall": ' + encoded(options) + b"}"
    return open_sync(Codec(Options()), "/v1/chat/completions", {}, body)


def encoded(options: Mapping[str, Any]) -> bytes:
    from json import dumps

    return dumps(options).encode()


def hook(name: str) -> Callable[..., object]:
    return lambda **options: getattr(compact_tools(), name)(REQUEST, **options)


# Where options are given, and which.
PLACES: dict[str, tuple[Callable[..., object], Mapping[str, Any]]] = {
    "wrap": (lambda **options: wirecall.wrap(httpx2.Client(), **options), get_type_hints(WrapOptions)),
    "compact_tools": (compact_tools, get_type_hints(WrapOptions)),
    "transform_params": (hook("transform_params"), get_type_hints(WrapOptions)),
    "wrap_generate": (
        lambda **options: compact_tools().wrap_generate(lambda _: {}, REQUEST, **options),
        get_type_hints(WrapOptions),
    ),
    "Toolset": (lambda **options: Toolset([], **options), get_type_hints(ToolsetOptions)),
    "compact_context": (
        compact_context,
        {
            name: parameter.annotation
            for name, parameter in inspect.signature(compact_context).parameters.items()
        },
    ),
    "codec": (by_codec, get_type_hints(WrapOptions)),
}


def typo(name: str, draw: random.Random) -> str:
    """One slip of the fingers: a letter is missing, doubled, or changes places with the next one."""
    at = draw.randrange(len(name) - 1)
    kind = draw.randrange(3)
    if kind == 0:
        return name[:at] + name[at + 1 :]
    if kind == 1:
        return name[: at + 1] + name[at:]
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]


@pytest.mark.laws
@pytest.mark.parametrize("place", PLACES)
def test_a_typo_is_told_with_the_nearest_name(place: str) -> None:
    call, options = PLACES[place]
    draw = seeded(41)
    for _ in range(count(2000, 20)):
        name = draw.choice([*options])
        wrong = typo(name, draw)
        if wrong in options:
            continue
        with pytest.raises(TypeError) as raised:
            call(**{wrong: 1})
        assert str(raised.value) == f"there is no option {wrong!r}; did you mean {name!r}?"


@pytest.mark.parametrize("place", PLACES)
def test_a_name_like_none_is_told_with_all_names(place: str) -> None:
    call, options = PLACES[place]
    with pytest.raises(TypeError, match="there is no option 'x'; available: ") as raised:
        call(x=1)
    assert str(raised.value).partition("available: ")[2].split(", ") == sorted(options)


# One value of each type that JSON knows, and some that it does not.
VALUES: list[Any] = [
    None,
    True,
    0,
    5,
    1.5,
    "maybe",
    "",
    b"x",
    [],
    ["a", "b"],
    {},
    {"a": 1},
    ("a", 1),
    len,
    object,
]
# What an annotation admits, by how it is written.
ADMITS: list[tuple[str, Callable[[Any], bool]]] = [
    ("Literal", lambda value: isinstance(value, str)),  # another choice is a ValueError
    ("None|NoneType|Optional", lambda value: value is None),
    ("bool", lambda value: isinstance(value, bool)),
    ("int", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    ("float", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
    ("str", lambda value: isinstance(value, str)),
    ("Callable", callable),
    ("Mapping", lambda value: isinstance(value, dict)),
    ("Sequence", lambda value: isinstance(value, (list, tuple, str, bytes))),
]


def admitted(kind: Any, value: Any) -> bool:
    """Decided by the text of the annotation, not by what is tested."""
    text = kind.__name__ if isinstance(kind, type) else str(kind)
    text = re.sub(
        r"(tuple|Mapping|Sequence)\[[^][]*\]|(Callable)\[(?:[^][]|\[(?:[^][]|\[[^][]*\])*\])*\]",
        r"\1\2",
        text,
    )
    return any(re.search(rf"\b({word})\b", text) and admits(value) for word, admits in ADMITS)


@pytest.mark.parametrize("place", ["compact_tools", "Toolset", "compact_context"])
def test_a_wrong_type_is_told_for_every_option(place: str) -> None:
    call, options = PLACES[place]
    tried = 0
    for name, kind in options.items():
        for value in VALUES:
            if admitted(kind, value):
                continue
            tried += 1
            with pytest.raises(TypeError) as raised:
                call(**{name: value})
            came = re.escape(
                repr(value) if value is None or isinstance(value, tuple) else type(value).__name__
            )
            assert re.fullmatch(
                rf"{name} must be (an? \w|callable|one of \").*, not {came}", str(raised.value)
            )
    assert tried > 8 * len(options)


def test_what_is_right_is_admitted() -> None:
    def template(tools: object) -> str:
        return ""

    given: WrapOptions = {
        "protocol": wirecall.Format(like="wire", call="<c>{call}</c>"),
        "recover": True,
        "delimiters": None,
        "reasoning": ("<a>", "</a>"),
        "limits": {"depth": 4},
        "template": template,
        "manual_header": "",
        "max_retries": 0,
        "on_event": print,
        "native_when": bool,
    }
    options = compact_tools(**given).options
    assert {name: getattr(options, name) for name in given} == given


def test_the_kinds_are_those_of_the_core() -> None:
    source = ERRORS.read_text()

    def of(kind: str) -> list[str]:
        start = rf"\bimpl {kind} " if kind == "ErrorKind" else rf"\bpub enum {kind} "
        return re.findall(r'\w+ => "(\w+)",', re.split(start, source)[1].split("\n}\n")[0])

    assert [*get_args(wirecall.RepairKind)] == of("Repair")
    assert [*get_args(wirecall.ProblemKind)] == of("ProblemKind")
    # Strict mode refuses with the name of a repair; what `tool_choice` forbids is not the core's.
    assert [*get_args(wirecall.ErrorKind)] == [*of("ErrorKind"), "not_allowed", *of("Repair")]
    assert all(map(of, ("Repair", "ProblemKind", "ErrorKind")))


def test_the_kinds_of_notices_are_those_that_are_sent() -> None:
    package = Path(wirecall.__file__).parent
    sent = {
        kind
        for file in package.rglob("*.py")
        for kind in re.findall(r'(?:\.notify|Notice)\(\s*"(\w+)"', file.read_text(encoding="utf-8"))
    }
    assert sent == {*get_args(wirecall.NoticeKind)}
