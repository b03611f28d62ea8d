"""Generated cases of the laws, and how they are shrunk."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any

Json = Any
Tools = list[tuple[str, dict[str, Json]]]
# Makes a toolset of tools, strict or not.
Make = Callable[[Tools, bool], Any]


@dataclass(frozen=True)
class Case:
    """A tool and a call of it between two texts, and text from an untrusted source."""

    make: Make = field(repr=False)
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


def cases(make: Make, marks: list[str], count: int, random: Random) -> Iterator[Case]:
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
        yield Case(make, tool, properties, arguments(), before, after, text())


Law = Callable[[Case], str | None]


def broken(law: Law, case: Case) -> str | None:
    """How the case breaks the law, if it does."""
    try:
        return law(case)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic is not an Exception
        return f"{type(error).__name__}: {error}"


def shrunk(law: Law, case: Case) -> Case:
    """The smallest case that still breaks the law, as far as single steps lead."""
    for smaller in _smaller(case):
        if broken(law, smaller):
            return shrunk(law, smaller)
    return case


def _smaller(case: Case) -> Iterator[Case]:
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
