"""A server that refuses stop sequences, as Azure does for deployments of reasoning models."""

from collections.abc import Iterator
from typing import Any

import pytest
from server import Answer
from wrapping import BAD, CALLS, OVER_TEXT, Ask, Play, Sdk, Seen, run
from wrapping_all import asks, finish, kinds
from wrapping_openai import responses, responses_helper, responses_parse, responses_stream

from wirecall._apis.stops import REFUSALS

# That API has no stop sequences.
NEVER = (responses, responses_parse, responses_stream, responses_helper)


@pytest.fixture(autouse=True)
def forgets() -> Iterator[None]:
    REFUSALS.clear()
    yield
    REFUSALS.clear()


@asks
def test_the_application_sees_nothing_of_it(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    server = play([OVER_TEXT, OVER_TEXT], refuses_stop=True)
    for _ in range(2):
        assert run(sdk.made(kind, server), ask) == Seen("Grüße. ", CALLS, finish(sdk, ask))
    refused = [request.refused is not None for request in server.requests]
    # Once, and then it is known.
    assert refused == ([False] * 2 if ask in NEVER else [True, False, False])
    assert not server.errors


@kinds
def test_a_bad_call_is_retried(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([Answer(BAD), OVER_TEXT], refuses_stop=True)
    assert run(sdk.made(kind, server), sdk.create).calls == CALLS
    assert [request.refused is not None for request in server.requests] == [True, False, False]


@kinds
def test_always_leaves_the_error_to_the_application(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([], refuses_stop=True)
    with pytest.raises(sdk.module.BadRequestError, match="is not supported with this model"):
        run(sdk.made(kind, server, {"stop_sequence": "always"}), sdk.create)
    assert len(server.requests) == 1


@kinds
def test_never_asks_once(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([OVER_TEXT], refuses_stop=True)
    assert run(sdk.made(kind, server, {"stop_sequence": "never"}), sdk.create).calls == CALLS
    assert len(server.requests) == 1
