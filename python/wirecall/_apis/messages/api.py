"""Anthropic's Messages API. Token counting has the same requests, so they are rewritten in the same way."""

from wirecall._apis.base import Api
from wirecall._apis.messages.answer import read_answer
from wirecall._apis.messages.conversation import MessagesFormat
from wirecall._apis.messages.request import (
    adapt_request,
    parse_request,
    refusal,
    retry_request,
    rewrite_request,
)
from wirecall._apis.messages.stream import MessagesStream, stream_error

api = Api(
    name="messages",
    routes={"/messages": True, "/messages/count_tokens": False},
    message_format=MessagesFormat(),
    parse_request=parse_request,
    rewrite_request=rewrite_request,
    adapt_request=adapt_request,
    retry_request=retry_request,
    read_answer=read_answer,
    open_stream=MessagesStream,
    stream_error=stream_error,
    refusal=refusal,
    system_key="system",
    key_header="x-api-key",
    usage_key="message",
    input_tokens_keys=("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
)
