"""Messages of errors, logs and commands, help and documentation are idiomatic English."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "wirecall"
# Literal translations, and archaic words for which there is a usual one.
UNIDIOMATIC = re.compile(
    r"""(?<!there\ )\b(?:is|are)\ no\b(?!\ (?:more|longer)\b) | \b(?:is|are)\ none\b | \bthere\ are:
        | \bstands?\b | \bbehind\b | \bblanks?\b | \bshall\b | \bin\ front\ of\b | \bwhoever\b
        | \basked\ again\b | \bcarr(?:y|ies)\ on\b | \ball\ the\ same\b | \bby\ itself\b""",
    re.VERBOSE | re.IGNORECASE,
)


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """String literals with a space, and the docstrings of commands, which are their help."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = map(ast.unparse, getattr(node, "decorator_list", ()))
            if node.body and not any(".command(" in one or ".group(" in one for one in decorators):
                docstrings.add(id(getattr(node.body[0], "value", None)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from [(node.lineno, node.value)] if " " in node.value else []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_python(path: Path) -> None:
    found = [f"line {line}: {text}" for line, text in sentences(path) if UNIDIOMATIC.search(text)]
    assert found == []


@pytest.mark.parametrize("crate", ["core", "py"])
def test_rust(crate: str) -> None:
    found = []
    for path in sorted((ROOT / "rust" / crate / "src").rglob("*.rs")):
        if path.name == "messages.rs":  # sentences for models, which have tests of their own
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.lstrip().startswith("//"):
                texts = re.findall(r'"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"', line)
                found += [f"{path.name}: {text}" for text in texts if UNIDIOMATIC.search(text)]
    assert found == []


# ARCHITECTURE.md and CHANGELOG.md are not checked.
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(ROOT / "docs").rglob("*.md"),
    *(
        ROOT / folder / "README.md"
        for folder in ("benches", "examples", "tests/clients", "tests/slips", "tests/vectors")
    ),
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_markdown(path: Path) -> None:
    text = re.sub(r"^```.*?^```$|^ {4}[^\n]*$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    prose = re.sub(r"`[^`\n]*`|\bblank line\b", "", text)
    found = [line for line in prose.splitlines() if UNIDIOMATIC.search(line)]
    assert found == []


def test_what_is_looked_for() -> None:
    for text in ("this is no JSON", "--judge names none, which is none", "there are: a", "stands twice"):
        assert UNIDIOMATIC.search(text)
    for text in ("there is no tool 'x'; available: y", "the list is empty", "it is not valid JSON"):
        assert not UNIDIOMATIC.search(text)
    found = [text for name in ("inputs", "manual") for _, text in sentences(PACKAGE / "_cli" / f"{name}.py")]
    assert any("Print the manual" in text for text in found)
    assert not any("Turns the caller's mistakes" in text for text in found)
