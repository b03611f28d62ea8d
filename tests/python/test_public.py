"""What is public: the names that docs/api.md lists are those of `__all__` in the public modules."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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
