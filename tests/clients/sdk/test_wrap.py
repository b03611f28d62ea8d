"""`wrap` around the SDKs: what an application sees over text is what it sees with native calls.

What one SDK alone has is in `test_wrap_openai.py` and `test_wrap_anthropic.py`.
"""

import asyncio
import gc
import json
import re
from typing import Any

import pytest
from server import Answer, Delivery, EventFormat, Failure
from wrapping import BAD, CALL, CALLS, NATIVE, OVER_TEXT, Ask, Play, Sdk, Seen, run
from wrapping_all import SDKS, asks, finish, kinds, sdks, streamed, whole

import wirecall

# What applications do -----------------------------------------------------------------------------------


@asks
def test_the_application_sees_native_calls(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    text, native = play([OVER_TEXT]), play([NATIVE])
    over_text = run(sdk.made(kind, text), ask)
    assert over_text == run(lambda: sdk.bare(kind, native), ask)
    assert over_text == Seen("Grüße. ", CALLS, finish(sdk, ask))
    assert "tools" not in text.last.json


@streamed
@pytest.mark.parametrize(
    "delivery",
    [
        Delivery(characters=1),
        Delivery(characters=None),
        Delivery(chunk=1),
        Delivery(gzip=True, chunk=5),
        Delivery(comments=1),
        Delivery(format=EventFormat(line_end="\r\n"), chunk=3),
    ],
)
def test_however_it_is_delivered(play: Play, sdk: Sdk, kind: Any, ask: Ask, delivery: Delivery) -> None:
    server = play([Answer(OVER_TEXT.parts, delivery=delivery)])
    assert run(sdk.made(kind, server), ask)[:2] == ("Grüße. ", CALLS)


@asks
def test_code_is_text_if_asked_for(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    shown = f"Like `{BAD}`:\n```\n{CALL}\n```\n"
    server = play([Answer(f"{shown}{CALL}{CALL}")])
    assert run(sdk.made(kind, server, {"code": "text"}), ask) == Seen(shown, CALLS, finish(sdk, ask))
    assert len(server.requests) == 1


@asks
def test_a_bad_call_is_asked_for_again(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}"), Answer(CALL)])
    assert run(sdk.made(kind, server), ask) == Seen("So: ", CALLS[:1], finish(sdk, ask))
    first, second = server.requests
    said = second.json.get("messages") or second.json["input"]
    assert BAD in json.dumps(said[-2])
    assert "<tool-error" in json.dumps(said[-1])
    assert int(second.headers["content-length"]) == len(second.body) > len(first.body)
    assert {"authorization", "user-agent", "x-stainless-retry-count"} <= first.headers.keys()
    del first.headers["content-length"], second.headers["content-length"]
    assert first.headers == second.headers


@asks
@pytest.mark.parametrize("status", [429, 500, 529])
def test_the_sdk_retries(play: Play, sdk: Sdk, kind: Any, ask: Ask, status: int) -> None:
    server = play([Failure(status, headers={"retry-after-ms": "1"}), OVER_TEXT])
    assert run(sdk.made(kind, server, max_retries=1), ask)[1] == CALLS
    first, second = server.requests
    assert first.body == second.body


@asks
def test_errors_pass(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    server = play([Failure(401, "No such key.", headers={"x-why": "because"})])
    with pytest.raises(sdk.module.AuthenticationError, match="No such key") as caught:
        run(sdk.made(kind, server), ask)
    assert caught.value.response.headers["x-why"] == "because"
    assert json.loads(caught.value.request.content)["tools"]


@whole
def test_an_error_of_the_second_answer_is_the_errors_own(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    server = play([Answer(BAD), Failure(400, "Too long.")])
    with pytest.raises(sdk.module.BadRequestError, match="Too long"):
        run(sdk.made(kind, server), ask)


@asks
def test_a_failed_call_is_raised_as_what_it_is_and_not_retried(
    play: Play, sdk: Sdk, kind: Any, ask: Ask
) -> None:
    server = play([Answer(f"So: {BAD}")] * 3)
    with pytest.raises(wirecall.ToolCallError) as caught:
        run(sdk.made(kind, server, {"on_error": "raise"}, max_retries=2), ask)
    assert caught.value.error is not None
    assert caught.value.for_model == caught.value.error.message
    assert isinstance(caught.value, sdk.error)
    assert len(server.requests) == 1
    server.settle()


@kinds
def test_wrong_tools_and_options_are_the_callers_errors_and_not_retried(
    play: Play, sdk: Sdk, kind: Any
) -> None:
    server = play([])
    for given, error in (
        ({"tools": [sdk.tool({"type": 7})]}, wirecall.ToolError),
        ({"extra_body": {"wirecall": {"on_eror": "text"}}}, TypeError),
        ({"extra_body": {"wirecall": {"on_error": "maybe"}}}, ValueError),
    ):

        async def ask(client: Any, given: Any = given) -> Any:
            return await sdk.create(client, **given)

        with pytest.raises(error) as caught:
            run(sdk.made(kind, server, max_retries=2), ask)
        assert isinstance(caught.value, sdk.error)
        if isinstance(caught.value, wirecall.ToolError):
            assert (caught.value.tool, caught.value.pointer) == ("go", "/type")
    assert server.requests == []


@kinds
def test_options_of_one_request(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([Answer(BAD)])

    async def ask(client: Any) -> Seen:
        return await sdk.create(client, extra_body={"wirecall": {"on_error": "text"}})

    assert "<tool-error" in run(sdk.made(kind, server), ask).text
    assert "wirecall" not in server.last.json


# The client itself --------------------------------------------------------------------------------------


@kinds
def test_the_client_stays_what_it_was(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([OVER_TEXT, NATIVE, OVER_TEXT])
    original = sdk.bare(kind, server, api_key="sk-mine", timeout=7.5, max_retries=4)
    before = dict(original._client.__dict__)
    wrapped = wirecall.wrap(original)
    assert type(wrapped) is kind
    assert (wrapped.timeout, wrapped.max_retries, wrapped.api_key) == (7.5, 4, "sk-mine")
    assert isinstance(wrapped._client, type(original._client))
    assert original._client.__dict__ == before

    async def ask(client: Any) -> Any:
        first = await sdk.create(client)
        assert await sdk.create(original) == first
        copied = client.with_options(timeout=1.5, max_retries=0)
        assert (copied.timeout, copied.max_retries) == (1.5, 0)
        assert await sdk.create(copied) == first

    run(lambda: wrapped, ask)
    assert ["tools" in request.json for request in server.requests] == [False, True, False]
    assert original.is_closed()


@sdks
def test_the_wrapped_client_may_go_while_the_original_stays(play: Play, sdk: Sdk) -> None:
    server = play([NATIVE])
    with sdk.bare(sdk.kinds[0], server) as original:
        wirecall.wrap(original)
        gc.collect()
        assert asyncio.run(sdk.create(original))[1] == CALLS


@kinds
def test_wrapping_twice_is_refused(sdk: Sdk, kind: Any) -> None:
    wrapped = wirecall.wrap(kind(api_key="x"))
    with pytest.raises(ValueError, match="already wrapped"):
        wirecall.wrap(wrapped)
    with pytest.raises(ValueError, match="already wrapped"):
        wirecall.wrap(wrapped.with_options(timeout=1))


@pytest.mark.parametrize(
    "thing", [None, 7, "client", *(sdk.module for sdk in SDKS), *(sdk.kinds[0] for sdk in SDKS)]
)
def test_what_cannot_be_wrapped(thing: Any) -> None:
    with pytest.raises(TypeError, match=r"wrap takes OpenAI, .* LangChain's ChatOpenAI and ChatAnthropic"):
        wirecall.wrap(thing)


@sdks
def test_unknown_options_and_old_sdks_are_errors(monkeypatch: pytest.MonkeyPatch, sdk: Sdk) -> None:
    client = sdk.kinds[0](api_key="x")
    with pytest.raises(TypeError, match="there is no option 'on_eror'"):
        wirecall.wrap(client, on_eror="text")
    monkeypatch.setattr(sdk.module, "__version__", "1.99.9")
    said = f"{sdk.module.__name__} 1.99.9 is too old for wirecall: {sdk.oldest} or newer"
    with pytest.raises(ImportError, match=re.escape(said)):
        wirecall.wrap(client)


# Faults -------------------------------------------------------------------------------------------------


@streamed
@pytest.mark.parametrize("after", [900, 1500, 2500])
def test_a_drop_is_the_network_error_it_was(play: Play, sdk: Sdk, kind: Any, ask: Ask, after: int) -> None:
    server = play([Answer("Grüße. " * 4 + CALL * 60, delivery=Delivery(cut_after=after))])
    with pytest.raises(sdk.lost):
        run(sdk.made(kind, server), ask)
    server.settle()


@asks
def test_a_timeout_is_the_sdks(play: Play, sdk: Sdk, kind: Any, ask: Ask) -> None:
    server = play([Answer(OVER_TEXT.parts, delivery=Delivery(cut_after=200, ending="stalled"))])
    with pytest.raises(sdk.timeout):
        run(sdk.made(kind, server, timeout=0.3), ask)
    server.settle()
    assert server.last.ended == "client gone"


@sdks
def test_a_cancelled_task_closes_the_connection(play: Play, sdk: Sdk) -> None:
    server = play([Answer(CALL, delivery=Delivery(cut_after=400, ending="stalled"))])

    async def ask(client: Any) -> None:
        began = asyncio.Event()

        async def read() -> None:
            async for _ in await sdk.events(client):
                began.set()

        task = asyncio.create_task(read())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.settle)

    run(sdk.made(sdk.kinds[1], server), ask)
    assert server.last.ended == "client gone"
