"""What the tests import by name: the modules beside them, and those that tests of the product share."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"

sys.path.insert(0, str(HERE))
# At the end of the path: other modules there have names that are not unique. `python` has how laws are tried,
# and `clients` has a server.
sys.path += [str(TESTS / "python"), str(TESTS / "clients")]

from law import pytest_collection_modifyitems as pytest_collection_modifyitems  # noqa: E402

# The processes of pytest-xdist have those of a terminal, which they are not.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
