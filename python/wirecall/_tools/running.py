"""Runs the function of a tool for a call, and returns its result as text for the model.

Only `binding.py`, which is imported for functions, needs pydantic.
"""

import copyreg
import inspect
import pickle
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wirecall._core import CallEnd, CallError, loads
from wirecall._shown import encodable, shortened
from wirecall._tools.definitions import callable_of
from wirecall.errors import JsonError, ToolError

if TYPE_CHECKING:
    from typing import Self

# How much the model reads of an exception, which may quote a whole document.
_MAX_MESSAGE = 2000
# How many problems, and names of tools, a sentence lists. More do not help the model.
_MAX_LISTED = 20

_MISSING = object()


class ToolResult(str):
    """The result of a call, as text for the model.

    `Toolset.encode_result` takes it, too, and writes an error as one. A function that is a tool may return
    it, to report an error without an exception.

    Attributes:
        error: Whether the text says what went wrong, instead of a result.
        exception: What the function raised; None if it did not raise, or after a pickle that cannot keep it.
    """

    error: bool
    exception: Exception | None
    # The rejected call that the text is about. `encode_result` keeps its example as it is.
    _rejected: CallError | None

    def __new__(cls, text: str, *, error: bool = False, exception: Exception | None = None) -> "ToolResult":
        made = super().__new__(cls, encodable(text))
        made.error = error
        made.exception = exception
        made._rejected = None
        return made

    def __copy__(self) -> "Self":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Self":
        # Hosts copy the messages that contain it, and exceptions may not be copied.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = vars(self) | {"exception": _picklable(self.exception)}
        return copyreg.__newobj__, (type(self), str.__str__(self)), state  # type: ignore[attr-defined]


class Runner:
    """Runs one tool that is a function.

    Raises:
        ToolError: The tool is not a function, or it is a method without its instance.
    """

    def __init__(self, name: str, tool: object) -> None:
        function = callable_of(tool)
        if isinstance(function, type):
            raise ToolError(
                "it is a class, which describes data and has nothing to run: make the instance from the "
                "call's arguments yourself",
                tool=name,
            )
        if function is None or isinstance(tool, classmethod):
            what = "is not bound to a class" if isinstance(tool, classmethod) else "was declared without one"
            raise ToolError(
                f"it has no function to run, because it {what}: pass a function to Toolset, or run its "
                "calls yourself",
                tool=name,
            )
        from wirecall._tools.binding import Binding

        self._name = name
        self._function = function
        self._binding = Binding(function)

    def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        """See `Toolset.run`."""
        if self._is_async:
            raise self._needs_arun()
        outcome = self._call(arguments)
        if isinstance(outcome, ToolResult):
            return outcome
        if inspect.iscoroutine(outcome):
            outcome.close()
        raise self._needs_arun()

    async def arun(self, arguments: Mapping[str, Any]) -> ToolResult:
        """See `Toolset.arun`."""
        import asyncio  # which takes longer to load than this package

        if self._is_async:
            outcome = self._call(arguments)
        else:
            outcome = await asyncio.to_thread(self._call, arguments)
        if isinstance(outcome, ToolResult):
            return outcome
        try:
            return self._result(await outcome)
        except Exception as error:
            return self._failed(error)

    @property
    def _is_async(self) -> bool:
        function = self._function
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    def _call(self, arguments: Mapping[str, Any]) -> ToolResult | Awaitable[object]:
        """The result; something to wait for if the function is async."""
        try:
            values = self._binding.values(arguments)
            if isinstance(values, str):
                return ToolResult(f"The arguments of {self._name} are not valid. {values}", error=True)
            value = self._function(**values)
            return value if inspect.isawaitable(value) else self._result(value)
        except Exception as error:
            return self._failed(error)

    def _result(self, value: object) -> ToolResult:
        if isinstance(value, ToolResult):
            return value
        if isinstance(value, str):
            text = str.__str__(value)  # of a member of an enum, its value
        else:
            from wirecall._tools.binding import json_text

            text = json_text(value)
        return ToolResult(text)

    def _failed(self, error: Exception) -> ToolResult:
        try:
            message = str(error)
        except Exception:  # `__str__` of an exception is anybody's code
            message = ""
        kind = type(error).__name__
        cause = f"{kind}: {shortened(message, _MAX_MESSAGE)}" if message else kind
        return ToolResult(f"{self._name} failed: {cause}", error=True, exception=error)

    def _needs_arun(self) -> ToolError:
        return ToolError("its function is async: use `await tools.arun(call)`", tool=self._name)


def read_call(call: object, names: Sequence[str]) -> tuple[str, Mapping[str, Any]] | ToolResult:
    """The name and the arguments of a call, or what the model must be told about it.

    Raises:
        ToolError: There are no tools.
        TypeError: This is not a call.
    """
    if isinstance(call, CallError):
        rejected = ToolResult(call.message, error=True)
        rejected._rejected = call
        return rejected
    inner = _member(call, "function") or call
    name, arguments = _member(inner, "name"), _member(inner, "arguments", _MISSING)
    if arguments is None or arguments is _MISSING:
        arguments = _member(inner, "input", arguments)
    if arguments is None:
        arguments = ""
    if not isinstance(name, str) or not isinstance(arguments, (str, Mapping)):
        raise TypeError(
            "a call must be a CallEnd or CallError of this package, or a tool call of OpenAI or Anthropic, "
            f"not {type(call).__name__}"
        )
    if not names:
        raise ToolError("the toolset has no tools, so there is no function to run")
    if name not in names:
        listed = ", ".join(names[:_MAX_LISTED]) + (", …" if len(names) > _MAX_LISTED else "")
        return ToolResult(f"There is no tool `{shortened(name, 100)}`. The tools are: {listed}.", error=True)
    if isinstance(call, CallEnd) and call.problems:
        messages = [shortened(problem.message, _MAX_MESSAGE) for problem in call.problems[:_MAX_LISTED]]
        return ToolResult(" ".join(messages), error=True)
    if isinstance(arguments, Mapping):
        return name, arguments
    try:
        # Some servers send "" or null for no arguments.
        read = loads(arguments, relaxed=False) if arguments.strip() else {}
    except JsonError as error:
        return ToolResult(f"The arguments of {name} are not valid JSON: {error}.", error=True)
    if not isinstance(read, dict):
        return ToolResult(f"The arguments of {name} must be a JSON object.", error=True)
    return name, read


def _picklable(error: Exception | None) -> Exception | None:
    """The exception, unless it does not survive a pickle: many cannot be made again from their `args`."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return None
    return error


def _member(value: object, key: str, default: object = None) -> object:
    return value.get(key, default) if isinstance(value, Mapping) else getattr(value, key, default)
