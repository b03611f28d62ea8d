"""A task of many turns, and a model whose only memory is the conversation.

The word that its final answer begins with is said once, in the first result; the number of turns stands in
the user's question. Which step comes next, and the total so far, it reads from the last result, or from the
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
from server.model import Lost, call_text, manual_signature, pairs_of

STEPS = 300
# The name of the model that summarises.
SUMMARIZER = "summarizer"

WORD = "heron-41"
_TALK = "Rain over the harbour, two ships late, salt and rope and oranges, a lamp, the clerk asleep. "

_GOAL = re.compile(r"Draw (\d+) times")
_WORD = re.compile(r"The word is (\S+)\.")
_STEP = re.compile(r"Step (\d+): the total is (\d+)\.")


def word() -> str:
    """The word of the day."""
    return f"The word is {WORD}."


def draw(step: int, total: int) -> str:
    """Draw a number and add it to the total."""
    talk = (_TALK * 5)[step % len(_TALK) :]
    return f"Step {step}: the total is {total + step * 7919 % 100}. {talk}"


def note(text: str) -> str:
    """Note something."""
    return "Noted."


LEDGER = Task(
    "You keep a ledger.",
    f"Ask for the word. Draw {STEPS} times, and note every tenth step. Then say the word and the total.",
    {"word": word, "draw": draw, "note": note},
    {
        "word": object_schema([]),
        "draw": object_schema(["step", "total"], step=INTEGER, total=INTEGER),
        "note": object_schema(["text"], text=STRING),
    },
)


@dataclass(frozen=True)
class Ledger:
    """The model, natively where it is given tools, else over text; and the one that summarises.

    Attributes:
        measure: The tokens of a request, which its answer says.
    """

    measure: Callable[[Json], int]

    def __call__(self, request: Request) -> Answer:
        conversation = read(request.json)
        summarizes = request.json["model"] == SUMMARIZER
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
    goal, found, steps = _GOAL.search(said), _WORD.search(said), _STEP.findall(said)
    if goal is None:
        raise Lost("model: nobody says how often to draw")
    if found is None:
        if steps:
            raise Lost("model: the word is gone")
        return ["First the word. ", Call("word")]
    step, total = map(int, steps[-1]) if steps else (0, 0)
    if step == int(goal[1]):
        return [f"{found[1]}: {total}"]
    calls = [Call("draw", {"step": step + 1, "total": total})]
    if step % 10 == 0:
        calls.append(Call("note", {"text": f"{total} after {step}"}))
    return [*calls] if step % 3 else [f"Now step {step + 1}. ", *calls]


def _summary(said: str) -> str:
    """What matters of it, in the words in which it was said."""
    facts = [found[0] for found in (_GOAL.search(said), _WORD.search(said)) if found is not None]
    facts += [found[0] for found in _STEP.finditer(said)][-1:]
    if not facts:
        raise Lost("model: there is nothing to summarise")
    return f"<analysis>Much was drawn.</analysis><summary>{' '.join(facts)}</summary>"


def _written(part: str | Call, system: str) -> str:
    if isinstance(part, str):
        return part
    return call_text(part.name, pairs_of(json.loads(part.text), manual_signature(system, part.name)))
