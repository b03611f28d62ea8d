"""The names that public classes show in tracebacks, reprs and pickles."""

from typing import Any


def publish(module: dict[str, Any]) -> None:
    """Says of the classes in `__all__` of a module that they are in this module."""
    for name in module["__all__"]:
        if isinstance(module[name], type):
            module[name].__module__ = module["__name__"]
