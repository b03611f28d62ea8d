"""The package `wirecall_bench`: no circles of files, no shared names of types, commands that load quickly."""

import subprocess
import sys
from pathlib import Path

from script_support import load_script

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "wirecall_bench"
STRUCTURE = load_script("structure")


def test_no_files_import_each_other() -> None:
    imports = STRUCTURE.python_imports(PACKAGE)
    assert "wirecall_bench.artifact" in imports["wirecall_bench.commands"]
    assert STRUCTURE.circles(imports) == []


def test_no_types_share_a_name() -> None:
    found = [
        (*name, str(file.relative_to(SOURCE)))
        for module, file in STRUCTURE.python_files(PACKAGE).items()
        for name in STRUCTURE.python_types(file.read_text(encoding="utf-8"), module)
    ]
    assert STRUCTURE.shared_names(found) == ({}, {})


def test_the_commands_load_no_library_of_the_benchmarks() -> None:
    """`wirecall --help` lists them."""
    code = "import sys, wirecall_bench.commands; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "wirecall_bench.commands" in loaded.split()
    slow = {"anthropic", "jinja2", "jsonschema", "matplotlib", "numpy", "openai", "scipy", "tenacity"}
    assert not slow.intersection(loaded.split())
