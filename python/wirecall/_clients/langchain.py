"""LangChain: chat models whose SDK clients are wrapped.

An agent's middleware is not the place for it, because it sees only finished messages: streams would show the
text of calls, and the tools of structured output would still be sent natively.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from wirecall._clients.versions import require

Model = TypeVar("Model")

OLDEST = {"langchain-openai": "1.7", "langchain-anthropic": "1.4"}
# Classes are recognised by their package, so that nothing has to be imported.
_PACKAGES = {"langchain_openai": "langchain-openai", "langchain_anthropic": "langchain-anthropic"}


def is_ours(model: object) -> bool:
    """Whether this module can wrap the model, or say why not."""
    return bool(_origins(model) & {*_PACKAGES, "langchain_core", "langchain"})


def wrap(model: Model, wrap_client: Callable[[Any], Any]) -> Model:
    """A copy of a chat model whose SDK clients are wrapped by `wrap_client`.

    Raises:
        TypeError: It is not a chat model of langchain-openai or langchain-anthropic.
        ImportError: Its package is too old.
    """
    origins = _origins(model)
    package = next((package for module, package in _PACKAGES.items() if module in origins), None)
    if package is None or not hasattr(model, "model_copy"):
        raise TypeError(
            f"{type(model).__name__} cannot be wrapped: pass a ChatOpenAI or ChatAnthropic to wirecall.wrap, "
            "before bind_tools or with_structured_output"
        )
    require(package, OLDEST[package])
    copy = model.model_copy()
    if package == "langchain-anthropic":
        _wrap_anthropic(copy, wrap_client)
    else:
        _wrap_openai(copy, wrap_client)
    return copy  # type: ignore[no-any-return]


def _wrap_openai(model: Any, wrap_client: Callable[[Any], Any]) -> None:
    if not hasattr(model, "root_client"):
        raise TypeError(f"{type(model).__name__} cannot be wrapped: it has no client of the openai SDK")
    # Fields of the model, so that models made from it (configurable_fields) have them, too. A client is None
    # if there is no key for it. `stream_usage` was chosen before, and stays.
    for root, resource in (("root_client", "client"), ("root_async_client", "async_client")):
        if getattr(model, root) is not None:
            setattr(model, root, wrap_client(getattr(model, root)))
            setattr(model, resource, getattr(model, root).chat.completions)


def _wrap_anthropic(model: Any, wrap_client: Callable[[Any], Any]) -> None:
    for name in ("_client", "_async_client"):
        client = getattr(model, name, None)
        if client is None:
            raise TypeError(
                f"{type(model).__name__} cannot be wrapped: it has no client of the anthropic SDK"
            )
        # Cached properties, which pydantic does not allow to be set.
        vars(model)[name] = wrap_client(client)


def _origins(model: object) -> set[str]:
    return {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
