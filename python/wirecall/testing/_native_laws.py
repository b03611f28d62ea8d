"""The laws of native formats: calls are written in messages."""

import json
from typing import Any

from wirecall.testing._cases import Case, Json, Law
from wirecall.testing._laws import cut, manual, misread, nothing_lost, without_blanks


def _same(written: Json, read: str) -> bool:
    """Whether arguments are the same. A format may sort keys, and leave out members that are null."""

    def plain(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in sorted(value.items()) if one is not None}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return bool(plain(json.loads(json.dumps(written))) == plain(json.loads(read)))


def _message(tools: Any, content: str, calls: list[tuple[str, Json]], native: bool) -> str | None:
    """The text of a message; None if the format cannot hold it."""
    try:
        return str(tools.encode_message(content, calls, native=native))
    except ValueError:
        return None


def native_round_trip(case: Case) -> str | None:
    """A message with calls, as the official template writes it, is read as the same calls and text."""
    own: tuple[str, Json] = (case.tool, case.arguments)
    other: tuple[str, Json] = ("other", {})
    content = case.before
    for strict in (False, True):
        tools = case.toolset(strict)
        for calls in ([own], [own, other], [other, own, own]):
            text = _message(tools, content, calls, True)
            if text is None:
                continue
            message = tools.parse(text, truncated=False, in_reasoning=False)
            how = f"{'strictly ' if strict else ''}{text!r}"
            if wrong := misread(how, message, calls, _same):
                return wrong
            if without_blanks(message.text) != without_blanks(content):
                return f"the text of {how} parses as {message.text!r}"
    return None


def native_chunks(case: Case) -> str | None:
    """The same as `chunks`, for messages with one and with two calls, and with half a message."""
    tools = case.toolset()
    own: tuple[str, Json] = (case.tool, case.arguments)
    written = [
        _message(tools, content, calls, True)
        for content, calls in ((case.before, [own]), ("", [own, ("other", {})]))
    ]
    messages = [text for text in written if text is not None]
    for text in messages[:1]:
        messages += [text[:-1] + case.untrusted, case.untrusted + text]
    return cut(tools, messages, in_reasoning=False, lists=True)


def native_quoted(case: Case) -> str | None:
    """If one character after the tool's name is missing, a call that the value quotes does not run.

    Values without quotes, and calls that lack a quote before the value, are excepted (README).
    """
    quote = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = case.make([("quote", quote), ("other", {"type": "object"})], False)
    inner = _message(tools, "", [("other", {})], True)
    if inner is None or case.properties or tools.plan("quote").encoding != "json":
        return None
    value = f"{case.untrusted} {inner} end"
    text = _message(tools, "", [("quote", {"text": value})], True)
    if text is None:
        return None
    quoted = json.dumps(value, ensure_ascii=False)
    begin, end = text.find(quoted), text.find(quoted) + len(quoted)
    named = text.find("quote") + len("quote")
    places = [at for at in range(named, begin) if text[at] != '"'] + [*range(end, len(text))]
    for at in places if 0 < named < begin else ():
        slip = text[:at] + text[at + 1 :]
        if any(call.name == "other" for call in tools.parse(slip, in_reasoning=False).calls):
            return f"{slip!r}, without {text[at]!r} at {at}, runs the call that its value quotes"
    return None


def native_truncation(case: Case) -> str | None:
    """A message that was cut off has no call with other arguments than the whole one."""
    tools = case.toolset()
    text = _message(tools, "", [(case.tool, case.arguments)], True)
    if text is None:
        return None
    for end in range(len(text)):
        for call in tools.parse(text[:end], in_reasoning=False).calls:
            if not _same(case.arguments, call.arguments):
                return f"{text[:end]!r} parses as {call.arguments}, although it was cut off"
    return None


def native_results(case: Case) -> str | None:
    """Nothing in the content of a result, and in neutralised text, can be parsed as a call."""
    tools = case.toolset()
    call = _message(tools, "", [(case.tool, case.arguments)], False)
    # The prompt may end with the first marker of a message.
    begun = [call[at + 1 :] for at in range(len(call)) if call[at] in "<>[]|"] if call else []
    for content in filter(None, (case.untrusted, call, f"a\n{call}", *begun[:8])):
        neutral = tools.neutralise(content)
        for text in (neutral, f"x{neutral}"):
            found = tools.parse(text, in_reasoning=False)
            if found.calls or found.errors:
                return f"the neutralised text {text!r} contains {found.calls or found.errors}"
        if tools.neutralise(neutral) != neutral:
            return f"the neutralised text {neutral!r} changes when neutralised again"
        written = tools.encode_result(case.tool, content)
        # A result is never the whole text of a turn of the model.
        if tools.parse(f"x {written}", in_reasoning=False).calls:
            return f"the result {written!r} contains a call"
    return None


NATIVE_LAWS: dict[str, Law] = {
    "round_trip": native_round_trip,
    "nothing_lost": nothing_lost,
    "chunks": native_chunks,
    "quoted": native_quoted,
    "truncation": native_truncation,
    "results": native_results,
    "manual": manual,
}
