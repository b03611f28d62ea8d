"""What `help()` says: the compiled module says what its stub says, and the limits are those that it names."""

import ast
import inspect
import pydoc
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import wirecall
from wirecall import _core

STUB = Path(wirecall.__file__).with_name("_core.pyi")


def documented() -> list[tuple[str, str]]:
    """The docstrings of the stub: of its functions and classes, their methods and their attributes."""
    found = []
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        found.append((node.name, ast.get_docstring(node) or ""))
        for member in node.body if isinstance(node, ast.ClassDef) else []:
            # What is special has Python's own text.
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                found.append((f"{node.name}.{member.name}", ast.get_docstring(member) or ""))
    return found


@pytest.mark.parametrize(("name", "text"), documented(), ids=[name for name, _ in documented()])
def test_the_module_says_what_the_stub_says(name: str, text: str) -> None:
    found = _core
    for part in name.split("."):
        found = getattr(found, part)
    assert text
    assert inspect.getdoc(found) == text


def test_every_function_class_and_member_is_in_the_stub() -> None:
    names = {name for name, value in vars(_core).items() if inspect.isbuiltin(value)}
    for name, value in vars(_core).items():
        if isinstance(value, type):
            names |= {name, *(f"{name}.{member}" for member in vars(value) if not member.startswith("__"))}
    constants = {name for name in names if name.endswith(".type") and name != "Field.type"}
    assert constants == {f"{event.__name__}.type" for event in wirecall.Event.__args__}
    assert names - constants == {name for name, _ in documented()}


def test_the_toolset_documents_every_option() -> None:
    text = inspect.getdoc(wirecall.Toolset) or ""
    options = inspect.signature(wirecall.Toolset).parameters
    assert re.findall(r"^    (\w+): ", text.partition("Args:")[2].partition("Raises:")[0], re.MULTILINE) == [
        *options
    ]
    with pytest.raises(wirecall.ToolError, match="available: ") as info:
        wirecall.Toolset(protocol="")
    for protocol in info.value.message.partition("available: ")[2].partition(";")[0].split(", "):
        assert f'"{protocol}"' in text


def test_help_shows_the_signature_of_the_toolset() -> None:
    """With all options, and their defaults."""
    text = pydoc.plain(pydoc.render_doc(wirecall.Toolset))
    signature = text.partition("Toolset(tools")[2].partition(" |  \n")[0]
    for name, option in list(inspect.signature(wirecall.Toolset).parameters.items())[1:]:
        assert f"{name}: " in signature
        assert f"= {option.default!r}" in signature


# A message that just keeps within a limit of `n`; with one more it does not.
WITHIN: dict[str, Callable[[int], str]] = {
    "call_bytes": lambda n: f"<call>f a={'é' * ((n - len('<call>f a=</call>')) // 2)}</call>",
    "depth": lambda n: f"<call>f a={'[' * (n - 1)}{']' * (n - 1)}</call>",
    "calls": lambda n: "<call>f</call>" * n,
    "key_segments": lambda n: f"<call>f {'.'.join('a' * (n - 1))}[0]=1</call>",
}


@pytest.mark.parametrize(("limit", "message"), WITHIN.items(), ids=list(WITHIN))
def test_the_defaults_of_the_limits(limit: str, message: Callable[[int], str]) -> None:
    said = " ".join((inspect.getdoc(wirecall.Toolset) or "").split())
    default = int(re.search(rf'"{limit}": [^;]*; (\d+)', said)[1])  # type: ignore[index]
    tools = wirecall.Toolset()
    assert not tools.parse(message(default)).errors
    assert tools.parse(message(default + 1)).errors
    small = wirecall.Toolset(limits={limit: 20})
    assert not small.parse(message(20)).errors
    assert small.parse(message(21)).errors
