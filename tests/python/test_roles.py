"""Conversations for chat templates without a system role, or in which turns must alternate."""

import copy
import itertools
import random
from typing import Any

import pytest

import chat_support
import messages_support
import responses_peers
from chat_support import BAD, USER, asking, call, result, rewritten, said
from law import seeded
from wirecall import Toolset
from wirecall._apis.base import Api
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

Json = dict[str, Any]
ADAPTED: list[Json] = [
    {"merge_user_turns": True},
    {"system_role": "user"},
    {"merge_user_turns": True, "system_role": "user"},
    {"merge_user_turns": True, "system_role": "user", "placement": "first"},
]


def roles(given: Any) -> list[str]:
    return [message["role"] for message in given]


def texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", f"[{part['type']}]") for part in content or ())


def words(given: Any) -> list[str]:
    return "\n".join(texts(message["content"]) for message in given).split()


def test_results_and_what_the_user_says_next_are_one_turn() -> None:
    given = asking(
        USER, said(call("a"), call("b")), result("a"), result("b"), {"role": "user", "content": "And?"}
    )
    sent = rewritten(given, merge_user_turns=True)["messages"]
    assert roles(sent) == ["system", "user", "assistant", "user"]
    plain = rewritten(given)["messages"]
    assert sent[3]["content"] == f"{plain[3]['content']}\n\nAnd?"
    assert sent[:3] == plain[:3]


def test_the_system_text_goes_into_the_first_user_message() -> None:
    given = asking({"role": "system", "content": "Be brief."}, USER)
    manual = Toolset(given["tools"]).manual()
    [only] = rewritten(given, system_role="user")["messages"]
    assert only == {"role": "user", "content": f"Be brief.\n\n{manual}\n\nHello"}
    [only] = rewritten(given, system_role="user", placement="first")["messages"]
    assert only == {"role": "user", "content": f"{manual}\n\nBe brief.\n\nHello"}
    [only] = rewritten(asking(USER), system_role="user")["messages"]
    assert only == {"role": "user", "content": f"{manual}\n\nHello"}


def test_without_a_user_message_at_the_beginning_there_is_one() -> None:
    hello = {"role": "assistant", "content": "Hello!"}
    first, second, third = rewritten(asking(hello, USER), system_role="user")["messages"]
    assert first == {"role": "user", "content": Toolset(asking()["tools"]).manual()}
    assert (second, third) == (hello, USER)


def test_lists_of_parts_stay_lists() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    mark = {"cache_control": {"type": "ephemeral"}}
    system = {"role": "system", "content": [{"type": "text", "text": "Be brief.", **mark}]}
    shown = {"role": "user", "content": [image, {"type": "text", "text": "What is this?"}]}
    [only] = rewritten(asking(system, shown), system_role="user")["messages"]
    manual = {"type": "text", "text": Toolset(asking()["tools"]).manual()}
    assert only["content"] == [system["content"][0], manual, *shown["content"]]
    again = {"role": "user", "content": "Well?", "name": "Ann", **mark}
    merged = rewritten(asking(shown, again), merge_user_turns=True)["messages"][1]
    assert merged == {
        "role": "user",
        "name": "Ann",
        "content": [*shown["content"], {"type": "text", "text": "\n\nWell?", **mark}],
    }


def test_names_that_differ_are_dropped() -> None:
    ann, bob = ({"role": "user", "content": "x", "name": name} for name in ("Ann", "Bob"))
    assert rewritten(asking(ann, bob), merge_user_turns=True)["messages"][1] == {
        "role": "user",
        "content": "x\n\nx",
    }
    assert rewritten(asking(ann, ann), merge_user_turns=True)["messages"][1]["name"] == "Ann"


def test_native_calls_and_reasoning_stay_in_messages_of_their_own() -> None:
    native = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "n", "type": "custom", "custom": {}}],
    }
    thought = {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}
    plain = {"role": "assistant", "content": "So."}
    given = asking(USER, plain, plain, thought, native, {"role": "tool", "tool_call_id": "n", "content": "x"})
    sent = rewritten(given, merge_user_turns=True)["messages"][2:]
    assert sent == [{"role": "assistant", "content": "So.\n\nSo."}, thought, native, given["messages"][-1]]


@pytest.mark.parametrize("options", ADAPTED, ids=str)
def test_a_retry_is_adapted_too(options: Json) -> None:
    exchange = chat_support.exchange(asking({"role": "system", "content": "Be brief."}, USER), **options)
    assert exchange.whole(chat_support.body(f"Hm. {BAD}")) is None
    sent = exchange.request["messages"]
    assert ("system" in roles(sent)) == ("system_role" not in options)
    assert roles(sent)[-3:] == ["user", "assistant", "user"]
    again = chat.adapt_request(dict(chat.retry_request(exchange.request, "", "do it")), Options(**options))
    assert roles(again["messages"])[-2:] == (
        ["assistant", "user"] if "merge_user_turns" in options else ["user"] * 2
    )


@pytest.mark.parametrize("options", ADAPTED, ids=str)
def test_the_messages_api(options: Json) -> None:
    past = [messages_support.user("Hi"), messages_support.user("Well?")]
    given = messages_support.request(system="Be brief.", messages=past)
    manual = Toolset(given["tools"]).manual()
    sent = messages_support.rewritten(given, **options)
    merged = "Hi\n\nWell?" if "merge_user_turns" in options else "Hi"
    if "system_role" not in options:
        assert sent["messages"] == [messages_support.user(merged)]
        assert sent["system"] == f"Be brief.\n\n{manual}"
        return
    told = [manual, "Be brief."] if options.get("placement") == "first" else ["Be brief.", manual]
    assert "system" not in sent
    assert sent["messages"][0] == messages_support.user("\n\n".join([*told, merged]))
    assert len(sent["messages"]) == 2 - ("merge_user_turns" in options)
    cached = messages_support.rewritten(given, cache_manual=True, system_role="user")["messages"][0][
        "content"
    ]
    assert [part.get("cache_control") for part in cached] == [None, {"type": "ephemeral"}, None]


@pytest.mark.parametrize("options", ADAPTED, ids=str)
def test_the_responses_api(options: Json) -> None:
    items = [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "input_text", "text": "Well?"}]},
    ]
    for given_input, last in ((items, "Well?"), ("Hi", "Hi")):
        given = {**responses_peers.REQUEST, "instructions": "Be brief.", "input": given_input}
        before = copy.deepcopy(given)
        sent = Exchange(responses, given, Options(**options)).request
        assert given == before
        if "system_role" in options:
            assert "instructions" not in sent
            first = texts(sent["input"][0]["content"])
            assert "Be brief." in first
            assert Toolset(given["tools"]).manual() in first
        else:
            assert sent["instructions"].startswith("Be brief.\n\n")
        if isinstance(sent["input"], str):
            assert (sent["input"], options) == ("Hi", ADAPTED[0])
            continue
        assert texts(sent["input"][-1]["content"]).endswith(last)
        if "merge_user_turns" in options:
            assert len(sent["input"]) == 1


def conversation(rng: random.Random) -> list[Json]:
    parts = [{"type": "text", "text": "part"}, {"type": "image_url", "image_url": {"url": "x"}}]
    made: list[Json] = []
    for at in range(rng.randrange(1, 9)):
        kind = rng.randrange(6)
        if kind == 0:
            made.append(
                {"role": rng.choice(["system", "developer"]), "content": rng.choice([f"s{at}", [parts[0]]])}
            )
        elif kind in (1, 2):
            made.append({"role": "user", "content": rng.choice([f"u{at}", parts, "", [parts[1]]])})
        elif kind == 3:
            made.append({"role": "assistant", "content": f"a{at}"})
        else:
            calls = [call(f"{at}-{number}") for number in range(rng.randrange(1, 3))]
            made += [said(*calls), *(result(one["id"], f"r{at}") for one in calls)]
    return made


@pytest.mark.laws
@pytest.mark.parametrize("options", ADAPTED, ids=str)
def test_turns_alternate_and_nothing_is_lost(options: Json) -> None:
    rng = seeded(22)
    for _ in range(400):
        given = asking(*conversation(rng))
        sent = rewritten(given, **options)["messages"]
        plain = rewritten(given, placement=options.get("placement", "last"))["messages"]
        assert words(sent) == words(plain)
        turns = [role for role in roles(sent) if role not in ("system", "developer")]
        if "system_role" in options:
            assert turns == roles(sent)
            assert turns[0] == "user" or roles(plain)[0] == "assistant"
            if "merge_user_turns" not in options:
                # Only the beginning is merged.
                assert len(sent) <= len(plain)
                continue
        if not {"system", "developer"} & {*roles(sent)[1:]}:
            assert all(first != second for first, second in itertools.pairwise(turns))
        # What is adapted once has nothing left to be adapted.
        assert chat.adapt_request({"messages": sent}, Options(**options))["messages"] == sent


@pytest.mark.parametrize(
    ("api", "request_"), [(chat, {"messages": [USER]}), (messages, {"messages": [USER]})]
)
def test_a_request_without_tools_stays_as_it_is(api: Api, request_: Json) -> None:
    exchange = Exchange(api, request_, Options(merge_user_turns=True, system_role="user"))
    assert exchange.request is request_


def test_a_role_that_there_is_not() -> None:
    with pytest.raises(ValueError, match='system_role is "none"; it must be one of "system", "user"'):
        Options(system_role="none")  # type: ignore[arg-type]
