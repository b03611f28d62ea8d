"""What old messages can do without: reasoning, calls, contents of results."""

import copy
import random
import re
from typing import Any

import pytest
from conversations import FORMATS, conversation, plain
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import case
from strict import check

from law import law
from wirecall import compact_context
from wirecall._apis.registry import api_named
from wirecall.compaction import Clear, Prune
from wirecall.compaction._pruning import CLEARED, EXPLANATION


def sent(messages: list[Any], format: Any = "chat", **options: Any) -> Any:
    """The whole request."""
    key = "input" if format == "responses" else "messages"
    before = copy.deepcopy(plain(messages))
    request = {key: messages}
    made = compact_context(**options).on_request(request, api=format)
    assert plain(messages) == before
    assert (made is request) == (made[key] is messages)
    return made


def thought(text: str) -> Any:
    return {"type": "thinking", "thinking": text, "signature": "s"}


def use(id: str, name: str = "read") -> Any:
    return {"type": "tool_use", "id": id, "name": name, "input": {}}


def answer(*ids: str) -> Any:
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": f"of {id}"} for id in ids]
    return {"role": "user", "content": blocks}


MESSAGES: list[Any] = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": [thought("1"), {"type": "text", "text": "b"}]},
    {"role": "user", "content": "c"},
    {"role": "assistant", "content": [thought("2"), use("x"), use("y", "write")]},
    answer("x", "y"),
    {"role": "assistant", "content": [thought("3"), use("z")]},
    answer("z"),
]


@pytest.mark.parametrize("which", ["all", "old"])
def test_thinking_of_the_running_tool_loop_stays(which: Any) -> None:
    made = sent(MESSAGES, "messages", prune=Prune(reasoning=which))["messages"]
    assert made[1] == {"role": "assistant", "content": [{"type": "text", "text": "b"}]}
    assert made[2:] == MESSAGES[2:]
    assert all(one is other for one, other in zip(made[2:], MESSAGES[2:], strict=True))


def test_reasoning_in_front_of_the_last_messages() -> None:
    messages = [*MESSAGES, {"role": "assistant", "content": "done"}, {"role": "user", "content": "d"}]
    for keep, left in ((1, []), (2, []), (4, ["3"]), (5, ["3"]), (6, ["2", "3"]), (99, ["1", "2", "3"])):
        made = sent(messages, "messages", prune=Prune(reasoning="old", keep_messages=keep))["messages"]
        blocks = [block for one in made if isinstance(one["content"], list) for block in one["content"]]
        assert [block["thinking"] for block in blocks if block["type"] == "thinking"] == left


def test_reasoning_of_chat_completions() -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "reasoning_content": "why"},
        {"role": "assistant", "content": None, "reasoning": "nothing else"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d", "reasoning": "running"},
    ]
    made = sent(messages, prune=Prune(reasoning="all"))["messages"]
    assert made == [messages[0], {"role": "assistant", "content": "b"}, *messages[3:]]


def test_items_of_responses_are_sent_without_the_ids_that_ask_for_reasoning() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "r"}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    user = {"role": "user", "content": "u"}

    def left(*items: Any, **options: Any) -> Any:
        return sent([user, *items, user], "responses", prune=Prune(reasoning="all", **options))["input"][1:-1]

    free_call = {key: value for key, value in call.items() if key != "id"}
    free_said = {key: value for key, value in said.items() if key != "id"}
    assert left(reasoning, call, output, said) == [free_call, output, said]
    assert left(reasoning, said) == [free_said]
    assert left(reasoning, said, call, output) == [free_said, free_call, output]
    # What the server did cannot be sent without its reasoning.
    assert left(reasoning, search, said) == [reasoning, search, said]
    assert left(said, call, output) == [said, call, output]


def test_an_answer_of_responses_that_is_half_old_keeps_its_reasoning() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    user = {"role": "user", "content": "u"}
    items = [user, reasoning, said, user]
    assert sent(items, "responses", prune=Prune(reasoning="old", keep_messages=2))["input"] is items
    assert len(sent(items, "responses", prune=Prune(reasoning="old", keep_messages=1))["input"]) == 3


def test_calls_go_with_their_results() -> None:
    messages = [*MESSAGES, {"role": "assistant", "content": "done"}]
    made = sent(messages, "messages", prune=Prune(calls="all"))["messages"]
    assert made == [*messages[:3], messages[7]]
    made = sent(messages, "messages", prune=Prune(calls="old", keep_messages=2))["messages"]
    assert made == [*messages[:3], *messages[5:]]
    # Results that are not old keep their calls.
    made = sent(messages, "messages", prune=Prune(calls="old", keep_messages=4))["messages"]
    assert made is messages
    made = sent(messages, "messages", prune=Prune(calls="all", tools=("w*",)))["messages"]
    assert made[3] == {"role": "assistant", "content": [thought("2"), use("x")]}
    assert made[4] == answer("x")


@pytest.mark.parametrize("id", [7, None, ["x"], {"of": "it"}])
def test_ids_that_are_no_str_are_ids_all_the_same(id: Any) -> None:
    user = {"role": "user", "content": "a"}
    call = {"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": "r"},
    ]
    assert sent([user, *chat, user], prune=Prune(calls="all"))["messages"] == [user, user]
    searched = [
        {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": id, "content": []},
    ]
    messages = [{"role": "assistant", "content": [*searched, use("x")]}, answer("x"), user]
    made = sent(messages, "messages", prune=Prune(calls="all"))["messages"]
    assert made == [{"role": "assistant", "content": searched}, user]


def test_calls_with_the_same_id_are_told_apart() -> None:
    def turn(content: str) -> list[Any]:
        call = {"id": "call_0", "type": "function", "function": {"name": content, "arguments": "{}"}}
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": content},
        ]

    messages = [{"role": "user", "content": "a"}, *turn("old"), *turn("new")]
    made = sent(messages, prune=Prune(calls="old", keep_messages=2))["messages"]
    assert made == [messages[0], *messages[3:]]
    made = sent(messages, prune=Prune(calls="all", tools=["new"]))["messages"]
    assert made == messages[:3]


def test_reasoning_goes_with_its_call() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "r"}
    said = {"role": "assistant", "content": "s"}
    user = {"role": "user", "content": "u"}

    def left(*items: Any) -> Any:
        return sent([user, *items], "responses", prune=Prune(calls="all"))["input"][1:]

    assert left(reasoning, call, output) == []
    assert left(reasoning, call, output, user) == [user]
    assert left(reasoning, said, call, output, user) == [reasoning, said, user]


def test_a_call_without_a_result_stays() -> None:
    messages = [*MESSAGES, {"role": "assistant", "content": [use("later")]}]
    made = sent(messages, "messages", prune=Prune(calls="all"))["messages"]
    assert made[-1] is messages[-1]


def test_several_rules_count_one_after_the_other() -> None:
    rules = [Prune(calls="all", tools=["read"]), Prune(calls="all", tools=["write"]), Prune(reasoning="all")]
    made = sent(MESSAGES, "messages", prune=rules)["messages"]
    assert len(made) == 3


@law(20)
@given(
    st.integers(0, 2**32),
    st.sampled_from(FORMATS),
    st.sampled_from(["all", "old", None]),
    st.sampled_from(["all", "old", None]),
    st.integers(1, 30),
)
def test_what_is_left_is_valid(seed: int, format: Any, reasoning: Any, calls: Any, keep: int) -> None:
    messages = conversation(random.Random(seed), format, turns=20, tame=True).messages
    try:
        check(messages, format)
    except AssertionError:  # a system message after others
        return
    rule = Prune(reasoning=reasoning, calls=calls, keep_messages=keep)
    made = sent(messages, format, prune=rule)
    made = made["input" if format == "responses" else "messages"]
    check(made, format)
    if "all" not in (reasoning, calls):
        assert [id(one) for one in made[-keep:]] == [id(one) for one in messages[-keep:]]
    if calls == "all":
        assert not any(
            of.inspect(one).calls or of.inspect(one).results
            for one in made
            for of in [api_named(format).message_format]
        )


def test_case_18_placeholders() -> None:
    example = case("c18")
    made = sent(example["messages"], clear=Clear(example["options"]["clear"][0]["keepRecent"]))["messages"]
    contents = [one["content"] for one in made if one["role"] == "tool"]
    assert contents == example["expected"]["tool_contents"]
    assert len(made) == example["expected"]["length"]


def test_the_system_text_explains_placeholders() -> None:
    chat = [{"role": "system", "content": "s"}, *case_of_chat()]
    made = sent(chat, clear=Clear())["messages"]
    assert made[0] == {"role": "system", "content": f"s\n\n{EXPLANATION}"}
    assert len(made) == len(chat)
    parts = [{"role": "developer", "content": [{"type": "text", "text": "s"}]}, *case_of_chat()]
    made = sent(parts, clear=Clear())["messages"]
    assert made[0]["content"] == [{"type": "text", "text": "s"}, {"type": "text", "text": EXPLANATION}]
    assert sent(MESSAGES, "messages", clear=Clear())["system"] == EXPLANATION
    context = compact_context(clear=Clear())
    request: Any = {"messages": MESSAGES, "system": [{"type": "text", "text": "s"}]}
    assert context.on_request(request, api="messages")["system"][1]["text"] == EXPLANATION
    items = [{"type": "function_call_output", "call_id": str(number), "output": "r"} for number in range(3)]
    request = {"input": items, "instructions": "i"}
    made = context.on_request(request, api="responses")
    assert made["instructions"] == f"i\n\n{EXPLANATION}"
    assert [one["output"] for one in made["input"]] == [CLEARED, CLEARED, "r"]
    # Nothing is cleared: nothing is explained.
    request = {"input": items[:1], "instructions": "i"}
    assert context.on_request(request, api="responses") is request


def case_of_chat() -> list[Any]:
    return [{"role": "tool", "tool_call_id": str(number), "content": "r"} for number in range(3)]


@pytest.mark.parametrize(
    ("keep", "kept"), [(0, 1), (-3, 1), (1, 1), (2, 2), (2.9, 2), (3, 3), (99, 3), (float("inf"), 3)]
)
def test_how_many_results_stay(keep: float, kept: int) -> None:
    made = sent(MESSAGES, "messages", clear=Clear(keep))["messages"]
    results = [block for one in (made[4], made[6]) for block in one["content"]]
    assert [block["content"] for block in results] == [
        *[CLEARED] * (3 - kept),
        *["of x", "of y", "of z"][3 - kept :],
    ]


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: Prune(reasoning="some"), ValueError, "reasoning is 'some'"),  # type: ignore[arg-type]
        (lambda: Prune(calls=True), ValueError, "calls is True"),  # type: ignore[arg-type]
        (lambda: Prune(keep_messages=0), ValueError, "keep_messages is 0"),
        (lambda: Prune(keep_messages=1.5), TypeError, "keep_messages must be an int"),  # type: ignore[arg-type]
        (lambda: Prune(tools="read"), TypeError, "tools must be a sequence"),
        (lambda: Clear("1"), TypeError, "keep_recent is '1'"),  # type: ignore[arg-type]
        (lambda: Clear(float("nan")), TypeError, "keep_recent is nan"),
    ],
)
def test_wrong_options_are_named(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        make()
