"""The layers of the package: a module imports only modules of earlier layers, and no files import each other.

All imports count, also those inside functions and under `TYPE_CHECKING`. Modules that are slow to load and
seldom needed must not be loaded with the package.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from script_support import load_script

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "wirecall"
# Modules of one layer do not import each other. The package itself (`from wirecall import …`) has the public
# names of all layers up to `_clients`; only what comes after that imports it.
LAYERS = [
    {"errors", "_kinds", "_shown", "_sync"},
    {"_core", "_public"},
    {"_tools"},
    {"testing", "tokens", "xml", "_serving", "_text"},
    {"_apis"},
    {"compaction"},
    {"_clients"},
    {"integrations", "_gateway"},
    {"_cli"},
]
LAYER = {module: number for number, layer in enumerate(LAYERS) for module in layer}
PUBLIC = LAYER["_clients"]
# Each has a folder in `_apis` and knows none of the others.
APIS = ("chat", "messages", "responses")


STRUCTURE = load_script("structure")
IMPORTS: dict[str, set[str]] = STRUCTURE.python_imports(PACKAGE)


def top(module: str) -> str:
    """The module or package at the root; empty for the package itself."""
    return module.partition(".")[2].partition(".")[0]


def test_the_layers_are_all_modules() -> None:
    found = {top(module) for module in IMPORTS} - {"", "__main__"}
    assert found == LAYER.keys()


@pytest.mark.parametrize("module", sorted(module for module in IMPORTS if top(module) in LAYER))
def test_a_module_imports_only_earlier_layers(module: str) -> None:
    here = top(module)
    for imported in IMPORTS[module]:
        there = top(imported)
        if there != here:
            assert LAYER[there] < LAYER[here] if there else LAYER[here] > PUBLIC, imported


def test_the_package_offers_no_application() -> None:
    assert all(LAYER[top(imported)] <= PUBLIC for imported in IMPORTS["wirecall"])


def test_no_files_import_each_other() -> None:
    assert STRUCTURE.circles(IMPORTS) == []


def test_an_api_is_known_by_its_registry_only() -> None:
    """The files beside the APIs' folders are what all APIs share, or the one that lists the APIs."""
    knowing: dict[str, set[str]] = {}
    for module, imported in IMPORTS.items():
        package, _, rest = module.partition("._apis.")
        own = rest.partition(".")[0] if rest else package
        for name in imported:
            api = name.partition("wirecall._apis.")[2].partition(".")[0]
            if api in APIS and api != own:
                knowing.setdefault(module, set()).add(api)
    assert not {
        module for module in knowing if module.startswith(tuple(f"wirecall._apis.{a}." for a in APIS))
    }
    inside = [module for module in knowing if module.startswith("wirecall._apis")]
    assert len(inside) <= 1
    assert all(knowing[module] == {*APIS} for module in inside)


def test_what_is_slow_is_loaded_when_it_is_needed() -> None:
    code = "import sys; there = {*sys.modules}; import wirecall; print(*sys.modules.keys() - there)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    slow = {"importlib.metadata", "hashlib", "tempfile", "wirecall.tokens", "pydantic", "httpx", "asyncio"}
    assert "wirecall._clients.wrap" in loaded.split()
    assert not slow.intersection(loaded.split())


def test_the_command_line_loads_no_command_of_another_distribution() -> None:
    code = "import sys; there = {*sys.modules}"
    code += "; import wirecall._cli.commands; print(*sys.modules.keys() - there)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    packages = {name.partition(".")[0] for name in loaded.split()}
    assert {"click", "rich"} <= packages
    assert not {"wirecall_bench", "anthropic", "openai", "tiktoken"} & packages
