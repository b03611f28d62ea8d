"""What compaction needs to know about a message: who speaks, and which calls and results it contains.

A `MessageFormat` is one API's way to write a conversation. It is stateless. Arguments are never mutated, and
unknown parts stay where they are, the same objects. Messages may be dicts or SDK objects with `model_dump`,
alone or inside dicts, as applications append answers to their histories.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from wirecall._apis.values import Json, dict_of, listed
from wirecall._tools.definitions import ApiName

Message = Any


class MixedFormatsError(ValueError):
    """A list of messages of several APIs. The error names two messages that do not fit together."""


class Call(NamedTuple):
    """A call that the application answers.

    Attributes:
        id: The id of the call; if the API has none (chat's older `function_call`), the name of the tool.
        arguments: JSON text, or a mapping.
        kind: The API's type of call; "function" is the usual one.
        textual: Its result may be a text, so a placeholder can replace a missing one.
    """

    id: str
    name: str
    arguments: object
    kind: str = "function"
    textual: bool = True


class Result(NamedTuple):
    """The result of the call with this id. `name` is the tool's, if the result contains it."""

    id: str
    name: str | None
    content: object


class MessageInfo(NamedTuple):
    """What a message contains.

    Attributes:
        role: Who speaks. "result": the application answers calls, and may say something else, too.
        calls: The calls that it makes.
        results: The results that it contains.
        joins: It belongs to the model's message right before it (in Responses, a call is a separate item).
        binds: The model's next message belongs to it (reasoning, which the API requires with its item).
        said_at: The number of results before the first other block; None if there is none.
    """

    role: Literal["system", "user", "assistant", "result"]
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    joins: bool = False
    binds: bool = False
    said_at: int | None = None

    @property
    def is_reasoning(self) -> bool:
        """Whether it is reasoning that belongs to the model's next message, and to no other."""
        return self.binds and not self.joins


SYSTEM, USER, ASSISTANT = MessageInfo("system"), MessageInfo("user"), MessageInfo("assistant")


class AnswerText(NamedTuple):
    """What the model answered to a request for a summary. `reason`: why the answer ended."""

    text: str
    reason: object
    refusal: object = None

    @property
    def is_cut(self) -> bool:
        return self.reason in ("length", "max_tokens", "model_context_window_exceeded")

    @property
    def is_refused(self) -> bool:
        return self.reason in ("content_filter", "refusal")


# Roughly what providers charge for a picture of usual size, some pages, and half a minute of speech.
IMAGE, DOCUMENT, AUDIO = 1000, 2000, 500


class MessageFormat(ABC):
    """One API's messages. All methods take a message as `dict_of` returns it.

    Attributes:
        merges: Whether consecutive messages of the model may have their results after the last of them.
        text_part: The type of a text part in a user's message.
        own_keys, own_roles: Keys and roles by which messages of this API are recognised.
        own_parts: Types of parts by which they are recognised; those that begin with "_" are suffixes.
        text_keys: Keys of messages and of their parts whose values models read.
        value_keys: Keys whose values are the model's own, or a tool's: every key in them is read.
        reasoning_keys: Names that servers have for the same reasoning: only the first one present counts.
        media: Types of parts that are not text, and roughly how many tokens providers charge.
        client_method: The method of an SDK's client that requests a summary; empty if none does.
    """

    name: ClassVar[ApiName]
    merges: ClassVar[bool] = False
    text_part: ClassVar[str] = "text"
    own_keys: ClassVar[tuple[str, ...]] = ()
    own_roles: ClassVar[tuple[str, ...]] = ()
    own_parts: ClassVar[tuple[str, ...]] = ()
    text_keys: ClassVar[tuple[str, ...]] = ()
    value_keys: ClassVar[tuple[str, ...]] = ()
    reasoning_keys: ClassVar[tuple[str, ...]] = ()
    media: ClassVar[Mapping[str, int]] = {}
    client_method: ClassVar[tuple[str, ...]] = ()

    def owns(self, message: Mapping[str, Any]) -> bool:
        """Whether no other API has such messages, whatever their parts are."""
        return message.get("role") in self.own_roles or not message.keys().isdisjoint(self.own_keys)

    @abstractmethod
    def inspect(self, message: Mapping[str, Any]) -> MessageInfo: ...

    def text(self, message: Mapping[str, Any]) -> str:
        """The texts of a message, joined by line breaks, without calls, results and reasoning."""
        content = message.get("content")
        if isinstance(content, str):
            return content
        said = (dict_of(part).get("text") for part in listed(content))
        return "\n".join(text for text in said if isinstance(text, str))

    def attachments(self, message: Mapping[str, Any]) -> list[str]:
        """Other parts that a message shows, as `[image]` or `[document: r.pdf]`."""
        parts = (dict_of(part) for part in listed(message.get("content")))
        return [named for part in parts if (named := self.attachment(part)) is not None]

    @abstractmethod
    def attachment(self, part: Mapping[str, Any]) -> str | None:
        """The same for a part of a message; None if it is not shown."""

    def user(self, text: str) -> Json:
        """A user's message."""
        return {"role": "user", "content": text}

    def merged(self, text: str, message: Mapping[str, Any]) -> Json:
        """A user's message with a text before its content."""
        content = message.get("content")
        parts = [{"type": self.text_part, "text": content}] if isinstance(content, str) else listed(content)
        return {**message, "content": [{"type": self.text_part, "text": text}, *parts]}

    @abstractmethod
    def answered(self, results: Sequence[Message], missing: Iterable[tuple[Call, str]]) -> list[Message]:
        """The messages after calls: results for the missing ones, then the existing results.

        Args:
            results: Messages with results, as they came.
            missing: Calls without a result, and the text of their result.
        """

    def split(
        self, message: Message, groups: Mapping[int, Hashable]
    ) -> tuple[dict[Hashable, Message], Message | None]:
        """Splits a message with results: one message for each group, and one for the rest. The message itself
        if there is only one.

        Args:
            groups: The groups of results, by their positions.
        """
        return (dict.fromkeys(groups.values(), message), None) if groups else ({}, message)

    @abstractmethod
    def with_results(self, message: Message, contents: Mapping[str, object]) -> Message:
        """The message with other contents (texts, or parts) for the results of these ids."""

    @abstractmethod
    def without_reasoning(self, message: Message) -> Message | None:
        """The message without reasoning: None if nothing is left, the message itself if there was none."""

    def unbound(self, message: Message) -> Message | None:
        """The message in a form that the API accepts without its reasoning; None if there is none."""
        return message

    def limit_key(self, client: object, parameters: Mapping[str, Any]) -> str:
        """The parameter that limits the tokens of an answer."""
        return "max_tokens"

    def answer_text(self, answer: Mapping[str, Any]) -> AnswerText:
        """The text of a whole answer."""
        raise NotImplementedError

    @abstractmethod
    def without_calls(self, message: Message, ids: set[str]) -> Message | None:
        """The message without these calls or results: None if nothing but reasoning is left."""
