"""The openai SDK over WebSockets, here because openai-agents brings the library that it wants for them."""

from typing import Any

import pytest
from server import serve
from wrapping import inside, run
from wrapping_openai import OPENAI

import wirecall


@pytest.mark.parametrize("copied", ["not", "twice", "with an address"])
@pytest.mark.parametrize("kind", OPENAI.kinds)
def test_they_are_refused_before_they_connect(kind: Any, copied: str) -> None:
    with serve([]) as server:

        async def connect(client: Any) -> None:
            if copied == "twice":
                client = client.with_options(timeout=3).copy(max_retries=1)
            elif copied == "with an address":
                client = client.copy(websocket_base_url=server.openai_url.replace("http:", "ws:"))
            async with inside(client.responses.connect()):
                raise AssertionError("connected")

        with pytest.raises(
            wirecall.UnsupportedRequestError, match="WebSocket connections cannot be rewritten"
        ):
            run(OPENAI.made(kind, server), connect)
        assert server.requests == []
