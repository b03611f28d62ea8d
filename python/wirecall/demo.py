"""`wirecall demo`: recorded model outputs through the stream parser, at the pace of tokens.

A recording is a JSON file in `recordings/`: a title, what to watch, the tools, options of the toolset, and
one or more turns. A turn is the pieces in which a model's message came, one list for each of its lines.
Before the next turn the errors of the last one go back to the model, as a host would send them.

On a terminal the two sides grow as the pieces come in; elsewhere the finished sides are printed.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field
from importlib.resources import files
from itertools import chain
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text as Styled

from wirecall import ArgumentsDelta, CallEnd, CallError, CallStart, Event, Text, Toolset
from wirecall import tokens as counting

# Tokens per second: twice what a quick model writes, so that all of it takes less than fifteen seconds.
SPEED = 150.0
# Time to look at a finished recording before the next one begins, in tokens.
_PAUSE = 90
_FRAMES_PER_SECOND = 30
# Columns: below, the sides stand one above the other; beyond, lines become too long to read.
_NARROW, _WIDE = 72, 140
# Lines of a finished side; of a longer one the beginning and the end are shown.
_HEAD, _TAIL = 14, 7

_REPAIRS = {
    "json_wrapper": "code fence around JSON",
    "relaxed_json": "JSON like Python's",
    "spaced_equals": "blanks around =",
    "empty_value": "nothing after =",
    "comma_separator": "comma between pairs",
    "unquoted_spaces": "blanks without quotes",
    "inner_quotes": "quotes within quotes",
    "missing_close": "no </call> at the end",
    "key_style": "key spelled differently",
    "tool_style": "tool spelled differently",
    "coerced": "converted to its type",
}
_NATIVE = """\
Native: calls as {{"name":…,"arguments":{{…}}}}, definitions as OpenAI chat tools, minified JSON.
Wire: calls as the model wrote them, definitions as one manual. Calls that failed are not counted.
With type and id, as histories carry them, the native calls are {envelopes} {unit}."""
_NO_TOKENS = """\
Characters, because tiktoken's vocabulary is not here: pip install 'wirecall[tokens]', then
`wirecall tokens` fetches it."""


@dataclass(frozen=True)
class Turn:
    """One message of the model: its pieces, and whether it was cut off."""

    pieces: list[str]
    truncated: bool


@dataclass(frozen=True)
class Recording:
    """Some messages of a model, and the tools that it had."""

    title: str
    watch: str
    tools: list[dict[str, Any]]
    options: dict[str, Any]
    turns: list[Turn]


@dataclass
class Tally:
    """What came of one recording. Costs are in tokens or characters; calls that failed cost nothing here."""

    title: str
    calls: int = 0
    repairs: int = 0
    errors: int = 0
    native: int = 0
    envelopes: int = 0
    wire: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.title, *(a + b for a, b in zip(astuple(self)[1:], astuple(other)[1:], strict=True)))


def recordings() -> list[Recording]:
    """All recordings of the package, in the order of their names."""
    folder = files("wirecall") / "recordings"
    found = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".json")), key=lambda item: item.name
    )
    return [_load(item.read_text(encoding="utf-8")) for item in found]


def run(speed: float = SPEED) -> None:
    """Play every recording, then say what came of them; `speed` is in tokens per second, 0 for at once."""
    console = _Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 100
    console.width = min(console.width, _WIDE)
    animated = speed > 0 and sys.stdout.isatty() and not console.no_color and not console.is_dumb_terminal
    count = counting.cached_tokenizer()
    tallies = []
    played = recordings()
    for recording in played:
        tallies.append(_play(recording, console, speed if animated else 0, count or len))
        if animated:
            time.sleep(_PAUSE / speed)
    tools = {tool["name"]: tool for recording in played for tool in recording.tools}
    definitions = counting.measure(tools.values(), count=count or len)
    console.print(_summary(tallies, definitions, is_tokens=count is not None))


def _load(text: str) -> Recording:
    loaded = json.loads(text)
    turns = [Turn(list(chain(*turn["stream"])), turn["truncated"]) for turn in loaded["turns"]]
    return Recording(loaded["title"], loaded["watch"], loaded["tools"], loaded.get("options", {}), turns)


def _play(recording: Recording, console: Console, speed: float, count: counting.Count) -> Tally:
    toolset = Toolset(recording.tools, **recording.options)
    tally = Tally(recording.title)
    console.print(Rule(Styled(recording.title, "bold"), align="left", style="dim"))
    console.print(Styled(recording.watch, "dim"))
    sides = _Sides()
    steps = _events(recording, toolset, sides, tally, count)
    if speed:
        clock = _Clock(speed)
        with Live(console=console, transient=True, auto_refresh=False, vertical_overflow="crop") as live:
            for _ in steps:
                if clock.tick():
                    live.update(sides.growing(console), refresh=True)
    else:
        for _ in steps:
            pass
    console.print(sides.finished(console))
    console.print(_verdict(tally))
    console.print()
    return tally


def _events(
    recording: Recording, toolset: Toolset, sides: "_Sides", tally: Tally, count: counting.Count
) -> Iterator[None]:
    """Feed the pieces, one for each step, and tell both sides and the tally what happens."""
    for turn in recording.turns:
        for error in sides.unanswered:
            sides.answer(toolset.encode_result(error.name or "unknown", error.message, error=True))
        sides.begin()
        parser = toolset.parser()
        for piece in turn.pieces:
            sides.write(piece)
            for event in parser.feed(piece):
                _note(event, sides, tally, count)
            yield
        for event in parser.finish(truncated=turn.truncated):
            _note(event, sides, tally, count)


def _note(event: Event, sides: "_Sides", tally: Tally, count: counting.Count) -> None:
    sides.receive(event)
    if isinstance(event, CallEnd):
        tally.calls += 1
        tally.repairs += len(event.repairs)
        tally.native += count(counting.native_call(event.name, event.arguments))
        tally.envelopes += count(counting.tool_use(event.name, event.arguments))
        tally.wire += count(sides.source(event.start, event.end))
    elif isinstance(event, CallError):
        tally.errors += 1


class _Console(Console):
    """A console that leaves a closed pipe to the command line; rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _Clock:
    """Holds the pace of the pieces, and says when the next picture is due."""

    def __init__(self, speed: float) -> None:
        self.step = 1 / speed
        self.due = time.monotonic()
        self.next_frame = self.due

    def tick(self) -> bool:
        self.due += self.step
        now = time.monotonic()
        if now < self.due:
            time.sleep(self.due - now)
            now = self.due
        if now < self.next_frame:
            return False
        self.next_frame = now + 1 / _FRAMES_PER_SECOND
        return True


@dataclass
class _Sides:
    """Left what the model writes, right what a program receives."""

    left: Styled = field(default_factory=Styled)
    right: Styled = field(default_factory=Styled)
    unanswered: list[CallError] = field(default_factory=list)
    # Where the message of this turn begins in `left`.
    origin: int = 0

    def begin(self) -> None:
        self.unanswered.clear()
        self.origin = len(self.left)

    def write(self, piece: str) -> None:
        self.left.append(piece)

    def answer(self, result: str) -> None:
        self._new_line(self.left)
        self.left.append(f"\n{result}\n\n", "italic dim")

    def source(self, start: int, end: int) -> str:
        return self.left.plain[self.origin + start : self.origin + end]

    def receive(self, event: Event) -> None:
        match event:
            case Text(text):
                # Line breaks between calls say nothing here.
                if text.strip() or not self.right.plain.endswith("\n"):
                    self.right.append(text)
            case CallStart(_, _, name):
                self._new_line(self.right)
                self.right.append("● ", "cyan").append(name, "bold cyan").append("\n")
            case ArgumentsDelta(_, delta):
                self.right.append(delta, "green")
            case CallEnd():
                self._mark("cyan", event)
                self.right.append("\n")
                for repair in event.repairs:
                    self.right.append(f"  ~ {repair:15}", "yellow").append(
                        f"  {_REPAIRS[repair]}\n", "dim yellow"
                    )
                for problem in event.problems:
                    self.right.append(f"  ! {problem.kind}: {problem.message}\n", "magenta")
            case CallError():
                self._mark("red", event)
                self._new_line(self.right)
                self.right.append(f"✗ {event.kind}", "bold red").append(f" {event.message}\n", "red")
                self.unanswered.append(event)

    def growing(self, console: Console) -> RenderableType:
        """The last lines of both sides, as many as the terminal has room for."""
        stacked = console.width < _NARROW
        room = max(1, (console.height - 6) // 2 - 1 if stacked else console.height - 6)
        return self._panels(console, lambda lines: lines[-room:])

    def finished(self, console: Console) -> RenderableType:
        def short(lines: list[Styled]) -> list[Styled]:
            hidden = len(lines) - _HEAD - _TAIL
            if hidden <= 1:
                return lines
            return [*lines[:_HEAD], Styled(f"… {hidden} more lines", "dim"), *lines[-_TAIL:]]

        return self._panels(console, short)

    def _panels(self, console: Console, cut: Callable[[list[Styled]], list[Styled]]) -> RenderableType:
        stacked = console.width < _NARROW
        width = console.width if stacked else console.width // 2
        sides = []
        for side in (self.left, self.right):
            text = side.copy()
            text.rstrip()
            text.expand_tabs(4)
            sides.append(cut(list(text.wrap(console, width - 4))))
        height = None if stacked else max(map(len, sides)) + 2
        panels = [
            Panel(
                Styled("\n").join(lines),
                title=f"[dim]{title}",
                title_align="left",
                border_style="dim",
                width=width,
                height=height,
            )
            for title, lines in zip(("the model writes", "a program receives"), sides, strict=True)
        ]
        if stacked:
            return Group(*panels)
        grid = Table.grid()
        grid.add_row(*panels)
        return grid

    def _mark(self, style: str, event: CallEnd | CallError) -> None:
        self.left.stylize(style, self.origin + event.start, self.origin + event.end)

    @staticmethod
    def _new_line(side: Styled) -> None:
        if side.plain and not side.plain.endswith("\n"):
            side.append("\n")


def _verdict(tally: Tally) -> Styled:
    line = Styled(_plural(tally.calls, "call"), "cyan")
    line.append(", ", "default").append(
        _plural(tally.repairs, "repair"), "yellow" if tally.repairs else "dim"
    )
    return line.append(", ", "default").append(
        _plural(tally.errors, "error"), "red" if tally.errors else "dim"
    )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _summary(tallies: list[Tally], definitions: counting.Costs, *, is_tokens: bool) -> RenderableType:
    unit = "tokens" if is_tokens else "characters"
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("recording")
    for heading, style in (("calls", "cyan"), ("repairs", "yellow"), ("errors", "red")):
        table.add_column(heading, justify="right", style=style)
    for heading in (f"native {unit}", "wire", "saved"):
        table.add_column(heading, justify="right")
    for tally in tallies:
        table.add_row(*_row(tally))
    table.add_section()
    total = sum(tallies, Tally("all calls"))
    table.add_row(*_row(total), style="bold")
    names = f"definitions of all {len(definitions.tools)} tools"
    table.add_row(*_row(Tally(names, native=definitions.native, wire=definitions.wire)), style="bold")
    notes = [_NATIVE.format(envelopes=total.envelopes, unit=unit)]
    if not is_tokens:
        notes.append(_NO_TOKENS)
    return Group(table, Styled("\n".join(notes), "dim"))


def _row(tally: Tally) -> list[str]:
    counts = (tally.calls, tally.repairs, tally.errors, tally.native, tally.wire)
    return [tally.title, *(str(count or "") for count in counts), counting.saved(tally.native, tally.wire)]
