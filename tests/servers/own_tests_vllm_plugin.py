"""Plugin for vLLM's own tests: tokenizers that need no download, wirecall as the parser, and results as JSON.

own_tests_vllm.py runs it.
"""

import functools
import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
import transformers
import vllm.tokenizers
from spaced import Spaced
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from vllm.tool_parsers import ToolParserManager

# The format for each of vLLM's tool parsers that its tests use. GLM-4.5 has the same parser as GLM-4.7.
FORMATS = {
    "apertus": "apertus",
    "deepseek_v3": "deepseek-v3",
    "deepseek_v31": "deepseek-v3.1",
    "deepseek_v32": "deepseek-v3.2",
    "deepseek_v4": "deepseek-v4",
    "deepseek_v41": "deepseek-v4.1",
    "dots": "dots",
    "ernie45": "ernie-4.5",
    "functiongemma": "functiongemma",
    "gemma4": "gemma4",
    "gigachat3": "gigachat3",
    "glm45": "glm-4.7",
    "glm47": "glm-4.7",
    "granite": "granite-3",
    "granite-20b-fc": "granite-20b-fc",
    "granite4": "hermes",
    "hermes": "hermes",
    "hunyuan_a13b": "hunyuan-a13b",
    "hy_v3": "hy3-preview",
    "internlm": "internlm2",
    "jamba": "jamba",
    "k2_horizon": "k2-horizon",
    "kimi_k2": "kimi-k2",
    "kimi_k3": "kimi-k3",
    "lfm2": "lfm2",
    "llama3_json": "llama-json",
    "llama4_json": "llama-json",
    "llama4_pythonic": "llama-pythonic",
    "longcat": "longcat",
    "minicpm5": "minicpm5",
    "minimax_m2": "minimax-m2",
    "minimax_m3": "minimax-m3",
    "olmo3": "olmo3",
    "phi4_mini_json": "phi-4-mini",
    "poolside_v1": "laguna-xs",
    "pythonic": "llama-pythonic",
    "qwen3_coder": "qwen3coder",
    "qwen3_xml": "qwen3coder",
    "step3": "step-3",
    "step3p5": "step-3.5",
    "xlam": "xlam",
}

# Markers that are one token in the tokenizers of the models that the tests name.
MARKERS = {
    "deepseek": (
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁sep｜>",
    ),
    "ernie": ("<think>", "</think>", "<response>", "</response>", "<tool_call>", "</tool_call>"),
    "glm": (
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
    ),
    "granite-3": ("<|tool_call|>",),
    "granite-4": ("<tool_call>", "</tool_call>"),
    "hy3": (
        "<think>",
        "</think>",
        "<tool_calls>",
        "</tool_calls>",
        "<tool_call>",
        "</tool_call>",
        "<tool_sep>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
    ),
    "jamba": ("<tool_calls>", "</tool_calls>"),
    "kimi-k2": (
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
    ),
    "lfm2": ("<|tool_call_start|>", "<|tool_call_end|>"),
    "llama-3": ("<|python_tag|>",),
    "qwen3": ("<think>", "</think>", "<tool_call>", "</tool_call>"),
    "step": ("<think>", "</think>", "<tool_call>", "</tool_call>"),
    "step3": (
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
        "<｜tool_call_begin｜>",
        "<｜tool_call_end｜>",
        "<｜tool_sep｜>",
    ),
}

# Formats whose tests read each delta as a whole call.
HELD = {"wirecall_k2-horizon"}

# Tokens of the stand-in tokenizer.
VOCABULARY = 1000

_results: dict[str, str] = {}


def stand_in(name: str, *_: Any, **__: Any) -> PreTrainedTokenizerFast:
    """A tokenizer with words of the tests as tokens, and those markers of a model that are one token."""
    made = Tokenizer.from_str(trained())
    lower = name.lower()
    for family, markers in MARKERS.items():
        if family in lower:
            made.add_tokens([AddedToken(marker, normalized=False, special=False) for marker in markers])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, clean_up_tokenization_spaces=False)
    wrapped.name_or_path = name
    return wrapped


@functools.cache
def trained() -> str:
    """The tokenizer without markers."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train(
        [str(path) for path in sorted(Path("tests/tool_parsers").glob("test_*.py"))],
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return made.to_str()


def replace_parsers() -> None:
    """Put wirecall's parsers where vLLM's are: into its registry, and into the modules that tests import."""
    from wirecall.integrations._vllm import register
    from wirecall.integrations._vllm.pair import WirecallToolParser
    from wirecall.integrations._vllm.server import definitions

    register()
    # All first: some of vLLM's classes inherit from others.
    for name in FORMATS:
        ToolParserManager.get_tool_parser(name)

    class AnyTool(WirecallToolParser):
        """Most tests have requests without tools, and expect calls."""

        def _new_reader(self, request: Any) -> Any:
            super()._new_reader(request)
            tools = self.tools or getattr(request, "tools", None)
            served = self._served
            served.settings = served.settings._replace(held=self.parser_name in HELD)
            return served.reader(served.toolset(definitions(tools), separate=False), in_reasoning=False)

        def extract_tool_calls(self, model_output: str, request: Any) -> Any:
            extracted = super().extract_tool_calls(model_output, request)
            for call in extracted.tool_calls:
                if call.function.arguments not in model_output:
                    call.function.arguments = Spaced().of(call.function.arguments)
            return extracted

        def extract_tool_calls_streaming(self, *args: Any, **options: Any) -> Any:
            return self._spaced(super().extract_tool_calls_streaming(*args, **options))

        def finish_streaming(self) -> Any:
            return self._spaced(super().finish_streaming())

        def _spaced(self, delta: Any) -> Any:
            spaced = self.__dict__.setdefault("_spaced_calls", {})
            for call in delta.tool_calls if delta is not None else ():
                function = call.function
                function.arguments = spaced.setdefault(call.index, Spaced()).of(function.arguments)
            return delta

    made: dict[tuple[str, str], type] = {}
    for name, format in FORMATS.items():
        place = ToolParserManager.lazy_parsers[name]
        if place not in made:
            made[place] = type(place[1], (AnyTool,), {"parser_name": f"wirecall_{format}"})
            setattr(importlib.import_module(place[0]), place[1], made[place])
        ToolParserManager.tool_parsers[name] = made[place]


def end_streams() -> None:
    """Let the tests end their streams as the server does: with `finish_streaming`, if a parser has it."""
    utils = importlib.import_module("tests.tool_parsers.utils")
    extract = utils.run_tool_extraction_streaming

    @functools.wraps(extract)
    def extract_all(parser: Any, *args: Any, **options: Any) -> Any:
        collected = extract(parser, *args, **options)
        finish = getattr(parser, "finish_streaming", None)
        if finish is not None and (last := finish()) is not None:
            collected.append_delta(last)
        return collected

    utils.run_tool_extraction_streaming = extract_all


def pytest_configure() -> None:
    end_streams()
    transformers.AutoTokenizer.from_pretrained = stand_in
    vllm.tokenizers.get_tokenizer = lambda tokenizer_name, *_, **__: stand_in(tokenizer_name)
    if os.environ["OWN_TESTS_PARSERS"] == "wirecall":
        replace_parsers()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        expected = hasattr(report, "wasxfail")
        outcome = "xfailed" if expected and report.skipped else report.outcome
        if "[XPASS(strict)]" in str(report.longrepr or ""):
            outcome = "xpassed"
        _results[report.nodeid] = outcome


def pytest_sessionfinish() -> None:
    Path(os.environ["OWN_TESTS_RESULTS"]).write_text(json.dumps(_results), encoding="utf-8")
