"""The modules beside the tests are imported by name, as those of `tests/python`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
