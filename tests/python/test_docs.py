"""The Python in README.md and docs/ runs, and so do the doctests of the package and its stub.

Blocks of one file run in order and share their names, as a reader would type them. A block that is fenced as
```` ```python skip ```` is shown only; one with `>>>` is a doctest.
"""

import ast
import contextlib
import dataclasses
import doctest
import io
import re
from pathlib import Path
from typing import Any

import pytest

from wirecall.options import Options

ROOT = Path(__file__).parents[2]
FILES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = [*sorted((ROOT / "python" / "wirecall").rglob("*.py")), *sorted((ROOT / "python").rglob("*.pyi"))]
BLOCK = re.compile(r"^```python(?P<info>[^\n]*)\n(?P<code>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_doctest(text: str, names: dict[str, Any], path: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, name(path), str(path), line)
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=told.write, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, told.getvalue()


@pytest.mark.parametrize("path", FILES, ids=name)
def test_examples_in_markdown(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "example"}
    for block in BLOCK.finditer(text):
        if "skip" in block["info"].split():
            continue
        code, line = block["code"], text.count("\n", 0, block.start("code"))
        if ">>>" in code:
            run_doctest(code, names, path, line)
            continue
        # Behind as many lines as stand before it, so that a traceback names the line of the file.
        compiled = compile("\n" * line + code, str(path), "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compiled, names)


def docstrings(path: Path) -> list[tuple[str, int]]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            found.append((text, node.body[0].lineno - 1))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_doctests_in_docstrings(path: Path) -> None:
    for text, line in docstrings(path):
        if ">>>" in text:
            run_doctest(text, {"__name__": "example"}, path, line)


def test_the_table_of_options_is_complete() -> None:
    text = (ROOT / "docs" / "middleware.md").read_text(encoding="utf-8")
    table = text[text.index("## Options") :]
    found = re.findall(r"^\| `(\w+)` \| `(.+?)` \| .+ \|$", table, re.MULTILINE)
    assert {name: ast.literal_eval(default) for name, default in found} == {
        field.name: field.default for field in dataclasses.fields(Options)
    }


def test_links_lead_somewhere() -> None:
    readmes = [ROOT / folder / "README.md" for folder in ("benches", "examples", "tests/clients")]
    for path in [*FILES, *readmes]:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", path.read_text(encoding="utf-8")):
            found = path.parent / target if target else path
            assert found.exists(), f"{name(path)}: {target}"
            if anchor:
                assert anchor in anchors(found.read_text(encoding="utf-8")), (
                    f"{name(path)}: {target}#{anchor}"
                )


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_example_and_client_is_linked() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "examples").glob("*.py") if f"`{path.name}`" not in listed] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (ROOT / "docs" / "clients").glob("*.md")
    assert [path.name for path in pages if f"(docs/clients/{path.name})" not in readme] == []


def test_a_wrong_example_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_doctest(">>> 1 + 1\n3\n", {}, ROOT / "x.md", 0)
    names: dict[str, Any] = {}
    run_doctest(">>> x = 2\n>>> x\n2\n", names, ROOT / "x.md", 0)
    assert names["x"] == 2
    assert [
        block["code"]
        for block in BLOCK.finditer("```python\na\n```\n```sh\nb\n```\n```python skip\nc\n```\n")
    ] == [
        "a\n",
        "c\n",
    ]
