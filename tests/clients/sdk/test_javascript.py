"""JavaScript's SDKs and eventsource-parser read wirecall's streams as Python's SDKs do.

The readers get the bytes of a provider, and those that wirecall makes of them. Keep-alive comments are sent
with each chunk that is held back. They must cause no empty event and no exception that the provider's own
bytes do not cause.
"""

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import variants
from sampling import sample
from streaming import (
    APIS,
    ApiName,
    Case,
    Clients,
    Outcome,
    agrees,
    agrees_later,
    explained,
    parsed,
)

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "clients" / "js" / "read.mjs"
PACKAGES = ROOT / ".venv-clients" / "js"
READERS = {"chat": "openai", "responses": "openai", "messages": "anthropic"}

Read = Callable[[Sequence[bytes]], dict[str, Any]]


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    """Reads a stream with each of the readers; one process reads all streams."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (PACKAGES / ".installed").exists():
        pytest.skip("JavaScript's SDKs are not installed; `make test-clients` fetches them from npm")
    command = [node, str(PROGRAM), str(PACKAGES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def read(chunks: Sequence[bytes]) -> dict[str, Any]:
            stdin.write(json.dumps([base64.b64encode(chunk).decode() for chunk in chunks]) + "\n")
            stdin.flush()
            made: dict[str, Any] = json.loads(stdout.readline())
            return made

        yield read
        stdin.close()


def outcome(api: ApiName, made: Any) -> Outcome:
    """What an application sees of the events of a reader."""
    outcome = Outcome()
    for event in made["events"]:
        # eventsource-parser does not read the data.
        text = event["data"] if isinstance(event.get("data"), str) else json.dumps(event)
        if text and not text.startswith("[DONE]"):
            outcome.add(api, parsed(text))
    outcome.error = None if made["error"] is None else type(made["error"], (Exception,), {})()
    return outcome


def check(bare: Outcome, wrapped: Outcome) -> None:
    assert bare.failure == wrapped.failure
    if wrapped.error is None:
        assert agrees(wrapped, bare.text, unfinished=False)
    else:
        # Blank lines before an event that is rewritten are dropped, so a reader may fail later.
        assert agrees_later(wrapped, bare.text, unfinished=False)


def last_id(made: Any) -> str | None:
    """From where a reader would ask to continue."""
    return next((event["id"] for event in reversed(made["events"]) if event.get("id")), None)


def empty(made: Any) -> int:
    """How many events have no data."""
    return sum(event["data"] == "" for event in made["events"])


@pytest.mark.laws
@pytest.mark.parametrize("api", APIS)
def test_javascript_reads_what_python_reads(clients: Clients, read: Read, api: ApiName) -> None:
    cases = [Case(api, "sync", delivery) for delivery in variants.all() if not delivery.gzip]
    for case in sample(cases, 8, f"javascript {api}"):
        theirs, ours = read(case.chunks), read(clients.rewritten(case))
        assert empty(ours["eventsource"]) <= empty(theirs["eventsource"])
        assert last_id(ours["eventsource"]) == last_id(theirs["eventsource"])
        for name in (READERS[api], "eventsource"):
            bare, wrapped = outcome(api, theirs[name]), outcome(api, ours[name])
            with explained(case, bare=bare, wrapped=wrapped):
                check(bare, wrapped)
        if api != "messages" or case.delivery.format.names == "api":
            python_bare, python = clients.bare(case), clients.wrapped(case)
            with explained(case, bare=bare, wrapped=wrapped, python_bare=python_bare, python=python):
                if python_bare.error is None and bare.text == python_bare.text:
                    assert (wrapped.text, wrapped.finished_calls) == (python.text, python.finished_calls)
    clients.server.settle()
