"""Agent loops as applications write them by hand, with the bare SDKs.

A conversation builds requests and reads answers; one function for each way to send them drives it.

Nothing here knows that a client may be wrapped.
"""

import json
from collections.abc import AsyncIterable, Callable, Iterable
from typing import Any, Protocol

from application import SHOP, Json, Seen, Task, Turn

MODEL = "a-model"


class Conversation(Protocol):
    """One API's loop."""

    seen: Seen
    messages: list[Any]

    def request(self) -> Json:
        """The next request."""

    def whole(self, answer: Any) -> Turn:
        """Reads a whole answer."""

    def folded(self, events: Iterable[Any]) -> Turn:
        """Reads the events of a streamed answer."""

    def goes_on(self, turn: Turn) -> bool:
        """Runs the calls of a turn and adds both to the history; False after the final answer."""


class Chat:
    """chat.completions."""

    def __init__(self, task: Task = SHOP, **more: Any) -> None:
        self.seen = Seen(task)
        self.more = more
        self.messages: list[Json] = [
            {"role": "system", "content": task.system},
            {"role": "user", "content": task.question},
        ]

    def request(self) -> Json:
        return {
            "model": MODEL,
            "messages": self.messages,
            "tools": self.seen.task.chat_tools(),
            **self.more,
        }

    def whole(self, answer: Any) -> Turn:
        choice = answer.choices[0]
        turn = Turn(choice.message.content or "", finish=choice.finish_reason)
        for call in choice.message.tool_calls or ():
            turn.ids.append(call.id)
            turn.calls.append((call.function.name, json.loads(call.function.arguments)))
        return turn

    def folded(self, events: Iterable[Any]) -> Turn:
        turn = Turn("")
        calls: list[Json] = []
        for chunk in events:
            for choice in chunk.choices:
                assert turn.finish is None, "a chunk behind the one that ends the choice"
                turn.text += choice.delta.content or ""
                turn.finish = choice.finish_reason
                for delta in choice.delta.tool_calls or ():
                    if delta.index == len(calls):
                        assert delta.id
                        assert delta.function.name
                        assert delta.type == "function"
                        calls.append({"id": delta.id, "name": delta.function.name, "arguments": ""})
                    else:
                        assert delta.index == len(calls) - 1
                        assert delta.id is None
                        assert delta.function.name is None
                    calls[-1]["arguments"] += delta.function.arguments or ""
        turn.calls = [(call["name"], json.loads(call["arguments"])) for call in calls]
        turn.ids = [call["id"] for call in calls]
        return turn

    def goes_on(self, turn: Turn) -> bool:
        results = self.seen.take(turn)
        message: Json = {"role": "assistant", "content": turn.text or None}
        if turn.calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for id, (name, arguments) in zip(turn.ids, turn.calls, strict=True)
            ]
        self.messages.append(message)
        for id, (text, _) in zip(turn.ids, results, strict=True):
            self.messages.append({"role": "tool", "tool_call_id": id, "content": text})
        return bool(turn.calls)


class Responses:
    """Responses, with the history in the application."""

    def __init__(self, task: Task = SHOP, **more: Any) -> None:
        self.seen = Seen(task)
        self.more = more
        self.messages: list[Any] = [{"role": "user", "content": task.question}]

    def request(self) -> Json:
        return {
            "model": MODEL,
            "instructions": self.seen.task.system,
            "input": self.messages,
            "tools": self.seen.task.responses_tools(),
            "store": False,
            **self.more,
        }

    def whole(self, answer: Any) -> Turn:
        turn = Turn(answer.output_text, finish=answer.status)
        for item in answer.output:
            if item.type == "function_call":
                turn.ids.append(item.call_id)
                turn.calls.append((item.name, json.loads(item.arguments)))
        # As the documentation says: the output goes back as it came.
        self.messages += [item.to_dict() for item in answer.output]
        return turn

    def folded(self, events: Iterable[Any]) -> Turn:
        text, arguments, done = "", {}, []
        final = None
        for number, event in enumerate(events):
            assert event.sequence_number == number
            if event.type == "response.output_text.delta":
                text += event.delta
            elif event.type == "response.output_item.added":
                assert event.output_index == len(done)
                arguments[event.item.id] = ""
            elif event.type == "response.function_call_arguments.delta":
                arguments[event.item_id] += event.delta
            elif event.type == "response.function_call_arguments.done":
                assert event.arguments == arguments[event.item_id]
            elif event.type == "response.output_item.done":
                done.append(event.item)
            elif event.type in ("response.completed", "response.incomplete"):
                final = event.response
        assert final is not None
        turn = self.whole(final)
        assert turn.text == text
        assert [item.to_dict() for item in final.output] == [item.to_dict() for item in done]
        for item in final.output:
            assert item.type != "function_call" or item.arguments == arguments[item.id]
        return turn

    def goes_on(self, turn: Turn) -> bool:
        results = self.seen.take(turn)
        for id, (text, _) in zip(turn.ids, results, strict=True):
            self.messages.append({"type": "function_call_output", "call_id": id, "output": text})
        return bool(turn.calls)


class Messages:
    """Anthropic's messages."""

    def __init__(self, task: Task = SHOP, **more: Any) -> None:
        self.seen = Seen(task)
        self.more = more
        self.messages: list[Json] = [{"role": "user", "content": task.question}]

    def request(self) -> Json:
        return {
            "model": MODEL,
            "max_tokens": 1000,
            "system": self.seen.task.system,
            "messages": self.messages,
            "tools": self.seen.task.messages_tools(),
            **self.more,
        }

    def whole(self, answer: Any) -> Turn:
        turn = Turn("", finish=answer.stop_reason)
        for block in answer.content:
            if block.type == "text":
                turn.text += block.text
            elif block.type == "tool_use":
                turn.ids.append(block.id)
                turn.calls.append((block.name, block.input))
        return turn

    def folded(self, events: Iterable[Any]) -> Turn:
        turn = Turn("")
        json_text: str | None = None
        kinds: list[str] = []
        stopped = 0
        for event in events:
            if event.type == "content_block_start":
                assert event.index == len(kinds) == stopped
                kinds.append(event.content_block.type)
                if event.content_block.type == "tool_use":
                    assert event.content_block.input == {}
                    turn.ids.append(event.content_block.id)
                    turn.calls.append((event.content_block.name, {}))
                    json_text = ""
            elif event.type == "content_block_delta":
                assert event.index == len(kinds) - 1
                if event.delta.type == "text_delta":
                    turn.text += event.delta.text
                elif event.delta.type == "input_json_delta":
                    assert json_text is not None
                    json_text += event.delta.partial_json
            elif event.type == "content_block_stop":
                assert event.index == stopped
                stopped += 1
                if kinds[-1] == "tool_use":
                    turn.calls[-1] = (turn.calls[-1][0], json.loads(json_text or "{}"))
            elif event.type == "message_delta":
                turn.finish = event.delta.stop_reason
        assert stopped == len(kinds)
        return turn

    def goes_on(self, turn: Turn) -> bool:
        results = self.seen.take(turn)
        content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
        content += [
            {"type": "tool_use", "id": id, "name": name, "input": arguments}
            for id, (name, arguments) in zip(turn.ids, turn.calls, strict=True)
        ]
        self.messages.append({"role": "assistant", "content": content})
        if turn.calls:
            self.messages.append(
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
                        for id, (text, failed) in zip(turn.ids, results, strict=True)
                    ],
                }
            )
        return bool(turn.calls)


Before = Callable[[list[Any]], list[Any]] | None
CONVERSATIONS = {"chat": Chat, "responses": Responses, "messages": Messages}


def method(client: Any, api: str) -> Any:
    return {
        "chat": lambda: client.chat.completions.create,
        "responses": lambda: client.responses.create,
        "messages": lambda: client.messages.create,
    }[api]()


def past_the_sdk(request: Json) -> Json:
    """The same request, whose messages the SDK does not look at one by one: of a long history that would take
    more time than all else."""
    key = "input" if "input" in request else "messages"
    return {**request, key: [], "extra_body": {key: request[key]}}


def loop(
    client: Any,
    api: str,
    *,
    stream: bool,
    before: Before = None,
    given: Callable[[Json], Json] = dict,
    **more: Any,
) -> Seen:
    """A whole conversation, sync.

    Args:
        before: Each request the application may store another history.
        given: What the SDK is given of a request.
    """
    talk: Conversation = CONVERSATIONS[api](**more)
    create = method(client, api)
    while True:
        if before is not None:
            talk.messages = before(talk.messages)
        if stream:
            with create(**given(talk.request()), stream=True) as events:
                turn = talk.folded(list(events))
        else:
            turn = talk.whole(create(**given(talk.request())))
        if not talk.goes_on(turn):
            return talk.seen


async def loop_async(
    client: Any, api: str, *, stream: bool, given: Callable[[Json], Json] = dict, **more: Any
) -> Seen:
    """A whole conversation, async."""
    talk: Conversation = CONVERSATIONS[api](**more)
    create = method(client, api)
    while True:
        if stream:
            async with await create(**given(talk.request()), stream=True) as events:
                turn = talk.folded(await collect(events))
        else:
            turn = talk.whole(await create(**given(talk.request())))
        if not talk.goes_on(turn):
            return talk.seen


async def collect(events: AsyncIterable[Any]) -> list[Any]:
    return [event async for event in events]
