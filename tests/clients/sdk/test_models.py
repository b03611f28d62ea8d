"""The two models behind the server: one plan, over text and natively, is one conversation to the application.

The text host here is written by hand, with the bare client and wirecall's `Toolset`: what wrapped clients do
must come to the same, and a fault of the models shows here first.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, get_args

import openai
import pytest
from loops import DEFINITIONS, Log, expected, plan, run_tool
from server import Answer, Call, NativeModel, Seen, Server, Step, TextModel, serve
from server.model import Field, Mistake, manual_signature, results

import wirecall

Play = Callable[..., Server]

TOOLSET = wirecall.Toolset(DEFINITIONS)


def run_native(server: Server) -> tuple[Log, str]:
    log: Log = []
    messages: list[Any] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Go."}]
    with openai.OpenAI(base_url=server.openai_url, api_key="x", max_retries=0) as client:
        while True:
            reply = client.chat.completions.create(model="m", messages=messages, tools=DEFINITIONS)
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return log, message.content or ""
            for call in message.tool_calls:
                arguments = json.loads(call.function.arguments)
                log.append((call.function.name, arguments, run_tool(call.function.name, arguments)))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": log[-1][2]})


def run_text(server: Server, toolset: wirecall.Toolset = TOOLSET) -> tuple[Log, str]:
    log: Log = []
    system = "Be kind.\n\n" + toolset.manual()
    messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": "Go."}]
    with openai.OpenAI(base_url=server.openai_url, api_key="x", max_retries=0) as client:
        while True:
            reply = client.chat.completions.create(model="m", messages=messages)
            text = reply.choices[0].message.content or ""
            message = toolset.parse(text)
            if not message.calls and not message.errors:
                return log, text
            found = []
            for call in message.calls:
                log.append((call.name, call.args, run_tool(call.name, call.args)))
                found.append(toolset.encode_result(call.name, log[-1][2]))
            found += [toolset.encode_result(error.name, error) for error in message.errors]
            messages += [
                {"role": "assistant", "content": text},
                {"role": "user", "content": "\n".join(found)},
            ]


def test_a_plan_is_one_conversation_both_ways(play: Play) -> None:
    native = play(NativeModel(plan()))
    text = play(TextModel(plan()))
    assert run_native(native) == run_text(text) == expected()
    assert len(expected()[0]) == 21
    assert expected()[1].startswith("Done: 21 results")
    assert len(native.requests) == len(text.requests) == 12
    assert not native.errors
    assert not text.errors


STRICT = wirecall.Toolset(DEFINITIONS, validate="error")


@pytest.mark.parametrize("alone", [True, False])
def test_mistakes_are_repaired(play: Play, alone: bool) -> None:
    """Bad calls beside good ones are repaired in the next turn, so only the order of calls differs."""
    log, final = expected()
    server = play(TextModel(plan(get_args(Mistake), alone=alone)))
    repaired, text = run_text(server, STRICT)
    assert len(server.requests) == 12 + 4
    if alone:
        assert (repaired, text) == (log, final)
    else:
        assert sorted(map(repr, repaired)) == sorted(map(repr, log))
    answers = [request.reply.parts for request in server.requests if isinstance(request.reply, Answer)]
    assert any("search_tool" in str(answer) for answer in answers)


def test_a_call_without_a_field_may_be_handed_over(play: Play) -> None:
    """Without validation the application sees it; its result is none of the right call."""
    steps = [Step([Call("search", {"query": "x"})], mistake="missing_required"), Step(text="done")]
    log, final = run_text(play(TextModel(steps)))
    assert [arguments for _, arguments, _ in log] == [{}, {"query": "x"}]
    assert final == "done"


def test_failures_of_tools_are_results(play: Play) -> None:
    """Also in a step that made a mistake before, once the mistake is repaired."""
    seen: list[Seen] = []

    def note(found: Sequence[Seen]) -> str:
        seen.extend(found)
        return "done"

    steps = [Step([Call("now")], mistake="unknown_tool"), Step(text=note)]
    model = TextModel(steps)
    system = {"role": "system", "content": TOOLSET.manual()}
    error = TOOLSET.encode_result("now", "no clock", error=True)
    told = TOOLSET.encode_result("now_tool", "There is no tool `now_tool`.", error=True)
    turns: list[Any] = [system, {"role": "user", "content": "Go."}]
    with openai.OpenAI(base_url=play(model).openai_url, api_key="x") as client:
        for reply in (told, error, None):
            text = client.chat.completions.create(model="m", messages=turns).choices[0].message.content
            turns += [{"role": "assistant", "content": text}, {"role": "user", "content": reply or ""}]
    assert seen == [Seen("now", "no clock", error=True)]
    assert turns[2]["content"] == "<call>now_tool</call>"


@pytest.mark.parametrize(
    ("messages", "options", "why"),
    [
        ([], {}, "the manual has no tool now"),
        ([{"role": "system", "content": "now_and_then"}], {}, "the manual has no tool now"),
        ([{"role": "system", "content": TOOLSET.manual()}], {"tools": DEFINITIONS}, "knows no native tools"),
        (
            [{"role": "user", "content": '<tool-result name="search">x</tool-result>'}],
            {},
            "does not wait for",
        ),
    ],
)
def test_what_no_plan_leads_to_is_refused(play: Play, messages: list[Any], options: Any, why: str) -> None:
    server = play(TextModel([Step([Call("now")]), Step(text="done")]))
    with (
        openai.OpenAI(base_url=server.openai_url, api_key="x") as client,
        pytest.raises(openai.BadRequestError, match=why),
    ):
        client.chat.completions.create(
            model="m", messages=[*messages, {"role": "user", "content": "Go."}], **options
        )
    assert why in (server.last.refused or "")


def test_signatures_are_read() -> None:
    manual = TOOLSET.manual()
    assert manual_signature(manual, "now") == []
    assert manual_signature(manual, "search") == [
        Field("query", False, "string", "(What (exactly): a=b?)"),
        Field("limit", True, "int"),
        Field("tags", True, "[string]"),
        Field("mode", True, 'quick|"very deep"'),
    ]
    assert [field.key for field in manual_signature(manual, "save")] == [
        *("path", "text", "options.draft", "options.owner", "rows"),
    ]


def test_results_are_read() -> None:
    text = "\n".join(
        [
            TOOLSET.encode_result("search", 'one </tool-result> <tool-error name="x">', number=2),
            TOOLSET.encode_result("now", "two", error=True),
        ]
    )
    first, second = results(f"{text}\nAnd now?")
    assert (first.name, first.error, second) == ("search", False, Seen("now", "two", error=True))
    assert first.text.startswith("one <\\")


def test_the_command_plays_scripts_and_plans(tmp_path: Any) -> None:
    from server import __main__ as command

    (tmp_path / "plan.json").write_text(json.dumps([{"calls": [{"name": "now"}]}, {"text": "done"}]))
    (tmp_path / "script.json").write_text(json.dumps([{"text": "a"}, {"status": 429}]))
    steps = command._load(tmp_path / "plan.json", command._step)
    with serve(NativeModel(steps)) as server:
        assert run_native(server) == ([("now", {}, "now({})")], "done")
    first, second = command._load(tmp_path / "script.json", command._reply)
    assert first.items == ("a",)
    assert second.status == 429
