"""What hosts are told while a request is rewritten and its response read."""

import logging
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from wirecall._public import as_dict

log = logging.getLogger("wirecall")

NoticeKind = Literal[
    "repair", "problem", "error", "retry", "missing_call", "other_format", "native_tools", "saved"
]


class Notice(NamedTuple):
    """Something that happened while a request was rewritten or a response read, for `on_event`.

    Attributes:
        kind: The kind of event.
        tool: The tool that it is about, if any.
        detail: Details, without anything that the model or a user wrote. For "repair", "problem" and "error"
            it begins with their kind. For "other_format", it is the format of what looks like a call in the
            answer's text, or "json" or "python". For "native_tools", it is the types of the tools that
            were dropped. For "saved", which needs tiktoken and its vocabulary, it is
            the number of tokens (o200k_base) that the shorter definitions save.
        raw: For "error", the call as the model wrote it.
        field: For "problem", the argument, written as a key: `profile.address.city`, `items[0].sku`; empty
            if the problem concerns all arguments. It contains no names that the schema does not declare,
            because the model wrote them: for an unknown field, it names the containing object.
    """

    kind: NoticeKind
    tool: str | None
    detail: str
    raw: str | None = None
    field: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)


def tell(function: Callable[..., object], *given: Any, name: str | None = None, **more: Any) -> bool:
    """Calls a function of the host that is told something. False: it raised an exception, which is logged.

    Args:
        name: What the log calls the function; by default its own name.
    """
    try:
        function(*given, **more)
    except Exception as failure:
        # Without its message, which may quote what the function was given.
        log.warning("%s raised %s", name or function.__qualname__, type(failure).__name__)
        return False
    return True
