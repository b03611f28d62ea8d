"""The names that public classes show in tracebacks, reprs and pickles."""

from typing import Any


def publish(module: dict[str, Any]) -> None:
    """Sets `__module__` of the classes in a module's `__all__` to that module."""
    for name in module["__all__"]:
        if isinstance(module[name], type):
            module[name].__module__ = module["__name__"]
