"""The laws of prompted formats."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from wirecall import _core
from wirecall.testing._cases import Case, Json, Law


def _pairs(text: str) -> Json:
    """JSON with the order of members, and with numbers as written."""
    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs), parse_float=str, parse_int=str)


def round_trip(case: Case) -> str | None:
    """A written call parses as the same call, in both modes, and the text around it is unchanged."""
    for strict in (False, True):
        message = case.toolset(strict).parse(case.message, truncated=False)
        how = f"{'strictly ' if strict else ''}{case.call!r}"
        if wrong := misread(how, message, [(case.tool, case.arguments)], _is_unchanged):
            return wrong
        around = case.before + case.after
        # Whitespace around the call may belong to the format.
        if message.text != around and not (
            message.framing and without_blanks(message.text) == without_blanks(around)
        ):
            return f"the text around {how} parses as {message.text!r}"
    return None


def _is_unchanged(written: Json, read: str) -> bool:
    return bool(_pairs(read) == _pairs(json.dumps(written)))


def misread(
    how: str, message: Any, calls: "list[tuple[str, Json]]", same: Callable[[Json, str], bool]
) -> str | None:
    """How a message differs from these calls, if it does."""
    if message.errors:
        return f"{how} parses as an error: {message.errors[0].kind}: {message.errors[0].message}"
    names = [call.name for call in message.calls]
    if names != [name for name, _ in calls]:
        return f"{how} parses as calls of {names}"
    for call, (_, arguments) in zip(message.calls, calls, strict=True):
        if not same(arguments, call.arguments):
            return f"{how} parses as {call.arguments}"
        if call.repairs or call.problems:
            return f"{how} has repairs {call.repairs} and problems {call.problems}"
    return None


def without_blanks(text: str) -> str:
    return "".join(text.split())


def neighbours(case: Case) -> str | None:
    """Calls may follow each other directly, or on separate lines."""
    tools = case.toolset()
    for between in ("", "\n"):
        text = between.join([case.call, tools.encode("other", {}), case.call])
        message = tools.parse(text)
        names = [call.name for call in message.calls]
        if names != [case.tool, "other", case.tool] or message.errors:
            return f"{text!r} parses as calls of {names} and {message.errors}"
    return None


def nothing_lost(case: Case) -> str | None:
    """Texts, reasoning, calls, errors and framing cover the whole message, in order."""
    interrupted = f"{case.call[: len(case.call) // 2]}{case.untrusted}{case.call}"
    for message in (case.message, interrupted):
        at = 0
        parsed = case.toolset().parse(message)
        framing = dict(parsed.framing)
        for item in parsed.items:
            at = framing.get(at, at)
            if isinstance(item, _core.Text):
                begin, end, same = at, at + len(item.text), message[at : at + len(item.text)] == item.text
            elif isinstance(item, (_core.CallEnd, _core.Reasoning)):
                begin, end, same = item.start, item.end, item.end > item.start
            else:
                begin, end, same = item.start, item.end, item.raw == message[item.start : item.end]
            if begin != at or not same:
                return f"of {message!r}, {message[at:end]!r} is reported as {item}"
            at = end
        if framing.get(at, at) != len(message):
            return f"of {message!r}, {message[at:]!r} is not reported"
    return None


def chunks(case: Case) -> str | None:
    """A message parses the same however it is cut; the joined deltas are the arguments."""
    messages = (case.message, case.untrusted + case.call, case.call[:-1] + case.untrusted)
    return cut(case.toolset(), messages, in_reasoning=None, lists=False)


def cut(tools: Any, messages: "Iterable[str]", *, in_reasoning: bool | None, lists: bool) -> str | None:
    for message in messages:
        for truncated in (None, False):
            whole = _items(tools.parse(message, truncated=truncated, in_reasoning=in_reasoning).items)
            cuts = [[message[:at], message[at:]] for at in range(len(message) + 1)]
            for pieces in (list(message), *cuts):
                parser = tools.parser(in_reasoning=in_reasoning)
                events = [event for piece in pieces for event in parser.feed(piece)]
                events += parser.finish(truncated=truncated)
                if wrong := _disorder(events, lists):
                    return f"{pieces} gives events that {wrong}: {events}"
                if _items(events) != whole:
                    return f"{pieces} parses as {_items(events)}, in one piece as {whole}"
    return None


def _items(events: Any) -> list[tuple[Any, ...]]:
    """Events or items without ids, with adjacent texts joined and parts of calls left out."""
    items: list[tuple[Any, ...]] = []
    for event in events:
        if isinstance(event, (_core.CallEnd, _core.CallError)):
            items.append(tuple(getattr(event, name) for name in event.__match_args__ if name != "id"))
        elif isinstance(event, _core.Text):
            before = items.pop()[0] if items and len(items[-1]) == 1 else ""
            items.append((before + event.text,))
        elif isinstance(event, _core.Reasoning):
            joins = bool(items) and items[-1][0] == "reasoning" and items[-1][2] == event.start
            begin = items.pop()[1] if joins else event.start
            items.append(("reasoning", begin, event.end))
    return items


def _disorder(events: list[Any], lists: bool) -> str | None:
    """What is wrong with the order of events. In `lists`, calls begin one after another, and end together."""
    open_calls: dict[int, Any] = {}
    joined: dict[int, str] = {}
    for event in events:
        if isinstance(event, _core.CallStart):
            if open_calls and not lists:
                return "start a call inside another"
            open_calls[event.index], joined[event.index] = event, ""
        elif isinstance(event, _core.ArgumentsDelta):
            if event.index not in open_calls:
                return "have a delta outside of a call"
            joined[event.index] += event.delta
        elif isinstance(event, (_core.CallEnd, _core.CallError)):
            started = None if event.index is None else open_calls.pop(event.index, None)
            if event.id != (started.id if started is not None else None):
                return "end a call that they did not start"
            if isinstance(event, _core.CallEnd) and joined[event.index] != event.arguments:
                return "have deltas that are not the arguments"
        elif open_calls:
            return "have text inside a call"
    return "never end a call" if open_calls else None


def truncation(case: Case) -> str | None:
    """A call that was cut off is not a call; its deltas are the beginning of its arguments."""
    tools = case.toolset()
    arguments = tools.parse(case.call).calls[0].arguments
    for end in range(len(case.call)):
        start = case.call[:end]
        parser = tools.parser()
        events = [*parser.feed(start), *parser.finish()]
        if any(isinstance(event, _core.CallEnd) for event in events):
            return f"{start!r} parses as a call, although it was cut off"
        sent = "".join(event.delta for event in events if isinstance(event, _core.ArgumentsDelta))
        if not arguments.startswith(sent):
            return f"{start!r} gives the deltas {sent!r}, not the beginning of {arguments!r}"
    return None


def results(case: Case) -> str | None:
    """No content of a result, and no neutralised text, can be parsed as a result or a call."""
    tools = case.toolset()
    mark = tools.result_marks[0]
    samples = [tools.encode_result("f", content) for content in ("a", "b", 1, [1], {"a": "b"})]
    ends = (samples[0][at:] for at in range(len(samples[0]) + 1))
    closing = next(end for end in ends if all(sample.endswith(end) for sample in samples))
    forged = tools.encode_result("f", "99")
    for content in (case.untrusted, case.call, forged, f"{closing}{case.call}{forged}", mark.upper()):
        written = tools.encode_result(case.tool, content)
        if not written.startswith(mark):
            return f"the result {written!r} does not begin with {mark!r}"
        found = tools.parse(f"x{written[len(mark) :]}")
        if found.calls or found.errors:
            return f"the result {written!r} contains {found.calls or found.errors}"
        for sign in filter(None, (mark, closing.strip())):
            if written.lower().count(sign.lower()) != 1:
                return f"the result {written!r} contains {sign!r} more than once"
        kinds = [error.kind for error in tools.parse(f"x {written}").errors]
        if content not in ("", case.untrusted) and kinds[:1] != ["forged_result"]:
            return f"the forged result {written!r} is not reported"
        neutral = tools.neutralise(content)
        found = tools.parse(neutral)
        if found.calls or found.errors or mark.lower() in neutral.lower():
            return f"the neutralised text {neutral!r} contains {found.calls or found.errors or mark}"
        if tools.neutralise(neutral) != neutral:
            return f"the neutralised text {neutral!r} changes when neutralised again"
    return None


def manual(case: Case) -> str | None:
    """The manual names all tools, and is always the same text."""
    text = case.toolset().manual()
    for name in (case.tool, "other"):
        if name not in text:
            return f"the manual does not name {name}"
    return None if case.toolset().manual() == text else "the manual is not the same each time"


LAWS: dict[str, Law] = {
    law.__name__: law for law in (round_trip, neighbours, nothing_lost, chunks, truncation, results, manual)
}
