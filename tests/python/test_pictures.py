"""The pictures of the README are what the script draws, show what they say, and refer to nothing else."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from itertools import combinations
from math import log10
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("rich")

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from script_support import load_script

ROOT = Path(__file__).parents[2]
NAMES = ("demo.svg", "latency.svg")
SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("pictures")


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def committed(name: str) -> str:
    return (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8")


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def row_of(page: str, name: str) -> str:
    """The row of a contestant in the table that is drawn."""
    table = page.partition("### A call with an argument of code: ")[2]
    (row,) = re.findall(rf"^\| {re.escape(name)} \|.*", table.partition("\n### ")[0], re.MULTILINE)
    return row


def test_pictures_drawn_again_are_the_committed_files(script: ModuleType, tmp_path: Path) -> None:
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    for name in ("matplotlib", "rich"):
        if f"\n{name}=={version(name)} " not in lock:
            pytest.skip(f"{name} {version(name)} is not in the lock")
    draw = "import json, runpy, sys; print(json.dumps(runpy.run_path(sys.argv[1])['pictures']()))"
    settings = tmp_path / "matplotlibrc"
    settings.write_text(
        "font.size: 30\nfigure.dpi: 300\naxes.grid: True\nlines.color: red\n", encoding="utf-8"
    )
    # Nothing around it changes them.
    around = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "40", "MATPLOTLIBRC": str(settings)}
    output = subprocess.run(
        [sys.executable, "-c", draw, ROOT / "scripts" / "pictures.py"],
        capture_output=True,
        timeout=60,
        check=True,
        cwd=tmp_path,
        env={**os.environ, **around},
    ).stdout
    drawn = json.loads(output)
    assert sorted(drawn) == sorted(NAMES) == sorted(file.name for file in script.FOLDER.iterdir())
    for name, svg in drawn.items():
        assert svg == committed(name), f"docs/pictures/{name} is not what scripts/pictures.py draws"


@pytest.mark.parametrize("name", NAMES)
def test_picture_refers_to_nothing_outside_of_it(name: str) -> None:
    svg = committed(name)
    assert len(svg.encode()) <= 60_000
    root = ElementTree.fromstring(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "style", "rect", "circle", "text", "path", "g", "defs", "use", "clipPath"}
    references = [element.attrib[f"{XLINK}href"] for element in root.iter(f"{SVG}use")]
    references += re.findall(r"url\((.*?)\)", svg)
    ids = {f"#{element.get('id')}" for element in root.iter()}
    assert set(references) <= ids
    assert "@" not in svg
    assert set(re.findall(r"https?://[^\"]*", svg)) == {SVG[1:-1], XLINK[1:-1]}


@pytest.mark.parametrize("name", NAMES)
def test_picture_text_is_legible_on_its_card(script: ModuleType, name: str) -> None:
    def luminance(code: str) -> float:
        parts = [part / 255 for part in bytes.fromhex(code[1:])]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    found = set(re.findall(r"color: (#\w{6})|<text[^>]* fill: (#\w{6})", committed(name)))
    colours = {colour for pair in found for colour in pair if colour}
    assert len(colours) >= 4
    for colour in colours:
        # WCAG asks for 4.5; the one below it is that of "0 errors".
        assert (luminance(colour) + 0.05) / (luminance(script.CARD) + 0.05) > 4, colour


# --- the demo


def test_demo_picture_has_the_lines_of_the_command(script: ModuleType) -> None:
    output = subprocess.run(
        [sys.executable, "-m", "wirecall", "demo", "--speed", "0"],
        capture_output=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": str(script.COLUMNS)},
    ).stdout.decode()
    expected = []
    for title in script.SHOWN:
        (shown,) = re.findall(rf"^{title} ─.*?^\d+ calls?, .*?\n", output, re.MULTILINE | re.DOTALL)
        expected += [*re.sub("[─│╭╮╰╯]", " ", shown).splitlines(), ""]
    (group,) = ElementTree.fromstring(committed("demo.svg")).iter(f"{SVG}g")
    lines: dict[int, str] = {}
    for element in group.iter(f"{SVG}text"):
        text = (element.text or "").replace("\xa0", " ")
        # Each has the width of its columns, whatever the font.
        assert float(element.attrib["textLength"]) == 12 * len(text)
        assert element.attrib["lengthAdjust"] == "spacingAndGlyphs"
        row, column = (
            round((float(element.attrib["y"]) - 20) / 24.4),
            round(float(element.attrib["x"]) / 12),
        )
        assert column + len(text) <= script.COLUMNS
        lines[row] = lines.get(row, "").ljust(column) + text
    found = [lines.get(row, "").rstrip() for row in range(max(lines) + 1)]
    assert found == [line.rstrip() for line in expected[:-1]]
    assert len(found) <= 32


# --- the latency


def test_latency_picture_has_the_figures_of_the_page(script: ModuleType, page: str) -> None:
    svg = committed("latency.svg")
    lengths = ["1KB", "4KB", "16KB", "64KB", "256KB", "1MB"]
    labels = texts(svg)
    points: list[tuple[str, float]] = []
    for name, label in (
        ("wirecall wire", "wirecall"),
        ("jiter", "jiter"),
        ("partial-json-parser", "partial-json-parser"),
    ):
        cells = [cell.strip() for cell in row_of(page, name).strip("|").split("|")][1:-1]
        read = [(length, cell) for length, cell in zip(lengths, cells, strict=True) if cell != "cut off"]
        assert labels[labels.index(label) + 1] == f"{read[-1][1]} µs at {read[-1][0]}"
        points += [(length, float(cell)) for length, cell in read]
    assert not {"SGLang", "vLLM", "no-op"} & {*labels}
    # The marks are where the axes have these values.
    root = ElementTree.fromstring(svg)
    ticks = {element.text: element for element in root.iter(f"{SVG}text")}
    middle = {
        float(text.removesuffix(" µs").replace(",", "")): float(tick.attrib["y"])
        for text, tick in ticks.items()
        if text and re.fullmatch(r"[\d.,]+ µs", text)
    }
    unit = (middle[0.1] - middle[1000]) / 4
    marks = [(float(use.attrib["x"]), float(use.attrib["y"])) for use in root.iter(f"{SVG}use")]
    assert len(marks) == len(points)
    # From the baseline of a tick's text to its line.
    offset = marks[0][1] - (middle[1] - unit * log10(points[0][1]))
    assert -10 < offset < 0
    for (length, value), (x, y) in zip(points, marks, strict=True):
        assert x == pytest.approx(float(ticks[length].attrib["x"]), abs=0.01)
        assert y == pytest.approx(middle[1] - unit * log10(value) + offset, abs=0.01)


def test_latency_picture_of_another_page_has_other_figures(script: ModuleType, page: str) -> None:
    row = row_of(page, "jiter")
    changed = script.latency_picture(page.replace(row, row.replace("55.8", "61.7")))
    assert "61.7 µs at 256KB" in texts(changed)
    row = row_of(page, "vLLM")
    measured = "| vLLM | 1.500 | 2.500 | 1,234.5 | cut off | cut off | cut off | 0.30 |"
    assert "1,234.5 µs at 16KB" in texts(script.latency_picture(page.replace(row, measured)))


def test_latency_picture_without_its_table_is_an_error(script: ModuleType, page: str) -> None:
    with pytest.raises(script.PictureError, match="no table"):
        script.latency_picture(page.replace("### A call with", "### One with"))


def test_latency_picture_with_a_title_that_is_not_true_is_an_error(script: ModuleType, page: str) -> None:
    row = row_of(page, "wirecall wire")
    rising = re.sub(r"-?[\d.]+ \|$", "0.25 |", row)
    with pytest.raises(script.PictureError, match="does not show that wirecall takes the same time"):
        script.latency_picture(page.replace(row, rising))
    with pytest.raises(script.PictureError, match="does not show"):
        script.latency_picture(page.replace(row, row.replace("wirecall wire", "wirecall other")))


def test_latency_picture_texts_neither_overlap_nor_leave_the_card() -> None:
    root = ElementTree.fromstring(committed("latency.svg"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    boxes = []
    for element in root.iter(f"{SVG}text"):
        style = dict(part.split(": ") for part in element.attrib["style"].split("; "))
        size = float(style["font-size"].removesuffix("px"))
        # The widest of the usual fonts.
        font = FontProperties(family="DejaVu Sans", weight=style.get("font-weight", "normal"))
        wide = TextPath((0, 0), element.text or "", size=size, prop=font).get_extents().x1
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[style["text-anchor"]]
        boxes.append((left, left + wide, y - 0.75 * size, y + 0.22 * size, element.text))
    for left, right, top, bottom, text in boxes:
        assert 8 <= left < right <= width - 8, text
        assert 8 <= top < bottom <= height - 8, text
    for one, other in combinations(boxes, 2):
        beside = one[1] < other[0] or other[1] < one[0]
        above = one[3] < other[2] or other[3] < one[2]
        assert beside or above, (one[4], other[4])
