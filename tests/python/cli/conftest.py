"""The support module is imported by name; all tests have one file of tools."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture
def tools(tmp_path: Path) -> str:
    from cli_support import TOOLS

    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(path)
