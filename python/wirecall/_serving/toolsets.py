"""Toolsets for requests: compiled once for the same definitions, and never an error."""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from wirecall._serving.reports import Reports
from wirecall._tools.formats.description import Format
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError

# Applications send the same tools with every request; a server has few different applications at once.
_MOST = 64


class Toolsets:
    """The toolsets of one format; the last 64 are kept. Any number of threads may use it."""

    def __init__(self, format: Format, reports: Reports, *, reasoning: str | None = None) -> None:
        """
        Args:
            format: The format of the calls.
            reports: Is told of definitions that cannot work.
            reasoning: "content" to leave reasoning in the text.
        """
        self._format, self._reports = format, reports
        # A prompted format says nothing about reasoning, but its model may reason.
        self._options: dict[str, Any] = {"reasoning": "separate"} if format._native is None else {}
        if reasoning is not None:
            self._options["reasoning"] = reasoning
        self._kept: OrderedDict[str, Toolset] = OrderedDict()
        self._grammars: OrderedDict[tuple[Toolset, str, bool], str] = OrderedDict()
        self._lock = threading.Lock()
        self.text = Toolset((), protocol=format, unknown_tools="text", **self._options)
        """Reads reasoning, and no calls."""

    def of(self, definitions: Iterable[Mapping[str, Any]]) -> Toolset:
        """The toolset of a request.

        A definition that cannot work is accepted: arguments of its calls are untyped. So are calls of tools
        that the request does not have.

        Args:
            definitions: Dicts with `name`, `description` and `parameters`, or those of OpenAI.
        """
        tools = list(definitions)
        key = json.dumps(tools, default=str)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = self._made(tools)
        with self._lock:
            self._kept[key] = made
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return made

    def grammar(self, toolset: Toolset, *, tool_choice: str, parallel: bool) -> str:
        """The structural tag of a toolset's calls; the last ones are kept.

        Raises:
            ToolError: The format has no grammar, or the tool has none.
        """
        key = (toolset, tool_choice, parallel)
        with self._lock:
            found = self._grammars.get(key)
            if found is not None:
                self._grammars.move_to_end(key)
                return found
        made = toolset.grammar("structural_tag", tool_choice=tool_choice, parallel=parallel).text
        with self._lock:
            self._grammars[key] = made
            if len(self._grammars) > _MOST:
                self._grammars.popitem(last=False)
        return made

    def _made(self, tools: list[Mapping[str, Any]]) -> Toolset:
        options = {"unknown_tools": "forward", "invalid_tools": "untyped", **self._options}
        try:
            made = Toolset(tools, protocol=self._format, **options)
        except (ToolError, TypeError, ValueError) as error:
            self._reports.warn("tools that cannot be compiled; all arguments are untyped", str(error))
            return Toolset((), protocol=self._format, **options)
        for invalid in made.invalid_tools:
            self._reports.warn("a tool that is accepted without its schema", str(invalid))
        return made
