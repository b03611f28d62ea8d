"""Settings of an operator: environment variables, which every process of a server inherits."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from wirecall.errors import ToolError

FORMAT = "WIRECALL_FORMAT"
CALLS = "WIRECALL_CALLS"
PROMPT = "WIRECALL_PROMPT"

_CHOICES = ("streamed", "held")


class Settings(NamedTuple):
    """The settings of a server.

    Attributes:
        format: The name of a format, or a file that describes one; None to choose it by the model.
        held: Whether a stream sends a call when it is complete. Otherwise its arguments are sent as they
            arrive, and a call that is cut off has sent some of them.
        prompted: Whether the server writes the manual of tools into prompts, for models without tools. Only
            for servers that have no option of their own for that.
    """

    format: str | None = None
    held: bool = False
    prompted: bool = False


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in the environment.

    Raises:
        ToolError: A variable has a value that is not one of its choices.
    """
    environment = os.environ if environment is None else environment
    calls = environment.get(CALLS) or _CHOICES[0]
    if calls not in _CHOICES:
        raise ToolError(f"{CALLS} is {calls!r}; it must be one of {', '.join(map(repr, _CHOICES))}")
    prompt = environment.get(PROMPT) or "0"
    if prompt not in ("0", "1"):
        raise ToolError(f"{PROMPT} is {prompt!r}; it must be '0' or '1'")
    return Settings(environment.get(FORMAT) or None, calls == "held", prompt == "1")
