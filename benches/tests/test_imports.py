"""The package `wirecall_bench`: no files import each other, and types have names of their own."""

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
    public, every = STRUCTURE.shared_names(found)
    assert public == {}
    # The rival has events of its own.
    assert every.keys() <= {"CallEnd"}
