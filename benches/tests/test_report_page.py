"""The HTML page in a browser: at no width is a text cut off, or wider than the page. Needs Chromium."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from report_support import Cell, artifact, asked

from wirecall._cli.commands import wirecall
from wirecall_bench.report import html, report

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
WIDTHS = (1600, 1200, 1000, 700, 500)
# Names each element whose content is wider than itself, and each text of a plot that is outside of the plot.
SCRIPT = """
<script>addEventListener("load", () => {
  const found = [];
  for (const one of document.querySelectorAll("body *"))
    if (!one.closest("svg") && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
      found.push(one.tagName + ": " + one.textContent.trim().slice(0, 60));
  for (const text of document.querySelectorAll("svg text")) {
    const plot = text.ownerSVGElement.getBoundingClientRect(), box = text.getBoundingClientRect();
    if (box.left < plot.left - 1 || box.right > plot.right + 1 || box.bottom > plot.bottom + 1)
      found.push("plot: " + text.textContent);
  }
  document.title = JSON.stringify([innerWidth, found]);
})</script>
"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")


def too_wide(page: str, width: int, folder: Path) -> list[str]:
    """What is cut off or wider than its place."""
    path = folder / "page.html"
    path.write_text(
        re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</head>", f"{SCRIPT}</head>"), "utf-8"
    )
    command = [
        BROWSER or "",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'user'}",
    ]
    command += [f"--window-size={width},1000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120)
    [title] = re.findall("<title>(.*)</title>", done.stdout)
    seen, found = json.loads(title.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert seen == width
    return list(found)


@pytest.mark.parametrize("width", WIDTHS)
def test_page_of_any_width_cuts_nothing_off(tmp_path: Path, width: int) -> None:
    def change(cell: Cell) -> None:
        cell.update(
            model="A-model-with-a-long-name-3.5-235B-A22B-Instruct-2507", case=f"case {cell['case']} " * 9
        )
        if cell["key"][4] == "1":
            cell.update(status="failed", reason="It_was_not_to_be " * 20)

    offline = tmp_path / "offline.jsonl"
    count = ["bench", "offline", "--encoding", "characters", "--totals", "--output", str(offline)]
    assert CliRunner().invoke(wirecall, count).exit_code == 0
    rates = {("native", ""): 0.5, ("wire", ""): 0.5, ("wire", "manual=neutral-example"): 0.5}
    live = artifact(tmp_path / "live.jsonl", asked(rates, cases=8, change=change))
    assert too_wide(html(report([offline, live])), width, tmp_path) == []
