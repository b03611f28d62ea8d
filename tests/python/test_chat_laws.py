"""Chat answers, generated: whole and streamed they have the same parts."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import generate
from chat_support import (
    BAD,
    BASE,
    GET,
    Json,
    accumulated,
    asking,
    body,
    chunk,
    chunks,
    exchange,
    streamed,
)
from law import LAW

ANSWER_OPTIONS = st.fixed_dictionaries(
    {
        "on_error": st.sampled_from(["retry", "text", "native"]),
        "max_retries": st.sampled_from([0, 1, 2]),
        "strip_preamble": st.booleans(),
        "emit_raw_on_error": st.booleans(),
        "strict": st.booleans(),
    }
)
REASON = st.sampled_from(["stop", "stop", "stop", "length", "content_filter"])


def answers(seed: int) -> tuple[list[Json], list[str]]:
    """Tools, and what a model that is asked again and again says."""
    rng = random.Random(seed)
    tools = generate.toolset(rng)
    texts = [generate.message(rng, tools).encode("utf-8", "replace").decode() for _ in range(3)]
    if rng.random() < 0.3:
        texts[0] = "Let me see. " + BAD + " So."
    listed = [
        {"type": "function", "function": {"name": name, "parameters": of}} for name, of in tools.items()
    ]
    return listed or [GET], texts


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32), ANSWER_OPTIONS, REASON, st.sampled_from(["auto", "required"]), st.booleans())
def test_whole_and_streamed_are_the_same(
    seed: int, options: Any, reason: str, choice: str, parallel: bool
) -> None:
    tools, texts = answers(seed)
    request = asking(tools=tools, tool_choice=choice, parallel_tool_calls=parallel)
    rng = random.Random(seed)

    once = exchange(request, **options)
    found = None
    for attempt, text in enumerate(texts):
        given = body(text, reason=reason, reasoning_content=f"hm{attempt}.")
        given["usage"] = {"total_tokens": 3 + attempt, "details": {"cached": 1}}
        found = once.whole(given)
        if found is not None:
            break
    assert found is not None
    message = found["choices"][0]["message"]

    again = exchange(request, **options)
    stream = again.stream()
    events: list[Json] = []
    for attempt, text in enumerate(texts):
        size = rng.choice((1, 2, 5, 100_000))
        given_events = chunks([text[at : at + size] for at in range(0, len(text), size)], reason)
        given_events.insert(1, chunk({"reasoning_content": f"hm{attempt}."}))
        usage = {"total_tokens": 3 + attempt, "details": {"cached": 1}}
        given_events.append({**BASE, "id": f"c{attempt}", "choices": [], "usage": usage})
        for event in given_events:
            event = {**event, "id": f"c{attempt}"}
            out = stream.feed(event)
            events += [event] if out is None else out
        events += stream.end()
        if not stream.should_retry:
            break
        again.retry()

    assert again.request == once.request
    [read] = accumulated(events).values()
    calls = [
        [call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls") or ()
    ]
    assert [call[:2] for call in read["calls"]] == calls
    assert read["content"] == (message["content"] or "")
    assert read["reason"] == found["choices"][0]["finish_reason"]
    assert read["reasoning"] == message["reasoning_content"]
    assert events[-1]["usage"] == found["usage"]
    assert {event["id"] for event in events} == {"c0"}
    assert sum("role" in choice["delta"] for event in events for choice in event["choices"]) == 1
    assert not stream.holds


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32), ANSWER_OPTIONS)
def test_several_choices_are_read_each_on_its_own(seed: int, options: Any) -> None:
    tools, texts = answers(seed)
    request = asking(tools=tools, n=3, tool_choice="required", parallel_tool_calls=False)
    rng = random.Random(seed)
    alone = []
    for text in texts:
        single = exchange({**request, "n": 2}, **options).whole(body(text))
        assert single is not None
        alone.append(single["choices"][0])
    found = exchange(request, **options).whole(body(*texts))
    assert found is not None

    def said(choice: Json) -> Any:
        calls = [call["function"] for call in choice["message"].get("tool_calls") or ()]
        return choice["message"]["content"], calls, choice["finish_reason"]

    assert [said(choice) for choice in found["choices"]] == [said(choice) for choice in alone]
    queues = [chunks(list(text), index=index) for index, text in enumerate(texts)]
    mixed = []
    while any(queues):
        mixed.append(rng.choice([queue for queue in queues if queue]).pop(0))
    for index, state in accumulated(streamed(mixed, request=request, **options)).items():
        content, calls, reason = said(alone[index])
        assert state["content"] == (content or "")
        assert state["reason"] == reason
        assert [call[:2] for call in state["calls"]] == [[call["name"], call["arguments"]] for call in calls]


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32))
def test_streamed_arguments_are_those_of_whole_calls(seed: int) -> None:
    tools, texts = answers(seed)
    events = chunks(list(texts[0]))
    request = asking(tools=tools)
    made = streamed(events, request=request, stream_arguments=True, on_error="text")
    plain = streamed(events, request=request, on_error="text")
    broken = [event for event in made if "error" in event]
    if broken:
        assert made[-1:] == broken
        assert all(choice["finish_reason"] is None for event in made[:-1] for choice in event["choices"])
    else:
        [one], [two] = accumulated(made).values(), accumulated(plain).values()
        assert (one["content"], one["reason"]) == (two["content"], two["reason"])
        assert [call[:2] for call in one["calls"]] == [call[:2] for call in two["calls"]]
