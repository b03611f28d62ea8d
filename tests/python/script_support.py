"""The programs in scripts/, loaded as modules."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@cache
def load_script(name: str) -> ModuleType:
    """A program by its name; skips the test, or the whole module of tests, if this is not a checkout."""
    path = ROOT / "scripts" / f"{name}.py"
    if not path.exists():
        pytest.skip("not in a checkout", allow_module_level=True)
    spec = importlib.util.spec_from_file_location(f"script_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look for the module of their annotations.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
