"""Draw the pictures of the README: docs/pictures/demo.svg and latency.svg. `make pictures` runs this script.

The first shows what `wirecall demo` prints for two of its recordings. The second plots a table of
docs/benchmarks.md. Nothing is measured here.

Both are cards with a dark background of their own, so that one file is legible on any page. An SVG in an
`<img>` cannot adapt to the page: its media queries follow the browser, not the theme that a reader chose on
GitHub. It cannot load fonts either, so texts use those of the reader's system.
"""

import io
import re
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from wirecall._cli import demo

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"

# The width at which pictures are shown if the page is wide enough.
WIDTH = 880
MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
SANS = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
CARD, BORDER, GRID, DIM, INK = "#161b22", "#484f58", "#30363d", "#9da7b3", "#f0f6fc"
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "#ff9492", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd"


class PictureError(Exception):
    """A picture cannot be drawn from the files of the repository."""


def card(title: str, width: float, height: float, style: str, body: str) -> str:
    """An SVG with a background, in units of its own."""
    pixel = width / WIDTH
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
width="{WIDTH}" viewBox="0 0 {width:g} {height:g}" font-family="{SANS}">
<title>{title}</title>
<style>
{style.strip()}
</style>
<rect x="{pixel:.2f}" y="{pixel:.2f}" width="{width - 2 * pixel:.2f}" height="{height - 2 * pixel:.2f}" \
rx="{8 * pixel:.2f}" fill="{CARD}" stroke="{BORDER}" stroke-width="{pixel:.2f}"/>
{body.strip()}
</svg>
"""


# The demo ---------------------------------------------------------------------------------------------------

# By their titles. In this number of columns, no JSON of the first one is wrapped.
SHOWN = ("Parallel calls", "An injected call")
COLUMNS = 100
# The heights are those of rich. Characters of most monospaced fonts are 0.6 times as wide as they are high.
CHARACTER, LINE, ASPECT = 20, 24.4, 0.6
MARGIN, BAR = 24, 58
COLOURS = [tuple(bytes.fromhex(code[1:])) for code in (CARD, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, INK)]
THEME = TerminalTheme(COLOURS[0], COLOURS[-1], COLOURS)
STYLE = f"""\
g {{ font: {CHARACTER}px {MONOSPACE} }}
text {{ fill: currentColor }}
path {{ fill: none; stroke: currentColor; stroke-width: 1.4 }}
"""
BUTTONS = "".join(
    f'<circle cx="{MARGIN + 6 + 24 * at}" cy="28" r="7" fill="{fill}"/>\n'
    for at, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
)
# Frames, as parts of paths that begin in the centre of a character: in a font, lines may not touch.
FRAME = {
    "─": "m-6 0h12",
    "│": "m0-12.2v24.4",
    "╭": "m0 12.2v-6.2q0-6 6-6",
    "╮": "m0 12.2v-6.2q0-6-6-6",
    "╰": "m0-12.2v6.2q0 6 6 6",
    "╯": "m0-12.2v6.2q0 6-6 6",
}
FRAME_TEXT = re.compile(rf'<text class="(\S+)" x="(\S+)" y="(\S+)" [^>]*>([{"".join(FRAME)}]+)</text>')


def recorded() -> Console:
    """A terminal in which the recordings were played."""
    console = Console(
        record=True,
        file=io.StringIO(),
        width=COLUMNS,
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
        legacy_windows=False,
        highlight=False,
        _environ={},
    )
    found = {recording.title: recording for recording in demo.recordings()}
    for title in SHOWN:
        demo._play(found[title], console, speed=0, count=len)
    return console


def demo_picture() -> str:
    console = recorded()
    lines = len(console.export_text(clear=False).rstrip().splitlines())
    exported = console.export_svg(
        theme=THEME, code_format="{styles}\0{matrix}", font_aspect_ratio=ASPECT, unique_id="demo"
    )
    styles, matrix = exported.replace("\n</text>", "</text>").split("\0")
    matrix = re.sub(r"<text [^>]*></text>", "", matrix)
    matrix = FRAME_TEXT.sub(drawn, matrix)
    # Each text is stretched to the width of its columns in any font, so it does not have to be clipped.
    matrix = re.sub(r'clip-path="[^"]*"', 'lengthAdjust="spacingAndGlyphs"', matrix).replace("><", ">\n<")
    width = COLUMNS * CHARACTER * ASPECT + 2 * MARGIN
    title = (
        f'<text x="{width / 2:g}" y="34" text-anchor="middle" font-size="18" font-weight="bold" '
        f'color="{INK}">wirecall demo</text>'
    )
    body = f'{BUTTONS}{title}\n<g transform="translate({MARGIN} {BAR})">\n{matrix}\n</g>'
    height = BAR + lines * LINE + MARGIN
    return card("wirecall demo", width, height, STYLE + styles.replace("fill:", "color:"), body)


def drawn(match: re.Match[str]) -> str:
    """A text that consists of parts of frames, as a path."""
    style, x, y, text = match.groups()
    # From the baseline to the middle of the line.
    left, middle = float(x) + 6, float(y) - 6.3
    parts = (f"M{left + 12 * at:g} {middle:g}{FRAME[one]}" for at, one in enumerate(text))
    return f'<path class="{style}" d="{"".join(parts)}"/>'


# The latency ------------------------------------------------------------------------------------------------

TITLE = "wirecall takes the same time per delta at any length"
ABOUT = "Median time per delta of 4 characters, by length of the call (logarithmic axes)"
NOTES = (
    "Lines end at the last length that a parser read within 10 s. jiter and partial-json-parser",
    "parse the arguments from the beginning with every delta. Details: docs/benchmarks.md",
)
TABLE = re.compile(
    r"^### A call with an argument of code: µs per delta, median\n\n((?:\|.*\n)+)", re.MULTILINE
)
OURS = "wirecall wire"
# Of the contestants, those that others wrote. "jiter strings" is jiter with another option.
LINES = {OURS: CYAN, "jiter": YELLOW, "partial-json-parser": RED, "SGLang": MAGENTA, "vLLM": GREEN}
# The largest slope on logarithmic axes of which the title is true.
FLAT = 0.05
# Texts stay texts, placed by the font that matplotlib has everywhere; ids are always the same.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "latency", "font.family": "DejaVu Sans"}
SIZE = (720, 425)
UNITS = {"KB": 1 << 10, "MB": 1 << 20}


class Row(NamedTuple):
    """The figures of a row of the table, and the lengths at which it has any, as they are written there."""

    lengths: list[str]
    figures: list[str]
    growth: str


def latencies(page: str) -> dict[str, Row]:
    """The contestants that have figures."""
    found = TABLE.search(page)
    if found is None:
        raise PictureError(
            "docs/benchmarks.md has no table of the latency of a call with an argument of code"
        )
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines())
    shown = {}
    for name, *cells, growth in rows:
        measured = [pair for pair in zip(head[1:-1], cells, strict=True) if pair[1][0].isdigit()]
        if measured:
            lengths, figures = map(list, zip(*measured, strict=True))
            shown[name] = Row(lengths, figures, growth)
    return shown


def latency_picture(page: str) -> str:
    rows = latencies(page)
    if OURS not in rows or abs(float(rows[OURS].growth)) > FLAT:
        raise PictureError(
            f"docs/benchmarks.md does not show that {TITLE}: measure again, or change the title"
        )
    with mpl.rc_context():
        # Not those of the user.
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        figure = plotted(rows)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    # Without metadata. Fonts are those of the card, and nothing is turned.
    body = re.search(r'<g id="figure_1">.*(?=</svg>)', out.getvalue(), re.DOTALL)[0]
    body = re.sub(r" font-family: [^;]*;| transform=\"rotate\(-0 [^\"]*\"", "", body)
    return card(TITLE, *SIZE, "* { stroke-linejoin: round; stroke-linecap: butt }", body)


def plotted(rows: dict[str, Row]) -> Figure:
    figure = Figure(figsize=[side / 72 for side in SIZE], facecolor="none")
    axes = figure.add_axes((0.125, 0.2, 0.67, 0.59), facecolor="none")
    frame(axes, rows[OURS].lengths)
    for name, colour in LINES.items():
        if name in rows:
            draw(axes, name, rows[name], colour)
    for y, text, options in (
        (0.92, TITLE, {"size": 20, "weight": "bold", "color": INK}),
        (0.86, ABOUT, {"size": 14.5, "color": DIM}),
        (0.082, NOTES[0], {"size": 13, "color": DIM}),
        (0.037, NOTES[1], {"size": 13, "color": DIM}),
    ):
        figure.text(0.035, y, text, **options)
    return figure


def frame(axes: Axes, lengths: list[str]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(0.05, 2000)
    axes.set_xticks([size(length) for length in lengths], lengths)
    axes.set_yticks([0.1, 1, 10, 100, 1000], ["0.1 µs", "1 µs", "10 µs", "100 µs", "1,000 µs"])
    axes.minorticks_off()
    axes.tick_params(length=0, pad=8, labelsize=14.5, labelcolor=DIM)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)


def draw(axes: Axes, name: str, row: Row, colour: str) -> None:
    """A line, with its name and its last figure at its end."""
    points = [
        (size(length), float(figure.replace(",", "")))
        for length, figure in zip(row.lengths, row.figures, strict=True)
    ]
    axes.plot(*zip(*points, strict=True), color=colour, marker="o", ms=7, lw=2.4, clip_on=False)
    label = {"xy": points[-1], "textcoords": "offset points", "color": colour}
    axes.annotate(name.removesuffix(" wire"), xytext=(13, 2), size=16, weight="bold", **label)
    axes.annotate(f"{row.figures[-1]} µs at {row.lengths[-1]}", xytext=(13, -16), size=14, **label)


def size(length: str) -> int:
    return int(length[:-2]) * UNITS[length[-2:]]


def pictures() -> dict[str, str]:
    """The files by their names."""
    page = BENCHMARKS.read_text(encoding="utf-8")
    return {"demo.svg": demo_picture(), "latency.svg": latency_picture(page)}


if __name__ == "__main__":
    try:
        drawings = pictures()
    except PictureError as error:
        sys.exit(f"pictures.py: {error}")
    for name, svg in drawings.items():
        (FOLDER / name).write_text(svg, encoding="utf-8")
