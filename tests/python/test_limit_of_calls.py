"""After the limit of calls, an end user sees no markup, in any format."""

from typing import Any

import pytest

import law
from wirecall import Toolset
from wirecall._core import native_formats
from wirecall._text.options import Options
from wirecall._text.parts import CallPart, TextPart
from wirecall._text.reader import TextReader
from wirecall._text.response import Choice, ResponseState

PROTOCOLS = ("wire", "xml", "yaml", *(row["name"] for row in native_formats()))
TOOL = {"name": "get", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
ARGUMENT = "Zwickau"
# Formats in which a message has one call at most.
ONE_CALL = ("llama-json",)


def read(text: str, size: int, **options: Any) -> tuple[str, int]:
    """What the end user sees, and the number of calls."""
    given = Options(in_reasoning=False, **options)
    reader = TextReader(ResponseState(given.toolset([TOOL]), given, Choice()))
    parts = [part for at in range(0, len(text), size) for part in reader.feed(text[at : at + size])]
    parts += reader.finish(truncated=False)
    shown = "".join(part.text for part in parts if isinstance(part, TextPart))
    return shown, sum(isinstance(part, CallPart) for part in parts)


@pytest.mark.laws
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_markup_is_shown_after_the_limit_of_calls(protocol: str) -> None:
    rng = law.seeded(53)
    call = ("get", {"city": ARGUMENT}, "call_1")
    for _ in range(law.count(200, 20)):
        count, limit = rng.randrange(2, 7), rng.randrange(1, 4)
        # Some formats write several calls in one frame, others one after the other; some end with the calls.
        tools, calls = Toolset([TOOL], protocol=protocol), [call] * count
        one_by_one = "\n".join(tools.encode_message("", [one]) for one in calls)
        forms = [one_by_one, tools.encode_message("", calls)]
        texts = [form + end for form in forms for end in (" Done.", "")]
        texts = [text for text in texts if len(tools.parse(text, in_reasoning=False).calls) == count]
        assert texts or protocol in ONE_CALL
        for text in texts:
            for mode in ("retry", "native"):
                shown, called = read(
                    text, rng.choice([1, 7, 1000]), protocol=protocol, on_error=mode, limits={"calls": limit}
                )
                assert ARGUMENT not in shown, (text, shown)
                assert called >= min(count, limit), (text, shown)


def test_hidden_text_is_announced() -> None:
    text = f"Hi <call>get city={ARGUMENT}</call> so <call>get city=B</call> and <call>get city=C</call> bye"
    shown, called = read(text, 1000, limits={"calls": 1})
    assert called == 1
    assert shown == "Hi  so \n\nThe assistant made too many tool calls. The rest of its message is not shown."
    shown, _ = read(text, 1000, limits={"calls": 1}, emit_raw_on_error=True)
    assert shown == "Hi  so <call>get city=B</call> and <call>get city=C</call> bye"
