"""Before litellm is imported: it would fetch prices over the network, and wait for them."""

import os

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


def pytest_configure(config: pytest.Config) -> None:
    """litellm warns of itself, which is no error of ours."""
    config.addinivalue_line("filterwarnings", "default")
