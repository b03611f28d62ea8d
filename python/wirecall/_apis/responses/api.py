"""OpenAI's Responses API.

The API has no stop sequences. Structured output (`text.format`) stays in the request: a provider that
enforces it token by token leaves the model no way to write a call, so use it where no call is wanted.
"""

from wirecall._apis.base import Api
from wirecall._apis.responses.answer import read_answer
from wirecall._apis.responses.conversation import ResponsesFormat
from wirecall._apis.responses.request import (
    adapt_request,
    constrain,
    parse_request,
    retry_request,
    rewrite_request,
)
from wirecall._apis.responses.stream import ResponsesStream, stream_error

api = Api(
    name="responses",
    routes={"/responses": True, "/responses/input_tokens": False},
    message_format=ResponsesFormat(),
    parse_request=parse_request,
    rewrite_request=rewrite_request,
    constrain=constrain,
    adapt_request=adapt_request,
    retry_request=retry_request,
    read_answer=read_answer,
    open_stream=ResponsesStream,
    stream_error=stream_error,
    messages_key="input",
    system_key="instructions",
    held_keys=("previous_response_id", "conversation"),
    usage_key="response",
    repeated_keys={
        "instructions": True,
        "tools": False,
        "tool_choice": False,
        "parallel_tool_calls": False,
    },
)
