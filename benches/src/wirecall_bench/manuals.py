"""Variants of the manual of wire calls, which ablations try: `--ablation manual=NAME`.

A variant is a template of `wirecall.wrap`. It gets the definitions of a request's tools, and returns the
manual. Each one changes one property of the built-in manual.
"""

import re
from collections.abc import Callable, Mapping

from wirecall import Toolset
from wirecall._tools.definitions import Definition

Template = Callable[[list[Definition]], str]

_SHORT = "To call a tool, write:\n{example}\nTools (? optional, string by default):"
_LONG = """\
You can use the tools below. If one of them helps to answer the user, call it. To call a tool, write one \
call as plain text, with nothing before it:
{example}
The name of the tool comes first. Then come its arguments, each as key=value, separated by spaces. Give \
every argument without a question mark, and those with one only if the user asks for them. Take the values \
from the user's message.
Quote values with spaces; in quotes, escape with \\" \\\\ \\n. Write lists as JSON, like ["a","b"], and \
nested keys with dots, like a.b=1. Results come as <tool-result>; never write one.
Tools (? optional, string by default):"""
_FORM = "Begin a call with <call> and the tool's name, write arguments as key=value, and end it with </call>."
_NEUTRAL = '<call>tool_name key="some text" other_key=3</call>'


def _parts(tools: list[Definition], *, constraints: bool = True) -> tuple[str, str, list[str]]:
    """The built-in header, the signatures, and an example for each tool."""
    toolset = Toolset(tools, constraints=constraints)
    signatures = toolset.manual(header="")
    examples = [example for tool in tools for example in Toolset([tool]).examples()[:1]]
    return toolset.manual().removesuffix(signatures), signatures, examples


def _tools_first(tools: list[Definition]) -> str:
    header, signatures, _ = _parts(tools)
    how, _, title = header.rstrip("\n").rpartition("\n")
    return f"{title}\n{signatures}\n{how}"


def _neutral_example(tools: list[Definition]) -> str:
    header, signatures, _ = _parts(tools)
    first, _, *rest = header.split("\n")
    return "\n".join([first, _NEUTRAL, *rest]) + signatures


def _no_example(tools: list[Definition]) -> str:
    header, signatures, _ = _parts(tools)
    first, _, *rest = header.split("\n")
    return "\n".join([f"{first.rstrip(':')}. {_FORM}", *rest]) + signatures


def _named_values(tools: list[Definition]) -> str:
    """Example texts say which parameter they are for, so that a copy of them is no use anywhere else."""
    header, signatures, _ = _parts(tools)
    return re.sub(r'([\w.]+)="some text"', r'\1="the \1"', header) + signatures


def _example_per_tool(tools: list[Definition]) -> str:
    header, _, examples = _parts(tools)
    signatures = (Toolset([tool]).manual(header="") for tool in tools)
    pairs = zip(signatures, examples, strict=True)
    return header + "\n".join(f"{signature}\n{example}" for signature, example in pairs)


def _examples_last(tools: list[Definition]) -> str:
    header, signatures, examples = _parts(tools)
    return "\n".join([f"{header}{signatures}", "Examples:", *examples])


def _with_header(header: str) -> Template:
    def template(tools: list[Definition]) -> str:
        _, signatures, examples = _parts(tools)
        return f"{header.format(example=examples[0])}\n{signatures}"

    return template


def _without_constraints(tools: list[Definition]) -> str:
    return "".join(_parts(tools, constraints=False)[:2])


MANUALS: Mapping[str, Template] = {
    "tools-first": _tools_first,
    "neutral-example": _neutral_example,
    "no-example": _no_example,
    "named-values": _named_values,
    "example-per-tool": _example_per_tool,
    "examples-last": _examples_last,
    "short-header": _with_header(_SHORT),
    "long-header": _with_header(_LONG),
    "no-constraints": _without_constraints,
}
