"""The stop sequence: whether it is sent, and what happens where a server refuses it."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hosts import CALL, HOSTS, Host
from server import Answer, Failure

import wirecall
from wirecall import Record
from wirecall._apis.stops import KEYS, REFUSALS, Refusals, is_refusal

# The answer of Azure.
REFUSED = Failure(400, "Unsupported parameter: 'stop' is not supported with this model.", param="stop")
MARK = "<tool-result"
STOPPING = [host for host in HOSTS if host.api != "responses"]
stopping = pytest.mark.parametrize("host", STOPPING, ids=str)


@pytest.fixture(autouse=True)
def forgets() -> Iterator[None]:
    REFUSALS.clear()
    yield
    REFUSALS.clear()


def stops(body: dict[str, Any]) -> Any:
    return next((body[key] for key in KEYS if key in body), None)


def asked(host: Host, script: Any, body: Any = None, **options: Any) -> tuple[bytes, list[Any]]:
    sent: list[httpx2.Request] = []
    out = host.ask(script, body, sent=sent, **options)
    return out, [stops(json.loads(one.content)) for one in sent]


@stopping
def test_it_is_sent_once_more_without_and_then_remembered(host: Host) -> None:
    out, sent = asked(host, [REFUSED, Answer(CALL)])
    assert b"Graz" in out
    assert sent == [[MARK], None]
    assert asked(host, [Answer(CALL)])[1] == [None]
    # Another model, and the same one elsewhere, are others.
    assert asked(host, [Answer(CALL)], host.body(model="other"))[1] == [[MARK]]
    assert asked(host, [Answer(CALL)], url="https://other.example.com")[1] == [[MARK]]
    # The key is not the address.
    assert asked(host, [Answer(CALL)], url="https://u:p@api.example.com", query="?key=1")[1] == [None]


@stopping
def test_the_host_s_own_stay(host: Host) -> None:
    key = "stop" if host.api == "chat" else "stop_sequences"
    body = host.body(**{key: ["END"]})
    assert asked(host, [REFUSED, Answer(CALL)], body)[1] == [["END", MARK], ["END"]]
    out, sent = asked(host, [REFUSED], body)
    assert sent == [["END"]]
    assert b"'stop' is not supported" in out


@stopping
def test_what_is_refused_twice_is_the_application_s_and_not_remembered(host: Host) -> None:
    out, sent = asked(host, [REFUSED, REFUSED])
    assert b"'stop' is not supported" in out
    assert sent == [[MARK], None]
    assert asked(host, [Answer(CALL)])[1] == [[MARK]]


@stopping
@pytest.mark.parametrize(
    "failure", [Failure(400, "Unknown model."), Failure(500, "stop"), Failure(429, "stop")]
)
def test_other_errors_are_handed_over(host: Host, failure: Failure) -> None:
    out, sent = asked(host, [failure])
    assert failure.message.encode() in out
    assert sent == [[MARK]]


@stopping
def test_never_and_always(host: Host) -> None:
    assert asked(host, [Answer(CALL)], stop_sequence="never")[1] == [None]
    out, sent = asked(host, [REFUSED], stop_sequence="always")
    assert sent == [[MARK]]
    assert b"'stop' is not supported" in out


def test_always_is_for_models_that_are_known_to_refuse_it_too() -> None:
    host = STOPPING[0]
    for given, expected in (("auto", None), ("always", [MARK]), ("never", None)):
        assert asked(host, [Answer(CALL)], host.body(model="gpt-5"), stop_sequence=given)[1] == [expected]


@stopping
def test_the_record_shows_both_requests(host: Host) -> None:
    found: list[Record] = []
    asked(host, [REFUSED, Answer(CALL)], on_record=found.append)
    [record] = found
    assert [(one.reason, one.status) for one in record.attempts] == [("first", 400), ("without_stop", 200)]
    assert record.outcome == "calls"


@stopping
def test_a_bad_call_is_retried_without_it(host: Host) -> None:
    bad = Answer("<call>go [object Object]</call>")
    assert asked(host, [REFUSED, bad, Answer(CALL)])[1] == [[MARK], None, None]


@stopping
def test_the_retry_has_its_own_idempotency_key(host: Host) -> None:
    sent: list[httpx2.Request] = []
    host.ask([REFUSED, Answer(CALL)], sent=sent, headers={"Idempotency-Key": "k"})
    assert [request.headers["idempotency-key"] for request in sent] == ["k", "k-2"]


def test_hooks_send_it_or_not() -> None:
    request = STOPPING[0].body()
    assert wirecall.compact_tools().transform_params(request).params["stop"] == [MARK]
    assert "stop" not in wirecall.compact_tools(stop_sequence="never").transform_params(request).params


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Unsupported parameter: 'stop' is not supported with this model.", True),
        ('{"param": "stop"}', True),
        ("Argument not supported on this model: stop", True),
        ("stop_sequences: not allowed", True),
        ("Stop sequences are not supported.", True),
        ("finish_reason is not stopped", False),
        ("stop_token_ids is unknown", False),
        ("nonstop", False),
    ],
)
def test_what_names_it(message: str, names: bool) -> None:
    assert is_refusal(400, message.encode()) == names
    assert not is_refusal(500, message.encode())


def test_the_memory_is_bounded_and_safe_for_threads() -> None:
    refusals = Refusals(most=16)

    def note(number: int) -> None:
        for at in range(200):
            refusals.add(f"http://{number}", str(at))
            refusals.has(f"http://{number}", str(at))

    threads = [threading.Thread(target=note, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refusals._known) == 16
    refusals.add("a", "b")
    assert refusals.has("a", "b")
    assert not refusals.has("a", "c")
