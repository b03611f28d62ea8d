"""docs/api.md lists every command with its purpose, as the command's help says it."""

import importlib.util
import re
from pathlib import Path

import pytest
from cli_support import every_command

PAGE = Path(__file__).parents[3] / "docs" / "api.md"

if not PAGE.exists():
    pytest.skip("not in a checkout", allow_module_level=True)


def is_installed(name: str) -> bool:
    """`bench` and its commands are another distribution, which tests may run without."""
    return name.split()[0] != "bench" or importlib.util.find_spec("wirecall_bench") is not None


def test_api_page_lists_every_command_and_no_other() -> None:
    rows = re.findall(r"^\| `wirecall ([a-z ]+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == sorted(rows)
    found = {name: command.get_short_help_str(200).removesuffix(".") for name, command in every_command()}
    assert {name: purpose for name, purpose in rows if is_installed(name)} == {
        name: purpose for name, purpose in found.items() if is_installed(name)
    }
    assert {"parse", "bench report"} <= {name for name, _ in rows}
