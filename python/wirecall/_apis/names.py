"""The names of the APIs. Each is the name of a folder here, whose `api.py` has the `Api`."""

from typing import get_args

from wirecall._tools.definitions import ApiName

API_NAMES: tuple[ApiName, ...] = get_args(ApiName)
