"""What hosts are told while a request is rewritten and its response read."""

from typing import Any, Literal, NamedTuple

from wirecall._public import as_dict

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
