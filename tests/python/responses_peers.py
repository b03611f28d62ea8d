"""A provider and a host of the Responses API, for tests: what is sent, and what is made of it."""

import copy
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from wirecall._apis.exchange import Exchange
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

Json = dict[str, Any]

TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object", "properties": {"x": {}}}}
    for name in ("f", "g")
]
REQUEST: Json = {"model": "m", "input": "hi", "tools": TOOLS}
GOOD = '<call>f x="a b"</call>'
BAD = "<call>f [object Object]</call>"

# A provider ---------------------------------------------------------------------------------------


def output_text(text: str, **more: Any) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": [], **more}


def message(*texts: str | Json, id: str = "msg_1", status: str = "completed", **more: Any) -> Json:
    content = [output_text(text) if isinstance(text, str) else text for text in texts]
    return {"id": id, "type": "message", "status": status, "role": "assistant", "content": content, **more}


def native_call(id: str = "fc_n", name: str = "native") -> Json:
    return {
        "type": "function_call",
        "id": id,
        "call_id": "call_" + id,
        "name": name,
        "arguments": "{}",
        "status": "completed",
    }


def search(id: str = "ws_1") -> Json:
    return {"type": "search", "id": id, "status": "completed"}


def response(*output: Json, id: str = "resp_1", status: str = "completed", **more: Any) -> Json:
    usage = {"input_tokens": 10, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 1}}
    return {"id": id, "object": "response", "status": status, "output": list(output), "usage": usage, **more}


def cut(text: str, sizes: "itertools.cycle[int]") -> list[str]:
    pieces = []
    while text:
        size = next(sizes)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def deltas(part: Json, sizes: "itertools.cycle[int]") -> Iterator[tuple[str, list[Json]]]:
    """The pieces of a text, each with the logprobs of the tokens that begin in it."""
    tokens = list(part.get("logprobs", []))
    heard = begins = 0
    for piece in cut(part["text"], sizes):
        heard += len(piece)
        carried = []
        while tokens and begins < heard:
            begins += len(tokens[0]["token"])
            carried.append(tokens.pop(0))
        yield piece, carried


def streamed(whole: Json, sizes: tuple[int, ...] = (7,)) -> list[Json]:
    """The events a provider sends for a response."""
    cycle = itertools.cycle(sizes)
    events: list[Json] = []

    def send(kind: str, **fields: Any) -> None:
        events.append({"type": "response." + kind, "sequence_number": len(events), **fields})

    bare = {**whole, "status": "in_progress", "output": [], "usage": None}
    send("created", response=bare)
    send("in_progress", response=bare)
    for index, item in enumerate(whole["output"]):
        if item["type"] == "message":
            send(
                "output_item.added", output_index=index, item={**item, "status": "in_progress", "content": []}
            )
            for number, part in enumerate(item["content"]):
                place = {"item_id": item["id"], "output_index": index, "content_index": number}
                if part["type"] == "output_text":
                    empty = {"text": "", "annotations": [], "logprobs": []}
                    send("content_part.added", **place, part={key: empty.get(key, part[key]) for key in part})
                    # Before the text: those that come when a call has closed its message are lost.
                    for count, one in enumerate(part["annotations"]):
                        send("output_text.annotation.added", **place, annotation_index=count, annotation=one)
                    for piece, logprobs in deltas(part, cycle):
                        send("output_text.delta", **place, delta=piece, logprobs=logprobs)
                    send("output_text.done", **place, text=part["text"], logprobs=part.get("logprobs", []))
                else:
                    send("content_part.added", **place, part={**part, "refusal": ""})
                    send("refusal.delta", **place, delta=part["refusal"])
                    send("refusal.done", **place, refusal=part["refusal"])
                send("content_part.done", **place, part=part)
        elif item["type"] == "function_call":
            send("output_item.added", output_index=index, item={**item, "arguments": ""})
            place = {"item_id": item["id"], "output_index": index}
            send("function_call_arguments.delta", **place, delta=item["arguments"])
            send("function_call_arguments.done", **place, arguments=item["arguments"])
        else:
            send("output_item.added", output_index=index, item={**item, "status": "in_progress"})
            send(f"{item['type']}.searching", output_index=index, item_id=item["id"])
        send("output_item.done", output_index=index, item=item)
    send(whole["status"], response=whole)
    # What comes over the network is never the same object twice.
    return copy.deepcopy(events)


def leaving_out(events: list[Json], kept: Iterable[str]) -> list[Json]:
    """The events of a server that sends only these of its messages, and without any of them no items."""
    first, *_, last = events
    others = {index for index, item in _announced(events) if item["type"] != "message"}
    sent = [
        event
        for event in events[1:-1]
        if event["type"].removeprefix("response.") in kept or (kept and event.get("output_index") in others)
    ]
    return [first, *sent, last]


def interleaved(events: list[Json], delays: Iterable[int]) -> list[Json]:
    """The same events; those of items that are not messages come so many later, but for the first of each.

    None comes after the last message: it would say that this was not cut off.
    """
    announced = dict(_announced(events))
    delay = dict(zip(announced, itertools.cycle(delays), strict=False))
    *before, last = events
    is_message = [
        announced.get(event.get("output_index", -1), {}).get("type") == "message" for event in before
    ]
    end = max((at for at, one in enumerate(is_message) if one), default=0)

    def place(at: int) -> int:
        event = before[at]
        if is_message[at] or "output_index" not in event or event["type"] == "response.output_item.added":
            return at
        return max(at, min(at + delay[event["output_index"]], end))

    mixed = [before[at] for at in sorted(range(len(before)), key=place)]
    return [{**event, "sequence_number": number} for number, event in enumerate([*mixed, last])]


def _announced(events: list[Json]) -> list[tuple[int, Json]]:
    return [
        (event["output_index"], event["item"])
        for event in events
        if event["type"] == "response.output_item.added"
    ]


# A host -------------------------------------------------------------------------------------------


def read_whole(answers: list[Json], options: Options, request: Json = REQUEST) -> tuple[Json, Exchange]:
    exchange = Exchange(responses, request, options)
    for answer in answers:
        if (read := exchange.whole(answer)) is not None:
            return dict(read), exchange
    raise AssertionError("asked again once too often")


def read_stream(
    answers: list[list[Json]], options: Options, request: Json = REQUEST
) -> tuple[list[Json], Exchange]:
    exchange = Exchange(responses, request, options)
    stream = exchange.stream()
    sent: list[Json] = []
    for answer in answers:
        for event in answer:
            read = stream.feed(event)
            sent += [event] if read is None else read
        sent += stream.end()
        if not stream.should_retry:
            assert stream.ended or not stream.holds
            return sent, exchange
        exchange.retry()
    raise AssertionError("asked again once too often")


def plain(output: list[Json]) -> list[Json]:
    """Without the random ids of our calls, which must differ."""
    calls = [item for item in output if item["type"] == "function_call"]
    ids = [item["id"] for item in calls] + [item["call_id"] for item in calls]
    assert len(set(ids)) == len(ids)
    return [
        {**item, "id": None, "call_id": None} if item["type"] == "function_call" else item for item in output
    ]


def kinds(events: list[Json]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def accumulate(events: list[Json], *, in_turn: bool = True, all_deltas: bool = True) -> list[Json]:
    """What a host makes of a stream, which must be exactly in order.

    Args:
        in_turn: The provider ends one item before it begins the next.
        all_deltas: It sends every text in deltas, with the logprobs of what it says.
    """
    items: dict[int, Json] = {}
    done: dict[int, Json] = {}
    ids: set[str] = set()
    carried: list[Json] = []
    for number, event in enumerate(events):
        assert event["sequence_number"] == number
        kind, index = event["type"].removeprefix("response."), event.get("output_index")
        if kind == "output_item.added":
            assert index == len(items)
            still_open = [items[index] for index in items.keys() - done.keys()]
            assert not [item for item in still_open if in_turn or item["type"] == "message"], "one by one"
            items[index] = copy.deepcopy(event["item"])
            assert event["item"]["id"] not in ids
            ids.add(event["item"]["id"])
            if event["item"]["type"] in ("message", "function_call") and "status" in event["item"]:
                assert event["item"].get("content", []) == []
        elif index is not None:
            item = items[index]
            assert index not in done
            assert event.get("item_id", item["id"]) == item["id"]
            if kind == "content_part.added":
                assert event["content_index"] == len(item["content"])
                item["content"].append(copy.deepcopy(event["part"]))
                if event["part"]["type"] == "output_text":
                    assert not any(event["part"].get(key) for key in ("text", "annotations", "logprobs"))
                    carried = []
            elif kind == "output_text.delta":
                assert event["delta"]
                carried += event["logprobs"]
                item["content"][event["content_index"]]["text"] += event["delta"]
            elif kind == "output_text.annotation.added":
                annotations = item["content"][event["content_index"]]["annotations"]
                assert event["annotation_index"] == len(annotations)
                annotations.append(event["annotation"])
            elif kind == "output_text.done":
                part = item["content"][event["content_index"]]
                assert event["text"] == part["text"]
                if all_deltas:
                    assert carried[: len(event["logprobs"])] == event["logprobs"]
                if "logprobs" in part:
                    part["logprobs"] = event["logprobs"]
            elif kind == "refusal.delta":
                item["content"][event["content_index"]]["refusal"] += event["delta"]
            elif kind == "content_part.done":
                assert event["part"] == item["content"][event["content_index"]]
            elif kind == "function_call_arguments.delta":
                item["arguments"] += event["delta"]
            elif kind == "function_call_arguments.done":
                assert event["arguments"] == item["arguments"]
            elif kind == "output_item.done":
                assert {**item, "status": ""} == {**event["item"], "status": ""}
                done[index] = event["item"]
    assert set(items) == set(done)
    return [done[index] for index in sorted(done)]
