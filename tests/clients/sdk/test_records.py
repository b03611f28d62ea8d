"""Records of exchanges, as an application with an SDK gets them."""

from typing import Any

import pytest
from server import Answer, Delivery, Failure
from wrapping import BAD, CALL, Ask, Play, Sdk, run
from wrapping_all import asks, kinds, streamed

import wirecall
from wirecall import Record


@asks
def test_each_exchange_has_one(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    found: list[Record] = []
    server = play([Answer(f"So: {BAD}"), Answer(CALL)])
    run(sdk.made(kind, server, {"on_record": found.append, "record_content": True}), ask)
    [record] = found
    assert (record.outcome, record.path) == ("calls", server.last.path)
    assert [(one.reason, one.status) for one in record.attempts] == [("first", 200), ("retry", 200)]
    # What was sent, to the byte.
    assert [one.request for one in record.attempts] == [one.body.decode() for one in server.requests]
    server.settle()
    assert [one.answer_length for one in record.attempts] == [one.sent for one in server.requests]
    [error] = [event for event in record.attempts[0].events if event.kind == "error"]
    assert (error.error, error.content) == ("malformed_call", BAD)
    assert [event.tool for event in record.attempts[1].events if event.kind == "call"] == ["go"]
    assert "sk-test" not in repr(record)


@streamed
def test_a_broken_connection(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    found: list[Record] = []
    server = play([Answer("Grüße. " * 40, delivery=Delivery(cut_after=700))])
    with pytest.raises(sdk.lost):
        run(sdk.made(kind, server, {"on_record": found.append}), ask)
    [record] = found
    assert record.outcome == "broken"
    assert record.attempts[0].answer_length == 700


@kinds
def test_the_sdk_s_own_retries_are_exchanges(play: Play, sdk: Sdk, kind: Any) -> None:
    found: list[Record] = []
    server = play([Failure(500), Answer(CALL)])
    run(sdk.made(kind, server, {"on_record": found.append}, max_retries=1), sdk.create)
    assert [record.outcome for record in found] == ["http_error", "calls"]


@kinds
def test_a_server_that_is_not_there(sdk: Sdk, kind: Any) -> None:
    found: list[Record] = []
    client = kind(api_key="sk-test", base_url="http://127.0.0.1:9", max_retries=0)
    with pytest.raises(sdk.module.APIConnectionError):
        run(lambda: wirecall.wrap(client, on_record=found.append), sdk.create)
    [record] = found
    assert (record.outcome, record.error, record.attempts[0].status) == ("failed", "ConnectError", None)
