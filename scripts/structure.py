"""The structure of the project in figures, for both languages: `make structure`.

Code is counted in lines that are neither blank nor only a comment. In Python that includes docstrings; the
count without them is printed too. Stubs are not counted.
Imports are read from the source. In Python these are all imports, also inside functions and under
`TYPE_CHECKING`. In Rust they are all paths that begin with `crate`, `self`, `super`, or a name from a `use`.
A type is public if users of the crate or package can name it, whatever its module marks as `pub`.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUST = Path("rust/core/src")
PYTHON = Path("python/wirecall")
# The folders with code, of which none of the files should be long.
CODE = ("rust", "python", "tests", "benches", "examples", "scripts")
BUILT = ("target", "__pycache__")
LONG = 500
ROWS = "rows"

Graph = Mapping[str, set[str]]
Names = dict[str, list[str]]

# Lines ------------------------------------------------------------------------------------------

_SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def rust_lines(source: str) -> int:
    """The lines of Rust that are neither blank nor only a `//` comment."""
    lines = map(str.strip, source.splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def python_lines(source: str, *, docstrings: bool = True) -> int:
    """The lines of Python that are neither blank nor only a comment, with or without docstrings."""
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SKIPPED:
            used.update(range(token.start[0], token.end[0] + 1))
    if not docstrings:
        used.difference_update(*map(_docstring, ast.walk(ast.parse(source))))
    lines = source.splitlines()
    return sum(1 for number in used if lines[number - 1].strip())


def _docstring(node: ast.AST) -> range:
    match node:
        case (
            ast.Module(body=[first, *_])
            | ast.ClassDef(body=[first, *_])
            | ast.FunctionDef(body=[first, *_])
            | ast.AsyncFunctionDef(body=[first, *_])
        ) if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            if isinstance(first.value.value, str):
                return range(first.lineno, (first.end_lineno or first.lineno) + 1)
    return range(0)


# `use` with its tree, and whether it passes on what it names.
_USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)

# Imports ----------------------------------------------------------------------------------------


def python_files(package: Path) -> dict[str, Path]:
    """The files of a package, stubs included, by the dotted names of their modules."""
    files = {}
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = (package.name, *file.relative_to(package).with_suffix("").parts)
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def python_imports(package: Path) -> dict[str, set[str]]:
    """Which modules of the package each of its modules imports."""
    files = python_files(package)

    def read(name: str, file: Path) -> Iterator[str]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                origin = node.module or ""
                if node.level:
                    steps = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
                    origin = ".".join([*steps[: len(steps) - node.level + 1], *filter(None, [origin])])
                members = [f"{origin}.{alias.name}" for alias in node.names]
                yield from (member if member in files else origin for member in members)

    return {
        name: {found for found in read(name, file) if found in files and found != name}
        for name, file in files.items()
    }


def rust_files(source: Path) -> dict[str, Path]:
    """The files of a crate by their modules' paths (`crate::schema::compile`)."""
    files = {}
    for file in sorted(source.rglob("*.rs")):
        parts = file.relative_to(source).with_suffix("").parts
        files["::".join(("crate", *(part for part in parts if part not in ("mod", "lib"))))] = file
    return files


def _rust_uses(files: Mapping[str, Path]) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The paths that each module names, and what modules pass on with `pub use`: from new path to old."""
    passed_on: dict[str, str] = {}
    named: dict[str, set[str]] = {name: set() for name in files}
    for name, file in files.items():
        text = _bare(file.read_text(encoding="utf-8"))
        scope: dict[str, str] = {}
        for use in _USE.finditer(text):
            for path, alias in _use_tree(re.sub(r"\s+", " ", use[2])):
                if (absolute := _absolute(path, name, files)) is None:
                    continue
                scope[alias] = absolute
                if use[1]:
                    passed_on[f"{name}::{alias}"] = absolute
                else:
                    named[name].add(absolute)
        for path in re.findall(r"(?<![\w:])(?:\w+::)+\w+", _USE.sub("", text)):
            first, _, rest = path.partition("::")
            if first in ("crate", "self", "super"):
                named[name].add(_absolute(path, name, files) or name)
            elif first in scope:
                named[name].add(f"{scope[first]}::{rest}")
    return named, passed_on


def _defined(path: str, files: Mapping[str, Path], passed_on: Mapping[str, str]) -> str:
    """The path where an item is defined, which other modules may have passed on."""
    known = path
    while known not in files:
        if known in passed_on and passed_on[known] != known:
            return _defined(passed_on[known] + path[len(known) :], files, passed_on)
        known = known.rpartition("::")[0]
    return path


def rust_imports(source: Path) -> dict[str, set[str]]:
    """Which modules of the crate each of its modules names; `mod` declarations do not count.

    What a module passes on with `pub use` counts as an import of the module that has it, by who uses it.
    """
    files = rust_files(source)
    named, passed_on = _rust_uses(files)

    def module(path: str) -> str:
        path = _defined(path, files, passed_on)
        while path not in files:
            path = path.rpartition("::")[0]
        return path

    return {name: {module(path) for path in paths} - {name, "crate"} for name, paths in named.items()}


def rust_exports(source: Path) -> set[str]:
    """The paths of what the crate offers: the items that its root passes on, and its public modules."""
    files = rust_files(source)
    _, passed_on = _rust_uses(files)
    public, found = ["crate"], set()
    for module in public:
        for path, original in passed_on.items():
            if path.rpartition("::")[0] == module:
                found.add(_defined(original, files, passed_on))
        declared = re.findall(r"^pub mod (\w+)", files[module].read_text(encoding="utf-8"), re.MULTILINE)
        public += [f"{module}::{name}" for name in declared]
    return found | {*public}


def _bare(text: str) -> str:
    """Rust without comments and without text in double quotes on one line."""
    text = re.sub(r'b?"(?:[^"\\\n]|\\.)*"|//[^\n]*', lambda found: '""' if found[0][-1] == '"' else "", text)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def _use_tree(tree: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The paths of a `use`, and the names that they get."""
    for branch in _branches(tree):
        head, brace, inner = branch.partition("{")
        if brace:
            yield from _use_tree(inner.rpartition("}")[0], prefix + head.strip())
            continue
        path, _, alias = branch.partition(" as ")
        path = (prefix + path.strip()).removesuffix("::self")
        yield path, alias.strip() or path.rpartition("::")[2]


def _branches(tree: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, character in enumerate(tree):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield tree[start:at].strip()
            start = at + 1
    if last := tree[start:].strip():
        yield last


def _absolute(path: str, module: str, files: Mapping[str, Path]) -> str | None:
    first, _, rest = path.partition("::")
    steps = module.split("::")
    if first == "crate":
        return path
    if first == "self":
        return "::".join([*steps, rest])
    while first == "super":
        steps = steps[:-1]
        first, _, rest = rest.partition("::") if rest else ("", "", "")
        if not steps:
            return None
        if first != "super":
            return "::".join(filter(None, [*steps, first, rest]))
    # Without a prefix: a child of this module, or another crate.
    return f"{module}::{path}" if f"{module}::{first}" in files else None


# Circles and levels -------------------------------------------------------------------------------


def circles(graph: Graph) -> list[list[str]]:
    """The groups of modules that import each other, directly or by others (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(group := stack[at:]) > 1:
                found.append(sorted(group))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def between_siblings(graph: Graph) -> Graph:
    """The imports of modules that are not in each other."""

    def related(one: str, other: str) -> bool:
        return other == one or other.startswith((f"{one}.", f"{one}::"))

    return {
        name: {other for other in imported if not related(name, other) and not related(other, name)}
        for name, imported in graph.items()
    }


def across_folders(groups: Iterable[list[str]], files: Mapping[str, Path]) -> list[list[str]]:
    """The circles whose files are in more than one folder."""
    return [group for group in groups if len({files[name].parent for name in group}) > 1]


def root_imports(imports: Graph) -> dict[str, set[str]]:
    """What the modules and packages at the root of a package import of each other.

    The package's own `__init__` and `__main__`, which only pass on, are not among them.
    """
    graph: dict[str, set[str]] = defaultdict(set)
    for name, imported in imports.items():
        if (top := _top(name)) is None:
            continue
        graph[top].update(other for other in map(_top, imported) if other not in (None, top))
    return dict(graph)


def _top(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else None


def levels(graph: Graph) -> list[list[str]]:
    """The modules by levels: each imports only modules of earlier levels. Circles are one level."""
    done: list[list[str]] = []
    left = dict(graph)
    while left:
        ready = sorted(name for name in left if not (left[name] - {name}) & left.keys())
        ready = ready or sorted({name for group in circles(left) for name in group} or left)
        done.append(ready)
        for name in ready:
            del left[name]
    return done


# Types --------------------------------------------------------------------------------------------


def rust_types(source: str) -> Iterator[tuple[str, bool]]:
    """The structs, enums, traits and types of a file, and whether each is `pub`."""
    pattern = r"^ *(pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|type|union) (\w+)"
    depth_of_impl = re.compile(r"^    ")
    for found in re.finditer(pattern, source, re.MULTILINE):
        # An indented `type` is an associated type.
        if depth_of_impl.match(found[0]) and " type " in f" {found[0].strip()}":
            continue
        yield found[2], found[1] == "pub "


def python_types(source: str, module: str) -> Iterator[tuple[str, bool]]:
    """The classes of a module, and whether each is public: neither it nor its module has an underscore."""
    hidden = any(part.startswith("_") for part in module.split("."))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            yield node.name, not (hidden or node.name.startswith("_"))


def shared_names(types: Iterable[tuple[str, bool, str]]) -> tuple[Names, Names]:
    """The names that more than one type has, with where: first those of public types only, then of all."""
    public, every = defaultdict(list), defaultdict(list)
    for name, is_public, where in types:
        every[name].append(where)
        if is_public:
            public[name].append(where)
    return tuple({name: at for name, at in group.items() if len(at) > 1} for group in (public, every))


# The report -----------------------------------------------------------------------------------------


class Checkout:
    """What the report says of a checkout, each figure computed when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.rust, self.package = root / RUST, root / PYTHON
        self.rust_files, self.python_files = rust_files(self.rust), python_files(self.package)

    @cached_property
    def imports(self) -> dict[Path, tuple[dict[str, set[str]], dict[str, Path]]]:
        """For both languages, the imports and the files."""
        return {
            RUST: (rust_imports(self.rust), self.rust_files),
            PYTHON: (python_imports(self.package), self.python_files),
        }

    @cached_property
    def circles(self) -> dict[Path, tuple[list[list[str]], list[list[str]]]]:
        """For both languages, the circles across folders, and those of modules that are not in each other."""
        found = {}
        for title, (imports, files) in self.imports.items():
            wide = across_folders(circles(imports), files)
            found[title] = (wide, circles(between_siblings(imports)))
        return found

    @cached_property
    def root_imports(self) -> dict[str, set[str]]:
        return root_imports(self.imports[PYTHON][0])

    @cached_property
    def shared_names(self) -> dict[Path, tuple[Names, Names]]:
        """For both languages, the names of several public types, and those of several types."""
        exports = rust_exports(self.rust)
        rust = [
            (name, is_pub and bool({f"{module}::{name}", module} & exports), str(file.relative_to(self.rust)))
            for module, file in self.rust_files.items()
            for name, is_pub in rust_types(file.read_text(encoding="utf-8"))
        ]
        python = [
            (*found, str(file.relative_to(self.package)))
            for module, file in self.python_files.items()
            if file.suffix == ".py"
            for found in python_types(file.read_text(encoding="utf-8"), module)
        ]
        return {RUST: shared_names(rust), PYTHON: shared_names(python)}

    @cached_property
    def long_files(self) -> dict[str, int]:
        """The files with more than `LONG` lines, tests and scripts included, the longest first."""
        lengths = {
            file.relative_to(self.root).as_posix(): file.read_bytes().count(b"\n")
            for folder in CODE
            for file in (self.root / folder).rglob("*")
            if file.suffix in (".rs", ".py", ".pyi")
            if not {*BUILT} & {*file.relative_to(self.root).parts}
        }
        return {
            name: lines for name, lines in sorted(lengths.items(), key=lambda item: -item[1]) if lines > LONG
        }


def row_lines(root: Path) -> tuple[int, int]:
    """How many native formats there are, and the lines of their rows."""
    files = (root / RUST / "formats" / ROWS).glob("*.rs")
    rows = [path.read_text(encoding="utf-8") for path in files]
    return sum(len(re.findall(r"\bRow::new\(", text)) for text in rows), sum(map(rust_lines, rows))


def report(checkout: Checkout, *, limit: int = 12) -> Iterator[str]:
    """The lines of the report on a checkout."""
    rust = [file.read_text(encoding="utf-8") for file in checkout.rust_files.values()]
    python = [
        file.read_text(encoding="utf-8") for file in checkout.python_files.values() if file.suffix == ".py"
    ]
    yield "lines of code, without blank lines and comments"
    yield f"  {RUST}: {sum(map(rust_lines, rust)):,}"
    counted = sum(map(python_lines, python))
    bare = sum(python_lines(text, docstrings=False) for text in python)
    yield f"  {PYTHON}: {counted:,}, of which {counted - bare:,} are docstrings"

    if (checkout.root / RUST / "formats" / ROWS).is_dir():
        formats, lines = row_lines(checkout.root)
        yield f"  rows of {formats} formats, with model names and marks of templates: {lines:,}"

    graph = checkout.root_imports
    stacked = levels(graph)
    yield ""
    yield f"at the root of {PYTHON}: {len(graph)} modules and packages in {len(stacked)} levels"
    yield from (f"  {number}. {', '.join(names)}" for number, names in enumerate(stacked, start=1))

    yield ""
    yield "circles of files: across folders; of files that are not in each other"
    for title, (wide, siblings) in checkout.circles.items():
        yield f"  {title}: {len(wide)}; {len(siblings)}"
        for group in [*wide, *siblings]:
            yield f"    {len(group)} files: {', '.join(group[:limit])}{' …' if len(group) > limit else ''}"

    yield ""
    yield "names that several types have"
    for title, (public, every) in checkout.shared_names.items():
        worst = max(map(len, every.values()), default=0)
        yield f"  {title}: {len(public)} public, {len(every)} in all, at most {worst} types with one name"
        for name, at in sorted(every.items(), key=lambda item: -len(item[1])):
            yield f"    {name} {len(at)}{' (public)' if name in public else ''}: {', '.join(at)}"

    yield ""
    yield f"files over {LONG} lines"
    yield from (f"  {name}: {lines}" for name, lines in checkout.long_files.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="a checkout; this one by default")
    for line in report(Checkout(parser.parse_args().root)):
        print(line)


if __name__ == "__main__":
    sys.exit(main())
