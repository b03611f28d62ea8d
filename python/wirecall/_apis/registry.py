"""All APIs, found by name and by path. They are loaded when the first of them is needed."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import NamedTuple
from urllib.parse import urlsplit

from wirecall._apis.base import Api
from wirecall._tools.definitions import API_NAMES


class Route(NamedTuple):
    """Where a request goes.

    Attributes:
        base_url: The URL without credentials and without the ending that belongs to the API.
        answers: Whether the answer is one of the model's; a token count is not.
    """

    api: Api
    base_url: str
    answers: bool


@cache
def apis() -> Mapping[str, Api]:
    """All APIs, by name."""
    return {name: import_module(f"wirecall._apis.{name}.api").api for name in API_NAMES}


def api_named(name: str) -> Api:
    """The API of a name.

    Raises:
        ValueError: There is no such API.
    """
    if name not in apis():
        raise ValueError(f"there is no format {name!r}; available: {', '.join(apis())}")
    return apis()[name]


def find_route(url: str, known: Mapping[str, Api] | None = None) -> Route | None:
    """Chooses the API by how the path of a URL ends; None if it is not one of theirs.

    Args:
        known: The APIs to choose from; by default all.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    for api in (apis() if known is None else known).values():
        for ending, answers in api.routes.items():
            if path.endswith(ending):
                base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path.removesuffix(ending)}"
                return Route(api, base, answers)
    return None
