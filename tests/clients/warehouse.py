"""A task of many turns, and a model whose only memory is the conversation.

The label that its final answer begins with is said once, in the first result; the number of turns is in
the user's question. Which shelf comes next, and the total so far, it reads from the last result, or from the
summary of what is gone. The application keeps nothing: it adds to the total that the model gives it. So every
call of a run, and its answer, say whether the history was right.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from application import INTEGER, STRING, Json, Task, object_schema
from server import Answer, Call, Delivery, Request, Usage
from server.conversation import read
from server.model import LostError, call_text, manual_signature, pairs_of

SHELVES = 300

LABEL = "heron-41"
_TALK = "Rain over the harbour, two ships late, salt and rope and oranges, a lamp, the clerk asleep. "

_GOAL = re.compile(r"Count (\d+) shelves")
_LABEL = re.compile(r"The label is (\S+)\.")
_SHELF = re.compile(r"Shelf (\d+): the total is (\d+)\.")


def label() -> str:
    """The label of the warehouse."""
    return f"The label is {LABEL}."


def boxes(number: int) -> int:
    return number * 7919 % 100


def shelf(number: int, total: int) -> str:
    """Count the boxes of a shelf, and add them to the total so far."""
    talk = (_TALK * 5)[number % len(_TALK) :]
    return f"Shelf {number}: the total is {total + boxes(number)}. {talk}"


def note(text: str) -> str:
    """Note something."""
    return "Noted."


WAREHOUSE = Task(
    "You count what is in a warehouse.",
    f"Ask for the label. Count {SHELVES} shelves, note every tenth. Then say the label and the total.",
    {"label": label, "shelf": shelf, "note": note},
    {
        "label": object_schema([]),
        "shelf": object_schema(["number", "total"], number=INTEGER, total=INTEGER),
        "note": object_schema(["text"], text=STRING),
    },
)


@dataclass(frozen=True)
class Counting:
    """The model, natively where it is given tools, else over text; and the one that summarises.

    Attributes:
        measure: The tokens of a request, which its answer says.
    """

    measure: Callable[[Json], int]

    def __call__(self, request: Request) -> Answer:
        conversation = read(request.json)
        # Who summarises is given texts, no tools and no system text.
        summarizes = not (conversation.tools or conversation.system)
        said = "\n".join(
            text
            for turn in conversation.turns
            if summarizes or turn.role == "user"
            for text in (turn.text, *(result.text for result in turn.results))
        )
        parts = [_summary(said)] if summarizes else _next(said)
        if not conversation.tools:
            parts = ["".join(_written(part, conversation.system) for part in parts)]
        return Answer(parts, usage=Usage(self.measure(request.json)), delivery=Delivery(characters=40))


def _next(said: str) -> list[str | Call]:
    goal, found, shelves = _GOAL.search(said), _LABEL.search(said), _SHELF.findall(said)
    if goal is None:
        raise LostError("model: nobody says how many shelves to count")
    if found is None:
        if shelves:
            raise LostError("model: the label is gone")
        return ["First the label. ", Call("label")]
    number, total = map(int, shelves[-1]) if shelves else (0, 0)
    if number == int(goal[1]):
        return [f"{found[1]}: {total}"]
    calls = [Call("shelf", {"number": number + 1, "total": total})]
    if number and number % 10 == 0:
        calls.append(Call("note", {"text": f"{total} after {number}"}))
    return [*calls] if number % 3 else [f"Now shelf {number + 1}. ", *calls]


def _summary(said: str) -> str:
    """What matters of it, in the words in which it was said."""
    facts = [found[0] for found in (_GOAL.search(said), _LABEL.search(said)) if found is not None]
    facts += [found[0] for found in _SHELF.finditer(said)][-1:]
    if not facts:
        raise LostError("model: there is nothing to summarise")
    return f"<analysis>Much was counted.</analysis><summary>{' '.join(facts)}</summary>"


def _written(part: str | Call, system: str) -> str:
    if isinstance(part, str):
        return part
    return call_text(part.name, pairs_of(json.loads(part.text), manual_signature(system, part.name)))
