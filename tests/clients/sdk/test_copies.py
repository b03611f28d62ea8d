"""Copies of a wrapped client are wrapped: with the same HTTP client, and with another one."""

from typing import Any

import httpx2
import pytest
from server import Answer
from wrapping import CALL, CALLS, Play, Sdk, run
from wrapping_all import kinds

import wirecall


def other(kind: Any, **options: Any) -> Any:
    """Another HTTP client for an SDK's client."""
    return (httpx2.AsyncClient if kind.__name__.startswith("Async") else httpx2.Client)(**options)


@kinds
@pytest.mark.parametrize("method", ["copy", "with_options"])
@pytest.mark.parametrize("http", ["the same", "another", "a wrapped one"])
def test_a_copy_is_wrapped(play: Play, sdk: Sdk, kind: Any, method: str, http: str) -> None:
    """Copies of copies stay wrapped, too."""

    def copied(client: Any) -> Any:
        if http == "the same":
            return getattr(client, method)(timeout=5)
        given = other(kind)
        return getattr(client, method)(http_client=wirecall.wrap(given) if http == "a wrapped one" else given)

    server = play([Answer(CALL)] * 2)
    for copies in (1, 2):
        client = wirecall.wrap(sdk.bare(kind, server))
        for _ in range(copies):
            client = copied(client)
        assert type(client) is kind
        assert run(lambda client=client: client, sdk.create).calls == CALLS[:1]
    assert all("tools" not in request.json for request in server.requests)


@kinds
def test_an_invalid_http_client_is_refused_by_the_sdk(play: Play, sdk: Sdk, kind: Any) -> None:
    wrapped = wirecall.wrap(sdk.bare(kind, play([])))
    with pytest.raises(TypeError):
        wrapped.with_options(http_client=object())


@kinds
def test_a_copy_has_the_options_of_its_original(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([Answer("<call>go [object Object]</call>")])
    wrapped = wirecall.wrap(sdk.bare(kind, server), on_error="raise")
    copied = wrapped.with_options(http_client=other(kind))
    with pytest.raises(wirecall.ToolCallError) as raised:
        run(lambda: copied, sdk.create)
    assert isinstance(raised.value, sdk.error)
