"""Grammars for constrained decoding, and what they do not enforce."""

from typing import Literal, NamedTuple

# The core has the same limit.
MOST_LONGEST = 1000

GrammarKind = Literal["gbnf", "ebnf", "structural_tag", "lark"]


class Unconstrained(NamedTuple):
    """Something that a schema demands and a grammar does not enforce, so that a call may still be invalid.

    Attributes:
        tool: The tool's name.
        field: The field, written as a key, with `[]` for items of arrays; empty for the arguments as a whole.
        keyword: The keyword of JSON Schema. "type" where any JSON is allowed, in which members may be
            repeated; "$ref" where values contain others of their own type without a limit; "schema" if there
            is more than is listed.
    """

    tool: str
    field: str
    keyword: str

    def __str__(self) -> str:
        return f"{'.'.join(filter(None, (self.tool, self.field)))}: {self.keyword}"


class Grammar(NamedTuple):
    """What a model may write, for a decoder that allows only that; made by `Toolset.grammar`.

    Attributes:
        kind: What reads it: "gbnf" (llama.cpp), "ebnf" (xgrammar), "structural_tag" (xgrammar, vLLM, SGLang)
            or "lark" (llguidance).
        text: The grammar.
        unconstrained: What it does not enforce.
    """

    kind: GrammarKind
    text: str
    unconstrained: tuple[Unconstrained, ...]


def check_longest(name: str, longest: int | None) -> None:
    """Check a bound of values.

    Args:
        name: Of the argument or option.

    Raises:
        ValueError: A grammar does not count to this number.
    """
    if longest is not None and not 1 <= longest <= MOST_LONGEST:
        raise ValueError(f"{name} is {longest}; it must be from 1 to {MOST_LONGEST:,}")
