"""Artifacts: the results of a run as JSON lines, kept even if the run ends at any moment.

The first line is the header; every other line is a cell, or records that the run was resumed. Lines are
written atomically, except for the last line of a run that was killed: readers ignore it, and a resumed run
removes it. If several cells have the same key, the last one is valid.
"""

import json
import os
import platform
import shlex
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from wirecall import __version__

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_SCHEMAS = "wirecall._bench/"
SCHEMA = f"{_SCHEMAS}1"
Kind = Literal["offline", "live", "agent", "latency"]
# Counting is fast, so its command has no --resume.
_NEVER_RESUMED = frozenset({"offline"})
Cell = dict[str, Any]
Key = tuple[str, ...]


class BenchError(Exception):
    """An error that the user can fix; the message says how. It ends the command."""


@dataclass(frozen=True)
class Run:
    """An artifact that was read.

    Attributes:
        header: The first line: "schema", "kind" and "run".
        cells: The last cell of each key, in the order in which the keys first occurred.
        torn: Whether the last line was incomplete, and ignored.
        resumed: The "run" of each time the run was resumed.
        replaced: Cells that were run again. They are not results, but their cost counts.
        lines: The line of each of `cells` in the file, from 1.
    """

    header: dict[str, Any]
    cells: list[Cell]
    torn: bool = False
    resumed: list[dict[str, Any]] = field(default_factory=list)
    replaced: list[Cell] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return str(self.header["kind"])

    @property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = self.header["run"]["options"]
        return options


class Artifact:
    """An artifact that is being written by one process; its threads may append concurrently.

    Attributes:
        cells: The last cell of each key, including those of earlier runs.
        replaced: Cells of earlier runs that a later one ran again.
    """

    def __init__(self, path: Path, kind: Kind, descriptor: int) -> None:
        self.path = path
        self.kind = kind
        self.cells: dict[Key, Cell] = {}
        self.replaced: list[Cell] = []
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        kind: Kind,
        options: Mapping[str, Any],
        *,
        libraries: Sequence[str] = (),
    ) -> "Artifact":
        """Create a new artifact.

        Args:
            path: Must not exist, so that no results are overwritten.
            kind: The command.
            options: Everything that determines the cells and their meaning, but no keys and no paths of the
                user.
            libraries: Distributions whose versions affect the results.

        Raises:
            BenchError: The file exists, or cannot be written.
        """
        path = Path(path)
        artifact = cls(path, kind, _open(path, os.O_CREAT | os.O_EXCL, kind))
        artifact._begin(kind, _run(options, libraries))
        return artifact

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        kind: Kind,
        options: Mapping[str, Any],
        *,
        libraries: Sequence[str] = (),
    ) -> "Artifact":
        """Open an artifact to continue it, or create it. The arguments are those of `create`.

        Raises:
            BenchError: The file is not an artifact, is of another kind or of a run with other options, or
                cannot be written.
        """
        path = Path(path)
        artifact = cls(path, kind, _open(path, os.O_CREAT, kind))
        try:
            artifact._carry_on(kind, json.loads(json.dumps(options)), _run(options, libraries))
        except BaseException:
            artifact.close()
            raise
        return artifact

    def _begin(self, kind: Kind, line: dict[str, Any]) -> None:
        self._write({"schema": SCHEMA, "kind": kind, "run": line})

    def _carry_on(self, kind: Kind, given: dict[str, Any], line: dict[str, Any]) -> None:
        whole, torn = _whole_lines(self.path)
        if torn:
            os.truncate(self.path, len(whole))
        if not whole:
            self._begin(kind, line)
            return
        run = read(self.path)
        if run.kind != kind:
            raise BenchError(
                f"{self.path} was written by `wirecall bench {run.kind}`, not by `wirecall bench {kind}`"
            )
        for name in {**given, **run.options}:
            if given.get(name) != run.options.get(name):
                was, now = (json.dumps(those.get(name)) for those in (run.options, given))
                raise BenchError(
                    f"{self.path} was made with other options: {name} was {was} and is now {now}. "
                    "Resume with the original options, or choose another file."
                )
        self.cells = {key_of(cell): cell for cell in run.cells}
        self.replaced = run.replaced
        self._write({"resumed": line})

    def append(self, cell: Cell) -> None:
        """Write a cell. It is then on disk, whatever happens to the process.

        Raises:
            BenchError: The cell cannot be written; no part of it is in the file.
        """
        key = key_of(cell)
        with self._lock:
            self._write(cell)
            self.cells[key] = cell

    def close(self) -> None:
        """Close the file. Threads that are still running can no longer append."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def __enter__(self) -> "Artifact":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            more = "" if self.kind in _NEVER_RESUMED else "; --resume continues from there"
            print(f"The results so far are in {self.path}{more}.", file=sys.stderr)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._descriptor is None:
            raise ValueError(f"{self.path} is closed")
        # ASCII, because a model's text may contain a lone surrogate, which UTF-8 cannot encode.
        data = json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        try:
            end = os.fstat(self._descriptor).st_size
            written = os.write(self._descriptor, data)
            if written < len(data):  # the disk is full; no partial line must remain before later ones
                os.ftruncate(self._descriptor, end)
                raise BenchError(f"{self.path}: only {written} of {len(data)} bytes could be written")
        except OSError as error:
            raise BenchError(f"{self.path} cannot be written: {error.strerror or error}") from error


def read(path: str | os.PathLike[str]) -> Run:
    """Read an artifact as far as it was written.

    Raises:
        BenchError: The file cannot be read, is not an artifact, or has another version.
    """
    whole, torn = _whole_lines(Path(path))
    cells: dict[Key, Cell] = {}
    lines: dict[Key, int] = {}
    resumed, replaced = [], []
    header: dict[str, Any] | None = None
    for number, text in enumerate(whole.splitlines(), start=1):
        try:
            line = json.loads(text, parse_constant=_no_number)
            if not isinstance(line, dict):
                raise TypeError("it is not a JSON object")
            if header is None:
                header = _header(line, f"{path}, line {number}")
            elif "resumed" in line:
                resumed.append(line["resumed"])
            else:
                key = key_of(line)
                if key in cells:
                    replaced.append(cells[key])
                cells[key], lines[key] = line, number
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            hint = _GIVE if header is None else f"Remove it, or run `wirecall bench {header['kind']}` again"
            raise BenchError(
                f"{path}, line {number}: this is not a line of an artifact of wirecall bench: "
                f"{_why(error)}. {hint}"
            ) from error
    if header is None:
        why = (
            "is not an artifact of wirecall bench: its first line is incomplete, without a line break"
            if torn
            else "is empty"
        )
        raise BenchError(f"{path} {why}. {_GIVE}")
    return Run(header, list(cells.values()), torn, resumed, replaced, list(lines.values()))


_GIVE = "Give a file that `wirecall bench offline --output`, `live`, `agent` or `latency` has written"


def _why(error: Exception) -> str:
    """What is wrong with a line."""
    match error:
        case UnicodeDecodeError():
            return "it is not text"
        case json.JSONDecodeError():
            return f"it is not valid JSON: {error.msg}, at column {error.colno}"
        case KeyError():
            return f"{error} is missing"
        case RecursionError():
            return "it is nested too deeply"
    return str(error)


def key_of(cell: Mapping[str, Any]) -> Key:
    """The cell's key, a list of strings."""
    key = cell["key"]
    if not isinstance(key, list) or not all(isinstance(part, str) for part in key):
        raise TypeError(f"the key of a cell must be a list of strings, not {key!r}")
    return tuple(key)


def _header(line: dict[str, Any], place: str) -> dict[str, Any]:
    schema, kind = line["schema"], line["kind"]
    if not str(schema).startswith(_SCHEMAS):
        raise ValueError(f"its schema is {schema!r:.80}, not {SCHEMA!r}")
    if schema != SCHEMA:
        why = f"reads {SCHEMA!r}, and this artifact has the schema {schema!r:.80}"
    elif kind not in get_args(Kind):
        why = f"does not know `wirecall bench {kind!s:.80}`, which wrote this artifact"
    elif not isinstance(line["run"]["options"], dict):
        raise ValueError("its options are not a JSON object")
    else:
        return line
    raise BenchError(
        f"{place}: this version of wirecall {why}. Install the version that wrote it, or a later one"
    )


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")


def _whole_lines(path: Path) -> tuple[bytes, bool]:
    """The bytes up to the last line break, and whether more follow."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BenchError(f"{path} cannot be read: {error.strerror or error}. {_GIVE}") from error
    whole = data[: data.rfind(b"\n") + 1]
    return whole, len(whole) < len(data)


def _open(path: Path, flags: int, kind: Kind) -> int:
    """Open the file for this process only, if the system supports locks."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0) | flags, 0o644)
    except FileExistsError:
        more = "" if kind in _NEVER_RESUMED else ", or continue it with --resume"
        raise BenchError(f"{path} exists: choose another file{more}") from None
    except OSError as error:
        raise BenchError(f"{path} cannot be written: {error.strerror or error}") from error
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise BenchError(f"{path} is being written by another run") from None
    return descriptor


# What was run, and where ------------------------------------------------------------------------------------


def _run(options: Mapping[str, Any], libraries: Sequence[str]) -> dict[str, Any]:
    return {
        "command": shlex.join(["wirecall", *sys.argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "wirecall": __version__,
            **{name: version(name) for name in libraries},
        },
        "machine": {"system": platform.platform(), "cpu": processor(), "cores": os.cpu_count()},
        "options": dict(options),
    }


def version(distribution: str) -> str | None:
    """The version of an installed distribution."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name, if the system provides it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
