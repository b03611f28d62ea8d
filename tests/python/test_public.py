"""What is public: the names that docs/api.md lists are those of `__all__` in the public modules."""

import ast
import importlib
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wirecall

PACKAGE = Path(wirecall.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "api.md"

if not PAGE.exists():
    pytest.skip("not in a checkout", allow_module_level=True)


def offered(file: Path) -> set[str]:
    """The names in `__all__`, without importing the module: an integration may need its framework."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {*ast.literal_eval(node.value)}
    return set()


def public_modules() -> Iterator[tuple[str, Path]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        steps = file.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(steps[:-1] if steps[-1] == "__init__" else steps)
        if not any(step.startswith("_") for step in name.split(".")):
            yield name, file


def listed() -> dict[str, set[str]]:
    """The names under each heading that is a module, or in each row of a table that begins with one.

    Names are in backticks; only the part about Python counts, up to what it says about the names.
    """
    text = PAGE.read_text(encoding="utf-8").partition("\n## Python\n")[2]
    text = re.split(r"^##(?!#)|^### What ", text, maxsplit=1, flags=re.MULTILINE)[0]
    found: dict[str, set[str]] = {}
    module = ""
    for line in text.splitlines():
        if heading := re.match(r"### (?:`(wirecall[\w.]*)`)?", line):
            module = heading[1] or ""
        elif line.startswith("|"):
            first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            row = re.fullmatch(r"`(wirecall[\w.]*)`", first)
            names = re.findall(r"`(\w+)`", " ".join(cells))
            if names:
                found.setdefault(row[1] if row else module, set()).update(names)
    return found


def test_the_page_lists_all_public_names() -> None:
    found = {name: names for name, file in public_modules() if (names := offered(file))}
    assert listed() == found


def test_a_public_module_says_what_it_offers() -> None:
    """Only a package that holds nothing but modules may offer no names."""
    silent = [name for name, file in public_modules() if not offered(file)]
    assert silent == ["wirecall.integrations"]


def public_classes() -> dict[str, type]:
    """The classes that the page lists, by the first module in which it lists them."""
    found: dict[type, str] = {}
    for module, names in listed().items():
        if module.startswith("wirecall.integrations."):  # needs its host program
            continue
        for name in sorted(names):
            kind = getattr(importlib.import_module(module), name)
            if isinstance(kind, type):
                found.setdefault(kind, f"{module}.{name}")
    return {path: kind for kind, path in found.items()}


CLASSES = public_classes()


@pytest.mark.parametrize("path", CLASSES)
def test_public_class_has_the_module_of_the_page(path: str) -> None:
    kind = CLASSES[path]
    assert f"{kind.__module__}.{kind.__qualname__}" == path
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(kind, protocol)) is kind


ERRORS: list[Any] = [
    wirecall.ToolError("no", tool="t", pointer="/a"),
    wirecall.ToolCallError("no", wirecall.CallError(0, "i", "t", "malformed_call", "m", "r", 0, 1)),
    wirecall.UnsupportedRequestError("no"),
    wirecall.JsonError("no", 1, 2),
    wirecall.XmlError("no", 1, 2),
    importlib.import_module("wirecall.compaction").SummaryError("no"),
    importlib.import_module("wirecall.compaction").MixedFormatsError("no"),
    importlib.import_module("wirecall.tokens").VocabularyError("no"),
]


def test_public_exceptions_are_all_tried() -> None:
    assert {type(error) for error in ERRORS} == {
        kind for kind in CLASSES.values() if issubclass(kind, BaseException)
    }


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_public_exception_shows_its_public_name(error: Any) -> None:
    path = next(path for path, kind in CLASSES.items() if kind is type(error))
    assert traceback.format_exception_only(error) == [f"{path}: {error}\n"]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("module", ["wirecall.compaction", "wirecall.errors", "wirecall._text.parts"])
def test_public_names_do_not_depend_on_what_is_imported_first(module: str) -> None:
    names = ["wirecall.ToolCallError", "wirecall.ToolError", "wirecall.compaction.SummaryError"]
    code = f"import {module}, wirecall; print({', '.join(names)}, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"<class '{name}'>" for name in names]
