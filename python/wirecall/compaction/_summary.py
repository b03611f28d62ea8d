"""What a summarising model is given, how its answer is read, and how a summary is written into a list."""

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirecall._apis.conversation import Message, MessageFormat
from wirecall._apis.detection import read_conversation
from wirecall._shown import encodable, written
from wirecall._tools.definitions import ApiName
from wirecall.compaction._counting import Count, texts, tokens_of

log = logging.getLogger("wirecall")

# What a summarising model is given: texts of users and assistants, as `[{"role", "content"}]`.
Flat = list[dict[str, str]]

# The first line of each summary. A message that begins with it is a summary: it is not a turn, and the next
# summary replaces it.
OPENING = "[Summary of the conversation so far]"
# Precedes each summary.
INTRODUCTION = (
    f"{OPENING}\n"
    "The conversation goes on; its earlier part was replaced by the summary below. Continue from where it "
    "is now, without a recap and without questions about what the summary says.\n\n"
)
# Ends a summary that was cut off.
CUT_OFF = "\n[The summary was cut off here.]"
# The maximum number of tokens of a summary, by default.
MAX_SUMMARY_TOKENS = 2048

_INSTRUCTION = (
    "Summarise the conversation above, so that another model can continue it without having seen it. Keep "
    "what the user wants, what was decided and why, names, numbers, paths and identifiers exactly as they "
    "are written, what tools were called for and what they found, errors and how they were solved, what "
    "is done and what is open. If there is an earlier summary, keep what still matters of it. Do not "
    "continue the conversation, do not answer it, and call no tools.\n"
    "Write the summary between <summary> and </summary>, in at most {tokens} tokens. If you have to think "
    "first, do so between <analysis> and </analysis>."
)

_ANALYSIS = re.compile(r"<(/?)analysis>", re.IGNORECASE)
_OPENS, _CLOSES = re.compile("<summary>", re.IGNORECASE), re.compile("</summary>", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"\n{3,}")
# Answers that say nothing, compared without case and without the punctuation around them.
# fmt: off
FILLERS = frozenset((
    "empty", "empty summary", "n/a", "na", "nil", "no content", "no conversation", "no messages",
    "no response", "no summary", "no summary available", "no summary provided", "none", "not applicable",
    "not available", "nothing", "nothing to summarise", "nothing to summarize", "null", "summary",
    "unavailable", "undefined",
))
# fmt: on


def wrapped(summary: str) -> str:
    """A summary as a message of the conversation."""
    return INTRODUCTION + summary


@dataclass(frozen=True)
class SummaryLimit:
    """The maximum number of tokens of a summary, which its introduction does not count toward."""

    tokens: float
    count: Count

    def fit(self, format: MessageFormat, summary: str) -> str:
        """The summary, cut off if it is too long. At least one letter or digit is kept."""
        introduction = tokens_of(format.user(INTRODUCTION), self.count)

        def fits(text: str) -> bool:
            return tokens_of(format.user(wrapped(text)), self.count) - introduction <= self.tokens

        if fits(summary):
            return summary
        log.warning("A summary exceeded its limit and was cut off")
        # If not even the sentence fits, the summary ends without it.
        cut = _longest(summary, CUT_OFF, fits) or _longest(summary, "", fits)
        return cut or next(filter(str.isalnum, summary))


def _longest(text: str, ending: str, fits: Callable[[str], bool]) -> str:
    """Approximately the longest prefix that fits together with the ending; "" if no meaningful one fits."""
    found, least, most = "", 0, len(text)
    # `fits` need not be monotonic: only prefixes that were tested are returned.
    while most - least > 1:
        length = (least + most) // 2
        # The end of a line or a word, if there is one in the second half.
        end = max(text.rfind(space, length // 2, length + 1) for space in "\n ")
        start = text[: end if end > 0 else length].rstrip()
        if not fits(start + ending):
            most = length
            continue
        least = length
        if any(map(str.isalnum, start)) and not _is_blank(start + ending):
            found = start + ending
    return found


def question(
    messages: Sequence[Message],
    tool_result_stub_threshold: float | None,
    instructions: str | None,
    max_summary_tokens: int,
    format: ApiName | None,
) -> Flat:
    """What a summarising model is given; [] if there is nothing to summarise.

    System messages and reasoning are left out. The arguments are those of `compact_messages`.
    """
    flat = _flattened(messages, tool_result_stub_threshold, format)
    if not flat:
        return []
    if instructions is not None and not isinstance(instructions, str):
        raise TypeError(f"instructions must be a str, not {type(instructions).__name__}")
    asked = _INSTRUCTION.format(tokens=max_summary_tokens)
    return [*flat, {"role": "user", "content": f"{asked}\n\n{instructions}" if instructions else asked}]


def _flattened(messages: Sequence[Message], threshold: float | None, name: ApiName | None) -> Flat:
    format, mappings = read_conversation(messages, name)
    limit: Any = math.inf if threshold is None else threshold
    if not isinstance(limit, (int, float)) or not limit >= 0:
        raise ValueError(f"tool_result_stub_threshold is {limit!r}; it must be a number of characters")
    names: dict[str, str] = {}
    flat = []
    for mapping in mappings:
        info = format.inspect(mapping)
        if info.role == "system":
            continue
        lines = []
        for result in info.results:
            text = _result_text(format, result.content)
            tool = names.get(result.id) or result.name or "of an unknown name"
            if len(text) > limit:
                text = f"[Tool {tool} returned {len(text)} chars; omitted before summarization]"
            lines.append(f"[Tool result ({result.id}): {text}]")
        lines += _texts_of(format, mapping)
        for call in info.calls:
            names[call.id] = call.name
            arguments = "{}" if call.arguments is None else written(call.arguments)
            lines.append(f"[Called tool: {call.name}({arguments})]")
        if content := "\n".join(line for line in lines if line.strip()):
            role = "assistant" if info.role == "assistant" else "user"
            content = content.replace(INTRODUCTION, f"{OPENING}\n", 1)
            flat.append({"role": role, "content": encodable(content)})
    return flat


def _texts_of(format: MessageFormat, mapping: Mapping[str, Any]) -> list[str]:
    return [*format.attachments(mapping), format.text(mapping)]


def _result_text(format: MessageFormat, content: object) -> str:
    """The text of a result."""
    if isinstance(content, str):
        return content
    lines = _texts_of(format, {"role": "user", "content": content})
    return "\n".join(line for line in lines if line) or "\n".join(texts(content))


def cleaned(answer: object) -> str:
    """The summary in a model's answer, without its analysis and tags; "" if it says nothing.

    Raises:
        TypeError: The answer is neither text nor None.
    """
    if answer is None:
        return ""
    if not isinstance(answer, str):
        raise TypeError(f"a summary is a str or None, not {type(answer).__name__}")
    text = _without_analysis(encodable(answer))
    opened = _OPENS.search(text)
    if opened is not None:
        closed = _CLOSES.search(text, opened.end())
        text = text[opened.end() : closed.start() if closed else None]
    text = _LINE_BREAKS.sub("\n\n", text).strip().removeprefix(OPENING).lstrip()
    return "" if _is_blank(text) else text


def _without_analysis(text: str) -> str:
    """Removes each closed analysis, and an unclosed one up to <summary>."""
    kept, at, opened = [], 0, -1
    for tag in _ANALYSIS.finditer(text):
        if tag[1] and opened >= 0:
            kept.append(text[at:opened])
            at, opened = tag.end(), -1
        elif not tag[1] and opened < 0:
            opened = tag.start()
    if opened < 0:
        return "".join(kept) + text[at:]
    summary = _OPENS.search(text, opened)
    return "".join(kept) + text[at:opened] + (text[summary.start() :] if summary else "")


def _is_blank(text: str) -> bool:
    if not any(map(str.isalnum, text)):
        return True
    words = " ".join(text.casefold().split())
    named = [at for at, character in enumerate(words) if character.isalnum()]
    return len(text) <= 100 and words[named[0] : named[-1] + 1] in FILLERS
