"""A model that is asked once for the weather, through either API, in each mode."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from server import Answer as Reply
from server import Call as Said
from server import Server, serve
from server.app import Script

from wirecall_bench.endpoints import Endpoint, Tries
from wirecall_bench.recording import Api

KEY = "sk-test-1234567890"
APIS: tuple[Api, ...] = ("openai", "anthropic")
MODES = ("native", "wire", "hermes")
GRAMMAR_MODES = ("wire-grammar", "hermes-grammar")
TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    }
]
ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Lima?"}]
QUICK = Tries(attempts=4, first=0.01)


def url(server: Server, api: Api) -> str:
    return server.openai_url if api == "openai" else server.url


@contextmanager
def asked(
    script: Script, api: Api, mode: str = "native", **options: Any
) -> Iterator[tuple[Server, Endpoint]]:
    with serve(script, grammars="llama.cpp" if mode in GRAMMAR_MODES else None) as server:
        options = {"key": KEY, "tries": QUICK, **options}
        endpoint = Endpoint(api, url(server, api), "a-model", mode, **options)
        try:
            yield server, endpoint
        finally:
            endpoint.close()


def calling(mode: str, **options: Any) -> Reply:
    """The right call, after some prose."""
    texts = {
        "wire": "Sure. <call>get_weather city=Lima days=3</call>",
        "hermes": 'Sure. <tool_call>{"name":"get_weather","arguments":{"city":"Lima","days":3}}</tool_call>',
    }
    native = ["Sure. ", Said("get_weather", {"city": "Lima", "days": 3})]
    if mode in GRAMMAR_MODES:
        # The grammar has no text before the call.
        text = texts[mode.removesuffix("-grammar")].removeprefix("Sure. ")
        return Reply(text, **options)
    return Reply(texts.get(mode, native), **options)


both = pytest.mark.parametrize("api", APIS)
all_modes = pytest.mark.parametrize("mode", MODES)
