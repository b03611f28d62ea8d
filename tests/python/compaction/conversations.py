"""Random conversations in each format, with what applications do to them.

Every message, call and result says a number of its own, so that it can be found again: `<17>`.

made = conversation(random.Random(1), "chat", turns=200)
made.messages, made.repairs, made.orphans
"""

import copy
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
FormatName = Literal["chat", "responses", "messages"]
FORMATS: tuple[FormatName, ...] = ("chat", "responses", "messages")
IMAGE = "data:image/png;base64,iVBORw0KGgo="


class Dumped:
    """An object of an SDK."""

    def __init__(self, held: Json) -> None:
        self.held = held

    def model_dump(self, *, exclude_unset: bool) -> Json:
        assert exclude_unset
        return copy.deepcopy(self.held)


def plain(value: Any) -> Any:
    """Without objects of an SDK."""
    return json.loads(as_json(value))


def as_json(value: Any) -> str:
    return json.dumps(value, default=lambda one: one.model_dump(exclude_unset=True))


def numbers(value: Any) -> list[str]:
    """The numbers that are said in it, with what says them: "c17" for a call, "r17" for its result."""
    return re.findall(r"<([cr]?\d+)>", as_json(value))


@dataclass
class Made:
    """A conversation.

    Attributes:
        messages: Of the format.
        repairs: How many of each kind a plan must name.
        orphans: What results say that no plan may hold.
    """

    messages: list[Any] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    orphans: set[str] = field(default_factory=set)


@dataclass
class Called:
    id: str
    number: str


class Maker:
    """Writes turns.

    Args:
        rng: What happens.
        tame: Nothing that a provider would refuse, and nothing that only some providers know.
    """

    def __init__(self, rng: random.Random, format: FormatName, *, tame: bool = False) -> None:
        self.rng, self.format, self.tame = rng, format, tame
        self.made = Made()
        self.count = 0
        self.answered: list[str] = []

    def odds(self, probability: float) -> bool:
        return self.rng.random() < probability

    def says(self, kind: str = "") -> str:
        self.count += 1
        filler = self.rng.choice(("", "word " * self.rng.randrange(1, 40), "\u65e5\u672c\u8a9e\n\n", "  \t"))
        return f"{filler}<{kind}{self.count}>"

    def add(self, message: Json) -> None:
        if not self.tame and self.odds(0.1):
            message["x_unknown"] = {"kept": [self.rng.randrange(9), None, 1.50]}
        dumped = not self.tame and message.get("role") == "assistant" and self.odds(0.2)
        self.made.messages.append(Dumped(message) if dumped else message)

    def turn(self, *, last: bool = False) -> None:
        happens = self.rng.random()
        if happens < 0.03 and not self.tame:
            self.add(self.system())
        if happens < 0.4:
            self.add(self.user())
        elif happens < 0.6:
            for message in self.assistant([]):
                self.add(message)
        else:
            self.calls(pending=last)

    def system(self) -> Json:
        role = "system" if self.format == "messages" else self.rng.choice(("system", "developer"))
        kind = {"type": "message"} if self.format == "responses" else {}
        return {**kind, "role": role, "content": self.says()}

    def user(self) -> Json:
        text = self.says()
        kind = {"type": "message"} if self.format == "responses" and self.odds(0.5) else {}
        if self.odds(0.6):
            return {**kind, "role": "user", "content": text}
        parts: list[Json] = [{"type": "input_text" if self.format == "responses" else "text", "text": text}]
        if self.odds(0.5):
            image: dict[FormatName, Json] = {
                "chat": {"type": "image_url", "image_url": {"url": IMAGE}},
                "responses": {"type": "input_image", "image_url": IMAGE},
                "messages": {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": IMAGE},
                },
            }
            parts.insert(self.rng.randrange(2), image[self.format])
        if self.format == "messages" and not self.tame and self.odds(0.5):
            parts[-1]["cache_control"] = {"type": "ephemeral"}
        return {**kind, "role": "user", "content": parts}

    def assistant(self, calls: list[Called]) -> list[Json]:
        """What the model says at once."""
        text = self.says()
        reasons = self.odds(0.4)
        if self.format == "chat":
            message: Json = {"role": "assistant", "content": text}
            if reasons and not self.tame:
                message["reasoning_content"] = "exact  reasoning\n"
            if calls:
                message["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"of":"<c' + call.number + '>"}'},
                    }
                    for call in calls
                ]
                if self.odds(0.5):
                    message["content"] = None
            return [message]
        if self.format == "responses":
            return self.items(text, reasons, calls)
        blocks: list[Json] = [{"type": "text", "text": text}]
        if reasons:
            blocks.insert(0, {"type": "thinking", "thinking": "exact  bytes\n", "signature": "sig=="})
        if self.odds(0.2):
            blocks += [
                {"type": "server_tool_use", "id": f"st{self.count}", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": f"st{self.count}", "content": []},
            ]
        blocks += [
            {"type": "tool_use", "id": call.id, "name": "look", "input": {"of": f"<c{call.number}>"}}
            for call in calls
        ]
        return [{"role": "assistant", "content": blocks}]

    def items(self, text: str, reasons: bool, calls: list[Called]) -> list[Json]:
        items: list[Json] = []
        if reasons:
            items.append({"type": "reasoning", "id": f"rs_{self.count}", "summary": []})
        if self.odds(0.2):
            items.append({"type": "web_search_call", "id": f"ws_{self.count}", "status": "completed"})
        if not calls or self.odds(0.5):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            items.append({"type": "message", "role": "assistant", "content": content})
        items += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": "look",
                "arguments": '{"of":"<c' + call.number + '>"}',
            }
            for call in calls
        ]
        return items

    def calls(self, *, pending: bool) -> None:
        calls = []
        for _ in range(self.rng.choice((1, 1, 1, 2, 3, 4))):
            self.count += 1
            id = f"call_{self.count}"
            if not self.tame and self.answered and self.odds(0.1):
                id = self.answered.pop(self.rng.randrange(len(self.answered)))
            calls.append(Called(id, str(self.count)))
        for message in self.assistant(calls):
            self.add(message)
        self.rng.shuffle(calls)
        results, missing = [], []
        for call in calls:
            if not self.tame and self.odds(0.1):
                missing.append(call)
            else:
                results.append(self.result(call))
                self.answered.append(call.id)
        late = [] if pending else [call for call in missing if self.odds(0.5)]
        if not pending:
            self.made.repairs["missing_result"] += len(missing) - len(late)
        self.made.repairs["late_result"] += len(late)
        # Text beside an orphan is a message, after which nothing is pending.
        strays = not self.tame and not pending
        if strays and self.odds(0.05):
            results.append(self.orphan(Called(f"nobody_{self.count}", "0")))
        if strays and results and self.odds(0.05) and len(missing) < len(calls):
            answered = next(call for call in calls if call not in missing)
            results.append(self.orphan(answered))
        if late:
            # Somebody else speaks first.
            self.results(results)
            self.add(self.user())
            results = [self.result(call) for call in late]
        self.results(results)
        if len(missing) == len(calls) and not pending and self.format != "chat":
            # Or what the model says next would belong to the same answer.
            self.add(self.user())

    def result(self, call: Called) -> Json:
        text = f"{self.says()}<r{call.number}>"
        if self.format == "chat":
            content: Any = text if self.odds(0.8) else [{"type": "text", "text": text}]
            return {"role": "tool", "tool_call_id": call.id, "content": content}
        if self.format == "responses":
            return {"type": "function_call_output", "call_id": call.id, "output": text}
        block: Json = {"type": "tool_result", "tool_use_id": call.id, "content": text}
        if self.odds(0.3):
            block["content"] = [{"type": "text", "text": text}]
        if not self.tame and self.odds(0.2):
            block["cache_control"] = {"type": "ephemeral"}
        return block

    def orphan(self, call: Called) -> Json:
        result = self.result(call)
        self.made.repairs["orphan_result"] += 1
        self.made.orphans.update(numbers(result)[:1])
        return result

    def results(self, results: list[Json]) -> None:
        if self.format != "messages":
            for result in results:
                self.add(result)
            return
        while results:
            size = len(results) if self.tame or self.odds(0.8) else self.rng.randrange(1, len(results) + 1)
            blocks, results = results[:size], results[size:]
            if not results and self.odds(0.1):
                blocks.append({"type": "text", "text": self.says()})
            self.add({"role": "user", "content": blocks})


def conversation(
    rng: random.Random, format: FormatName, *, turns: int = 200, tame: bool = False, pending: bool = True
) -> Made:
    """So many turns, about. The last may wait for results, if `pending`."""
    maker = Maker(rng, format, tame=tame)
    if format != "messages" or not tame:
        maker.add(maker.system())
    maker.add(maker.user())
    for turn in range(turns):
        maker.turn(last=pending and turn == turns - 1)
    return maker.made
