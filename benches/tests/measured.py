"""What is measured in the tests: the project's catalogue, and the one next to this repository."""

from functools import cache
from pathlib import Path

import pytest

from wirecall_bench.catalogue import Catalogue, built_in, load

REFERENCE = Path(__file__).parents[3] / "shared" / "cases" / "reference_catalogue.json"


@cache
def own() -> Catalogue:
    return built_in()


@cache
def reference() -> Catalogue:
    """It belongs to others; without it the test skips."""
    if not REFERENCE.exists():
        pytest.skip("the reference catalogue is not beside the repository")
    return load(REFERENCE)


# By the names that tests have for them.
CATALOGUES = {"own": own, "reference": reference}
