"""OpenAI's chat completions, which many servers speak.

Structured output (`response_format`) with tools stays as it is, and the manual is added. A provider
that forces the form while it samples then leaves the model no way to write a call; where it is only a
request, the model may do either.
"""

from wirecall._apis.base import Api
from wirecall._apis.chat.answer import read_answer
from wirecall._apis.chat.conversation import ChatFormat
from wirecall._apis.chat.request import (
    adapt_request,
    constrain,
    parse_request,
    retry_request,
    rewrite_request,
)
from wirecall._apis.chat.stream import ChatStream, stream_error

api = Api(
    name="chat",
    routes={"/chat/completions": True},
    message_format=ChatFormat(),
    parse_request=parse_request,
    rewrite_request=rewrite_request,
    constrain=constrain,
    adapt_request=adapt_request,
    retry_request=retry_request,
    read_answer=read_answer,
    open_stream=ChatStream,
    stream_error=stream_error,
    names_events=False,
    tool_keys=("tools", "functions"),
    input_tokens_keys=("prompt_tokens",),
    output_tokens_key="completion_tokens",
)
