"""What requests and answers hold beside their messages."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._apis.conversation import Message
from wirecall._apis.registry import apis
from wirecall._apis.values import listed
from wirecall.compaction._counting import Count, texts, written

Request = Mapping[str, Any]


def beside(request: Request, count: Count) -> float:
    """Tokens of the system text and the tools that are not messages."""
    known = apis().values()
    system = (text for api in known if api.system_key for text in texts(request.get(api.system_key)))
    keys = {key for api in known for key in api.tool_keys}
    tools = (written(one) for key in keys for one in listed(request.get(key)))
    return sum(map(count, system)) + sum(map(count, tools))


def are_same(messages: Sequence[Message], others: Sequence[Message]) -> bool:
    return len(messages) == len(others) and all(map(operator.is_, messages, others))
