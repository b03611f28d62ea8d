"""`wirecall demo`: model outputs, written by hand, through the stream parser, at the pace of tokens.

A recording is a JSON file in `recordings/`, written by hand to be like what models write: a title, what to
watch, the tools, options of the toolset, and one or more turns. A turn is the pieces in which a model's
message would come, one list for each of its lines. Before the next turn the errors of the last one go back to
the model, as a host would send them.

On a terminal the two sides grow as the pieces come in; elsewhere the finished sides are printed.
"""

import json
import shlex
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
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text as Styled

from wirecall import ArgumentsDelta, CallEnd, CallError, CallStart, Event, Text, Toolset
from wirecall import tokens as counting
from wirecall._console import OutputConsole, plural

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
    "call_style": "another notation",
    "relaxed_json": "JSON like Python's",
    "spaced_equals": "spaces around =",
    "colon_separator": "colon instead of =",
    "quote_style": "typographic quotes",
    "empty_value": "nothing after =",
    "comma_separator": "comma between pairs",
    "trailing_characters": "punctuation before </call>",
    "tag_style": "tags spelled differently",
    "unquoted_spaces": "spaces without quotes",
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
_NO_TOKENS = (
    "Counted in characters: counting tokens needs tiktoken (pip install 'wirecall[tokens]') and its "
    "vocabulary in {directory}, which the demo does not download. "
    "TIKTOKEN_CACHE_DIR={quoted} wirecall tokens --tools FILE downloads it."
)
_NO_CACHE = (
    "Counted in characters: counting tokens needs tiktoken (pip install 'wirecall[tokens]') and its "
    "vocabulary, which the demo does not download, and TIKTOKEN_CACHE_DIR is empty: tiktoken keeps nothing."
)


@dataclass(frozen=True)
class Turn:
    """One message of the model: its pieces, and whether it was cut off."""

    pieces: list[str]
    truncated: bool


@dataclass(frozen=True)
class Recording:
    """Some messages as of a model, and the tools that it had."""

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
    folder = files("wirecall._cli") / "recordings"
    found = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".json")), key=lambda item: item.name
    )
    return [_load(item.read_text(encoding="utf-8")) for item in found]


def run(speed: float = SPEED) -> None:
    """Play every recording, then say what came of them; `speed` is in tokens per second, 0 for at once."""
    console = OutputConsole(width=100)
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
    console.print(_summary(tallies, definitions, console, is_tokens=count is not None))


def _load(text: str) -> Recording:
    loaded = json.loads(text)
    turns = [Turn(list(chain(*turn["stream"])), turn["truncated"]) for turn in loaded["turns"]]
    return Recording(loaded["title"], loaded["watch"], loaded["tools"], loaded.get("options", {}), turns)


def _play(recording: Recording, console: Console, speed: float, count: counting.Count) -> Tally:
    toolset = Toolset(recording.tools, **recording.options)
    tally = Tally(recording.title)
    console.print(Rule(Styled(recording.title, "bold"), align="left", style="dim"))
    console.print(Styled(recording.watch, "dim"))
    errors: list[CallError] = []
    for turn in recording.turns:
        if errors:
            answers = [toolset.encode_result(error.name, error) for error in errors]
            console.print(
                _panel(Styled("\n".join(answers), "italic"), "the program sends back", console.width)
            )
        sides = _Sides()
        steps = _events(turn, toolset, sides, tally, count)
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
        errors = sides.errors
    console.print(_verdict(tally))
    console.print()
    return tally


def _events(
    turn: Turn, toolset: Toolset, sides: "_Sides", tally: Tally, count: counting.Count
) -> Iterator[None]:
    """Feed the pieces, one for each step, and tell both sides and the tally what happens."""
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
    """Of one message: left what the model writes, right what a program receives."""

    left: Styled = field(default_factory=Styled)
    right: Styled = field(default_factory=Styled)
    errors: list[CallError] = field(default_factory=list)

    def write(self, piece: str) -> None:
        self.left.append(piece)

    def source(self, start: int, end: int) -> str:
        return self.left.plain[start:end]

    def receive(self, event: Event) -> None:
        match event:
            case Text(text):
                # Line breaks between calls say nothing here.
                if text.strip() or not self.right.plain.endswith("\n"):
                    self.right.append(text)
            case CallStart(_, _, name):
                self._new_line()
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
                self._new_line()
                self.right.append(f"✗ {event.kind}", "bold red").append(f" {event.message}\n", "red")
                self.errors.append(event)

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
            _panel(Styled("\n").join(lines), title, width, height)
            for title, lines in zip(("the model writes", "a program receives"), sides, strict=True)
        ]
        if stacked:
            return Group(*panels)
        grid = Table.grid()
        grid.add_row(*panels)
        return grid

    def _mark(self, style: str, event: CallEnd | CallError) -> None:
        self.left.stylize(style, event.start, event.end)

    def _new_line(self) -> None:
        if self.right.plain and not self.right.plain.endswith("\n"):
            self.right.append("\n")


def _panel(text: Styled, title: str, width: int, height: int | None = None) -> Panel:
    return Panel(
        text, title=f"[dim]{title}", title_align="left", border_style="dim", width=width, height=height
    )


def _verdict(tally: Tally) -> Styled:
    line = Styled(plural(tally.calls, "call"), "cyan")
    line.append(", ", "default").append(plural(tally.repairs, "repair"), "yellow" if tally.repairs else "dim")
    return line.append(", ", "default").append(
        plural(tally.errors, "error"), "red" if tally.errors else "dim"
    )


def _summary(
    tallies: list[Tally], definitions: counting.Costs, console: Console, *, is_tokens: bool
) -> RenderableType:
    unit = "tokens" if is_tokens else "characters"
    total = sum(tallies, Tally("all calls"))
    names = f"definitions of all {len(definitions.tools)} tools"
    totals = [total, Tally(names, native=definitions.native, wire=definitions.wire)]
    notes = [_NATIVE.format(envelopes=total.envelopes, unit=unit)]
    if not is_tokens:
        notes.append(_no_tokens())
    table = _table(tallies, totals, unit)
    # A table that is too narrow for its numbers would cut them off.
    least = console.measure(table, options=console.options.update(max_width=_WIDE)).minimum
    shown = table if least <= console.width else _stacked([*tallies, *totals], unit)
    return Group(shown, Styled("\n".join(notes), "dim"))


def _no_tokens() -> str:
    directory = counting.cache_directory()
    return _NO_TOKENS.format(directory=directory, quoted=shlex.quote(directory)) if directory else _NO_CACHE


def _table(tallies: list[Tally], totals: list[Tally], unit: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("example")
    styles = {"calls": "cyan", "repairs": "yellow", "errors": "red"}
    for heading in (*styles, f"native {unit}", "wire", "saved"):
        # Rich measures a column that does not wrap as if it did.
        style = styles.get(heading)
        table.add_column(heading, justify="right", style=style, no_wrap=True, min_width=len(heading))
    for tally in tallies:
        table.add_row(*_row(tally))
    table.add_section()
    for tally in totals:
        table.add_row(*_row(tally), style="bold")
    return table


def _stacked(tallies: list[Tally], unit: str) -> Group:
    """What the table says, in lines that wrap."""
    lines: list[RenderableType] = []
    for tally in tallies:
        calls, repairs, errors, native, wire, saved = _row(tally)[1:]
        lines.append(Styled(tally.title, "bold"))
        if calls or repairs or errors:
            lines.append(Padding(_verdict(tally), (0, 0, 0, 2)))
        if native:
            lines.append(Padding(f"{native} native {unit}, {wire} wire, {saved} saved", (0, 0, 0, 2)))
    return Group(*lines, "")


def _row(tally: Tally) -> list[str]:
    counts = (tally.calls, tally.repairs, tally.errors, tally.native, tally.wire)
    return [tally.title, *(str(count or "") for count in counts), counting.saved(tally.native, tally.wire)]
