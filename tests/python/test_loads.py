"""`wirecall.loads`: vectors, two well-kept libraries as referees, and laws over generated texts."""

import inspect
import json
import math
import pickle
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json

import generate_values
from law import SEED, count
from wirecall import JsonError, JsonWarning, loads

VECTORS = Path(__file__).parents[1] / "vectors" / "json"
CASES = max(100, count(10_000, 10))
DEPTH = 512


def load(name: str) -> list[Any]:
    with open(VECTORS / f"{name}.jsonl", encoding="utf-8", newline="\n") as lines:
        return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def exact(value: object) -> str:
    """What tells 1 from 1.0 and from True, and -0.0 from 0.0."""
    return repr(value)


def read(text: str, **options: Any) -> tuple[str] | None:
    """The value, told exactly, or None if it is refused."""
    try:
        return (exact(loads(text, **options)),)
    except JsonError:
        return None


def refuse(word: str) -> None:
    raise ValueError(word)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


def by_json(text: str, hook: Callable[[list[tuple[str, Any]]], Any] | None = once) -> tuple[str] | None:
    """The same by the standard library, held to RFC 8259, with each key once and lone surrogates replaced."""
    try:
        value = json.loads(text, parse_constant=refuse, parse_float=finite, object_pairs_hook=hook)
    except ValueError:
        return None
    return (exact(well_formed(value)),)


def well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    return {well_formed(k): well_formed(v) for k, v in value.items()} if isinstance(value, dict) else value


# Vectors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", load("suite"))
def test_suite(case: dict[str, Any]) -> None:
    text = case["text"]
    if case["id"].startswith("y_"):
        strict = relaxed = (exact(json.loads(text)),)
    else:
        strict, relaxed = ((exact(case[mode]),) if mode in case else None for mode in ("strict", "relaxed"))
    assert read(text, relaxed=False) == strict
    assert read(text) == relaxed


@pytest.mark.parametrize("case", load("suite"))
def test_suite_and_the_standard_library(case: dict[str, Any]) -> None:
    assert read(case["text"], relaxed=False) == by_json(case["text"])


def test_the_suite_is_a_suite() -> None:
    kinds = [param.values[0]["id"][:2] for param in load("suite")]
    assert kinds.count("y_") >= 100
    assert kinds.count("n_") >= 200
    assert kinds.count("i_") >= 15


@pytest.mark.parametrize("case", load("tolerant"))
def test_tolerant(case: dict[str, Any]) -> None:
    warnings: list[JsonWarning] = []
    value = loads(case["text"], relaxed=case.get("relaxed", True), warnings=warnings)
    assert exact(value) == exact(case["value"])
    assert [list(warning) for warning in warnings] == case["warnings"]
    # The first fault in the text, or one that is found earlier: without a list it is what is raised.
    if warnings:
        with pytest.raises(JsonError) as info:
            loads(case["text"], relaxed=case.get("relaxed", True))
        if not any(re.search("does not end|quote in a string", reason) for _, _, reason in warnings):
            assert JsonWarning(info.value.line, info.value.column, info.value.reason) == warnings[0]


@pytest.mark.parametrize("case", load("partial"))
def test_partial(case: dict[str, Any]) -> None:
    value = loads(case["text"], relaxed=case.get("relaxed", True), partial=True)
    assert exact(value) == exact(case["value"])


# One by one ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['{"a":1,"b":2,"a":3}', '{"a":1,"b":2,"\\u0061":3}'])
@pytest.mark.parametrize("relaxed", [False, True])
def test_duplicates(text: str, relaxed: bool) -> None:
    with pytest.raises(JsonError, match="twice") as info:
        loads(text, relaxed=relaxed)
    assert (info.value.line, info.value.column) == (1, 14)
    assert list(loads(text, relaxed=relaxed, duplicates="first").items()) == [("a", 1), ("b", 2)]
    assert list(loads(text, relaxed=relaxed, duplicates="last").items()) == [("a", 3), ("b", 2)]
    assert loads(text, duplicates="last", warnings=(none := [])) == {"a": 3, "b": 2}
    assert none == []
    with pytest.raises(ValueError, match='must be one of "error", "first", "last"'):
        loads(text, duplicates="any")  # type: ignore[arg-type]


def test_integers_are_exact() -> None:
    for value in (2**53 + 1, -(2**63), 2**64, 10**600 + 1, -(10**4000) - 7):
        assert loads(str(value)) == value
        assert loads(f"[{value}]", relaxed=False) == [value]
    assert exact(loads("[-0, -0.0, 1.0, 1e2]")) == "[0, -0.0, 1.0, 100.0]"


def test_the_interpreter_says_how_many_digits_an_integer_may_have() -> None:
    if not hasattr(sys, "set_int_max_str_digits"):
        pytest.skip("this Python has no limit")
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(700)
        assert loads("1" * 700) == int("1" * 700)
        with pytest.raises(JsonError, match="has 701 digits, and 700 are allowed") as info:
            loads('{"a":\n -' + "1" * 701 + "}")
        assert (info.value.line, info.value.column) == (2, 2)
        warnings: list[JsonWarning] = []
        assert loads("[" + "1" * 701 + "]", warnings=warnings) == ["1" * 701]
        assert len(warnings) == 1
        sys.set_int_max_str_digits(0)
        assert loads("1" * 9000) == int("1" * 9000)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("options", [{}, {"relaxed": False}, {"partial": True}, {"warnings": []}])
def test_depth(options: dict[str, Any]) -> None:
    assert exact(loads("[" * DEPTH + "]" * DEPTH, **options)) == "[" * DEPTH + "]" * DEPTH
    for deep in ("[" * (DEPTH + 1) + "]" * (DEPTH + 1), '{"a":' * (DEPTH + 1), "[" * 100_000):
        with pytest.raises(JsonError, match=f"nested more than {DEPTH} levels deep"):
            loads(deep, **options)
    assert f"more than {DEPTH} levels" in " ".join((inspect.getdoc(loads) or "").split())


def test_the_error() -> None:
    with pytest.raises(JsonError) as info:
        loads('{"é": 1,\n "\U0001f600" 2}')
    error = info.value
    assert isinstance(error, ValueError)
    assert (error.line, error.column, error.reason) == (2, 6, "a colon is missing")
    assert str(error) == "line 2, column 6: a colon is missing"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 2)
    with pytest.raises(JsonError, match="relaxed JSON accepts it"):
        loads("{a: 1}", relaxed=False)


def test_warnings_are_added() -> None:
    first = JsonWarning(1, 1, "before")
    warnings = [first]
    assert loads("[1,,2]", warnings=warnings) == [1, 2]
    assert warnings == [first, JsonWarning(line=1, column=4, reason="an extra comma")]
    assert loads("[1, 2]", warnings=warnings) == [1, 2]
    assert len(warnings) == 2
    many: list[JsonWarning] = []
    assert loads("[" + "," * 5000 + "1]", warnings=many) == [1]
    assert len(many) == 1001
    assert many[-1].reason == "there are more faults, which are not listed"


def test_lone_surrogates() -> None:
    assert loads('["\ud800", "\\udc00", "\ud83d\ude00"]') == ["\ufffd", "\ufffd", "\U0001f600"]


@pytest.mark.parametrize("wrong", [b"1", None, 1, ["1"]])
def test_only_a_str_is_a_text(wrong: Any) -> None:
    with pytest.raises(TypeError):
        loads(wrong)
    with pytest.raises(TypeError):
        loads("1", warnings=())  # type: ignore[arg-type]


MIB = 1 << 20
HOSTILE = {
    "braces": lambda n: "[" + "{}," * (n // 3) + "{}]",
    "braces without commas": lambda n: "[" + "{}" * (n // 2),
    "closers": lambda n: "[" + "}" * n,
    "other closers": lambda n: '{"a":' + "]" * n,
    "wrong pairs": lambda n: "[" + "{]" * (n // 2),
    "quotes": lambda n: "[" + '"' * n,
    "quotes and blanks": lambda n: "[" + '" ' * (n // 2),
    "quotes in a string": lambda n: '["' + '" a' * (n // 3),
    "apostrophes": lambda n: "[" + "'" * n,
    "backslashes": lambda n: '["' + "\\" * n,
    "half escapes": lambda n: '["' + "\\ud83d" * (n // 6),
    "half u": lambda n: '["' + "\\u" * (n // 2),
    "slashes": lambda n: "[" + "/" * n,
    "comments": lambda n: "[" + "/**/" * (n // 4),
    "open comments": lambda n: "[" + "/*" * (n // 2),
    "numbers and comments": lambda n: "[" + "1/**/" * (n // 5),
    "words and slashes": lambda n: "[" + "1" * (n // 2) + "x//" * (n // 6),
    "colons": lambda n: '{"a"' + ":" * n,
    "commas": lambda n: "[" + "," * n,
    "blanks": lambda n: "[" + " " * n,
    "keys": lambda n: "{" + ",".join(f'"{i}":{i}' for i in range(n // 12)) + "}",
    "the same key": lambda n: "{" + '"a":1,' * (n // 6) + "}",
    "unclosed objects": lambda n: "[" + '{"a":[],' * 500 + '"b' * (n // 2),
    "digits": lambda n: "[0." + "1" * n + "]",
    "an integer": lambda n: "[" + "1" * n + "]",
    "controls": lambda n: '["' + "\x00" * n,
    "emoji": lambda n: "[" + "\U0001f600," * (n // 5),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_cost_no_more_than_their_length(name: str) -> None:
    """No clock: what is quadratic takes minutes here."""
    text = HOSTILE[name](MIB)
    for options in ({}, {"relaxed": False}, {"partial": True}):
        read(text, **options)
        loads(text, **options, warnings=[])


# Laws ---------------------------------------------------------------------------------------------

# fmt: off
TOKENS = (
    "{", "}", "[", "]", ",", ":", '"', "'", "\\", "/", "//", "/*", "*/", "\n", " ", "\r", "\t", "\\n", "\\u",
    "\\u00e9", "\\ud83d", "\\ude00", "0", "1", "-", ".", "e", "E", "+", "true", "false", "null", "True",
    "None", "NaN", "a", "b", "x y", '"a"', '"b":', "'c'", "[1]", "{}", '{"a":', "\xe9", "\U0001f600", "\x00",
    "\x7f", "\ufeff", "\xa0", "1.5", "1e400", "01",
)
GAPS = ("", "", "", "", " ", "\n", "\r\n\t", " /* x */", " // y\n", "\t/*** / **/ ", " /* // ' \" ] */")
# fmt: on
WORDS = ("true", "false", "null", "True", "False", "None")
SEPARATORS = ((",", ":"), (", ", ": "), (" ,\n", "\t:\r\n"))


def cases() -> Iterator[random.Random]:
    for seed in range(SEED, SEED + CASES):
        yield random.Random(seed)


def dumped(rng: random.Random, value: object) -> str:
    return json.dumps(
        value,
        ensure_ascii=rng.random() < 0.5,
        indent=rng.choice((None, None, 0, 2)),
        separators=rng.choice(SEPARATORS),
    )


def loosely(rng: random.Random, value: Any) -> str:
    """A value in relaxed JSON, with comments."""

    def gap() -> str:
        return rng.choice(GAPS)

    def string(text: str) -> str:
        if re.fullmatch(r"[a-zA-Z_$][\w$-]*", text) and text not in WORDS and rng.random() < 0.5:
            return text
        inside = json.dumps(text, ensure_ascii=rng.random() < 0.5)[1:-1]
        if rng.random() < 0.5:
            # A line break of its own, where it is not the second half of an escaped backslash.
            inside = re.sub(r"\\.", lambda m: {"\\n": "\n", "\\t": "\t"}.get(m[0], m[0]), inside)
        if rng.random() < 0.5:
            return f'"{inside}"'
        inside = inside.replace('\\"', '"').replace("'", "\\'")
        return f"'{inside}'"

    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        items = [f"{gap()}{loosely(rng, item)}{gap()}" for item in value]
        return f"[{joined(rng, items)}{gap()}]"
    if isinstance(value, dict):
        members = [f"{gap()}{string(k)}{gap()}:{gap()}{loosely(rng, v)}{gap()}" for k, v in value.items()]
        return f"{{{joined(rng, members)}{gap()}}}"
    text = json.dumps(value)
    return text.capitalize() if text in ("true", "false") and rng.random() < 0.5 else text


def joined(rng: random.Random, parts: list[str]) -> str:
    return ",".join(parts) + ("," if parts and rng.random() < 0.3 else "")


def noise(rng: random.Random) -> str:
    """Good JSON with some of its characters changed, or tokens in any order."""
    if rng.random() < 0.3:
        return "".join(rng.choice(TOKENS) for _ in range(rng.randrange(16)))
    value = generate_values.anything(rng)
    pieces = re.findall(r"\w+|\s+|.", (loosely if rng.random() < 0.5 else dumped)(rng, value), re.DOTALL)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        if pieces:
            at = rng.randrange(len(pieces))
            pieces[at : at + rng.choice((0, 1, 1, 2))] = rng.choice(((), (rng.choice(TOKENS),)))
    return "".join(pieces)


@pytest.mark.laws
def test_what_json_writes_is_read() -> None:
    for rng in cases():
        value = generate_values.anything(rng)
        text = dumped(rng, value)
        for relaxed in (False, True):
            warnings: list[JsonWarning] = []
            assert exact(loads(text, relaxed=relaxed)) == exact(value), text
            assert exact(loads(text, relaxed=relaxed, warnings=warnings)) == exact(value), text
            assert exact(loads(text + " ", relaxed=relaxed, partial=True)) == exact(value), text
            assert warnings == []


@pytest.mark.laws
def test_relaxed_json_is_read() -> None:
    for rng in cases():
        value = generate_values.anything(rng)
        text = loosely(rng, value)
        warnings: list[JsonWarning] = []
        assert exact(loads(text)) == exact(value), text
        assert exact(loads(text, warnings=warnings)) == exact(value), text
        assert warnings == []


@pytest.mark.laws
def test_strict_agrees_with_the_standard_library() -> None:
    read_ones = 0
    for rng in cases():
        text = noise(rng)
        found = read(text, relaxed=False)
        assert found == by_json(text), text
        assert read(text, relaxed=False, duplicates="last") == by_json(text, None), text
        read_ones += found is not None
    assert read_ones > 10


@pytest.mark.laws
def test_strict_agrees_with_pydantic() -> None:
    for rng in cases():
        text = noise(rng)
        try:
            wanted = (exact(from_json(text, allow_inf_nan=False)),)
        except ValueError:
            wanted = None
        # It refuses lone surrogates, and takes what is beyond a float as an infinity.
        if "\\u" not in text and not (wanted and re.search(r"\binf\b", wanted[0])):
            assert read(text, relaxed=False, duplicates="last") == wanted, text


@pytest.mark.laws
def test_relaxed_reads_what_strict_does_and_tolerant_everything() -> None:
    for rng in cases():
        text = noise(rng)
        strict, relaxed = read(text, relaxed=False), read(text)
        assert strict in (None, relaxed), text
        for is_relaxed, wanted in ((False, strict), (True, relaxed)):
            warnings: list[JsonWarning] = []
            value = exact(loads(text, relaxed=is_relaxed, warnings=warnings))
            assert (value,) == (wanted or (value,)), text
            assert bool(warnings) == (wanted is None), text
            assert warnings == sorted(warnings, key=lambda warning: warning[:2]), text
            assert isinstance(loads(text, relaxed=is_relaxed, partial=True, warnings=[]), object)


def grows(before: Any, after: Any) -> bool:
    """Is the one a beginning of the other? Nothing is of everything; what is closed stays as it is."""
    if before is None:
        return True
    if isinstance(before, str):
        return isinstance(after, str) and after.startswith(before)
    if isinstance(before, list):
        return (
            isinstance(after, list)
            and len(before) <= len(after)
            and exact(before[:-1]) == exact(after[: len(before)][:-1])
            and all(map(grows, before[-1:], after[len(before) - 1 :]))
        )
    if isinstance(before, dict):
        if not isinstance(after, dict) or list(before) != list(after)[: len(before)]:
            return False
        *closed, last = before or [None]
        same = all(exact(before[key]) == exact(after[key]) for key in closed)
        return same and (last is None or grows(before[last], after[last]))
    return exact(before) == exact(after)


@pytest.mark.laws
def test_every_beginning_of_a_text_is_read_and_nothing_is_taken_back() -> None:
    for rng in cases():
        value = generate_values.anything(rng)
        relaxed = rng.random() < 0.5
        text = (loosely(rng, value) if relaxed else dumped(rng, value)) + "\n"
        before = None
        # Long texts hold long numbers, which say nothing new.
        for end in range(min(len(text), 400) + 1):
            after = loads(text[:end], relaxed=relaxed, partial=True)
            assert grows(before, after), text[:end]
            before = after
        if len(text) <= 400:
            assert exact(before) == exact(value), text


def test_growing_is_what_it_says() -> None:
    good = [(None, 1), ("a", "ab"), ([], [1]), ([1, "a"], [1, "ab", 2]), ({"a": [1]}, {"a": [1, 2], "b": 0})]
    bad = [
        ("ab", "a"),
        ([1], [2]),
        (["a", 1], ["ab", 1]),
        ({"a": 1}, {}),
        ({"a": 1}, {"b": 1, "a": 1}),
        (1, 1.0),
    ]
    assert [grows(*pair) for pair in good + bad] == [True] * len(good) + [False] * len(bad)
