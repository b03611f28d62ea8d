"""The modules beside the tests are imported by name; laws are tried as `law` says."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from law import pytest_collection_modifyitems as pytest_collection_modifyitems

# The processes of pytest-xdist have those of a terminal, which they are not.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
