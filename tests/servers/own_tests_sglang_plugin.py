"""Plugin for SGLang's own tests: a tokenizer that needs no download, wirecall as the detector, and results.

own_tests_sglang.py runs it.
"""

import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.utils import hf_transformers_utils
from spaced import Spaced

# The format for each of SGLang's tool parsers that its tests use.
FORMATS = {
    "deepseekv3": "deepseek-v3",
    "deepseekv31": "deepseek-v3.1",
    "deepseekv32": "deepseek-v3.2",
    "deepseekv4": "deepseek-v4",
    "gemma4": "gemma4",
    "gigachat3": "gigachat3",
    "glm45": "glm-4.5",
    "glm47": "glm-4.7",
    "gpt-oss": "harmony",
    "hermes": "hermes",
    "hunyuan": "hy3-preview",
    "inkling": "inkling",
    "kimi_k2": "kimi-k2",
    "lfm2": "lfm2",
    "llama3": "llama-json",
    "minicpm5": "minicpm5",
    "minimax-m3": "minimax-m3",
    "mistral": "mistral",
    "poolside_v1": "laguna-xs",
    "pythonic": "llama-pythonic",
    "qwen": "hermes",
    "qwen25": "hermes",
    "qwen3_coder": "qwen3coder",
}

# Formats whose tests read each delta as a whole call.
HELD = {"deepseek-v3", "gemma4", "lfm2", "llama-pythonic"}

_results: dict[str, str] = {}


class WordTokenizer:
    """A tokenizer that needs no download: a token is a word, white space or another character."""

    def __init__(self) -> None:
        self._tokens: list[str] = []

    def encode(self, text: str, **_: Any) -> list[int]:
        tokens = re.findall(r"\w+|\s+|.", text)
        self._tokens += tokens
        return list(range(len(self._tokens) - len(tokens), len(self._tokens)))

    def decode(self, ids: Any, **_: Any) -> str:
        return "".join(self._tokens[id] for id in ([ids] if isinstance(ids, int) else ids))


def replace_detectors() -> None:
    """Put wirecall's detectors where SGLang's are: into its map, and into the modules that tests import."""
    from wirecall.integrations._sglang import register
    from wirecall.integrations._sglang.tools import WirecallToolDetector

    register()

    class SpacedDetector(WirecallToolDetector):
        """Writes JSON with spaces."""

        def _new_reader(self, passage: Any, tools: Any) -> Any:
            reader = super()._new_reader(passage, tools)
            reader._held = self.parser_name.removeprefix("wirecall_") in HELD
            return reader

        def _spaced(self, result: Any) -> Any:
            spaced = self.__dict__.setdefault("_spaced_calls", {})
            for call in result.calls:
                call.parameters = spaced.setdefault(call.tool_index, Spaced()).of(call.parameters)
            return result

        def detect_and_parse(self, text: str, tools: Any) -> Any:
            result = super().detect_and_parse(text, tools)
            for call in result.calls:
                if call.parameters not in text:
                    call.parameters = Spaced().of(call.parameters)
            return result

        def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
            return self._spaced(super().parse_streaming_increment(new_text, tools))

        def finish(self, tools: Any) -> Any:
            return self._spaced(super().finish(tools))

    parsers = FunctionCallParser.ToolCallParserEnum
    made: dict[type, type] = {}
    for name, format in FORMATS.items():
        theirs = parsers[name]
        if theirs not in made:
            ours = type(theirs.__name__, (SpacedDetector,), {"parser_name": f"wirecall_{format}"})
            setattr(importlib.import_module(theirs.__module__), theirs.__name__, ours)
            made[theirs] = ours
        parsers[name] = made[theirs]


def pytest_configure() -> None:
    hf_transformers_utils.get_tokenizer = lambda *_, **__: WordTokenizer()
    if os.environ["OWN_TESTS_PARSERS"] == "wirecall":
        replace_detectors()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    # A subtest that failed is a failure of its test.
    failed = _results.get(report.nodeid) == "failed"
    if not failed and (report.when == "call" or report.outcome != "passed"):
        _results[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    Path(os.environ["OWN_TESTS_RESULTS"]).write_text(json.dumps(_results), encoding="utf-8")
