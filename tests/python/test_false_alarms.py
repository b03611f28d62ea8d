"""Text that is no call has hardly any error, call or notice, whatever markers and names are in it."""

from __future__ import annotations

from collections import Counter

from law import count
from passages import SIZE, passages
from slips_support import CUSTOM, FORMATS, TOOLS, Case, cases
from wirecall import Notice, compact_tools

# Errors and calls in the paragraphs, at most; 0 of a format that is not listed.
MOST: dict[str, tuple[int, int]] = {
    "wire": (10, 0),
    "xml": (673, 10),
    "yaml": (1503, 0),
    "qwen3coder": (13, 0),
    "deepseek-r1": (27, 0),
    "deepseek-v3": (27, 0),
    "deepseek-v3.1": (99, 0),
    "deepseek-v3.2": (171, 0),
    "deepseek-v4": (139, 0),
    "deepseek-v4.1": (116, 0),
    "firefunction-v2": (195, 0),
    "functionary-v3.1": (1737, 0),
    "functionary-v3.2": (207, 0),
    "gigachat3.5": (186, 0),
    "glm-4.5": (6, 0),
    "glm-4.7": (7, 0),
    "kimi-k2": (54, 0),
    "kimi-k2-thinking": (54, 0),
    "kimi-k2.6": (54, 0),
    "laguna-xs": (6, 0),
    "ling-3": (23, 0),
    "llama-pythonic": (22, 0),
    "llm-jp-4.1": (1, 0),
    "minimax-m3": (27, 0),
    "mistral": (36, 0),
    "k-exaone-2": (13, 0),
    "nemotron-3": (2, 0),
    "phi-4-mini": (86, 0),
    "plamo3": (12, 0),
    "qwen3.5": (13, 0),
    "solar-open": (6, 0),
    "spark-2.5": (7, 0),
    "step-3.5": (13, 0),
    "auto": (10, 0),
    "custom pairs": (13, 0),
}
# Notices of other kinds in NOTICED paragraphs for each format, at most, in all formats.
NOTICES = 0
TRIED, NOTICED = min(SIZE, 10 * count(1000)), count(1000) // 100


def case(format: str) -> Case:
    """The message whose markers and fragments are put into paragraphs."""
    return next(case for case in cases(format) if case.name == "two arguments")


def test_paragraphs_without_calls() -> None:
    found = {}
    for format in FORMATS:
        of = case(format)
        read = of.tools.parse_many(passages(of, TRIED), truncated=False, in_reasoning=False)
        found[format] = sum(len(one.errors) for one in read), sum(len(one.calls) for one in read)
    print({format: alarms for format, alarms in found.items() if any(alarms)})
    for format, (errors, calls) in found.items():
        most_errors, most_calls = MOST.get(format, (0, 0))
        assert errors <= most_errors, (format, errors)
        assert calls <= most_calls, (format, calls)


def test_paragraphs_without_calls_in_wrap() -> None:
    told: list[Notice] = []
    for format in FORMATS:
        protocol = CUSTOM.get(format, format)
        hooks = compact_tools(protocol=protocol, on_event=told.append, max_retries=0)
        for text in passages(case(format), NOTICED):
            message = {"role": "assistant", "content": text}
            answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            hooks.wrap_generate(lambda _, answer=answer: answer, REQUEST)
    found = Counter(notice.kind for notice in told)
    print(found)
    assert sum(found.values()) - found["error"] - found["saved"] <= NOTICES


REQUEST = {
    "messages": [{"role": "user", "content": "Question?"}],
    "tools": [{"type": "function", "function": tool} for tool in TOOLS],
}
