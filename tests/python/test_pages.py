"""How the blocks of a page run: alone, and with the file and line of the page in a failure."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "clients"))  # as in the environments of the clients

import pages


def run_page(folder: Path, text: str) -> None:
    """All blocks of a page, each in a folder of its own."""
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    for block in pages.blocks(page):
        pages.check(block)
        if block.runs:
            here = folder / str(block.line)
            here.mkdir()
            pages.run(block, here)


FIRST = "# Page\n\n```python\nx = 1\nassert x == 1\n```\n"


def test_page_whose_second_block_uses_a_name_of_the_first_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"(?s)page\.md:8 failed.*page\.md\", line 10.*NameError.*'x'"):
        run_page(tmp_path, f"{FIRST}\n```python\ny = 2\nassert x != y\n```\n")


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("```python\n>>> 1 + 1\n3\n```", r'page\.md", line 4.*Expected:\n    3'),
        ("```python\nprint(1)\n```\n\nIt prints:\n\n```text\n2\n```", "page.md:3 does not print"),
        ("```python\nimport warnings\nwarnings.warn('old')\n```", "UserWarning: old"),
        ("```python\nimport os\nassert os.listdir() == ['tools.json']\n```", "AssertionError"),
        ("```python skip\nprint(undefined)\n```\n\nNot run here.", "say why it is not run"),
        ("```python skip\nprint(undefined)\n```\n\nIt needs a GPU.", "Undefined name `undefined`"),
        ("```python endpoint\nprint(1)\n```", "the block sends no request"),
        ("```python demo\nprint(1)\n```", "page.md:3 does not use http://127.0.0.1:8765"),
        ("```python twice\nprint(1)\n```", "page.md:3: unknown fence 'python twice'"),
        ("```sh\nwirecall manual --tools tools.json\nwirecall nothing\n```", r"page\.md:5: wirecall nothing"),
        ("```sh\nwirecall manual --tools tools.json | head\n```", "page.md:3 runs head: write `sh skip`"),
        ("```json\n{'a': 1}\n```", "page.md:3 is not valid JSON"),
    ],
)
def test_wrong_block_fails_with_its_place(block: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"(?s){told}"):
        run_page(tmp_path, f"# Page\n\n{block}\n")


def test_good_blocks_run(tmp_path: Path) -> None:
    run_page(
        tmp_path,
        FIRST
        + """
```json mine.json
[{"name": "look"}]
```

```sh
wirecall manual --tools mine.json --header ''
wirecall encode --tools tools.json get_weather '{"city": "a | b"}'  # there is always a tools.json
```

It prints:

```text
look
<call>get_weather city="a | b"</call>
```

```python
import os

assert os.listdir() == ["mine.json"]
```

```python
>>> import wirecall
>>> wirecall.Toolset().parse("<call>look</call>").calls
(CallEnd(...),)

```

```sh skip
make everything
```
""",
    )


def test_commands_are_found_in_pipes_and_over_lines() -> None:
    code = "# a comment\necho 'a | b; c' | wirecall parse \\\n  --tools tools.json && cat x; printf y > z\n"
    assert [*pages.command_names(code)] == ["echo", "wirecall", "cat", "printf"]
