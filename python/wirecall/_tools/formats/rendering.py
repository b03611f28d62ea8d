"""Renders a chat template many times, in a process of its own: the source is untrusted input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from wirecall.errors import ToolError, install_extra

# The longest official template has 18,000 characters.
MAX_SOURCE = 500_000
# Of the processor, for all renderings of a template together. Those of a large one take less than a second.
SECONDS = 4.0
# On a busy machine, the same may take so many times as long.
_BUSY = 5
# Python and Jinja need less than 100 MB of address space.
MEMORY_BYTES = 512 * 1024 * 1024
# Of one rendering. Short conversations with the longest official template give 20,000.
OUTPUT_CHARS = 500_000
# A line of JSON with a rendering: a character has at most 12 bytes, as two escapes.
_LINE_BYTES = 12 * OUTPUT_CHARS + 100

# The end of a text, if the caller does not say which token that is.
END = "<|zqend|>"
_PROGRAM = Path(__file__).with_name("sandbox.py")
# Windows does not start Python without it.
_ENVIRONMENT = ("SYSTEMROOT",)
# Whether the kernel can end a process that has used its time.
_CAN_LIMIT = hasattr(signal, "SIGXCPU")
_STOPPED = {
    "memory": "it needs too much memory",
    "output": f"it writes more than {OUTPUT_CHARS} characters",
}


class RenderError(ToolError):
    """The template refuses this conversation; another one may be rendered."""


class Renderer:
    """A process that renders one template. Use it as a context manager.

    `variables` are given to each rendering. The process has no environment variables, limited memory, and
    limited time of the processor.

    Raises ToolError if the template cannot be compiled, and ImportError without jinja2.
    """

    def __init__(
        self, template: str, variables: Mapping[str, object] | None = None, *, seconds: float = SECONDS
    ) -> None:
        if not isinstance(template, str):
            raise TypeError(f"template must be a str, not {type(template).__name__}")
        if len(template) > MAX_SOURCE:
            raise ToolError(f"the chat template has more than {MAX_SOURCE} characters")
        self.template = template
        self.seconds = seconds
        self._variables = {"bos_token": "", "eos_token": END, **(variables or {})}
        self._late = False
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM), *_library_folders()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
        self._timer = threading.Timer(seconds * _BUSY if _CAN_LIMIT else seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()
        try:
            limits = {"memory": MEMORY_BYTES, "output": OUTPUT_CHARS, "seconds": seconds}
            self._ask({"source": template, **limits})
        except RenderError as error:
            self.close()
            raise ToolError(f"the chat template cannot be read: {error.message}") from None
        except BaseException:
            self.close()
            raise

    def render(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        prompt: bool,
        variables: Mapping[str, object],
    ) -> str:
        """The text of a conversation, with the prompt for an answer or without. The variables that the caller
        of this class has given take precedence.

        Raises RenderError if the template refuses it, and ToolError if the process had to be stopped.
        """
        given = {"messages": messages, "tools": tools, "add_generation_prompt": prompt}
        return self._ask({**variables, **self._variables, **given})

    def close(self) -> None:
        self._timer.cancel()
        self._process.kill()
        # Closes the pipes, and waits.
        self._process.__exit__(None, None, None)

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _expire(self) -> None:
        self._late = True
        self._process.kill()

    def _ask(self, job: dict[str, object]) -> str:
        pipes = self._process
        assert pipes.stdin is not None
        assert pipes.stdout is not None
        try:
            pipes.stdin.write(json.dumps(job).encode() + b"\n")
            pipes.stdin.flush()
            line = pipes.stdout.readline(_LINE_BYTES)
        except OSError:
            line = b""
        if not line.endswith(b"\n") and not self._late:
            self._late = _CAN_LIMIT and self._process.wait() == -signal.SIGXCPU
        if self._late:
            raise ToolError(f"the chat template does not end within {self.seconds:g} seconds")
        if not line.endswith(b"\n"):
            raise ToolError("the process that renders the chat template crashed")
        answer: dict[str, str] = json.loads(line)
        if "text" in answer:
            return answer["text"]
        if answer["kind"] in _STOPPED:
            raise ToolError(f"the chat template cannot be rendered: {_STOPPED[answer['kind']]}")
        raise RenderError(answer["error"])


def _library_folders() -> list[str]:
    """The folders of jinja2 and its only dependency: the process does not read PYTHONPATH."""
    folders = []
    for name in ("jinja2", "markupsafe"):
        found = find_spec(name)
        if found is None or found.origin is None:
            raise ImportError(f"inference from a chat template needs {name}. {install_extra('templates')}")
        folders.append(str(Path(found.origin).parents[1]))
    return sorted(set(folders))
