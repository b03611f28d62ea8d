"""The one-way order of the package, as ARCHITECTURE.md has it: nothing imports to the right of itself.

And what is slow to load, and seldom needed, is not loaded with the package.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "wirecall"
# What `wirecall bench` uses.
EXTRA = {"anthropic", "jinja2", "jsonschema", "matplotlib", "numpy", "openai", "scipy", "tenacity"}
DIALECTS = ("chat", "responses", "messages")


def listed(pattern: str) -> list[str]:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    given = re.search(pattern, text, re.DOTALL)
    assert given is not None
    return given[1].replace("\n", " ").replace(" ", "").split("→")


def order() -> list[str]:
    return listed("`limits, error → [^`]+?rust/py → ([^`]+)`")


def order_inside(package: str) -> dict[str, int]:
    steps = listed(f"Inside `{package}`: `([^`]+)`")
    return {module: at for at, step in enumerate(steps) for module in step.split(",")}


def imported(file: Path) -> Iterator[str]:
    """The modules of the package that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module in ("wirecall", "wirecall._apis"):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


FILES = [file for file in sorted(PACKAGE.rglob("*.py")) if file.name != "__init__.py"]


def test_the_order_names_all_modules() -> None:
    there = {file.relative_to(PACKAGE).with_suffix("").parts[0] for file in FILES}
    assert sorted(order()) == sorted(there)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_nothing_imports_to_the_right(file: Path) -> None:
    places = {module: at for at, module in enumerate(order())}
    place, *inner = file.relative_to(PACKAGE).with_suffix("").parts
    for name in imported(file):
        package, _, module = name.partition(".")
        top, _, dialect = module.partition(".")
        # What stands in the package itself: all that is public.
        if package != "wirecall" or top not in places:
            continue
        if top == place == "dialects":
            own = inner[0].partition("_")[0]
            assert dialect == "base" or (own in DIALECTS and dialect.partition("_")[0] == own)
        elif top == place and place in ("bench", "compaction"):
            steps = order_inside(place)
            dialect = dialect.partition(".")[0]
            assert dialect == inner[0] == "handwritten" or steps[dialect] < steps[inner[0]]
        elif not (inner and top == place):
            assert places[top] < places[place]


def test_what_is_slow_is_loaded_when_it_is_needed() -> None:
    code = "import sys; there = {*sys.modules}; import wirecall; print(*sys.modules.keys() - there)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    slow = {"importlib.metadata", "hashlib", "tempfile", "wirecall.tokens", "pydantic", "httpx", "asyncio"}
    assert "wirecall._clients.wrap" in loaded.split()
    assert not {*slow, "wirecall._bench", *EXTRA}.intersection(loaded.split())


def test_the_command_line_loads_no_library_of_the_benchmarks() -> None:
    code = "import sys; there = {*sys.modules}"
    code += "; import wirecall._cli.commands; print(*sys.modules.keys() - there)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "wirecall._bench.commands" in loaded.split()
    assert not EXTRA.intersection(loaded.split())
