"""References to items of the Responses API: remembered for the key that got them, and only for so long."""

import json
from typing import Any

from aiohttp import web
from gateway_support import CALL, TOOL, Seen, asking, gateway, running, streaming

from wirecall._gateway.items import ItemListener, ItemMemory, put

TOOLS = [{"type": "function", **TOOL["function"]}]


def message(id: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content}


async def responses(request: web.Request, seen: Seen) -> web.StreamResponse:
    """A server of the Responses API whose model writes a text before its call."""
    item = message("msg_of_the_server", f"Let me see. {CALL}")
    made = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [item]}
    if not seen.json.get("stream"):
        return web.json_response(made)
    answer = await streaming(request)

    async def send(kind: str, **more: Any) -> None:
        data = json.dumps({"type": kind, "sequence_number": 0, **more})
        await answer.write(f"event: {kind}\ndata: {data}\n\n".encode())

    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = {**made, "output": [], "status": "in_progress"}
    await send("response.created", response=empty)
    await send("response.output_item.added", output_index=0, item={**item, "content": []})
    part = {"type": "output_text", "text": "", "annotations": []}
    await send("response.content_part.added", part=part, **at)
    await send("response.output_text.delta", delta=item["content"][0]["text"], **at)
    await send("response.output_text.done", text=item["content"][0]["text"], **at)
    await send("response.content_part.done", part=item["content"][0], **at)
    await send("response.output_item.done", output_index=0, item=item)
    await send("response.completed", response=made)
    return answer


def output_of(body: bytes, *, stream: bool) -> list[dict[str, Any]]:
    if not stream:
        found: list[dict[str, Any]] = json.loads(body)["output"]
        return found
    data = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]
    return [one["item"] for one in data if one["type"] == "response.output_item.done"]


@running
async def test_references_become_the_items_that_a_client_got() -> None:
    async with gateway(responses) as one:
        for stream in (False, True):
            body = {"model": "m", "input": "Weather?", "tools": TOOLS, "stream": stream}
            status, answer = await one.post(body, "/responses")
            assert status == 200
            output = output_of(answer, stream=stream)
            assert [item["type"] for item in output] == ["message", "function_call"]
            call_id = output[1]["call_id"]
            items = [
                {"role": "user", "content": "Weather?"},
                *({"type": "item_reference", "id": item["id"]} for item in output),
                {"type": "function_call_output", "call_id": call_id, "output": "21 degrees"},
            ]
            status, answer = await one.post({**body, "input": items}, "/responses")
            assert status == 200, answer
            sent = json.dumps(one.upstream.seen[-1].json)
            assert "Let me see." in sent
            assert '<call>get_weather city=\\"New York\\" days=2</call>' in sent
            assert "item_reference" not in sent


@running
async def test_an_item_of_one_key_does_not_exist_for_another() -> None:
    async with gateway(responses) as one:
        body = {"model": "m", "input": "Weather?", "tools": TOOLS}
        own, other = {"authorization": "Bearer a"}, {"authorization": "Bearer b"}
        _, answer = await one.post(body, "/responses", headers=own)
        reference = {"type": "item_reference", "id": output_of(answer, stream=False)[0]["id"]}
        asked = {**body, "input": [{"role": "user", "content": "And?"}, reference]}
        for headers, status in (
            (other, 400),
            ({}, 400),
            ({"x-api-key": "b"}, 400),
            ({"x-api-key": "a"}, 400),
            ({"api-key": "a"}, 400),
            (own, 200),
        ):
            found, said = await one.post(asked, "/responses", headers=headers)
            assert found == status
            assert status == 200 or b"Let me see" not in said


@running
async def test_what_should_not_be_stored_is_not_remembered() -> None:
    async with gateway(responses) as one:
        body = {"model": "m", "input": "Weather?", "tools": TOOLS, "store": False}
        _, answer = await one.post(body, "/responses")
        reference = {"type": "item_reference", "id": output_of(answer, stream=False)[0]["id"]}
        assert (await one.post({**body, "input": [reference]}, "/responses"))[0] == 400


@running
async def test_a_history_of_the_server_stays_refused() -> None:
    async with gateway(responses) as one:
        for key in ("previous_response_id", "conversation"):
            status, said = await one.post(
                {"model": "m", "input": "x", "tools": TOOLS, key: "r1"}, "/responses"
            )
            assert status == 400
            assert key in json.loads(said)["error"]["message"]


def resolved(memory: ItemMemory, owner: bytes, *ids: object) -> list[str]:
    """The types of the items in the places of references to these ids."""
    request = {"input": [{"type": "item_reference", "id": id} for id in ids]}
    return [one["type"] for one in put(request, memory.find(owner, request))["input"]]


def test_the_memory_is_bounded() -> None:
    memory = ItemMemory(3, 2000)
    owner = memory.owner(["authorization:key"])
    for number in range(5):
        memory.keep(owner, message(f"m{number}", "x"))
    ids = [f"m{number}" for number in range(5)]
    assert resolved(memory, owner, *ids) == ["item_reference"] * 2 + ["message"] * 3
    assert resolved(memory, memory.owner([]), *ids) == ["item_reference"] * 5
    memory.keep(owner, message("large", "x" * 1500))
    assert resolved(memory, owner, "m2", "m4", "large") == ["item_reference", "message", "message"]
    memory.keep(owner, message("too large", "x" * 3000))
    assert resolved(memory, owner, "large", "too large") == ["message", "item_reference"]


def test_odd_items_and_answers_are_no_items() -> None:
    memory = ItemMemory(10, 10_000)
    owner = memory.owner(["\udcff"])
    assert owner != memory.owner(["?"])
    for item in (None, 3, [], {"id": None}, {"id": 7}, {"id": []}):
        memory.keep(owner, item)
    listener = ItemListener(memory, owner)
    for body in (b"", b"[]", b'{"output":3}', b'{"output":[null,{"id":4}]}', b"{", b"\xff"):
        listener.whole(body)
    listener.feed(
        b'data: {"type":"response.output_item.done","item":null}\n\ndata: "response.output_item.done\n\n'
    )
    assert resolved(memory, owner, None, [], "", 7) == ["item_reference"] * 4
    assert memory.find(owner, {"input": "x"}) == memory.find(owner, {}) == {}


def test_an_event_that_is_too_long_ends_only_the_listening() -> None:
    memory = ItemMemory(10, 10_000)
    listener = ItemListener(memory, b"")
    listener.feed(b"data: ")
    for _ in range(66):
        listener.feed(b"x" * (1 << 20))
    item = json.dumps({"type": "response.output_item.done", "item": message("m1", "x")}).encode()
    listener.feed(b"\n\ndata: " + item + b"\n\n")
    assert resolved(memory, b"", "m1") == ["item_reference"]


@running
async def test_references_cannot_make_a_request_longer_than_a_body() -> None:
    async with gateway(responses, limits={"body_bytes": 20_000}) as one:
        body = {"model": "m", "input": "Weather?", "tools": TOOLS}
        _, answer = await one.post(body, "/responses")
        reference = {"type": "item_reference", "id": output_of(answer, stream=False)[0]["id"]}
        said = {"role": "user", "content": "And?"}
        assert (await one.post({**body, "input": [said, *[reference] * 10]}, "/responses"))[0] == 200
        status, answer = await one.post({**body, "input": [said, *[reference] * 200]}, "/responses")
        assert status == 413
        assert "items" in json.loads(answer)["error"]["message"]


@running
async def test_other_apis_are_not_looked_at() -> None:
    async with gateway() as one:
        body = asking(input=[{"type": "item_reference", "id": "m0"}])
        assert (await one.post(body))[0] == 200
        assert one.upstream.seen[-1].json["input"] == body["input"]
