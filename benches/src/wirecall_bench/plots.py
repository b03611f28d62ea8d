"""Plots as SVG in the colours of the surrounding page: text and lines have the colour of its text.

Names come from models and catalogues; matplotlib writes them as text and escapes them.
"""

import io
import re
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wirecall_bench.statistics import Interval

# Distinguishable with most colour vision deficiencies, and visible on white and on black.
COLOURS = (
    "#3b82c4",
    "#e08214",
    "#2a9d78",
    "#c45a9a",
    "#8a7bd1",
    "#9a8f2b",
    "#d1495b",
    "#6b8e9e",
    "#a9714b",
    "#5f9e3f",
)
MARKERS = "os^Dv<>Phd"
# A placeholder for the text colour of the page.
_INK = "#010203"
# The width of a name in characters, and how many lines it may have.
_NAME_CHARS, _NAME_LINES = 40, 4


def bars(values: Mapping[str, Interval], *, title: str, unit: str, scale: float = 1.0) -> str:
    """One bar for each name, starting at zero, with its interval and N."""
    figure, axes = _new(_height(values))
    for at, value in enumerate(values.values()):
        middle, low, high = (scale * part for part in (value.mean, value.low, value.high))
        axes.barh(at, middle, height=0.62, color=COLOURS[at % len(COLOURS)])
        axes.errorbar(
            middle,
            at,
            xerr=[[max(0.0, middle - low)], [max(0.0, high - middle)]],
            color=_INK,
            capsize=4,
            lw=1.3,
        )
        axes.annotate(
            f"{middle:,.1f} {unit}, N = {value.n}",
            (max(middle, high), at),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=_INK,
        )
    axes.set_yticks(range(len(values)), [_lines(name) for name in values])
    axes.invert_yaxis()
    largest = max((scale * max(value.mean, value.high) for value in values.values()), default=1.0) or 1.0
    # Room for the text after the bars.
    axes.set_xlim(0, 1.3 * (100 if unit == "%" else largest))
    if unit == "%":
        axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel(unit)
    return _svg(figure, f"{title} {values}")


def shares_of(shares: Mapping[str, float], counts: Mapping[str, str], *, title: str) -> str:
    """One bar for each name, with a line at 100 %, followed by the counts."""
    figure, axes = _new(_height(shares))
    for at, (name, share) in enumerate(shares.items()):
        axes.barh(at, share, height=0.62, color=COLOURS[0 if share <= 100 else 1])
        said = f"{share:,.1f} %, {counts[name]}"
        axes.annotate(
            said, (max(share, 100), at), xytext=(8, 0), textcoords="offset points", va="center", color=_INK
        )
    axes.axvline(100, color=_INK, lw=1, ls=":")
    axes.set_yticks(range(len(shares)), [_lines(name) for name in shares])
    axes.invert_yaxis()
    axes.set_xlim(0, max(shares.values(), default=100.0) * 1.45)
    axes.set_xlabel("%")
    return _svg(figure, f"{title} {shares}")


def pareto(points: Mapping[str, tuple[Interval, Interval]], *, title: str, score: str) -> str:
    """A score against its cost, both with intervals."""
    figure, axes = _new(4.4)
    for at, (name, (cost, right)) in enumerate(points.items()):
        x, y = cost.mean, 100 * right.mean
        axes.errorbar(
            x,
            y,
            xerr=[[max(0.0, x - cost.low)], [max(0.0, cost.high - x)]],
            yerr=[[max(0.0, y - 100 * right.low)], [max(0.0, 100 * right.high - y)]],
            fmt=MARKERS[at % len(MARKERS)],
            color=COLOURS[at % len(COLOURS)],
            capsize=3,
            lw=1.2,
            ms=7,
            label=_lines(name),
        )
    front = _front([(cost.mean, 100 * right.mean) for cost, right in points.values()])
    axes.plot(*zip(*front, strict=True), color=_INK, lw=1, ls=":", zorder=0)
    axes.set_xlabel("tokens of a case, input and output")
    axes.set_ylabel(score)
    axes.grid(True, color=_INK, alpha=0.15)
    _legend(axes)
    return _svg(figure, f"{title} {points}")


def growth(lines: Mapping[str, Sequence[tuple[float, float]]], *, title: str, x: str, y: str) -> str:
    """One line for each name, on logarithmic axes."""
    figure, axes = _new(4.6)
    for at, (name, points) in enumerate(lines.items()):
        axes.plot(
            *zip(*sorted(points), strict=True),
            marker=MARKERS[at % len(MARKERS)],
            color=COLOURS[at % len(COLOURS)],
            lw=1.6,
            ms=5,
            label=_lines(name),
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, which="major", color=_INK, alpha=0.15)
    axes.xaxis.set_major_formatter(lambda value, _: _bytes(value))
    _legend(axes)
    return _svg(figure, f"{title} {lines}")


def _front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The names that no other name beats in both respects: cheaper, and more often correct."""
    front: list[tuple[float, float]] = []
    for cost, right in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or right > front[-1][1]:
            front.append((cost, right))
    return front


def _bytes(value: float) -> str:
    for size, unit in ((1 << 20, "MB"), (1 << 10, "KB")):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


def _lines(name: str) -> str:
    """The name in short lines, without characters that matplotlib takes for mathematics."""
    lines = textwrap.wrap(name, _NAME_CHARS, max_lines=_NAME_LINES, placeholder=" …", break_on_hyphens=False)
    return "\n".join(lines).replace("$", r"\$")


def _height(names: Iterable[str]) -> float:
    """The height of a plot with a bar for each name, in inches."""
    return 0.9 + sum(max(0.42, 0.2 * (_lines(name).count("\n") + 1)) for name in names)


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, labelcolor=_INK)


def _new(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(9.5, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(_INK)
    axes.tick_params(colors=_INK, which="both")
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    return figure, axes


def _svg(figure: Figure, salt: str) -> str:
    """The figure as an HTML element. Its ids differ from those of figures with another salt."""
    with (
        mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt, "font.family": "sans-serif"}),
        warnings.catch_warnings(),
    ):
        # Characters that matplotlib's font lacks may be in the reader's font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Groups have the same ids in all figures, and nothing refers to them.
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    return svg.replace(_INK, "currentColor")
