"""The modules beside the tests are imported by name; Hypothesis takes the seed that it is given."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

sys.path.insert(0, str(Path(__file__).resolve().parent))

from law import examples

# The processes of pytest-xdist have those of a terminal, which they are not.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Always the same cases, and none of an earlier run, unless there is a seed: see law.py.
settings.register_profile(
    "wirecall",
    derandomize="WIRECALL_LAW_SEED" not in os.environ,
    database=None,
    deadline=None,
    max_examples=examples(20),
)
settings.load_profile("wirecall")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What Hypothesis tries is a law, whether it says so or not."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.laws)
