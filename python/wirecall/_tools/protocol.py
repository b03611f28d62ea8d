"""Protocols whose calls a class of the application reads."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._tools.definitions import Definition


class Protocol:
    """A class that reads its calls itself, for `protocol=` of `Toolset`, `wrap` and `compact_tools`.

    Write a subclass with `parse` and `format_call` for calls that a `Format` cannot describe. Its calls are
    reported whole, at their end. It may also define `begins`, `format_result` and `format_tools`.

    The methods get and return the text between the markers. They must depend on nothing else, so that the
    result is the same however a stream is cut. `wirecall.testing.check_format` tests a protocol.

    Args:
        name: For error messages.
        open, close: The markers around a call.
        result: The markers around a result. Only the host writes results: the model is stopped there, and
            nothing in a result or a user's text can be parsed as such a marker or as `open`.
        header: Text before the tools in the manual; None for the default one.

    Raises:
        TypeError: The class has no `parse` or no `format_call`, a marker or the header is not a str, or the
            result is not a pair of str. (Markers that cannot work are a `ToolError` of the toolset.)
    """

    def __init__(
        self,
        *,
        open: str,
        close: str,
        result: tuple[str, str] = ("<tool_result>", "</tool_result>"),
        header: str | None = None,
        name: str = "custom",
    ) -> None:
        if not (self._defines("parse") and self._defines("format_call")):
            raise TypeError(
                f"{type(self).__name__} must define parse and format_call; "
                'to put markers around a built-in protocol, use Format(like="wire", call="<do>{call}</do>")'
            )
        pair: object = result
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"result must be a pair of str, not {pair!r}")
        begin, end = pair
        texts: dict[str, object] = {"open": open, "close": close, "result[0]": begin, "result[1]": end}
        if header is not None:
            texts["header"] = header
        for part, text in texts.items():
            if not isinstance(text, str):
                raise TypeError(f"{part} must be a str, not {type(text).__name__}")
        self.name = name
        self.open = open
        self.close = close
        self.result: tuple[str, str] = (begin, end)
        self.header = header

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, open={self.open!r}, close={self.close!r})"

    def begins(self, head: str) -> bool:
        """Whether a call begins: else `open` is text.

        Args:
            head: The 64 characters after `open`; fewer if `close` or the end of the message comes first.
        """
        return True

    def parse(self, body: str) -> tuple[str, Mapping[str, Any] | str] | None:
        """Reads a call.

        Args:
            body: The text from `open` to the first `close`; while None is returned, to the next one. (If the
                message is known to be complete, finally to its end.)

        Returns:
            The tool's name and its arguments, a mapping or the JSON text of an object; they need not fit the
            schema yet. None: this `close` is not the end of the call, but part of a value.

        Raises:
            ValueError: No call can be read, whatever follows. The model is told why; all other exceptions
                reach the host.
        """
        raise NotImplementedError

    def format_call(self, name: str, arguments: str) -> str:
        """The text between `open` and `close` that `parse` reads as this call.

        Args:
            name: The tool's name.
            arguments: JSON text of an object, compact.
        """
        raise NotImplementedError

    def format_result(self, name: str, content: str, error: bool, number: int | None) -> str:
        """The text between the markers of a result; anything in it that resembles a marker is neutralised.

        Args:
            name: The tool's name.
            content: The result's text.
            error: Whether the content is an error message.
            number: Which call of the same tool in one turn this answers, from 1; None if there is only one.
        """
        result: dict[str, Any] = {"name": name}
        if number is not None:
            result["number"] = number
        result["error" if error else "content"] = content
        return json.dumps(result, ensure_ascii=False)

    def format_tools(self, tools: Sequence[Definition], header: str | None) -> str:
        """The manual: what the model is told about the tools, and how to call them.

        Args:
            tools: The definitions.
            header: Replaces the protocol's own header; "" for none.
        """
        raise NotImplementedError

    # For the parser.

    @classmethod
    def _defines(cls, method: str) -> bool:
        return getattr(cls, method) is not getattr(Protocol, method)

    @property
    def _begins(self) -> bool:
        return self._defines("begins")

    @property
    def _results(self) -> bool:
        return self._defines("format_result")
