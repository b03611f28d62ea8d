"""The program that renders one chat template: `rendering` starts it in a process of its own.

It reads JSON lines from stdin and answers each with one line. The first line has the source and the limits,
each further one the variables of a rendering. An answer is `{"text": ...}` or `{"error": ..., "kind": ...}`.
It imports nothing of wirecall.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import nodes
    from jinja2.parser import Parser
    from jinja2.sandbox import SandboxedEnvironment

Variables = dict[str, Any]
Answer = dict[str, str]

# A fixed day: renderings of one template must differ only by their messages.
DAY = (2026, 1, 2)


class TooLongError(Exception):
    """The template writes more than the limit."""


def to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """The filter `tojson` of transformers, which does not escape HTML as Jinja's does."""
    return json.dumps(
        value,
        default=list,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def raise_exception(message: object) -> None:
    raise ValueError(str(message))


def environment() -> SandboxedEnvironment:
    """The environment that transformers gives to templates.

    Unlike there, lists can be changed, which Kimi's templates do. Each rendering has its own messages, and
    nothing outlives this process.
    """
    from datetime import datetime

    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import SandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}`, which marks the assistant's turns for training."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Parser) -> list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    made = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])
    made.filters["tojson"] = to_json
    made.filters["from_json"] = json.loads
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: datetime(*DAY).strftime(form)
    return made


def compiled(source: str) -> Callable[[Variables, int], str]:
    """The function that renders a template, with at most so many characters."""
    template = environment().from_string(source)

    def render(variables: Variables, limit: int) -> str:
        parts: list[str] = []
        for part in template.generate(variables):
            limit -= len(part)
            if limit < 0:
                raise TooLongError
            parts.append(part)
        return "".join(parts)

    return render


def limit(memory: int, seconds: float) -> None:
    """Limits the memory and the processor time of this process, on the platforms that can."""
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        # The kernel counts whole seconds.
        end = math.ceil(used + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (end, end + 1))


def failure(error: Exception) -> Answer:
    """The answer for a template that cannot be compiled or rendered."""
    line = getattr(error, "lineno", None)
    place = f" in line {line}" if type(error).__name__ == "TemplateSyntaxError" and line else ""
    kind = (
        "memory"
        if isinstance(error, MemoryError)
        else "output"
        if isinstance(error, TooLongError)
        else "template"
    )
    return {"error": f"{type(error).__name__}{place}: {str(error)[:500]}", "kind": kind}


def serve() -> None:
    def answer(given: Answer) -> None:
        print(json.dumps(given), flush=True)

    begin = json.loads(sys.stdin.readline())
    try:
        import jinja2.sandbox  # noqa: F401  # Before the limit.

        limit(begin["memory"], begin["seconds"])
        render = compiled(begin["source"])
    except Exception as error:
        answer(failure(error))
        return
    answer({"text": ""})
    for line in sys.stdin:
        try:
            answer({"text": render(json.loads(line), begin["output"])})
        except Exception as error:
            answer(failure(error))


if __name__ == "__main__":
    sys.path.extend(sys.argv[1:])
    serve()
