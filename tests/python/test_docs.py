"""The Python in README.md and docs/ runs, and so do the doctests of the package and its stub.

Blocks of one file run in order and share their names, as a reader would type them. A word after `python` in
the fence changes that: `skip` shows the block only, and `endpoint` starts a server on this machine, whose
model calls the tool of the README and then answers. A block with `>>>` is a doctest. A `text` block after
"It prints:" is the output of the block before it.
"""

import ast
import contextlib
import dataclasses
import doctest
import importlib
import io
import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import wirecall
from wirecall._rewriting.options import Options

ROOT = Path(__file__).parents[2]
FILES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = [*sorted((ROOT / "python" / "wirecall").rglob("*.py")), *sorted((ROOT / "python").rglob("*.pyi"))]
BLOCK = re.compile(
    r"^```python(?P<info>[^\n]*)\n(?P<code>.*?)^```[ ]*$(?:\n\nIt prints:\n\n```text\n(?P<prints>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
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
        info = block["info"].split()
        assert set(info) <= {"skip", "endpoint"}
        if "skip" in info:
            continue
        code, line = block["code"], text.count("\n", 0, block.start("code"))
        if ">>>" in code:
            run_doctest(code, names, path, line)
            continue
        # After as many lines as precede it, so that a traceback names the line of the file.
        compiled = compile("\n" * line + code, str(path), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed, answering("endpoint" in info):
            exec(compiled, names)
        if block["prints"] is not None:
            assert printed.getvalue() == block["prints"]


@contextlib.contextmanager
def answering(wanted: bool) -> Iterator[None]:
    """An endpoint where SDKs look for theirs, if a block wants one."""
    if not wanted:
        yield
        return
    sys.path.append(str(ROOT / "tests" / "clients"))
    from server import Call, Step, TextModel, serve

    plan = [Step([Call("get_weather", {"city": "Austin", "days": 2})]), Step(text="It will be 21 degrees.")]
    with serve(TextModel(plan)) as server:
        address = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
        with mock.patch.dict(os.environ, address):
            yield
        assert len(server.requests) == 2
        assert server.errors == []


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


def test_the_table_of_limits_is_complete() -> None:
    text = (ROOT / "docs" / "middleware.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"^\| `(\w+)` \| `(\d+)` \|", text[text.index("### Limits") :], re.MULTILINE))
    with pytest.raises(ValueError, match=f"available: {', '.join(sorted(found))}$"):
        wirecall.Toolset(limits={"x": 1})
    documented = re.findall(r'"(\w+)": [^;]+; (\d+)', wirecall.Toolset.__doc__ or "")
    assert found == dict(documented)


def test_the_readme_has_the_sentence_of_a_failed_retry() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [(sentence, call)] = re.findall(
        r'^\| if the retry fails, too: the text "(.+)" \| `(.+)` \|$', readme, re.M
    )
    answer = {"choices": [{"message": {"role": "assistant", "content": call}, "finish_reason": "stop"}]}
    tool = {"type": "function", "function": {"name": "get_weather"}}
    request = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    said = wirecall.compact_tools().wrap_generate(lambda _: answer, request)
    assert said["choices"][0]["message"]["content"] == sentence


def test_the_table_of_options_is_complete() -> None:
    text = (ROOT / "docs" / "middleware.md").read_text(encoding="utf-8")
    table = text[text.index("## Options") : text.index("### Limits")]
    found = re.findall(r"^\| `(\w+)` \| `(.+?)` \| .+ \|$", table, re.MULTILINE)
    assert {name: ast.literal_eval(default) for name, default in found} == {
        field.name: field.default for field in dataclasses.fields(Options)
    }


def test_links_lead_somewhere() -> None:
    readmes = [ROOT / folder / "README.md" for folder in ("benches", "examples", "tests/clients")]
    for path in [*FILES, *readmes]:
        prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", prose):
            found = path.parent / target if target else path
            assert found.exists(), f"{name(path)}: {target}"
            if anchor:
                assert anchor in anchors(found.read_text(encoding="utf-8")), (
                    f"{name(path)}: {target}#{anchor}"
                )


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_versions_of_the_readme_are_those_of_the_package() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    extras = metadata.metadata("wirecall").get_all("Provides-Extra") or []
    install = readme[: readme.index("## What the model sees")]
    assert {*re.findall(r"`([\w-]+)`", install[install.index("| extra") :])} >= {*extras}
    oldest = install[install.index("Oldest supported versions") :]
    found = dict(re.findall(r"(?<!\w)([a-z][a-z-]+) (\d+\.\d+)\b", oldest))
    sdks = [
        line
        for line in metadata.requires("wirecall") or []
        if re.search("'(openai|anthropic|litellm)'$", line)
    ]
    locks = ROOT / "tests" / "clients" / "locks"
    for name in ("agents", "langchain", "pydantic_ai"):
        sdks += (locks / f"{name}.in").read_text(encoding="utf-8").splitlines()
    oldest_of = re.compile(r"^([a-z-]+?)(?:-slim)?(?:\[.*\])?>=([\d.]+)")
    matches = filter(None, map(oldest_of.match, sdks))
    wanted = {match[1]: match[2] if "." in match[2] else f"{match[2]}.0" for match in matches}
    assert len(wanted) == 8
    assert found == wanted
    rust = re.search(r'^rust-version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert rust is not None
    assert f"Rust {rust[1]} or newer" in install


def test_every_example_and_client_is_linked() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "examples").glob("*.py") if f"`{path.name}`" not in listed] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (ROOT / "docs" / "clients").glob("*.md")
    assert [path.name for path in pages if f"(docs/clients/{path.name})" not in readme] == []


def test_every_public_name_is_on_the_page_of_public_names() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    python = page[page.index("## Python") : page.index("### What is covered")]
    listed: dict[str, set[str]] = {}
    for part in python.split("\n### ")[1:]:
        title, _, text = part.partition("\n")
        rows = re.findall(r"^\| ([^|]+) \| (`.+) \|$", text, re.MULTILINE)
        for first, names in rows:
            module = first if title == "Other modules" else title
            listed.setdefault(module.strip("`"), set()).update(re.findall(r"`(\w+)`", names))
    assert {"wirecall", "wirecall.compaction", "wirecall.testing", "wirecall.tokens"} < listed.keys()
    for module, names in listed.items():
        if module.startswith("wirecall.integrations."):  # needs its host program
            continue
        found = importlib.import_module(module)
        assert [name for name in names if not hasattr(found, name)] == [], module
        if hasattr(found, "__all__"):
            assert names == {*found.__all__}, module


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
