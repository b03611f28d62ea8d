"""The report: planted outcomes come out, nothing is dropped, and hostile texts stay texts."""

import json
import re
import subprocess
import sys
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from markupsafe import escape
from report_support import Cell, artifact, asked

from wirecall._cli.commands import wirecall as cli
from wirecall_bench.artifact import Artifact, BenchError
from wirecall_bench.findings import NO_DIFFERENCE
from wirecall_bench.report import LEGEND, html, markdown, report

HOSTILE = "</td><script>alert(1)</script> $x$ | `a` *b*\n# c & ]]>"


def row(text: str, title: str, variant: str) -> list[str]:
    """The cells of the row of a way, in the table below a title."""
    table = text.split(f"### {title}\n", 1)[1].split("\n\n")[0]
    (line,) = (line for line in table.splitlines() if line.startswith(f"| {variant} |"))
    return [cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")]


def ways_of(text: str, title: str) -> list[str]:
    """The first column of the table below a title."""
    table = text.split(f"### {title}\n\n", 1)[1].split("\n\n")[0]
    return [line.split(" | ")[0].strip("| ") for line in table.splitlines()[2:]]


def test_a_planted_difference_is_reported_and_a_planted_null_is_not(tmp_path: Path) -> None:
    rates = {("native", ""): 0.8, ("wire", ""): 0.8, ("hermes", ""): 0.4}
    text = markdown(report([artifact(tmp_path / "live.jsonl", asked(rates))]))
    differences = "How right it was: the difference"
    assert row(text, differences, "m, wire")[3].startswith(NO_DIFFERENCE)
    assert re.match(r"-\d+\.\d \[-\d+\.\d, -\d+\.\d\], N = 60$", row(text, differences, "m, hermes")[3])
    # The tokens are the same in all modes.
    assert row(text, "What it cost: the difference", "m, hermes")[2].startswith(NO_DIFFERENCE)


def test_what_got_no_verdict_has_missed_it(tmp_path: Path) -> None:
    """A mean over those that have one would be over what was right anyway."""

    def change(cell: Cell) -> None:
        right = int(cell["key"][3]) < 10
        cell["scores"] = {"exact": right, "normalised": right, "judged": right or None}
        cell["judge"] = None if right else {"same": None, "reason": "no time"}

    cells = asked({("native", ""): 1.0}, cases=50, repetitions=1, change=change)
    text = markdown(report([artifact(tmp_path / "live.jsonl", cells)]))
    assert re.match(r"20\.0 \[.*, N = 50$", row(text, "How right it was", "m, native")[3])
    assert "| m, native | not judged: no time | 40 |" in text


def test_failed_cells_have_missed_and_skipped_ones_are_counted(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        case = int(cell["key"][3])
        if case < 10:
            cell.update(status="failed", reason="HTTP 500", scores=None)
        elif case < 25:
            cell.update(status="skipped", reason="budget", scores=None)

    cells = asked({("native", ""): 1.0}, cases=50, repetitions=1, change=change)
    text = markdown(report([artifact(tmp_path / "live.jsonl", cells)]))
    assert row(text, "What was asked", "m, native")[1:5] == ["50", "25", "10", "15"]
    # 25 right of the 35 that were asked.
    assert row(text, "How right it was", "m, native")[1].startswith("71.4 [")
    assert row(text, "How right it was", "m, native")[1].endswith("N = 35")
    reasons = text.split("### Why cells failed, were skipped or not judged")[1]
    assert "| m, native | failed: HTTP 500 | 10 |" in reasons
    assert "| m, native | skipped: budget | 15 |" in reasons


def test_a_judge_adds_to_what_is_the_same_by_the_schema(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        case = int(cell["key"][3])
        cell["scores"] = {
            "exact": case < 5,
            "normalised": case < 10,
            "judged": None if case < 10 else case < 15,
        }

    cells = list(asked({("native", ""): 1.0}, cases=20, repetitions=1, change=change))
    text = markdown(report([artifact(tmp_path / "live.jsonl", cells)]))
    shares = [cell.partition(" ")[0] for cell in row(text, "How right it was", "m, native")[1:]]
    assert shares == ["25.0", "50.0", "75.0"]


def test_ways_stand_in_the_order_that_was_asked_for(tmp_path: Path) -> None:
    variants = [("native", ""), ("wire", ""), ("hermes", ""), ("wire", "strict"), ("wire", "no-manual")]
    options = {
        "models": ["m"],
        "modes": ["native", "wire", "hermes"],
        "ablations": ["no-manual", "strict"],
    }
    # Whichever had the first turn, and whatever was there first.
    cells = asked(dict.fromkeys(reversed(variants), 1.0), cases=3)
    text = markdown(report([artifact(tmp_path / "live.jsonl", cells, options=options)]))
    whole = ["m, native", "m, wire", "m, wire, no-manual", "m, wire, strict", "m, hermes"]
    for title in ("What was asked", "How right it was", "What it cost", "By group: normalised (%)"):
        assert ways_of(text, title) == whole
    for title in ("How right it was: the difference", "What was sent differed"):
        assert ways_of(text, title) == whole[1:]


def test_every_head_is_explained_below_its_table(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        cell["scores"]["judged"] = False

    path = artifact(tmp_path / "live.jsonl", asked({("native", ""): 1.0}, cases=2, change=change))
    text = markdown(report([path]))
    for title, words in {
        "What was asked": ["ok", "failed", "repairs", "problems", "errors", "retries"],
        "How right it was": ["exact", "normalised", "judged"],
        "What it cost": ["tokens", "first call"],
    }.items():
        table, *notes = text.split(f"### {title}\n\n")[1].split("\n### ")[0].strip().split("\n\n")
        for word in words:
            assert word in table
            assert any(note.startswith(f"{word}: ") for note in notes), word
    assert "A cell is one run of one case" in text.split("### What was asked")[0]


def test_plots_name_what_they_show(tmp_path: Path) -> None:
    cells = asked({("native", ""): 0.5, ("wire", ""): 0.5}, cases=8)
    page = html(report([artifact(tmp_path / "live.jsonl", cells)]))
    said = re.findall(r"<text [^>]*>([^<]*)</text>", page)
    assert "normalised (%)" in said
    assert [one for one in said if re.fullmatch(r"\d+\.\d %, N = 8", one)]
    # No share is above 100 %.
    assert "120" not in said


def test_what_is_not_installed_is_said(tmp_path: Path) -> None:
    path = tmp_path / "latency.jsonl"
    Artifact.create(path, "latency", {}, libraries=["no-such-parser"]).close()
    assert "no-such-parser not installed" in markdown(report([path]))


def test_requests_that_did_not_differ_are_named(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        if cell["case"] == "case 3":
            cell["requests"] = [{"sha256": "same"}]

    cells = asked({("native", ""): 0.5, ("wire", ""): 0.5}, change=change)
    text = markdown(report([artifact(tmp_path / "live.jsonl", cells)]))
    assert row(text, "What was sent differed", "m, wire")[2:] == [
        "60",
        "59",
        "no: nothing was compared there: case 3",
    ]


def test_an_ablation_of_reading_has_to_send_the_same(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        if cell["ablation"] == "strict" and cell["case"] != "case 3":
            cell["requests"] = [{"sha256": sha256(f"wire{cell['key'][3]}".encode()).hexdigest()}]

    cells = list(asked({("wire", ""): 0.5, ("wire", "strict"): 0.5}, cases=4, change=change))
    right = [cell for cell in cells if cell["case"] != "case 3"]
    text = markdown(report([artifact(tmp_path / "right.jsonl", right)]))
    found = row(text, "What was sent differed", "m, wire, strict")[2:]
    assert found == ["3", "0", "yes: it changes how answers are read"]
    text = markdown(report([artifact(tmp_path / "wrong.jsonl", cells)]))
    found = row(text, "What was sent differed", "m, wire, strict")[2:]
    assert found == ["4", "1", "no: the request must not change: case 3"]


def test_an_artifact_that_is_torn_and_one_without_cells_are_reported(tmp_path: Path) -> None:
    torn = artifact(tmp_path / "torn.jsonl", asked({("native", ""): 1.0}, cases=2, repetitions=1))
    torn.write_bytes(torn.read_bytes()[:-5])
    empty = artifact(tmp_path / "empty.jsonl", [])
    text = markdown(report([torn, empty]))
    assert "1 cells; the last line is cut off and left out" in text
    assert "There are no cells: nothing was run." in text


class Reading(HTMLParser):
    """The elements of a page, and what would be fetched or run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name.startswith("on") or (
                name in ("src", "href", "xlink:href") and not (value or "").startswith("#")
            ):
                self.outside.append(f"{tag} {name}={value}")


def test_what_models_and_servers_said_stays_text(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        cell.update(model=HOSTILE, group=HOSTILE, case=f"{HOSTILE}{cell['case']}")
        if cell["key"][4] == "1":
            cell.update(status="failed", reason=HOSTILE)

    rates = {("native", ""): 0.5, ("wire", ""): 0.7, ("wire", HOSTILE): 0.7}
    document = report([artifact(tmp_path / "live.jsonl", asked(rates, cases=12, change=change))])
    page = Reading()
    page.feed(html(document))
    assert "script" not in page.tags
    assert page.outside == []
    assert page.tags.count("svg") == 2
    assert len(set(page.ids)) == len(page.ids)
    text = markdown(document)
    assert "<script" not in text.replace("\\<", "")
    # No text ends a row or a cell: all rows of a table have as many cells as its head.
    for block in text.split("\n\n"):
        if block.startswith("| "):
            lines = [re.sub(r"\\.", "", line) for line in block.splitlines()]
            assert len({line.count("|") for line in lines}) == 1


def process(*arguments: str) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "wirecall", "bench", "report", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def command(*arguments: str) -> Result:
    """The same in this process, which is faster; only `main` knows all exit codes."""
    return CliRunner().invoke(cli, ["bench", "report", *arguments])


def test_the_command_writes_both_forms(tmp_path: Path) -> None:
    path = artifact(tmp_path / "live.jsonl", asked({("native", ""): 0.5}, cases=8, repetitions=1))
    printed = process(str(path))
    assert (printed.returncode, printed.stdout) == (0, markdown(report([path])))
    md, page = tmp_path / "r.md", tmp_path / "r.html"
    both = command(str(path), "--markdown", str(md), "--html", str(page))
    assert (both.exit_code, both.stdout) == (0, "")
    assert md.read_text(encoding="utf-8") == printed.stdout
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    missing = process(str(tmp_path / "none.jsonl"))
    assert missing.returncode == 2
    assert "cannot be read: No such file or directory" in missing.stderr
    other = tmp_path / "other.jsonl"
    other.write_text('{"a": 1}\n')
    assert "line 1: this is not a line of an artifact" in command(str(other)).stderr
    path = artifact(tmp_path / "live.jsonl", [])
    unwritable = process(str(path), "--html", str(tmp_path / "no" / "r.html"))
    assert (unwritable.returncode, "cannot be written" in unwritable.stderr) == (2, True)
    assert command().exit_code == 2


def test_cells_that_nobody_wrote_so_are_refused(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        del cell["usage"]

    path = artifact(tmp_path / "live.jsonl", asked({("native", ""): 0.5}, cases=2, change=change))
    with pytest.raises(
        BenchError, match=r"live.jsonl has contents that `wirecall bench live` does not write: .*usage"
    ):
        report([path])


def test_what_moves_a_terminal_or_is_no_text_is_replaced(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        cell.update(status="failed", reason="a\x1b[31mb\ud800c\u202ed")

    cells = asked({("native", ""): 0.5, ("wire", ""): 0.5}, cases=8, repetitions=1, change=change)
    document = report([artifact(tmp_path / "live.jsonl", cells)])
    for text in (markdown(document), html(document)):
        assert re.search("a\ufffd.{1,2}31mb\ufffdc\ufffdd", text)
        assert text.encode()


def test_an_artifact_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="does not know"):
        report([artifact(tmp_path / "x.jsonl", [], kind="dream")])


def test_what_was_counted_is_reported_as_the_command_says_it(tmp_path: Path) -> None:
    path = tmp_path / "offline.jsonl"
    line = [sys.executable, "-m", "wirecall", "bench", "offline", "--encoding", "characters"]
    run = subprocess.run(
        [*line, "--output", str(path), "--json", "--totals"], capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr
    told = {one["format"]: one for one in json.loads(run.stdout)["totals"]}
    document = report([path])
    (section,) = (section for section in document.sections if section.title.startswith("offline"))
    (figure,) = section.figures
    assert figure.title == "built-in, characters: calls against named, in %"
    assert "tokens" not in figure.svg
    for name, one in told.items():
        assert f"{name}: {100 * one['calls'] / one['baseline']:.1f} %" in figure.says
    (totals,) = (table for table in section.tables if table.title.startswith("Totals"))
    columns = [totals.head.index(name) for name in ("definitions", "calls")]
    for row_ in totals.rows:
        counts = [int(row_[column].replace(",", "")) for column in columns]
        assert counts == [told[row_[0]]["definitions"], told[row_[0]]["calls"]]


def signs_of(page: str) -> list[str]:
    return re.findall("<dt>(.*?)</dt><dd>.+</dd>", page)


def test_the_legend_has_what_the_page_uses(tmp_path: Path) -> None:
    def signs(name: str, rates: dict[tuple[str, str], float]) -> list[str]:
        return signs_of(html(report([artifact(tmp_path / name, asked(rates))])))

    mean, difference, none, colours, intervals, dashes, bold = (sign for sign, _ in LEGEND)
    far = signs("far.jsonl", {("native", ""): 0.1, ("wire", ""): 0.9})
    same = signs("same.jsonl", {("native", ""): 0.5, ("wire", ""): 0.5})
    assert {mean, difference, colours, intervals, dashes} <= set(far)
    assert {mean, none, colours, intervals, dashes} <= set(same)
    assert bold not in far + same
    Artifact.create(tmp_path / "latency.jsonl", "latency", {}).close()
    assert "Legend" not in html(report([tmp_path / "latency.jsonl"]))


def test_the_page_has_a_legend_and_its_tables_have_frames(tmp_path: Path) -> None:
    """Every text is there in full, with the name of its column; test_report_page.py looks at the widths."""

    def change(cell: Cell) -> None:
        cell.update(case=f"{'A long name. ' * 20}{cell['case']}")
        if cell["key"][4] == "1":
            cell.update(status="failed", reason="It was not to be. " * 20)

    document = report(
        [artifact(tmp_path / "live.jsonl", asked({("native", ""): 0.5}, cases=12, change=change))]
    )
    page = html(document)
    assert signs_of(page) == [LEGEND[0][0], LEGEND[3][0], LEGEND[4][0]]
    tables = [table for section in document.sections for table in section.tables]
    frame = r'<div class="wide" tabindex="0" role="region" aria-label="[^"]+"><table class="(few|some|many)">'
    assert len(re.findall(frame, page)) == page.count("<table ") == len(tables)
    cells = re.findall(r'<td(?: class="left")? data-head="([^"]*)">([^<]*)</td>', page)
    expected = [
        (escape(head), escape(text))
        for table in tables
        for row in table.rows
        for head, text in zip(table.head, row, strict=True)
    ]
    assert cells == [(str(head), str(text)) for head, text in expected]
    assert ("reason", f"failed: {'It was not to be. ' * 20}") in cells
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "ellipsis" not in style
    assert "hidden" not in style
