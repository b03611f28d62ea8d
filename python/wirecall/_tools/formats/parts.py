"""Describes messages whose parts each have their markers."""

from __future__ import annotations

import re
from typing import Any

from wirecall._tools.formats.calls import Calls, unreadable
from wirecall._tools.formats.markup import hole, is_closing, leading_space, markers, trailing_space
from wirecall._tools.formats.reasoning import Reasoning
from wirecall._tools.formats.turns import CONTENT, Turns

Description = dict[str, Any]


def elements(
    calls: Calls,
    answer: tuple[str, str],
    begin: str,
    end: str,
    reasoning: Reasoning | None,
    tail: str,
) -> Description:
    """Reasoning, content and calls, each in an element."""
    opener, closer = answer[0].strip(), answer[1].strip()
    empty = "".join(answer)
    always = begin.startswith(empty)
    begin = begin.removeprefix(empty) if always else begin
    around = [*markers(begin)[:1], *markers(end)[-1:]]
    if len(around) < 2 or not opener or not closer:
        raise unreadable(
            f"{opener}{CONTENT}{closer} and {begin}{calls.call}{end}",
            "content or calls between markers, not both",
        )
    table: Description = {"frame": "elements", "content": [[opener, closer]], "calls": around}
    used = [opener, closer, *around]
    if reasoning is not None:
        after = reasoning.after.partition(reasoning.closer)[2]
        table["reasoning"] = [reasoning.opener.strip(), reasoning.closer]
        used += [reasoning.opener.strip(), reasoning.closer]
        join = after.removesuffix(answer[0]).strip()
        if join and reasoning.to_content:
            table["join"] = join
            used += markers(join)
    following = markers(tail)
    if len(following) > 1 and is_closing(following[0]):
        table["close"] = following[0]
    if always:
        table["always_present"] = True
    table["tags"] = list(dict.fromkeys(filter(None, used)))
    made: Description = {"message": f"{begin}{calls.calls_hole}{end}", "parts": table}
    return made if calls.is_list else {**made, "section": True}


def channels(
    calls: Calls,
    answer: tuple[str, str],
    header: str,
    begin: str,
    reasoning: Reasoning | None,
    tail: str,
    content_end: str,
) -> Description:
    """Messages that each have a header, which names a channel or a recipient."""
    separator = markers(answer[0])[-1]
    channel = markers(answer[0])[0] if len(markers(answer[0])) > 1 else ""
    head, _, body = calls.call.partition(separator)
    address = f"{begin}{head}{separator}"
    recipient = re.search(r"(\w+=)([\w.]*)\{name\}", head)
    labels = _labels(answer[0], head, channel)
    if recipient is None or not labels or not markers(header) or not body:
        raise unreadable(calls.call, "a call with a header in a form that no description has")
    start = markers(header)[-1]
    join = header[header.rindex(start) :]
    end = markers(calls.between or "")[:1] or ([reasoning.closer] if reasoning is not None else [])
    closer = markers(tail)[:1] or markers(body)[-1:]
    table: Description = {
        "frame": "channels",
        "start": start,
        "channel": channel,
        # Models of these families write it, even if their templates do not.
        "constrain": next((mark for mark in markers(head) if mark != channel), "<|constrain|>"),
        "separator": separator,
        "ends": list(dict.fromkeys([*markers(content_end), *end, *closer, *markers(answer[1])[:1]])),
        "recipient": recipient[1],
        "functions": recipient[2],
        "content": labels,
        "address": address,
    }
    if reasoning is not None:
        table["reasoning"] = next(iter(_labels(reasoning.opener, "", channel)), "")
    between = "".join([*end, join])
    body = body.removesuffix("".join(closer))
    made: Description = {"call": "{arguments}"}
    around = ("", "")
    if calls.reader == "tagged" and markers(body):
        around = markers(body)[0], markers(body)[-1]
        inner = body.removeprefix(around[0]).removesuffix(around[1])
        made = {
            "call": inner.strip(),
            "calls": {"part_ends": [], "section_ends": [around[1]]},
            "section": {"begin": around[0], "end": around[1], "also": table["ends"]},
        }
        table["address"] = address + around[0] + leading_space(inner)
        around = around[0], trailing_space(inner) + around[1]
    following = between if calls.between is not None else "".join([*closer, join])
    holes = hole("content", between) + hole("calls", around[1] + following)
    message = f"{holes}{around[1]}{''.join(closer)}"
    return {**made, "message": message, "parts": table}


def _labels(text: str, call: str, channel: str) -> list[str]:
    """The channel or the recipient in a header, and the channel of a call."""
    label = re.compile(rf"{re.escape(channel)}(\w+)" if channel else r"=(\w+)")
    found = [label.search(text), label.search(call) if channel else None]
    return list(dict.fromkeys(match[1] for match in found if match))


def recipients(mark: str, call: str, turns: Turns, header: str) -> Description:
    """Parts that begin with a mark and the recipient on a line."""
    text = turns.text(turns.message(CONTENT))[len(header) :]
    table = {"frame": "recipients", "mark": mark, "content": text.partition(CONTENT)[0].strip()}
    details = {"open": [mark], "prefix": ""}
    return {"call": mark + call, "calls": details, "message": "{calls}", "parts": table}
