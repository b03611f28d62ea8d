"""`wirecall demo`: hand-written model outputs, parsed as a stream at the speed of a model.

A recording is a JSON file in `recordings/`: a title, what to watch for, the tools, options of the toolset,
and one or more turns. A turn is a model's message in pieces, with one list for each line. Between turns, the
errors of the last turn are sent back to the model, as a host would do.

On a terminal both sides grow with each piece; elsewhere only the finished sides are printed.
"""

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, field
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

import click
from rich import box
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text as Styled

from wirecall import ArgumentsDelta, CallEnd, CallError, CallStart, Event, Reasoning, Text, Toolset
from wirecall import tokens as counting
from wirecall._cli.console import OutputConsole, plural
from wirecall.errors import install_extra

# Tokens per second: twice the speed of a fast model, so that everything takes less than fifteen seconds.
SPEED = 150.0
# The pause after each recording, in tokens.
_PAUSE = 75
_FRAMES_PER_SECOND = 30
# In columns: narrower than the first, the sides are stacked; wider than the second, lines are hard to read.
_NARROW, _WIDE = 72, 140
# The number of lines shown at the beginning and end of a longer side.
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
_NO_TOKENS = "Counted in characters: counting tokens needs tiktoken and its vocabulary"


class RecordedMessage(NamedTuple):
    """One message of the model, in pieces."""

    pieces: list[str]
    truncated: bool


class Recording(NamedTuple):
    """Messages like those of a model, and its tools."""

    title: str
    watch: str
    tools: list[dict[str, Any]]
    options: dict[str, Any]
    turns: list[RecordedMessage]

    @property
    def is_compared(self) -> bool:
        """Whether the costs of its calls are compared with native calls: only if they are in wire."""
        return "protocol" not in self.options


@dataclass
class Tally:
    """The results of one recording. Costs are in tokens or characters, without failed calls."""

    title: str
    calls: int = 0
    repairs: int = 0
    errors: int = 0
    native: int = 0
    envelopes: int = 0
    wire: int = 0


def recordings() -> list[Recording]:
    """All recordings in the package, ordered by the numbers that their file names begin with."""
    found = []
    stored = (files("wirecall._cli") / "recordings").iterdir()
    for file in sorted(stored, key=lambda file: int(file.name.partition("-")[0])):
        given = json.loads(file.read_text(encoding="utf-8"))
        turns = [RecordedMessage([*chain(*turn["stream"])], turn["truncated"]) for turn in given["turns"]]
        found.append(Recording(**{"options": {}, **given, "turns": turns}))
    return found


@click.command(
    epilog="""\b
Examples:
  wirecall demo
  wirecall demo --speed 40
  wirecall demo --speed 0 | less
""",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    default=SPEED,
    help="Tokens per second; 0 prints the results at once, as with NO_COLOR or output to a file.",
)
def demo(speed: float) -> None:
    """Replay hand-written model outputs: no key, no network.

    The outputs imitate a model; none was recorded. The left side shows what the model writes, the right side
    what a program receives.
    """
    console = OutputConsole(width=100)
    console.width = min(console.width, _WIDE)
    if not sys.stdout.isatty() or console.no_color or console.is_dumb_terminal:
        speed = 0
    count = counting.cached_tokenizer()
    tallies = []
    played = recordings()
    for recording in played:
        tallies.append(_play(recording, console, speed, count or len))
        if speed:
            time.sleep(_PAUSE / speed)
    compared = [recording for recording in played if recording.is_compared]
    tools = {tool["name"]: tool for recording in compared for tool in recording.tools}
    definitions = counting.measure(tools.values(), count=count or len)
    console.print(_summary(tallies, definitions, console, is_tokens=count is not None))


def _play(recording: Recording, console: Console, speed: float, count: counting.Count) -> Tally:
    toolset = Toolset(recording.tools, **recording.options)
    tally = Tally(recording.title)
    console.print(Rule(Styled(recording.title, "bold"), align="left", style="dim"))
    console.print(Styled(recording.watch, "dim"))
    errors: list[CallError] = []
    for turn in recording.turns:
        if errors:
            answers = "\n".join(toolset.encode_result(error.name, error) for error in errors)
            console.print(_panel(Styled(answers, "italic"), "the program sends back", console.width))
        sides = _Sides()
        steps = sides.steps(turn, toolset)
        if speed:
            with Live(console=console, transient=True, auto_refresh=False, vertical_overflow="crop") as live:
                for _ in _frames(steps, speed):
                    live.update(sides.growing(console), refresh=True)
        for _ in steps:
            pass
        console.print(sides.finished(console))
        errors = sides.errors
        tally.errors += len(errors)
        for call in sides.calls:
            tally.calls += 1
            tally.repairs += len(call.repairs)
            if not recording.is_compared:
                continue
            tally.native += count(counting.native_call(call.name, call.arguments))
            tally.envelopes += count(counting.tool_use(call.name, call.arguments))
            tally.wire += count(sides.left.plain[call.start : call.end])
    console.print(_verdict(tally))
    console.print()
    return tally


def _frames(steps: Iterable[None], speed: float) -> Iterator[None]:
    """Takes `speed` steps per second, and yields when a frame is due."""
    due = next_frame = time.monotonic()
    for _ in steps:
        due += 1 / speed
        time.sleep(max(0, due - time.monotonic()))
        now = time.monotonic()
        if now >= next_frame:
            next_frame = now + 1 / _FRAMES_PER_SECOND
            yield


@dataclass
class _Sides:
    """Both sides of one message: what the model writes, and what a program receives."""

    left: Styled = field(default_factory=Styled)
    right: Styled = field(default_factory=Styled)
    calls: list[CallEnd] = field(default_factory=list)
    errors: list[CallError] = field(default_factory=list)

    def steps(self, turn: RecordedMessage, toolset: Toolset) -> Iterator[None]:
        """Writes and receives one piece of the message in each step."""
        parser = toolset.parser()
        for piece in turn.pieces:
            self.left.append(piece)
            for event in parser.feed(piece):
                self._receive(event)
            yield
        for event in parser.finish(truncated=turn.truncated):
            self._receive(event)

    def _receive(self, event: Event) -> None:
        match event:
            case Text(text):
                # Line breaks between calls are not shown.
                if text.strip() or not self.right.plain.endswith("\n"):
                    self._after_reasoning()
                    self.right.append(text)
            case Reasoning(text, start, end):
                self.left.stylize("dim", start, end)
                self.right.append(text, "dim italic")
            case CallStart(_, _, name):
                self._new_line()
                self.right.append("● ", "cyan").append(name, "bold cyan").append("\n")
            case ArgumentsDelta(_, delta):
                self.right.append(delta, "green")
            case CallEnd():
                self.left.stylize("cyan", event.start, event.end)
                self.right.append("\n")
                self.calls.append(event)
                for repair in event.repairs:
                    self.right.append(f"  ~ {repair:15}", "yellow")
                    self.right.append(f"  {_REPAIRS[repair]}\n", "dim yellow")
                for problem in event.problems:
                    self.right.append(f"  ! {problem.kind}: {problem.message}\n", "magenta")
            case CallError():
                self.left.stylize("red", event.start, event.end)
                self._new_line()
                self.right.append(f"✗ {event.kind}", "bold red").append(f" {event.message}\n", "red")
                self.errors.append(event)

    def growing(self, console: Console) -> RenderableType:
        """The last lines of both sides that fit on the terminal."""
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
        titles = ("the model writes", "a program receives")
        texts = [Styled("\n").join(lines) for lines in sides]
        panels = [_panel(text, title, width, height) for text, title in zip(texts, titles, strict=True)]
        return Group(*panels) if stacked else Columns(panels, padding=0)

    def _after_reasoning(self) -> None:
        """Text after reasoning begins on a line of its own."""
        if (
            (spans := self.right.spans)
            and spans[-1].style == "dim italic"
            and spans[-1].end == len(self.right)
        ):
            self._new_line()

    def _new_line(self) -> None:
        if self.right.plain and not self.right.plain.endswith("\n"):
            self.right.append("\n")


def _panel(text: Styled, title: str, width: int, height: int | None = None) -> Panel:
    return Panel(
        text, title=f"[dim]{title}", title_align="left", border_style="dim", width=width, height=height
    )


def _verdict(tally: Tally) -> Styled:
    line = Styled(plural(tally.calls, "call"), "cyan")
    for number, noun, style in ((tally.repairs, "repair", "yellow"), (tally.errors, "error", "red")):
        line.append(", ", "default").append(plural(number, noun), style if number else "dim")
    return line


def _summary(
    tallies: list[Tally], definitions: counting.Costs, console: Console, *, is_tokens: bool
) -> RenderableType:
    unit = "tokens" if is_tokens else "characters"
    total = Tally("all calls", *map(sum, zip(*(astuple(tally)[1:] for tally in tallies), strict=True)))
    names = f"definitions of all {len(definitions.tools)} tools"
    totals = [total, Tally(names, native=definitions.native, wire=definitions.wire)]
    notes = [_NATIVE.format(envelopes=total.envelopes, unit=unit)]
    install = f"{install_extra('tokens')}."
    if not is_tokens and (directory := counting.cache_directory()):
        download = f"TIKTOKEN_CACHE_DIR={shlex.quote(directory)} wirecall tokens --tools FILE downloads it."
        notes.append(f"{_NO_TOKENS} in {directory}, which the demo does not download. {install} {download}")
    elif not is_tokens:
        why = "which the demo does not download, and TIKTOKEN_CACHE_DIR is empty: tiktoken keeps nothing."
        notes.append(f"{_NO_TOKENS}, {why} {install}")
    table = _table(tallies, totals, unit)
    # In a table that is too narrow, numbers would be cut off.
    least = console.measure(table, options=console.options.update(max_width=_WIDE)).minimum
    shown = table if least <= console.width else _stacked([*tallies, *totals], unit)
    return Group(shown, Styled("\n".join(notes), "dim"))


def _table(tallies: list[Tally], totals: list[Tally], unit: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("example")
    styles = {"calls": "cyan", "repairs": "yellow", "errors": "red"}
    for heading, style in {**styles, f"native {unit}": "", "wire": "", "saved": ""}.items():
        # Without a width, rich measures the column as if it wrapped.
        table.add_column(heading, justify="right", style=style, no_wrap=True, min_width=len(heading))
    for tally in tallies:
        table.add_row(*_row(tally))
    table.add_section()
    for tally in totals:
        table.add_row(*_row(tally), style="bold")
    return table


def _stacked(tallies: list[Tally], unit: str) -> Group:
    """The content of the table, in lines that wrap."""
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
