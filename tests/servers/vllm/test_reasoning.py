"""Where a message begins: prompts that open reasoning, grammars, and messages that are continued."""

import json
from typing import Any

import pytest
from checkpoint import WRITE_FILE
from scripted import Server, ask, pieces
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

from test_chat import CALLS, FORMAT, TWO, call, read
from wirecall.integrations._vllm.constraints import constrain, forces
from wirecall.integrations._vllm.pair import WirecallReasoningParser
from wirecall.integrations._vllm.server import definitions, format_of

PARSER = "wirecall_hermes"
THINKING = {"chat_template_kwargs": {"enable_thinking": True}}
STREAM = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def answer(server: Server, text: str, *, stream: bool, **fields: Any) -> Any:
    server.engine.script, server.engine.finish_reason = pieces(text), "stop"
    return ask(server.chat(PARSER), stream=stream, **fields)[0]


@STREAM
@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": FORMAT},
        {"response_format": FORMAT, "tools": [WRITE_FILE]},
        {"structured_outputs": {"regex": '{"n": 1}'}},
    ],
    ids=["format", "format and tools", "regex"],
)
def test_a_constrained_answer_is_not_reasoning(server: Server, fields: dict[str, Any], stream: bool) -> None:
    """Without `--reasoning-parser`, the engine follows the grammar from the first token."""
    choice = answer(server, '{"n": 1}', stream=stream, **fields, **THINKING)
    assert (choice.content, choice.reasoning, choice.calls) == ('{"n": 1}', "", [])


@STREAM
def test_a_call_beside_a_response_format_is_not_reasoning(server: Server, stream: bool) -> None:
    choice = answer(server, call("a"), stream=stream, tools=[WRITE_FILE], response_format=FORMAT, **THINKING)
    assert read(choice) == CALLS[:1]


@STREAM
def test_strict_tools_leave_room_for_reasoning(server: Server, stream: bool) -> None:
    tool = {"type": "function", "function": WRITE_FILE["function"] | {"strict": True}}
    choice = answer(server, f"A.\n</think>\n\n{TWO}", stream=stream, tools=[tool], **THINKING)
    assert (read(choice), choice.reasoning) == (CALLS, "A.")


@STREAM
@pytest.mark.parametrize(
    ("content", "text", "expected"),
    [
        ("<think>\n" + "I wonder. " * 40, "More.</think>\n\nOK.", ("OK.", "More.")),
        ("<think>\nA.\n</think>\n\nIt", " is so.", (" is so.", "")),
        ("It is", " a tag.", (" a tag.", "")),
    ],
    ids=["in reasoning", "after it", "without"],
)
def test_a_continued_message_is_where_it_was(
    server: Server, content: str, text: str, expected: tuple[str, str], stream: bool
) -> None:
    messages = [
        {"role": "user", "content": "What is <think>?"},
        {"role": "assistant", "content": content},
    ]
    fields = {"continue_final_message": True, "add_generation_prompt": False}
    choice = answer(server, text, stream=stream, messages=messages, **fields)
    assert (choice.content, choice.reasoning) == expected


@STREAM
@pytest.mark.parametrize("text", [call("a")[:-20], '<tool_call>\n{"name": "write_file", "arguments": [1'])
def test_a_call_that_the_model_breaks_off_is_not_complete(server: Server, text: str, stream: bool) -> None:
    """vLLM has no way to say that: the reason is `tool_calls` if a part of the call was sent."""
    choice = answer(server, text, stream=stream, tools=[WRITE_FILE])
    assert choice.finish_reason == ("tool_calls" if choice.calls else "stop")
    for _, arguments in choice.calls:
        assert stream
        with pytest.raises(ValueError, match=r"line 1"):
            json.loads(arguments)


def test_a_choice_of_some_tools_demands_no_call() -> None:
    tool = {"type": "function", "name": "write_file", "parameters": {}}
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "write_file"}]}
    request = ResponsesRequest(model="m", input="hi", tools=[tool], tool_choice=choice)
    assert not forces(request)
    required = ResponsesRequest(
        model="m", input="hi", tools=[tool], tool_choice={**choice, "mode": "required"}
    )
    assert forces(required)


def test_a_response_format_beside_tools_of_the_server_is_kept(server: Server) -> None:
    tools = [{"type": "web_search_preview"}]
    text = {"format": {"type": "json_schema", "name": "n", "schema": FORMAT["json_schema"]["schema"]}}
    request = ResponsesRequest(model="m", input="hi", tools=tools, text=text)
    constrain(request, format_of(PARSER, server.tokenizer), request.tools, level=ToolStrictLevel.AUTO)
    assert request.text is not None
    assert request.structured_outputs is None


def test_tools_of_namespaces_have_the_names_that_the_model_sees() -> None:
    function = {"type": "function", "name": "read", "parameters": {"type": "object"}}
    tool = {"type": "namespace", "name": "files", "description": "", "tools": [function]}
    request = ResponsesRequest(model="m", input="hi", tools=[tool])
    assert [one["name"] for one in definitions(request.tools)] == ["files__read"]


def test_the_engine_sees_the_end_of_reasoning_in_new_tokens_only(server: Server) -> None:
    tokenizer = server.tokenizer
    parser = type("Parser", (WirecallReasoningParser,), {"served": format_of(PARSER, tokenizer)})(tokenizer)

    def ids(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    prompt = ids("</think>?<|im_end|>\n<|im_start|>assistant\n<think>\n")
    assert not parser.is_reasoning_end(prompt)
    seen = list(prompt)
    for one in ids("A. </thin"):
        seen.append(one)
        assert not parser.is_reasoning_end_streaming(seen, [one])
    # Also if the closer is several tokens.
    closer = [token for letter in "</think>" for token in ids(letter)]
    assert not any(
        parser.is_reasoning_end_streaming(prompt + closer[: at + 1], [one])
        for at, one in enumerate(closer[:-1])
    )
    assert parser.is_reasoning_end_streaming(prompt + closer, closer[-1:])
    assert parser.is_reasoning_end_streaming(prompt + ids("A.</think>B"), ids("</think>B"))
    assert parser.is_reasoning_end(ids("<think>\n\n</think>\n\n"))
    parser.set_prompt_token_ids(prompt)
    answer = ids("A. B.</think>C.")
    assert parser.extract_content_ids(answer) == ids("C.")
    assert parser.count_reasoning_tokens(answer) == len(answer) - 2
