"""Reasoning that is in the model's text: what LangChain keeps of it, as docs/clients/langchain.md says."""

from collections.abc import Callable
from typing import Any

import pytest
from brief import ANSWERS, CALL, THOUGHT, TOOLS
from langchain_core.messages import HumanMessage, ToolMessage
from server import Answer, Delivery, Server

import wirecall

# The models and ways in which LangChain keeps it.
KEPT = {("anthropic", False), ("anthropic", True), ("responses", False)}


# Asks a model of a kind, whole or streamed, with an option of `wrap`.
Asked = Callable[[str, bool, str], tuple[Any, Any, str]]


@pytest.fixture
def asked(play: Callable[..., Server], model: Callable[..., Any]) -> Asked:
    def run(kind: str, streams: bool, reasoning: str) -> tuple[Any, Any, str]:
        server = play([Answer(text, delivery=Delivery(characters=3)) for text in ANSWERS])
        return answers(server, model(kind, server), streams, reasoning)

    return run


def answers(server: Server, model: Any, streams: bool, reasoning: str) -> tuple[Any, Any, str]:
    """Two answers of a loop, and the text of the first in the request for the second."""
    bound = wirecall.wrap(model, reasoning=reasoning).bind_tools(TOOLS)

    def ask(messages: list[Any]) -> Any:
        if not streams:
            return bound.invoke(messages)
        first, *others = bound.stream(messages)
        for chunk in others:
            first += chunk
        return first

    user = HumanMessage("Where to?")
    first = ask([user])
    second = ask([user, first, ToolMessage("hot", tool_call_id=first.tool_calls[0]["id"])])
    json = server.last.json
    [again] = [given for given in json.get("messages", json.get("input")) if given["role"] == "assistant"]
    content = again["content"]
    return first, second, content if isinstance(content, str) else content[0]["text"]


def thoughts(message: Any) -> list[str]:
    """The reasoning in a message, in any of LangChain's forms."""
    found = [block for block in message.content_blocks if block["type"] == "reasoning"]
    return [
        text
        for block in found
        for text in [
            block.get("reasoning"),
            *(part["text"] for part in block.get("extras", {}).get("content", ())),
        ]
        if text
    ] + [value for key, value in message.additional_kwargs.items() if "reasoning" in key]


@pytest.mark.parametrize("streams", [False, True], ids=["invoke", "stream"])
@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_separate_reasoning_is_kept_where_the_page_says_so(asked: Asked, kind: str, streams: bool) -> None:
    first, second, again = asked(kind, streams, "separate")
    kept = (kind, streams) in KEPT
    assert thoughts(first) == (["Go where?"] if kept else [])
    assert thoughts(second) == (["Arrived."] if kept else [])
    assert again == (f"{THOUGHT}{CALL}" if kept else CALL)
    # What LangChain does not keep is missing, but never in the text.
    assert (first.text, second.text) == ("", "Done.")


@pytest.mark.parametrize("streams", [False, True], ids=["invoke", "stream"])
@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_reasoning_in_the_content_goes_back_in_every_way(asked: Asked, kind: str, streams: bool) -> None:
    first, second, again = asked(kind, streams, "content")
    assert first.text.strip() == THOUGHT.strip()
    assert second.text == ANSWERS[1]
    assert "Go where?" in again
    assert again.endswith(CALL)
