"""`wrap`: puts the codec into the HTTP layer of a client that an application already has.

An SDK keeps its own retries, types, streams and helpers above its HTTP client, and the pool, proxies and
certificates below. So it is given an HTTP client that rewrites what passes through `send`, and leaves
everything else to the original one. Neither SDKs nor HTTP libraries are imported here: an application with
such a client has already imported them.
"""

import functools
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from wirecall._apis.base import UnsupportedRequestError
from wirecall._clients import langchain
from wirecall._clients.codec import Codec
from wirecall._clients.middleware import Middleware, MiddlewareStack
from wirecall._clients.transport import AsyncTransport, HttpRewriter, SyncTransport, Transport
from wirecall._clients.versions import require
from wirecall._text.options import Options, WrapOptions

if TYPE_CHECKING:
    from typing import Unpack

T = TypeVar("T")

_HTTP = ("httpx", "httpx2")


class _Sdk(NamedTuple):
    clients: tuple[str, ...]
    # Older versions retry our exceptions, and wrap them.
    oldest: str
    error: str
    # Refuses what bypasses the HTTP layer.
    guard: Callable[[Any], None]


def wrap(client: T, *, middleware: Iterable[Middleware] = (), **options: "Unpack[WrapOptions]") -> T:
    """A client that works over text: of the same type, with native tools on the application's side.

    The given client stays as it is; the two share their connections, so closing one closes both. Errors reach
    the caller as exceptions of the SDK: a request that cannot work over text is its `BadRequestError` (and is
    not sent); `ToolCallError`, `ToolError` and errors in options keep their own types, and are also instances
    of the SDK's base exception.

    Args:
        client: An `OpenAI`, `AsyncOpenAI`, `Anthropic` or `AsyncAnthropic` (or one of a subclass that speaks
            HTTP with a key, such as `AzureOpenAI`), a client of httpx or httpx2, or a `ChatOpenAI` or
            `ChatAnthropic` of LangChain.
        middleware: Each gets every request, in this order, before its tools are rewritten, and the usage of
            each answer. `extra_body={"wirecall": {"session": "…"}}` names the conversation of a request.
        options: As in `WrapOptions`. For one request: `extra_body={"wirecall": {"on_error": "text"}}`.

    Raises:
        TypeError: The client is not one of these, a middleware lacks a method, an option does not exist, or
            its value has the wrong type.
        ValueError: An option does not allow the value, or the client is wrapped already.
        ImportError: The SDK is too old.
    """
    stack = MiddlewareStack(middleware)
    codec = Codec(Options().with_overrides(options), stack=stack)
    if langchain.is_ours(client):
        return langchain.wrap(client, functools.partial(wrap, middleware=stack.members, **options))
    for name, sdk in _SDKS.items():
        module = sys.modules.get(name)
        if module is not None and isinstance(client, tuple(getattr(module, kind) for kind in sdk.clients)):
            return cast(T, _wrap_sdk(client, codec, module, sdk))
    if (http := _http_of(client)) is not None:
        return cast(T, _attach(client, HttpRewriter(codec, http)))
    kind: type = client if isinstance(client, type) else type(client)
    root = kind.__module__.partition(".")[0]
    if kind is client:
        why = f"it is a class; pass an instance, {kind.__name__}(…)"
    elif root in _SDKS:
        why = "its requests are signed, or differ from those of the API itself"
    else:
        why = "it is not a supported client"
    raise TypeError(
        f"{root}.{kind.__name__} cannot be wrapped: {why}. wrap takes OpenAI, AsyncOpenAI, Anthropic and "
        "AsyncAnthropic, Client and AsyncClient of httpx and httpx2, and LangChain's ChatOpenAI and "
        "ChatAnthropic."
    )


def _wrap_sdk(client: Any, codec: Codec, module: ModuleType, sdk: _Sdk) -> Any:
    require(module.__name__, sdk.oldest, found=module.__version__)
    inner, error = client._client, getattr(module, sdk.error)
    attached = _attach(inner, HttpRewriter(codec, _http_of(inner), error))

    def guard(wrapped: Any) -> Any:
        sdk.guard(wrapped)
        wrapped.copy = wrapped.with_options = functools.partial(copy, wrapped)
        return wrapped

    def copy(wrapped: Any, **options: Any) -> Any:
        """A copy is wrapped, too, also one with another HTTP client."""
        given = options.get("http_client")
        http = None if isinstance(given, Transport) else _http_of(given)
        if http is not None:
            options["http_client"] = _attach(given, HttpRewriter(codec, http, error))
        return guard(type(wrapped).copy(wrapped, **options))

    return guard(client.with_options(http_client=attached))


def _http_of(client: object) -> Any:
    """The module whose HTTP client this is; None if it is not one."""
    modules = (sys.modules[name] for name in _HTTP if name in sys.modules)
    return next((one for one in modules if isinstance(client, (one.Client, one.AsyncClient))), None)


def _attach(inner: Any, rewriter: HttpRewriter) -> Any:
    if isinstance(inner, Transport):
        raise ValueError("This client is already wrapped. Wrap the client that it was made from.")
    kind: Any = type(inner)
    transport = _transport_type(kind, isinstance(inner, rewriter.http.AsyncClient))
    attached = transport.__new__(transport)
    # Both share one state: timeouts, cookies, transports, and whether they are closed.
    attached.__dict__ = inner.__dict__
    attached._wirecall_inner = inner
    attached._wirecall_rewriter = rewriter
    return attached


# Applications use few classes of clients.
@functools.cache
def _transport_type(kind: Any, is_async: bool) -> Any:
    mixin = AsyncTransport if is_async else SyncTransport
    # A subclass of the host's own class, so that its methods and isinstance keep working.
    return type(kind.__name__, (mixin, kind), {"__slots__": (), "__module__": __name__})


def _guard_openai(client: Any) -> None:
    """WebSockets bypass the HTTP layer, so they are refused before they connect, also on copies."""
    client.websocket_base_url = _NoWebsockets()
    client._prepare_options = functools.partial(_refuse_websocket, client._prepare_options)


def _refuse_websocket(prepare: Any, options: Any) -> Any:
    if options.method == "get" and urlsplit(str(options.url)).path.endswith("/responses"):
        raise UnsupportedRequestError(_WEBSOCKET)
    return prepare(options)


_WEBSOCKET = (
    "WebSocket connections cannot be rewritten. Use responses.create(), with stream=True for streaming, or a "
    "client that is not wrapped."
)


class _NoWebsockets(str):
    """Replaces the address, which hosts that open their own connections (openai-agents) read."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True  # otherwise a copy of the client falls back to another address

    def _refuse(self) -> Any:
        raise UnsupportedRequestError(_WEBSOCKET)

    # Making a URL of it needs its length, or its characters.
    __len__ = __iter__ = __str__ = _refuse


_SDKS = {
    "openai": _Sdk(("OpenAI", "AsyncOpenAI"), "3.0", "OpenAIError", _guard_openai),
    "anthropic": _Sdk(("Anthropic", "AsyncAnthropic"), "2.0", "AnthropicError", lambda client: None),
}
