"""The code blocks of README.md and docs/ run, and so do the doctests of the package and its stub.

`pages`, beside the tests with real clients, says how a block is run. The pages of clients run in the
environments of these clients: `make test-clients`.
"""

import ast
import dataclasses
import doctest
import io
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import wirecall
from wirecall._text.options import Options

sys.path.append(str(Path(__file__).parents[1] / "clients"))  # as in the environments of the clients

import pages

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "tests" / "clients"
READMES = [ROOT / folder / "README.md" for folder in ("benches", "examples", "tests/clients")]
FILES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [*FILES, *READMES, ROOT / "rust" / "core" / "README.md"]
# These run in the environments of their clients.
ELSEWHERE = [CLIENTS / "README.md", *sorted((ROOT / "docs" / "clients").glob("*.md"))]
SOURCES = [*sorted((ROOT / "python" / "wirecall").rglob("*.py")), *sorted((ROOT / "python").rglob("*.pyi"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_doctest(text: str, names: dict[str, Any], path: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, name(path), str(path), line)
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=told.write)
    assert not runner.failures, told.getvalue()


@pytest.mark.parametrize("block", pages.cases(*(path for path in PAGES if path not in ELSEWHERE)))
def test_block_of_a_page_runs_alone(block: pages.Block, tmp_path: Path) -> None:
    pages.run(block, tmp_path)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_other_blocks_of_a_page_are_valid(path: Path) -> None:
    for block in pages.blocks(path):
        pages.check(block)


@pytest.mark.parametrize("path", ELSEWHERE, ids=name)
def test_page_of_a_client_runs_in_its_environment(path: Path) -> None:
    tests = [test.read_text(encoding="utf-8") for test in CLIENTS.glob("*/test_examples.py")]
    assert sum(f'"{name(path)}"' in test for test in tests) == 1


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
    for path in [*FILES, *READMES]:
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


def test_versions_of_the_page_on_installing_are_those_of_the_package() -> None:
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    extras = metadata.metadata("wirecall").get_all("Provides-Extra") or []
    assert {*re.findall(r"`([\w-]+)`", install[install.index("| extra") :])} >= {*extras}
    oldest = install[install.index("Oldest supported versions") :].partition("\n\n")[0]
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
    python = metadata.metadata("wirecall")["Requires-Python"].removeprefix(">=")
    assert f"Python {python} or newer" in install


def test_c_libraries_of_the_page_on_installing_are_those_of_the_wheels() -> None:
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    [built] = re.findall(r"^ +libc: \[(.+)\]$", workflow, re.MULTILINE)
    names = [name.strip('"') for name in built.split(", ")]
    found = re.findall(
        r"^\| CI.* \| `(?:manylinux_)?(\w+)` \| (?:glibc|musl) (\d+)\.(\d+) or newer", install, re.M
    )
    assert [name for name, *_ in found] == names
    assert all(name.endswith(f"{major}_{minor}") for name, major, minor in found)


def test_extra_is_installed_from_a_clone() -> None:
    texts = [
        *PAGES,
        *ROOT.glob("examples/*.py"),
        *(ROOT / "python").rglob("*.py"),
        *(ROOT / "benches").rglob("*.py"),
    ]
    named = [name(path) for path in texts if "'wirecall[" in path.read_text(encoding="utf-8")]
    assert named == ["docs/install.md"]  # it says why not


def test_commands_of_a_page_are_in_fences() -> None:
    for path in PAGES:
        prose = pages.FENCE.sub("", path.read_text(encoding="utf-8"))
        assert re.findall(r"^ {4}(?:pip|wirecall|cargo) .*", prose, re.MULTILINE) == [], name(path)


def test_every_example_and_client_is_linked() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "examples").glob("*.py") if f"`{path.name}`" not in listed] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    clients = (ROOT / "docs" / "clients").glob("*.md")
    assert [path.name for path in clients if f"(docs/clients/{path.name})" not in readme] == []


def test_a_wrong_doctest_fails() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_doctest(">>> 1 + 1\n3\n", {}, ROOT / "x.md", 0)
