"""The modules beside the tests are imported by name: the oracle, the generators, what tests share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
