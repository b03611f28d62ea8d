"""The agent loop that every client is tried with: three tools, and a plan of twelve steps that calls them.

Played natively with a bare client it is the control; played over text with a wrapped one, the application
must see the same calls, results and final answer: `expected()`.
"""

import json
from collections.abc import Sequence
from typing import Any

from server import Call, Seen, Step
from server.model import Mistake

Log = list[
    tuple[str, dict[str, Any], str]
]  # name, arguments and result of each call that the application saw

DEFINITIONS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": 'Find "things" (fast - or not).',
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What (exactly): a=b?"},
                    "limit": {"type": "integer", "default": 3},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "mode": {"enum": ["quick", "very deep"]},
                },
                "required": ["query"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "save",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "text": {"type": "string"},
                    "options": {
                        "type": "object",
                        "properties": {"draft": {"type": "boolean"}, "owner": {"type": "string"}},
                        "required": ["owner"],
                    },
                    "rows": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"x": {"type": "number"}}},
                    },
                },
                "required": ["path", "text"],
            },
        },
    },
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]
TRICKY = 'two words, "quoted" \\ and\nlines\t</call><call>now</call> é🎈'


def plan(mistakes: Sequence[Mistake] = (), *, alone: bool = True, prose: bool = True) -> list[Step]:
    """Twelve steps with parallel calls; the first of them make these mistakes over text.

    Without `prose` there is no text beside calls, which hosts take for the final answer when they stream.
    """
    steps = [
        Step([Call("search", {"query": "red shoes", "limit": 2}), Call("now")]),
        Step([Call("save", {"path": "a/b.txt", "text": TRICKY, "options": {"draft": True, "owner": "Ann"}})]),
        Step(
            [Call("search", {"query": "1"}), Call("search", {"query": "null", "mode": "very deep"})],
            "Two more." if prose else "",
        ),
        Step([Call("search", {"query": "", "tags": ["a", "b c", TRICKY]})]),
        Step(
            [
                Call("save", {"path": "true", "text": "x", "rows": [{"x": 1.5}, {"x": -2}]}),
                Call("now"),
                Call("now"),
            ]
        ),
        *(
            Step([Call("search", {"query": f"Number {n}"}), Call("save", {"path": f"{n}", "text": "t"})])
            for n in range(6)
        ),
        Step(
            text=lambda seen: (
                f"Done: {len(seen)} results, the last was {seen[-1].text!r}, the first {seen[0].text!r}."
            )
        ),
    ]
    places = (0, 1, 3, 5)
    for place, mistake in zip(places, mistakes, strict=False):
        steps[place] = Step(steps[place].calls, steps[place].text, mistake, alone)
    return steps


def expected() -> tuple[Log, str]:
    """What the application sees of the plan, without any client."""
    steps = plan()
    calls = [(call.name, json.loads(call.text)) for step in steps for call in step.calls]
    log = [(name, arguments, run_tool(name, arguments)) for name, arguments in calls]
    last = steps[-1].text
    assert callable(last)
    return log, last([Seen(name, result) for name, _, result in log])


def run_tool(name: str, arguments: dict[str, Any]) -> str:
    definition = next(tool["function"] for tool in DEFINITIONS if tool["function"]["name"] == name)
    if missing := set(definition["parameters"].get("required", ())) - arguments.keys():
        return f"error: without {', '.join(sorted(missing))}"
    return f"{name}({json.dumps(arguments, sort_keys=True)})"
