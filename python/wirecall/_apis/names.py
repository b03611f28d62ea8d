"""The names of the APIs. Each is the name of a folder here, whose `api.py` has the `Api`."""

from typing import Literal, get_args

ApiName = Literal["chat", "responses", "messages"]
API_NAMES: tuple[ApiName, ...] = get_args(ApiName)
