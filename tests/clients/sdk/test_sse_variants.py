"""However a provider writes its events, the wrapped client behaves as the bare one.

What that means is decided by the bare client, since SDKs differ in what they make of the same bytes:

- A stream that a bare client reads to its end: text, calls and the reason to stop are those that a bare
  client sees of the same answer with native calls.
- A stream that a bare client fails on: the exception has the same type. Until then the application has seen
  at least the text and the whole calls that the bare client has seen. Python's openai SDK fails on events
  without data, and after an `id` each further blank line is one; Anthropic's ignores them. Blank lines before
  an event that is rewritten are dropped, so the wrapped client may fail later.
- Events that a bare client ignores, such as those without a name in Anthropic's SDK: the wrapped client sees
  nothing of them, and fails on nothing.
- A byte order mark hides the first line from the SDKs, so the wrapped client must not need the first event.
- An event at the end of the stream that lacks its blank line is no event.
"""

import pytest
import variants
from sampling import sample
from streaming import (
    APIS,
    KINDS,
    STREAMED,
    ApiName,
    Case,
    Clients,
    Outcome,
    agrees,
    agrees_later,
    explained,
)


def cases(api: ApiName, kind: str) -> list[Case]:
    return [
        Case(api, kind, delivery, options=((), STREAMED)[number % 2])
        for number, delivery in enumerate(variants.all())
    ]


def check(native: Outcome, bare: Outcome, wrapped: Outcome, case: Case) -> None:
    assert native.failure == bare.failure == wrapped.failure
    if wrapped.error is not None:
        assert agrees_later(wrapped, bare.text, unfinished=bool(case.options))
        return
    assert agrees(wrapped, bare.text, unfinished=False)
    seen = wrapped.text, wrapped.finished_calls, wrapped.finish
    assert seen == (native.text, native.finished_calls, native.finish)


def test_there_are_enough_variants() -> None:
    assert len(set(variants.all())) == len(variants.all()) > 500
    assert {*variants.single()} < {*variants.all()}
    assert {"chunk", "gzip", "comments"} < variants.VALUES.keys()


@pytest.mark.laws
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("api", APIS)
def test_a_wrapped_client_behaves_as_a_bare_one(clients: Clients, api: ApiName, kind: str) -> None:
    for case in sample(cases(api, kind), 16, f"{api} {kind}"):
        native = clients.bare(Case(api, kind, case.delivery, native=True))
        bare, wrapped = clients.bare(case), clients.wrapped(case)
        with explained(case, native=native, bare=bare, wrapped=wrapped):
            check(native, bare, wrapped, case)
    clients.server.settle()
