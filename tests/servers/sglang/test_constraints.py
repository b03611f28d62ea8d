"""Structural tags of calls in SGLang's requests."""

import json
from pathlib import Path
from typing import Any

import pytest
from checkpoint import WRITE_FILE
from scripted import Server, save_checkpoint
from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from xgrammar import Grammar, StructuralTag

from wirecall import Toolset
from wirecall._core import FAMILIES
from wirecall.errors import ToolError

NAMED = {"type": "function", "function": {"name": "write_file"}}
STRICT = {**WRITE_FILE, "function": {**WRITE_FILE["function"], "strict": True}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    made = Server(save_checkpoint(tmp_path_factory.mktemp("model") / "Qwen3-8B"))
    made.script = ["<think></think>Hello."]
    return made


def tag_of(server: Server, **request: Any) -> dict[str, Any] | None:
    """The structural tag that a request sends to the engine."""
    server.ask(**request)
    tag = server.params.get("structural_tag")
    return None if tag is None else json.loads(tag)


@pytest.mark.parametrize("choice", ["required", NAMED])
def test_a_choice_that_demands_a_call_is_constrained(server: Server, choice: Any) -> None:
    tag = tag_of(server, tools=[WRITE_FILE], tool_choice=choice)
    assert tag is not None
    Grammar.from_structural_tag(StructuralTag.model_validate(tag))
    assert "write_file" in json.dumps(tag)


def test_a_free_choice_is_constrained_only_if_the_request_asks_for_it(server: Server) -> None:
    assert tag_of(server, tools=[WRITE_FILE]) is None
    for asked in ({"tools": [STRICT]}, {"tools": [WRITE_FILE], "parallel_tool_calls": False}):
        tag = tag_of(server, **asked)
        assert tag is not None
        Grammar.from_structural_tag(StructuralTag.model_validate(tag))
    assert tag_of(server, tools=[STRICT], tool_choice="none") is None


@pytest.mark.parametrize("name", FAMILIES)
def test_xgrammar_accepts_the_tags_of_each_format(name: str) -> None:
    parser = FunctionCallParser([Tool(**WRITE_FILE)], f"wirecall_{name}")
    choices = ("required", ToolChoice(**NAMED))
    try:
        Toolset([WRITE_FILE], protocol=name).grammar("structural_tag")
    except ToolError:
        # SGLang sends these requests without a constraint, and the operator is told.
        assert all(parser.get_structure_constraint(choice) is None for choice in choices)
        return
    for choice in choices:
        kind, tag = parser.get_structure_constraint(choice)
        assert kind == "structural_tag"
        Grammar.from_structural_tag(StructuralTag.model_validate(tag.model_dump(by_alias=True)))


def test_a_tool_without_a_grammar_is_not_constrained(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    llama = Server(
        save_checkpoint(tmp_path / "m"), tool_call_parser="wirecall_llama-pythonic", reasoning_parser=None
    )
    llama.script = ["Hello."]
    assert tag_of(llama, tools=[WRITE_FILE], tool_choice="required") is None
    assert "calls that are not constrained" in caplog.text
