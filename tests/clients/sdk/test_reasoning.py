"""Reasoning that is in the model's text: how the SDKs read it in the form of their API, and send it back."""

from typing import Any

import anthropic
import openai
import pytest
from server import Answer
from wrapping import CALL, Play, got, inside, items, run
from wrapping_anthropic import ANTHROPIC, ASKED
from wrapping_openai import CHAT, OPENAI, RESPONSES

THOUGHT = "<think>\nGo where?\n</think>\n\n"
ANSWERS = [f"{THOUGHT}{CALL}", "<think>\nArrived.\n</think>\n\nDone."]
SEPARATE = {"reasoning": "separate"}
streams = pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])


def made(sdk: Any, kind: Any, server: Any) -> Any:
    return sdk.made(kind, server, SEPARATE)


@pytest.mark.parametrize("kind", OPENAI.kinds)
@streams
def test_chat(play: Play, kind: Any, streams: bool) -> None:
    server = play([Answer(text) for text in ANSWERS])

    async def ask(client: Any, messages: list[Any]) -> Any:
        asked = {**CHAT, "messages": messages}
        if not streams:
            completion = await got(client.chat.completions.create(**asked))
            return completion.choices[0].message, completion.choices[0].message.reasoning_content
        deltas = []
        async with inside(client.chat.completions.stream(**asked)) as events:
            async for event in items(events):
                if event.type == "chunk":
                    deltas.append(getattr(event.chunk.choices[0].delta, "reasoning_content", None) or "")
            completion = await got(events.get_final_completion())
        return completion.choices[0].message, "".join(deltas)

    async def loop(client: Any) -> None:
        first, thought = await ask(client, CHAT["messages"])
        assert thought == "Go where?"
        assert first.content is None or not first.content.strip()
        [call] = first.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": "there"}
        called = {"role": "assistant", "reasoning_content": thought, "tool_calls": [call.model_dump()]}
        second, thought = await ask(client, [*CHAT["messages"], called, result])
        assert (second.content, thought) == ("Done.", "Arrived.")

    run(made(OPENAI, kind, server), loop)
    # The model reads again what it wrote, and no server gets a key that it may not know.
    assert server.last.json["messages"][-2] == {"role": "assistant", "content": ANSWERS[0]}


@pytest.mark.parametrize("kind", OPENAI.kinds)
@streams
def test_responses(play: Play, kind: Any, streams: bool) -> None:
    server = play([Answer(text) for text in ANSWERS])

    async def ask(client: Any, given: Any) -> Any:
        asked = {**RESPONSES, "input": given}
        if not streams:
            return await got(client.responses.create(**asked))
        deltas = []
        async with inside(client.responses.stream(**asked)) as events:
            async for event in items(events):
                if event.type == "response.reasoning_text.delta":
                    deltas.append(event.delta)
            response = await got(events.get_final_response())
        assert "".join(deltas) == response.output[0].content[0].text
        return response

    async def loop(client: Any) -> None:
        user = {"role": "user", "content": "Where to?"}
        first = await ask(client, [user])
        reasoning, *others = first.output
        assert (reasoning.type, reasoning.content[0].text) == ("reasoning", "Go where?")
        assert type(reasoning) is openai.types.responses.ResponseReasoningItem
        [call] = [item for item in others if item.type == "function_call"]
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "there"}
        history = [item.model_dump(exclude_none=True) for item in first.output]
        second = await ask(client, [user, *history, result])
        assert second.output[0].content[0].text == "Arrived."
        assert second.output_text == "Done."

    run(made(OPENAI, kind, server), loop)
    sent = server.last.json["input"]
    assert all(item.get("type") != "reasoning" for item in sent)
    assert any(THOUGHT in str(item.get("content")) or "Go where?" in str(item) for item in sent)


@pytest.mark.parametrize("kind", ANTHROPIC.kinds)
@streams
def test_messages(play: Play, kind: Any, streams: bool) -> None:
    server = play([Answer(text) for text in ANSWERS])

    async def ask(client: Any, messages: list[Any]) -> Any:
        asked = {**ASKED, "messages": messages}
        if not streams:
            return await got(client.messages.create(**asked))
        deltas = []
        async with inside(client.messages.stream(**asked)) as events:
            async for event in items(events):
                if event.type == "thinking":
                    deltas.append(event.thinking)
            message = await got(events.get_final_message())
        assert "".join(deltas) == message.content[0].thinking
        return message

    async def loop(client: Any) -> None:
        first = await ask(client, ASKED["messages"])
        thinking, *_, call = first.content
        assert type(thinking) is anthropic.types.ThinkingBlock
        assert (thinking.thinking, thinking.signature) == ("Go where?", "")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "there"}
        # The SDK takes its own objects back.
        history = [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        second = await ask(client, [*ASKED["messages"], *history])
        assert [block.type for block in second.content] == ["thinking", "text"]
        assert (second.content[0].thinking, second.content[1].text) == ("Arrived.", "Done.")

    run(made(ANTHROPIC, kind, server), loop)
    blocks = server.last.json["messages"][-2]["content"]
    # One block: servers may put line breaks between two.
    assert [block["type"] for block in blocks] == ["text"]
    assert blocks[0]["text"] == ANSWERS[0]
