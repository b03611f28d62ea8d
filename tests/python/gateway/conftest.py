"""What the tests import by name: the modules beside them, and the server of the client tests."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parents[1] / "clients"))
