"""Arguments for schemas that other libraries made, and the law that they keep.

The library itself says which of the arguments are valid: they are only likely to be.
"""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from generate_values import anything, exact, integer, text
from wirecall import Toolset

Json = dict[str, Any]

FORMATS = {
    "date": ("2024-02-29", "1999-12-31"),
    "date-time": ("2024-01-01T00:00:00Z", "2024-06-30T12:30:15.5+02:00"),
    "time": ("12:30:00Z", "00:00:00+01:00"),
    "duration": ("P1D", "PT1H30M"),
    "email": ("a.b@example.org", "x@example.com"),
    "uri": ("https://example.org/?q=a&b=c#x", "http://example.com/"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
    "ipv4": ("127.0.0.1", "10.0.0.255"),
    "ipv6": ("::1", "2001:db8::ff00:42:8329"),
}
# Native formats have their own law, with the official templates as the writers (test_templates).
PROMPTED = ("wire", "hermes", "gemma", "xml", "yaml", "qwen3coder")
OPTIONS: tuple[Json, ...] = ({}, {"strict": True}, {"validate": "error"})


def sample(rng: random.Random, of: Any, root: Json, *, least: bool = False, depth: int = 0) -> Any:
    """A value that most likely fits the schema. `least`: without all that may be left out."""

    def inner(schema: Any) -> Any:
        return sample(rng, schema, root, least=least, depth=depth + 1)

    if not isinstance(of, dict):
        return anything(rng, 2)
    if "$ref" in of:
        target: Any = root
        for step in of["$ref"].split("/")[1:]:
            target = target[int(step)] if isinstance(target, list) else target[step]
        return inner(target)
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return rng.choice(of["enum"])
    for word in ("anyOf", "oneOf"):
        if word in of:
            # The last branch ends recursion: null, most often.
            return inner(of[word][-1] if depth > 6 else rng.choice(of[word]))
    if "allOf" in of:
        parts = [inner(part) for part in of["allOf"]]
        return {key: value for part in parts for key, value in part.items()} if len(parts) > 1 else parts[0]
    kind = rng.choice(of["type"]) if isinstance(of.get("type"), list) else of.get("type")
    if kind == "object":
        return members(rng, of, root, inner, least=least)
    if kind == "array":
        items, rest = of.get("prefixItems"), of.get("items", True)
        if isinstance(rest, list):
            items, rest = rest, of.get("additionalItems", True)
        made = [inner(item) for item in items or ()]
        if rest is not False and not (items and len(items) == of.get("maxItems")):
            least_count = of.get("minItems", 0) - len(made)
            extra = 0 if least or depth > 5 else rng.randrange(3)
            made += [inner(rest) for _ in range(max(least_count, extra))]
        return made
    if kind == "string":
        return rng.choice(FORMATS[of["format"]]) if of.get("format") in FORMATS else text(rng)
    if kind in ("integer", "number"):
        if "minimum" in of or "maximum" in of:
            return rng.randint(int(of.get("minimum", 0)), int(of.get("maximum", 9)))
        return rng.choice((0.5, -2.25, 1e-7, 3)) if kind == "number" else integer(rng)
    if kind == "boolean":
        return rng.random() < 0.5
    return None if kind == "null" else anything(rng, 2)


def members(rng: random.Random, of: Json, root: Json, inner: Callable[[Any], Any], *, least: bool) -> Json:
    properties = of.get("properties", {})
    made = {}
    for name in rng.sample(list(properties), len(properties)):
        optional = name not in of.get("required", ()) or has_default(properties[name], root)
        if not optional or not (least or rng.random() < 0.5):
            made[name] = inner(properties[name])
    others = of.get("additionalProperties", not properties)
    if others is not False and not properties and not least:
        made |= {rng.choice(("a", "x y", "</call>", "1", "a.b")): inner(others) for _ in range(2)}
    return made


def has_default(of: Any, root: Json) -> bool:
    return isinstance(of, dict) and "default" in of


def arguments(schema: Json, accepts: Callable[[Json], bool], cases: int = 40) -> Iterator[Json]:
    """Some that the library accepts, the first without whatever has a default."""
    found = 0
    for seed in range(cases):
        given = sample(random.Random(seed), schema, schema, least=seed % 4 == 0)
        if accepts(given):
            found += 1
            yield given
    assert found >= cases / 4, f"only {found} of {cases} were accepted"


def check(schema: Json, valid: Iterator[Json] | list[Json]) -> None:
    """What is written of valid arguments is read as them, in every format and mode, without a word."""
    cases = list(valid)
    for protocol in PROMPTED:
        for options in OPTIONS:
            tools = Toolset([("tool", schema)], protocol=protocol, **options)
            for given in cases:
                message = tools.encode("tool", given)
                read = tools.parse(message)
                said = (protocol, options, given, message, read)
                assert not read.errors, said
                [call] = read.calls
                assert (call.repairs, call.problems) == ((), ()), said
                assert exact(json.loads(call.arguments)) == exact(given), said
                assert exact(call.args) == exact(given), said
