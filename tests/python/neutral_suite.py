"""The fixtures of canitoolcall, each with the row that reads it, and what is read there."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import Family, Fixture, load_families, load_fixtures
from canitoolcall.results import CheckResult, Observation, ParsedToolCall, ParseResult, Status

from wirecall import CallEnd, Reasoning, Text, Toolset

FIXTURES: list[Fixture] = list(load_fixtures())
FAMILIES: dict[str, Family] = load_families()
# For each family: a part of the first model's name, and the row. The first one that fits.
ROWS: dict[str, tuple[tuple[str, str], ...]] = {
    "deepseek": (
        ("V4.1", "deepseek-v4.1"),
        ("V4", "deepseek-v4"),
        ("V3.2", "deepseek-v3.2"),
        ("V3.1", "deepseek-v3.1"),
        ("V3", "deepseek-v3"),
    ),
    "gemma4": (("gemma-4", "gemma4"),),
    "glm": (("GLM-5.3", "glm-5.3"), ("GLM-4.7", "glm-4.7"), ("GLM-4.5", "glm-4.5")),
    "gpt-oss": (("gpt-oss", "harmony"),),
    "kimi": (("K3", "kimi-k3"), ("K2.6", "kimi-k2.6"), ("K2", "kimi-k2")),
    "llama": (("Llama-4", "llama-pythonic"), ("Llama-3", "llama-json")),
    "mistral": (("", "mistral"),),
    "qwen3-hermes": (("Thinking-2507", "qwen3-thinking"), ("", "hermes")),
    "qwen3-xml": (("Coder", "qwen3coder"), ("", "qwen3.5")),
}
# How prompts end that have opened the reasoning.
OPENERS = ("<think>", "[THINK]", "<|open|>think<|sep|>", "<|channel>thought")
# What is read otherwise on purpose, and why.
SOFT = {
    "gemma4/vllm-text-before-call": "The fixture wants the space before the call to be removed; "
    "gemma4/sglang-text-before-call and gemma4/sglang-text-around-call want it to be kept.",
}
SEEDS = range(20)


def row(fixture: Fixture) -> str:
    model = fixture.models[0]
    return next(row for part, row in ROWS[fixture.family] if part in model)


def parsed(fixture: Fixture, toolset: Toolset, chunks: Iterable[str]) -> ParseResult:
    """What a host gets that knows how its prompt ends, if the fixture says that."""
    prompt = fixture.generation_prompt
    parser = toolset.parser(in_reasoning=None if prompt is None else prompt.rstrip().endswith(OPENERS))
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.finish(truncated=fixture.truncated)
    return ParseResult(
        content="".join(event.text for event in events if isinstance(event, Text)) or None,
        reasoning_content="".join(event.text for event in events if isinstance(event, Reasoning)) or None,
        tool_calls=tuple(
            ParsedToolCall(event.name, event.arguments) for event in events if isinstance(event, CallEnd)
        ),
    )


def chunks(text: str, seed: int) -> list[str]:
    """The text in random chunks."""
    rng = random.Random(seed)
    made, at = [], 0
    while at < len(text):
        size = rng.randint(1, 8)
        made.append(text[at : at + size])
        at += size
    return made


def observed(fixture: Fixture, **options: Any) -> Observation:
    """The message read whole, by character and in random chunks. Streams with a label of their own count,
    which those of the suite's own `char` do not."""
    toolset = Toolset([tool["function"] for tool in fixture.tools], protocol=row(fixture), **options)
    text = fixture.raw_output
    streams = {"text:whole": [text], "text:char": list(text)}
    streams |= {f"text:{seed}": chunks(text, seed) for seed in SEEDS}
    return Observation(
        nonstream=parsed(fixture, toolset, [text]),
        streams={label: parsed(fixture, toolset, parts) for label, parts in streams.items()},
    )


def checked(fixture: Fixture, **options: Any) -> tuple[Status, list[CheckResult], Observation]:
    """The status of a fixture, the rows of all checks, and what they are about."""
    observation = observed(fixture, **options)
    rows = run_checks(fixture, FAMILIES[fixture.family], observation)
    return case_status(rows), rows, observation
