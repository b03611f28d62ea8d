"""A stream that is cut: no call that was cut runs, no text is lost, and the error is the bare client's.

The stream has two calls, and text before, between and after them. `make laws` cuts plain streams after every
byte, with four endings, and compressed ones with two; stalls and answers to retries are sampled.

One difference from a bare client is intended. With `stream_arguments`, a stream that properly ends inside a
call ends with the API's error, because the application has seen a part of the call. In Responses, that is an
event.
"""

from dataclasses import replace

import pytest
from sampling import sample
from server import Delivery
from streaming import (
    APIS,
    KINDS,
    STREAMED,
    TEXT,
    ApiName,
    Case,
    Clients,
    Outcome,
    agrees,
    arrived,
    explained,
    visible,
)

ENDINGS = {
    "finished": Delivery(ending="finished"),
    "closed": Delivery(ending="closed"),
    "reset": Delivery(ending="reset"),
    "error": Delivery(ending="error"),
    "gzip-finished": Delivery(ending="finished", gzip=True),
    "gzip-closed": Delivery(ending="closed", gzip=True),
}
STALLED = Delivery(ending="stalled")
# Each stall costs TIMEOUT seconds, so only every 21st cut is tried, several at once.
TIMEOUT, THINNED, AT_ONCE = 0.25, 10, 12
OPTIONS = ((), STREAMED)
# One delta ends after the quote in the first call, and others inside of markers.
CHARACTERS = 6


def cuts(api: ApiName, ending: Delivery) -> list[Case]:
    delivery = replace(ending, characters=CHARACTERS)
    return [
        Case(api, kind, replace(delivery, cut_after=after))
        for after in range(Case(api, "sync", delivery).size + 1)
        for kind in KINDS
    ]


def check(case: Case, bare: Outcome, wrapped: Outcome) -> None:
    ending = case.delivery.ending
    text = arrived(case.api, case.sent + (b"\n\n" if ending == "error" else b"")).text
    # A reset may overtake the last bytes.
    texts = [TEXT[:size] for size in range(len(text) + 1)] if ending == "reset" else [text]
    assert bare.text in texts
    assert any(agrees(wrapped, text, unfinished=bool(case.options)) for text in texts)
    if len(wrapped.calls) > len(wrapped.finished_calls) and ending == "finished":
        assert wrapped.reported or wrapped.failure in ("APIError", "APIStatusError")
        return
    assert wrapped.failure == bare.failure
    if ending == "finished":
        assert wrapped.text.rstrip() == visible(text).rstrip()


@pytest.mark.laws
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("api", APIS)
def test_a_cut_stream_ends_as_for_a_bare_client(clients: Clients, api: ApiName, ending: str) -> None:
    for case in sample(cuts(api, ENDINGS[ending]), 2, f"{api} {ending}"):
        bare = clients.bare(case)
        for options in OPTIONS:
            wrapped = clients.wrapped(case := replace(case, options=options))
            with explained(case, bare=bare, wrapped=wrapped):
                check(case, bare, wrapped)
    clients.server.settle()


@pytest.mark.laws
@pytest.mark.parametrize("api", APIS)
def test_a_cut_retry_ends_as_for_a_bare_client(clients: Clients, api: ApiName) -> None:
    # Cuts before the status line are left out: inside a stream, the SDKs cannot wrap that error.
    plain = [delivery for delivery in ENDINGS.values() if not delivery.gzip]
    cases = [case for delivery in plain for case in cuts(api, delivery)[2 :: 2 * THINNED + 1]]
    for case in sample(cases, 4, f"{api} retried"):
        bare = clients.bare(case)
        for options in OPTIONS:
            wrapped = clients.wrapped(replace(case, options=options, retried=True))
            with explained(case, bare=bare, wrapped=wrapped):
                check(replace(case, options=options), bare, wrapped)
    clients.server.settle()


@pytest.mark.laws
@pytest.mark.parametrize("api", APIS)
def test_a_stall_ends_as_for_a_bare_client(clients: Clients, api: ApiName) -> None:
    cases = [
        replace(case, timeout=TIMEOUT, options=OPTIONS[number % 2])
        for number, case in enumerate(cuts(api, STALLED)[1 :: 2 * THINNED + 1])
    ]
    tried = sample(cases, 4, f"{api} stalled")
    for start in range(0, len(tried), AT_ONCE):
        batch = tried[start : start + AT_ONCE]
        for case, (bare, wrapped) in zip(batch, clients.at_once(batch), strict=True):
            try:
                check(case, bare, wrapped)
            except AssertionError:
                # On a busy machine, bytes that were sent may take longer than the client waits.
                case = replace(case, timeout=8 * TIMEOUT)
                bare, wrapped = clients.bare(case), clients.wrapped(case)
                with explained(case, bare=bare, wrapped=wrapped):
                    check(case, bare, wrapped)
    clients.server.settle()
