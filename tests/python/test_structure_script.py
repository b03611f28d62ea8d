"""`make structure`: it counts as it says, finds every circle, and follows imports of any form.

The figures that have a goal are held here for this checkout.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from script_support import load_script

ROOT = Path(__file__).parents[2]
# The files that may be over 500 lines, with the reason.
LONG = {
    "python/wirecall/_core.pyi": "the stub of one compiled module",
}

# The rows of more than 40 lines, with the reason.
LONG_ROWS = {
    "kimi_k3": "elements in elements: each of the three has its own opener, closer and place",
    "mistral": "seven kinds of models, from six sources",
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("structure")


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_lines_of_rust(script: ModuleType) -> None:
    source = '//! About.\n\nfn f() {\n    // why\n    let url = "http://x"; // where\n    g();\n}\n'
    assert script.rust_lines(source) == 4


def test_lines_of_python(script: ModuleType) -> None:
    source = '"""About.\n\nMore.\n"""\n\n# why\nx = """a\n\n# b"""\ndef f():\n    """Does."""\n    return 1\n'
    assert script.python_lines(source) == 8
    assert script.python_lines(source, docstrings=False) == 4


def test_imports_of_python(script: ModuleType, tmp_path: Path) -> None:
    package = written(
        tmp_path / "p",
        {
            "__init__.py": "from p.a import A\n",
            "a.py": "import json\nfrom p import _c, b\n",
            "b/__init__.py": "from . import x\nfrom .. import a\n",
            "b/x.py": "def f():\n    import p.b.y\n",
            "b/y.py": "if TYPE_CHECKING:\n    from .x import X\n    from p import A\n",
            "_c.pyi": "",
        },
    )
    imports = script.python_imports(package)
    assert imports == {
        "p": {"p.a"},
        "p.a": {"p._c", "p.b"},
        "p.b": {"p.b.x", "p.a"},
        "p.b.x": {"p.b.y"},
        "p.b.y": {"p.b.x", "p"},
        "p._c": set(),
    }
    groups = script.circles(imports)
    assert groups == [["p", "p.a", "p.b", "p.b.x", "p.b.y"]]
    assert script.across_folders(groups, script.python_files(package)) == groups
    at_the_root = script.root_imports(imports)
    assert at_the_root == {"a": {"_c", "b"}, "b": {"a"}, "_c": set()}
    assert script.levels(at_the_root) == [["_c"], ["a", "b"]]


def test_imports_of_rust(script: ModuleType, tmp_path: Path) -> None:
    source = written(
        tmp_path / "src",
        {
            "lib.rs": "mod a;\nmod b;\npub use a::A;\n",
            "a.rs": "use crate::b::{self, deep::{Deep as D}, C};\n// crate::limits::X\nfn f() { b::g(); }\n",
            "b/mod.rs": "mod deep;\nmod low;\npub use low::C;\n",
            "b/deep.rs": 'use super::low;\nfn f() { "crate::limits::X"; low::g(crate::A::new()); }\n',
            "b/low.rs": "pub struct C;\n",
            "limits.rs": "use super::b::C;\n",
        },
    )
    imports = script.rust_imports(source)
    assert imports == {
        "crate": set(),
        "crate::a": {"crate::b", "crate::b::deep", "crate::b::low"},
        "crate::b": set(),
        "crate::b::deep": {"crate::b::low", "crate::a"},
        "crate::b::low": set(),
        "crate::limits": {"crate::b::low"},
    }
    groups = script.circles(imports)
    assert groups == [["crate::a", "crate::b::deep"]]
    assert script.across_folders(groups, script.rust_files(source)) == groups
    assert script.circles(script.between_siblings(imports)) == groups
    inside = {
        "crate::b": {"crate::b::low"},
        "crate::b::low": {"crate::b", "crate::bc"},
        "crate::bc": {"crate::b"},
    }
    assert script.between_siblings(inside)["crate::b::low"] == {"crate::bc"}
    assert script.circles(script.between_siblings(inside)) == []


def test_exports_of_rust(script: ModuleType, tmp_path: Path) -> None:
    source = written(
        tmp_path / "src",
        {
            "lib.rs": "mod a;\npub mod b;\npub use a::{A, D as E};\n",
            "a/mod.rs": "mod d;\npub struct A;\npub struct Hidden;\npub use d::D;\n",
            "a/d.rs": "pub struct D;\n",
            "b/mod.rs": "pub mod c;\nmod e;\n",
            "b/c.rs": "",
            "b/e.rs": "",
        },
    )
    assert script.rust_exports(source) == {
        "crate",
        "crate::a::A",
        "crate::a::d::D",
        "crate::b",
        "crate::b::c",
    }


def test_circles_that_touch_are_one(script: ModuleType) -> None:
    graph = {"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c", "e"}, "e": {"f"}, "f": set()}
    assert script.circles(graph) == [["c", "d"], ["a", "b"]]
    assert script.circles({**graph, "d": {"b"}}) == [["a", "b", "c", "d"]]
    assert script.circles({"a": {"a"}}) == []


def test_types_that_share_a_name(script: ModuleType) -> None:
    rust = "pub struct A<T>(T);\nenum B {}\npub(crate) trait C {}\nimpl C for A {\n    type D = B;\n}\n"
    rust += "type E = A;\n"
    assert [*script.rust_types(rust)] == [("A", True), ("B", False), ("C", False), ("E", False)]
    python = "class A:\n    class B: pass\nclass _C: pass\n"
    assert [*script.python_types(python, "p.m")] == [("A", True), ("_C", False), ("B", True)]
    assert [public for _, public in script.python_types(python, "p._m")] == [False, False, False]
    public, every = script.shared_names(
        [("A", True, "x"), ("A", True, "y"), ("B", True, "x"), ("B", False, "y")]
    )
    assert (public, every) == ({"A": ["x", "y"]}, {"A": ["x", "y"], "B": ["x", "y"]})


def test_long_files(script: ModuleType, tmp_path: Path) -> None:
    code = {
        "rust/core/src/a.rs": 501,
        "tests/python/b.py": 600,
        "scripts/c.py": 500,
        "rust/fuzz/target/d.rs": 900,
    }
    root = written(tmp_path, {name: "\n" * lines for name, lines in code.items()})
    assert script.Checkout(root).long_files == {"tests/python/b.py": 600, "rust/core/src/a.rs": 501}


# This checkout ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkout(script: ModuleType) -> Any:
    return script.Checkout(ROOT)


def test_no_files_import_each_other_but_a_module_and_its_own(checkout: Any) -> None:
    assert [*checkout.circles.values()] == [([], []), ([], [])]


def test_few_modules_are_at_the_root(script: ModuleType, checkout: Any) -> None:
    assert len(checkout.root_imports) <= 18
    assert len(script.levels(checkout.root_imports)) <= 9


def test_no_public_types_share_a_name_and_few_others_do(checkout: Any) -> None:
    for public, every in checkout.shared_names.values():
        assert public == {}
        assert len(every) <= 2
        assert all(len(at) == 2 for at in every.values())


def test_long_files_have_a_reason(checkout: Any) -> None:
    assert checkout.long_files.keys() == LONG.keys()


def test_a_native_format_has_few_lines(script: ModuleType) -> None:
    formats, lines = script.row_lines(ROOT)
    assert formats > 60
    assert lines / formats <= 30
    long = set()
    for path in (ROOT / script.RUST / "formats" / script.ROWS).glob("*.rs"):
        text = path.read_text(encoding="utf-8")
        # A file has the rows that share most of their data.
        rows = text.count("Row::new(")
        if rows and script.rust_lines(text) > 40 * rows:
            long.add(path.stem)
    assert long == set(LONG_ROWS)


def test_the_report_of_this_checkout(script: ModuleType, checkout: Any) -> None:
    lines = [*script.report(checkout)]
    assert any(line.startswith("  rust/core/src: ") for line in lines)
    assert any(line.startswith("at the root of python/wirecall: ") for line in lines)
