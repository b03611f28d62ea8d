"""Whole answers of the Responses API, with native calls."""

from collections.abc import Mapping
from typing import Any

from wirecall._apis.responses.stream import ResponsesStream
from wirecall._apis.values import Json
from wirecall._text.response import ResponseState


def read_answer(body: Mapping[str, Any], state: ResponseState) -> Json | None:
    # The stream of the earlier attempts is continued.
    stream = state.kept[-1] if state.kept else None
    if not isinstance(stream, ResponsesStream):
        stream = ResponsesStream(state, fragments=False)
    status = body.get("status")
    read = stream.read_whole(body, status if isinstance(status, str) else "completed")
    if read is None:
        state.kept[:] = [stream]
    return read
