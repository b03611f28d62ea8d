"""Summaries by a model, through the clients of OpenAI and Anthropic, wrapped or bare. No SDK is imported."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, overload

from wirecall._apis.conversation import AnswerText, MessageFormat
from wirecall._apis.registry import apis
from wirecall._apis.values import dict_of
from wirecall.compaction._summary import MAX_SUMMARY_TOKENS, Flat

# Anthropic's API requires that a user speaks first.
_FIRST = {"role": "user", "content": "[The conversation begins]"}


class SummaryError(Exception):
    """The model refused to summarise, or its summary was cut off. Nothing is compacted."""


class AsyncClient(Protocol):
    """What distinguishes an async client from a sync one."""

    async def __aenter__(self) -> Any: ...


@overload
def summarizer(
    client: AsyncClient, *, model: str, max_tokens: int = ..., **parameters: Any
) -> Callable[[Flat], Awaitable[str]]: ...


@overload
def summarizer(
    client: object, *, model: str, max_tokens: int = ..., **parameters: Any
) -> Callable[[Flat], str]: ...


def summarizer(
    client: Any, *, model: str, max_tokens: int = MAX_SUMMARY_TOKENS, **parameters: Any
) -> Callable[[Flat], str] | Callable[[Flat], Awaitable[str]]:
    """A `summarize` that asks a model, and raises `SummaryError` if the answer is cut off or a refusal.

    Args:
        client: An `OpenAI`, `AsyncOpenAI`, `Anthropic` or `AsyncAnthropic`, wrapped or not, or a client with
            the same methods. With an async one the result is a coroutine function, for `acompact_messages`.
        model: The name of the model.
        max_tokens: The maximum number of tokens of the answer. Reasoning counts, so models that reason
            need more. OpenAI itself gets it as `max_completion_tokens`.
        parameters: Other parameters of the request, such as `temperature`.

    Raises:
        TypeError: `client` is not one of these.
    """
    create, format = _method(client)
    given = {"model": model, format.limit_key(client, parameters): max_tokens, **parameters}

    def ask(messages: Flat) -> str:
        return _checked(format.answer_text(dict_of(create(messages=_alternating(messages), **given))))

    async def ask_async(messages: Flat) -> str:
        return _checked(format.answer_text(dict_of(await create(messages=_alternating(messages), **given))))

    return ask_async if hasattr(client, "__aenter__") else ask


def _alternating(messages: Flat) -> Flat:
    """Alternates users and assistants, a user first, as Anthropic's API and many chat templates require."""
    merged: Flat = []
    for message in messages if messages[0]["role"] == "user" else [_FIRST, *messages]:
        if merged and merged[-1]["role"] == message["role"]:
            content = f"{merged[-1]['content']}\n\n{message['content']}"
            merged[-1] = {"role": message["role"], "content": content}
        else:
            merged.append(message)
    return merged


def _method(client: object) -> tuple[Any, MessageFormat]:
    """The method that sends a request, and the format of its messages."""
    for api in apis().values():
        format, found = api.message_format, client
        for name in format.client_method:
            found = getattr(found, name, None)
        if found is not None and format.client_method:
            return found, format
    raise TypeError(f"a summarizer needs a client of openai or anthropic, not {type(client).__name__}")


def _checked(answer: AnswerText) -> str:
    if answer.refusal:
        raise SummaryError(f"the model refused to summarise: {answer.refusal}")
    if answer.is_refused:
        raise SummaryError(f"the model did not summarise: its answer ended with {answer.reason!r}")
    if answer.is_cut and "</summary>" not in answer.text:
        raise SummaryError(f"the summary was cut off ({answer.reason!r}): raise max_tokens of the summarizer")
    return answer.text
