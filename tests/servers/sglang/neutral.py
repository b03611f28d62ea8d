"""The fixtures of canitoolcall through SGLang's parsers, called as its chat server calls them."""

import random
import re
from functools import cache

from canitoolcall.adapters.base import ReplayInput
from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import Family, Fixture
from canitoolcall.results import (
    CheckResult,
    Observation,
    ParsedToolCall,
    ParseResult,
    Status,
    StreamAccumulator,
)
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser

import neutral_suite

SEEDS = (1, 2, 3)


class Replay:
    """One fixture, and what SGLang makes of it."""

    def __init__(self, fixture: Fixture, parser: str) -> None:
        self.family: Family = neutral_suite.FAMILIES[fixture.family]
        self.parser = parser
        prompt = ReplayInput.from_fixture(fixture, self.family).generation_prompt or ""
        # SGLang finds it in the chat template and the request.
        self.force_reasoning = prompt.rstrip().endswith(neutral_suite.OPENERS)
        self.tools = [Tool(**tool) for tool in fixture.tools]
        self.text = _with_end_of_call(fixture)

    def observed(self) -> Observation:
        tokens = _tokens(self.text, tuple(self.family.markers))
        streams = {"one": [self.text], "token": tokens, "twenty": _groups(tokens, 20)}
        streams |= {f"random {seed}": _groups(tokens, 8, seed) for seed in SEEDS}
        return Observation(
            nonstream=self.whole(), streams={label: self.streamed(parts) for label, parts in streams.items()}
        )

    def _parsers(self, *, stream: bool) -> tuple[ReasoningParser, FunctionCallParser]:
        reasoning = ReasoningParser(
            self.parser, stream, self.force_reasoning, tool_call_parser_active=bool(self.tools)
        )
        return reasoning, FunctionCallParser(self.tools, self.parser)

    def whole(self) -> ParseResult:
        reasoning, parser = self._parsers(stream=False)
        reasons, text = reasoning.parse_non_stream(self.text)
        calls = []
        if self.tools and parser.has_tool_call(text):
            text, calls = parser.parse_non_stream(text)
        return ParseResult(
            content=text or None,
            reasoning_content=reasons or None,
            tool_calls=tuple(ParsedToolCall(call.name, call.parameters) for call in calls),
        )

    def streamed(self, parts: list[str]) -> ParseResult:
        reasoning, parser = self._parsers(stream=True)
        collected = StreamAccumulator()
        for at, part in enumerate(parts):
            last = at == len(parts) - 1
            reasons, text = reasoning.parse_stream_chunk(part)
            if last:
                end_reasons, end_text = reasoning.parse_stream_end()
                reasons, text = (reasons or "") + (end_reasons or ""), (text or "") + (end_text or "")
            collected.add_reasoning(reasons)
            if not self.tools:
                collected.add_content(text)
                continue
            text, calls = parser.parse_stream_chunk(text)
            if last:
                end_text, end_calls = parser.parse_stream_end()
                text, calls = (text or "") + end_text, [*calls, *end_calls]
            collected.add_content(text)
            for call in calls:
                collected.add_tool_call(call.tool_index, call.name, call.parameters)
        return collected.result()


def _with_end_of_call(fixture: Fixture) -> str:
    """The text of a fixture. SGLang leaves the stop token of gpt-oss's calls in it."""
    text: str = fixture.raw_output
    ended = fixture.truncated or text.endswith(("<|call|>", "<|return|>"))
    if fixture.family == "gpt-oss" and not ended and " to=functions" in text.rpartition("<|start|>")[2]:
        return text + "<|call|>"
    return text


@cache
def _marks(markers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join([*map(re.escape, sorted(markers, key=len, reverse=True)), "."]), re.DOTALL)


def _tokens(text: str, markers: tuple[str, ...]) -> list[str]:
    """The markers and the other characters of a text."""
    return _marks(markers).findall(text)


def _groups(tokens: list[str], most: int, seed: int | None = None) -> list[str]:
    """The tokens in chunks of `most`, or of random sizes up to it."""
    rng = random.Random(seed)
    parts, at = [], 0
    while at < len(tokens):
        size = most if seed is None else rng.randint(1, most)
        parts.append("".join(tokens[at : at + size]))
        at += size
    return parts or [""]


def checked(fixture: Fixture, parser: str) -> tuple[Status, list[CheckResult]]:
    """The status of a fixture, and the results of all checks."""
    replay = Replay(fixture, parser)
    results = run_checks(fixture, replay.family, replay.observed())
    return case_status(results), results
