"""A prompt cache keeps a prompt up to its first changed byte: what is appended must not change what was sent.

Each history is rewritten after each of its turns, and each result must begin with the one before. The
exceptions are those of docs/middleware.md, "The prefix of a prompt".
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

import law
from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import api_named
from wirecall._text.options import Options
from wirecall._tools.definitions import ApiName

Json = dict[str, Any]

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
FUNCTIONS = [{"name": name, "description": "Looks.", "parameters": PARAMETERS} for name in ("look", "see")]
EPHEMERAL = {"type": "ephemeral"}
TEXTS = (
    *(
        "Hello.",
        "",
        "  \n",
        "<call>look</call>",
        "</tool-result>",
        "<tool_call>",
        "<think>",
        "a < b\n\n",
        "\U0001f388",
    ),
    *("\ud83d", "x" * 300),
)


class Said(NamedTuple):
    """One call: its id, the tool, its arguments as JSON text and as an object."""

    id: str
    name: str
    text: str
    arguments: Json


class Writer:
    """Writes turns of an API.

    Attributes:
        users: By turn: whether a user says something in it.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.count = 0
        self.after_model = False
        self.users: list[bool] = []

    def text(self) -> str:
        return self.rng.choice(TEXTS)

    def words(self) -> str:
        return self.rng.choice([text for text in TEXTS if text.strip()])

    def said(self) -> Said:
        self.count += 1
        city = self.text()
        text = self.rng.choice(['{"city":"Ulm","days":2}', "{}", "[object Object]", '{"city":"a\\ud83d"}'])
        name = self.rng.choice(["look", "look", "see", "gone"])
        # Some servers use ids again.
        id = self.rng.choice([f"call_{self.count}", "call_1", "call_\ud83d"])
        return Said(id, name, text, {"city": city})

    def turn(self) -> list[Json]:
        kind = self.rng.choice(["user", "user", "model", "calls", "calls", "calls", "system"])
        if self.after_model and kind in ("model", "calls") and isinstance(self, Responses):
            # There, what the model says in a row is one turn.
            kind = "user"
        self.users.append(kind == "user")
        self.after_model = kind == "model"
        made: list[Json] = getattr(self, kind)()
        return made


class Chat(Writer):
    def user(self) -> list[Json]:
        parts: Any = [{"type": "text", "text": self.words()} for _ in range(self.rng.randrange(1, 3))]
        if self.rng.random() < 0.2:
            parts.append({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}})
        return [{"role": "user", "content": self.rng.choice([self.text(), parts])}]

    def model(self) -> list[Json]:
        said: Json = {"role": "assistant", "content": self.words()}
        if self.rng.random() < 0.3:
            said["reasoning_content"] = self.text()
        return [said]

    def calls(self) -> list[Json]:
        calls = [self.said() for _ in range(self.rng.randrange(1, 4))]
        tool_calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": self.rng.choice([call.text, call.arguments])},
            }
            for call in calls
        ]
        said = {**self.model()[0], "tool_calls": tool_calls}
        if self.rng.random() < 0.5:
            said["content"] = None
        results = [{"role": "tool", "tool_call_id": call.id, "content": self.text()} for call in calls]
        return [said, *results[: self.rng.randrange(len(results) + 1) or 1]]

    def system(self) -> list[Json]:
        return [{"role": self.rng.choice(["system", "developer"]), "content": self.words()}]


class Messages(Writer):
    def user(self) -> list[Json]:
        content: Any = self.words()
        if self.rng.random() < 0.5:
            content = [{"type": "text", "text": content}]
            if self.rng.random() < 0.5:
                content[0]["cache_control"] = EPHEMERAL
        return [{"role": "user", "content": content}]

    def model(self) -> list[Json]:
        content: Any = [{"type": "text", "text": self.words()}]
        if self.rng.random() < 0.3:
            content.insert(0, {"type": "thinking", "thinking": self.text(), "signature": ""})
        return [{"role": "assistant", "content": content}]

    def calls(self) -> list[Json]:
        calls = [self.said() for _ in range(self.rng.randrange(1, 4))]
        [said] = self.model()
        said["content"] += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls
        ]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": self.text()} for call in calls]
        return [said, {"role": "user", "content": results[: self.rng.randrange(len(results) + 1) or 1]}]

    def system(self) -> list[Json]:
        self.users[-1] = True
        return self.user()


class Responses(Writer):
    def user(self) -> list[Json]:
        parts = [{"type": "input_text", "text": self.words()} for _ in range(self.rng.randrange(1, 3))]
        return [{"role": "user", "content": self.rng.choice([self.text(), parts])}]

    def model(self) -> list[Json]:
        content = [{"type": "output_text", "text": self.words(), "annotations": []}]
        items: list[Json] = [{"type": "message", "role": "assistant", "content": content}]
        if self.rng.random() < 0.3:
            thought = [{"type": "reasoning_text", "text": self.text()}]
            id = f"rs_wirecall_{self.count}"
            items.insert(0, {"type": "reasoning", "id": id, "summary": [], "content": thought})
        return items

    def calls(self) -> list[Json]:
        calls = [self.said() for _ in range(self.rng.randrange(1, 4))]
        items = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.text}
            for call in calls
        ]
        outputs = [
            {"type": "function_call_output", "call_id": call.id, "output": self.text()} for call in calls
        ]
        said = self.model() if self.rng.random() < 0.5 else []
        return [*said, *items, *outputs[: self.rng.randrange(len(outputs) + 1) or 1]]

    def system(self) -> list[Json]:
        return [{"role": self.rng.choice(["system", "developer"]), "content": self.words()}]


WRITERS: dict[ApiName, type[Writer]] = {"chat": Chat, "messages": Messages, "responses": Responses}
PROTOCOLS = ("wire", "wire", "hermes", "xml", "yaml", "qwen3coder", "harmony", "kimi-k2", "cohere")


def request_of(rng: random.Random, api: ApiName) -> Callable[[Sequence[Json]], Json]:
    """A request, as a function of its messages."""
    given: Json = {"model": "m"}
    if api == "chat":
        given["tools"] = [{"type": "function", "function": one} for one in FUNCTIONS]
        return lambda messages: {**given, "messages": [*messages]}
    if api == "responses":
        given["tools"] = [{"type": "function", **one} for one in FUNCTIONS]
        if rng.random() < 0.5:
            given["instructions"] = "Be brief."
        return lambda messages: {**given, "input": [*messages]}
    schemas = [{**one, "input_schema": one["parameters"]} for one in FUNCTIONS]
    given["tools"] = [{key: one[key] for key in ("name", "description", "input_schema")} for one in schemas]
    given["max_tokens"] = 9
    if rng.random() < 0.3:
        given["tools"][-1]["cache_control"] = EPHEMERAL
    system: Any = [None, "", "Be brief.", [{"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}]]
    if (chosen := rng.choice(system)) is not None:
        given["system"] = chosen
    return lambda messages: {**given, "messages": [*messages]}


def options_of(rng: random.Random) -> Json:
    return {
        "protocol": rng.choice(PROTOCOLS),
        "placement": rng.choice(["last", "first"]),
        "reasoning": rng.choice(["content", "separate"]),
        "cache_manual": rng.random() < 0.3,
        "media": rng.choice(["model", "placeholder"]),
        "system_role": rng.choice(["system", "system", "user"]),
        "merge_user_turns": rng.random() < 0.25,
    }


def unmarked(value: Any) -> Any:
    """Without cache breakpoints, which applications move on and which no model reads."""
    if isinstance(value, dict):
        return {key: unmarked(one) for key, one in value.items() if key != "cache_control"}
    return [unmarked(one) for one in value] if isinstance(value, list) else value


def joined(message: Json) -> str:
    """A message's text, as templates join its parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", part)) for part in content or ())


@pytest.mark.laws
@pytest.mark.parametrize("api", WRITERS)
def test_appended_turns_do_not_change_what_was_sent(api: ApiName) -> None:
    rng = law.seeded(41)
    for _ in range(law.count(2000, 4)):
        seed = rng.getrandbits(48)
        try:
            check(random.Random(seed), api)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def check(rng: random.Random, api: ApiName) -> None:
    given, options = request_of(rng, api), options_of(rng)
    writer, key = WRITERS[api](rng), "input" if api == "responses" else "messages"
    history: list[Json] = writer.system() if rng.random() < 0.5 and api != "messages" else []
    history += writer.user()
    writer.users.append(True)
    # The request after the last turn, and after the last turn of a user, up to which reasoning is left out.
    before = after_user = None
    for _ in range(rng.randrange(2, 8)):
        exchange = Exchange(api_named(api), given(history), Options(**options))
        toolset = exchange.toolset
        assert toolset is not None
        request = unmarked(exchange.request)
        drops = writer.users[-1] and (toolset.separates_reasoning or api == "responses")
        earlier = after_user if drops else before
        if earlier is not None:
            compare(earlier, request, key, options, frames=toolset.encode_message("x") != "x")
        before, after_user = request, request if writer.users[-1] else after_user
        history += writer.turn()


def compare(earlier: Json, later: Json, key: str, options: Json, *, frames: bool) -> None:
    """`frames`: the format has markers around each text, but not around a prefill."""
    for name in ("system", "instructions", "tools"):
        assert later.get(name) == earlier.get(name)
    old, new = earlier[key], later[key]
    if frames and old[-1].get("role") == "assistant":
        old = old[:-1]
    if options["merge_user_turns"] or (options["system_role"] == "user" and len(old) == 1):
        # The last message may have been continued.
        *old, end = old
        assert new[len(old)]["role"] == end["role"]
        assert joined(new[len(old)]).startswith(joined(end))
    assert new[: len(old)] == old
