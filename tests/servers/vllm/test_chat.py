"""Chat completions: vLLM's serving class over a scripted engine, streamed and whole."""

import json
from typing import Any

import pytest
from checkpoint import WRITE_FILE
from scripted import Choice, Server, ask, pieces
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams
from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar

TOOLS = [WRITE_FILE]
NAMED = {"type": "function", "function": {"name": "write_file"}}
CALLS = [("write_file", {"path": path, "content": "x"}) for path in ("a", "b")]


def call(path: str, name: str = "write_file") -> str:
    arguments = json.dumps({"path": path, "content": "x"})
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


TWO = f"OK.\n{call('a')}\n{call('b')}"
THOUGHT = f"<think>\nA.\n</think>\n\n{TWO}"


def read(choice: Choice) -> list[tuple[str, Any]]:
    return [(name, json.loads(arguments)) for name, arguments in choice.calls]


@pytest.fixture(params=["streamed", "streamed in large chunks", "whole"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def answer(
    server: Server,
    form: str,
    text: str,
    *,
    tool: str | None = "wirecall_hermes",
    reasoning: str | None = None,
    finish_reason: str = "stop",
    **fields: Any,
) -> list[Choice]:
    server.engine.script = pieces(text, 32 if "large" in form else 4)
    server.engine.finish_reason = finish_reason
    return ask(server.chat(tool, reasoning), stream=form != "whole", **fields)


@pytest.mark.parametrize("reasoning", [None, "wirecall_hermes"])
def test_reasoning_text_and_calls_are_read(server: Server, form: str, reasoning: str | None) -> None:
    [choice] = answer(server, form, THOUGHT, reasoning=reasoning, tools=TOOLS)
    assert read(choice) == CALLS
    assert (choice.content, choice.reasoning, choice.finish_reason) == ("OK.", "A.", "tool_calls")


def test_the_prompt_may_open_reasoning(server: Server, form: str) -> None:
    thinking = {"chat_template_kwargs": {"enable_thinking": True}, "tools": TOOLS}
    [choice] = answer(server, form, f"A.\n</think>\n\n{TWO}", **thinking)
    assert (read(choice), choice.reasoning) == (CALLS, "A.")


def test_each_choice_has_a_parser_of_its_own(server: Server, form: str) -> None:
    choices = answer(server, form, THOUGHT, tools=TOOLS, n=3)
    assert [read(choice) for choice in choices] == [CALLS] * 3


@pytest.mark.parametrize("fields", [{"tools": TOOLS, "tool_choice": "none"}, {}], ids=["none", "no tools"])
def test_calls_are_text_where_none_are_wanted(server: Server, form: str, fields: dict[str, Any]) -> None:
    [choice] = answer(server, form, THOUGHT, **fields)
    assert choice == Choice(TWO, "A.", [], "stop")


@pytest.mark.parametrize(
    ("tool_choice", "finish_reason"), [("required", "tool_calls"), (NAMED, "stop")], ids=["required", "named"]
)
def test_a_demanded_call_is_constrained(
    server: Server, form: str, tool_choice: Any, finish_reason: str
) -> None:
    [choice] = answer(server, form, call("a"), tools=TOOLS, tool_choice=tool_choice)
    assert (read(choice), choice.finish_reason) == (CALLS[:1], finish_reason)
    tag = json.loads(server.engine.params.structured_outputs.structural_tag)
    assert tag["type"] == "structural_tag"
    assert "write_file" in json.dumps(tag)
    validate_xgrammar_grammar(SamplingParams(structured_outputs=server.engine.params.structured_outputs))


def test_a_demanded_call_is_no_reasoning_although_the_prompt_opens_it(server: Server, form: str) -> None:
    """Without `--reasoning-parser`, the grammar holds from the first token."""
    fields = {"tool_choice": "required", "chat_template_kwargs": {"enable_thinking": True}}
    [choice] = answer(server, form, call("a"), tools=TOOLS, **fields)
    assert read(choice) == CALLS[:1]


@pytest.mark.parametrize("strict", [None, False, True])
def test_strict_tools_are_constrained(server: Server, form: str, strict: bool | None) -> None:
    tool = {"type": "function", "function": WRITE_FILE["function"] | {"strict": strict}}
    answer(server, form, TWO, tools=[tool])
    assert (server.engine.params.structured_outputs is not None) == bool(strict)


def test_only_one_call_is_sent_without_parallel_calls(server: Server, form: str) -> None:
    [choice] = answer(server, form, TWO, tools=TOOLS, parallel_tool_calls=False)
    assert read(choice) == CALLS[:1]


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [('{"n": 1}', Choice('{"n": 1}', "", [], "stop")), (call("a"), None)],
    ids=["the format", "a call"],
)
def test_a_response_format_is_combined_with_tools(
    server: Server, form: str, text: str, expected: Choice | None
) -> None:
    [choice] = answer(server, form, text, tools=TOOLS, response_format=FORMAT)
    outputs = server.engine.params.structured_outputs
    kinds = [element["type"] for element in json.loads(outputs.structural_tag)["format"]["elements"]]
    assert len(kinds) == 2
    assert kinds[1] == "json_schema"
    validate_xgrammar_grammar(SamplingParams(structured_outputs=outputs))
    assert choice == expected if expected else read(choice) == CALLS[:1]


def test_a_response_format_that_cannot_be_combined_is_refused(server: Server, form: str) -> None:
    with pytest.raises(VLLMValidationError, match="response_format cannot be combined with tools"):
        answer(server, form, "x", tool="wirecall_gemma4", tools=TOOLS, response_format=FORMAT)


@pytest.mark.parametrize("level", ["auto", "function", "parameter"])
def test_the_operator_can_constrain_all_calls(server: Server, form: str, level: str) -> None:
    server.engine.script, server.engine.finish_reason = pieces(TWO), "stop"
    chat = server.chat("wirecall_hermes", tool_strict_level=level)
    [choice] = ask(chat, stream=form != "whole", tools=TOOLS)
    assert read(choice) == CALLS
    assert (server.engine.params.structured_outputs is not None) == (level != "auto")


def test_a_demanded_call_replaces_the_response_format(server: Server, form: str) -> None:
    fields = {"response_format": FORMAT, "tool_choice": "required"}
    [choice] = answer(server, form, call("a"), tools=TOOLS, **fields)
    assert read(choice) == CALLS[:1]
    assert "write_file" in server.engine.params.structured_outputs.structural_tag


@pytest.mark.parametrize("finish_reason", ["length", "abort"])
def test_a_cut_call_is_never_complete(server: Server, form: str, finish_reason: str) -> None:
    for length in range(len(call("a")) - 2, 20, -7):
        text = call("b") + call("a")[:length]
        [choice] = answer(server, form, text, finish_reason=finish_reason, tools=TOOLS)
        assert choice.finish_reason == finish_reason
        assert (choice.calls[0][0], json.loads(choice.calls[0][1])) == CALLS[1]
        for _, arguments in choice.calls[1:]:
            with pytest.raises(ValueError, match=r"."):
                json.loads(arguments)
        # The next request starts clean.
        assert [read(choice) for choice in answer(server, form, TWO, tools=TOOLS)] == [CALLS]


def test_a_cut_call_is_not_sent_if_calls_are_held(
    server: Server, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRECALL_CALLS", "held")
    text = call("b") + call("a")[:-20]
    [choice] = answer(server, form, text, finish_reason="length", tools=TOOLS)
    assert read(choice) == CALLS[1:]
    assert choice.finish_reason == "length"


def test_a_stop_string_in_a_call_cuts_it(server: Server, form: str) -> None:
    """vLLM says "stop", but the last token is not the one that ends messages."""
    server.engine.finish_reason = "stop"
    text = call("a")[:-16]
    eos = server.tokenizer.eos_token_id
    chat = server.chat("wirecall_hermes")
    server.engine.script = pieces(text)
    server.engine.ends = []
    try:
        [choice] = ask(chat, stream=form != "whole", tools=TOOLS, stop=["}"])
    finally:
        server.engine.ends = [eos]
    assert all(_is_partial(arguments) for _, arguments in choice.calls)


def _is_partial(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except ValueError:
        return True
    return False


def test_an_engine_error_is_an_error(server: Server, form: str) -> None:
    with pytest.raises(Exception, match=r"(?i)internal|error"):
        answer(server, form, TWO, finish_reason="error", tools=TOOLS)
    assert [read(choice) for choice in answer(server, form, TWO, tools=TOOLS)] == [CALLS]


def test_reasoning_is_left_out_on_request(server: Server, form: str) -> None:
    [choice] = answer(server, form, THOUGHT, tools=TOOLS, include_reasoning=False)
    assert (read(choice), choice.reasoning) == (CALLS, "")


def test_calls_of_unknown_tools_are_passed_on(server: Server, form: str) -> None:
    [choice] = answer(server, form, call("a", "rm_rf"), tools=TOOLS)
    assert read(choice) == [("rm_rf", CALLS[0][1])]
    assert choice.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "function",
    [
        {"name": "write_file", "parameters": {"type": "object", "properties": {"path": {"type": "str"}}}},
        {"name": "write_file", "parameters": {"$ref": "#/$defs/nothing"}},
        {"name": "write_file", "parameters": {"properties": {"path": {"required": True, "type": "string"}}}},
        {"name": "write_file"},
    ],
    ids=["type", "ref", "required", "no parameters"],
)
def test_a_schema_that_does_not_compile_is_accepted(
    server: Server, form: str, function: dict[str, Any]
) -> None:
    [choice] = answer(server, form, call("a"), tools=[{"type": "function", "function": function}])
    assert read(choice) == CALLS[:1]


def test_two_tools_of_one_name_and_odd_names_are_accepted(server: Server, form: str) -> None:
    odd = {"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}}
    [choice] = answer(server, form, call("a"), tools=[WRITE_FILE, WRITE_FILE, odd])
    assert read(choice) == CALLS[:1]


def test_a_malformed_call_stays_in_the_text(server: Server, form: str) -> None:
    text = 'OK.<tool_call>\n{"nome": [}\n</tool_call>'
    [choice] = answer(server, form, text, tools=TOOLS)
    assert choice == Choice(text, "", [], "stop")
