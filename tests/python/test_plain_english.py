"""What the package says to people is idiomatic English: messages of errors, logs and commands, and help."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "wirecall"
# Literal translations, and archaic words for which there is a usual one.
UNIDIOMATIC = re.compile(
    r"""(?<!there\ )\b(?:is|are)\ no\b | \b(?:is|are)\ none\b | \bthere\ are:
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


def test_what_is_looked_for() -> None:
    for text in ("this is no JSON", "--judge names none, which is none", "there are: a", "stands twice"):
        assert UNIDIOMATIC.search(text)
    for text in ("there is no tool 'x'; available: y", "the list is empty", "it is not valid JSON"):
        assert not UNIDIOMATIC.search(text)
    found = list(sentences(PACKAGE / "_cli" / "manual.py"))
    assert any("Print the manual" in text for _, text in found)
    assert not any("what the model is told" in text for _, text in found)
