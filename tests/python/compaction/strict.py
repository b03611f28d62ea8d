"""What a strict provider would refuse, in each format: how calls and results must be ordered."""

from typing import Any

from conversations import FormatName, numbers, plain

Pairs = dict[str, str | None]


class InvalidError(AssertionError):
    pass


def check(messages: list[Any], format: FormatName) -> None:
    """Raises `InvalidError`. Calls at the very end may wait for their results.

    Where calls and results have numbers, those of a pair must agree.
    """
    _CHECKS[format](plain(messages))


def _chat(messages: list[Any]) -> None:
    waiting: Pairs = {}
    began = False
    for message in messages:
        role = message["role"]
        if role in ("system", "developer") and began:
            raise InvalidError("system message behind the others")
        began = began or role not in ("system", "developer")
        if role == "tool":
            _answer(waiting, message["tool_call_id"], message)
        elif waiting:
            raise InvalidError(f"no results for {list(waiting)} in front of {role}")
        for call in message.get("tool_calls") or ():
            _call(waiting, call["id"], call)


def _responses(messages: list[Any]) -> None:
    waiting: Pairs = {}
    began = reasoned = False
    for item in messages:
        kind = item.get("type", "message")
        role = item.get("role")
        if role in ("system", "developer") and began:
            raise InvalidError("system message behind the others")
        began = began or role not in ("system", "developer")
        if reasoned and (role == "user" or kind == "function_call_output"):
            raise InvalidError("reasoning without the item that it belongs to")
        reasoned = kind == "reasoning"
        if kind == "function_call_output":
            _answer(waiting, item["call_id"], item)
        elif waiting and role == "user":
            raise InvalidError(f"no results for {list(waiting)} in front of {role}")
        if kind == "function_call":
            _call(waiting, item["call_id"], item)


def _messages(messages: list[Any]) -> None:
    waiting: Pairs = {}
    sides: list[tuple[str, list[Any]]] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            raise InvalidError("a message without content")
        if message["role"] == "system":
            if sides:
                raise InvalidError("system message behind the others")
        elif sides and sides[-1][0] == message["role"]:
            sides[-1][1].extend(blocks)
        else:
            sides.append((message["role"], list(blocks)))
    if sides and sides[0][0] != "user":
        raise InvalidError("the first message is no user's")
    for number, (role, blocks) in enumerate(sides):
        others = False
        called = set()
        for block in blocks:
            if role == "user" and block["type"] == "tool_result":
                if others:
                    raise InvalidError("a result behind other content")
                _answer(waiting, block["tool_use_id"], block)
            else:
                others = others or role == "user"
            if block["type"] == "server_tool_use":
                called.add(block["id"])
            elif block["type"] == "web_search_tool_result" and block["tool_use_id"] not in called:
                raise InvalidError("a server tool's result without its call")
        if role == "user" and waiting and number < len(sides) - 1:
            raise InvalidError(f"no results for {list(waiting)} in message {number}")
        for block in blocks:
            if block["type"] == "tool_use":
                _call(waiting, block["id"], block)


def _call(waiting: Pairs, id: str, call: Any) -> None:
    if id in waiting:
        raise InvalidError(f"two calls {id} wait at once")
    waiting[id] = next((said[1:] for said in numbers(call) if said[0] == "c"), None)


def _answer(waiting: Pairs, id: str, result: Any) -> None:
    if id not in waiting:
        raise InvalidError(f"a result of {id}, which nobody waits for")
    number = waiting.pop(id)
    said = next((said[1:] for said in numbers(result) if said[0] == "r"), number)
    if said != number:
        raise InvalidError(f"the result of call {said} stands for call {number}")


_CHECKS = {"chat": _chat, "responses": _responses, "messages": _messages}
