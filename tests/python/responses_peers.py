"""A provider and a host of the Responses API, for tests: what is sent, and what is made of it."""

import copy
import itertools
from typing import Any

Json = dict[str, Any]

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
                    empty = {**part, "text": "", "annotations": [], "logprobs": []}
                    send("content_part.added", **place, part=empty)
                    for piece in cut(part["text"], cycle):
                        send("output_text.delta", **place, delta=piece, logprobs=[])
                    for count, one in enumerate(part["annotations"]):
                        send("output_text.annotation.added", **place, annotation_index=count, annotation=one)
                    send("output_text.done", **place, text=part["text"], logprobs=part["logprobs"])
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


# A host -------------------------------------------------------------------------------------------


def accumulate(events: list[Json]) -> list[Json]:
    """What a host makes of a stream, which must be exactly in order."""
    items: dict[int, Json] = {}
    done: dict[int, Json] = {}
    ids: set[str] = set()
    for number, event in enumerate(events):
        assert event["sequence_number"] == number
        kind, index = event["type"].removeprefix("response."), event.get("output_index")
        if kind == "output_item.added":
            assert index == len(items)
            assert set(items) == set(done), "one item after the other"
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
            elif kind == "output_text.delta":
                assert event["delta"]
                item["content"][event["content_index"]]["text"] += event["delta"]
            elif kind == "output_text.annotation.added":
                annotations = item["content"][event["content_index"]]["annotations"]
                assert event["annotation_index"] == len(annotations)
                annotations.append(event["annotation"])
            elif kind == "output_text.done":
                part = item["content"][event["content_index"]]
                assert event["text"] == part["text"]
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
