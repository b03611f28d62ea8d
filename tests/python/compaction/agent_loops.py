"""Random agent loops in each format, whose results are lost, late, repeated or misplaced.

Each step is an answer with calls; each message, call and result has its number, as in `conversations`.

made = loop(random.Random(1), "chat", steps=20)
made.messages, made.repairs, made.orphans, made.turns, made.requests
"""

import random
from dataclasses import dataclass, field

from conversations import Called, FormatName, Json, Made, Maker


@dataclass
class Loop(Made):
    """A conversation.

    Attributes:
        turns: How many turns it has.
        is_clear: Every answer is followed by a result or by a user message. Otherwise, consecutive answers
            may form one turn, so the expected counts do not apply.
        requests: How many messages there are each time the application sends a request.
    """

    turns: int = 0
    is_clear: bool = True
    requests: list[int] = field(default_factory=list)


@dataclass
class Late:
    call: Called
    step: int


class LoopMaker(Maker):
    def __init__(self, rng: random.Random, format: FormatName) -> None:
        super().__init__(rng, format)
        self.made: Loop = Loop()
        self.late: list[Late] = []
        self.step = 0

    def asks(self) -> None:
        self.add(self.user())
        self.made.turns += 1
        self.results(self.due(self.step + 1))
        self.made.requests.append(len(self.made.messages))

    def due(self, before: int) -> list[Json]:
        """Late results of calls before this step, and results without a call."""
        found = [one for one in self.late if one.step < before and self.odds(0.4)]
        self.late = [one for one in self.late if one not in found]
        self.made.repairs["late_result"] += len(found)
        self.made.repairs["missing_result"] -= len(found)
        results = [self.result(one.call) for one in found]
        if self.odds(0.05):
            results.append(self.orphan(Called(f"nobody_{self.count}", "0")))
        return results

    def calls(self, *, pending: bool = False) -> None:
        """A step: what the model says and calls, and what comes back."""
        self.step += 1
        calls = [self.call() for _ in range(self.rng.choice((1, 1, 2, 3)))]
        said = self.assistant(calls)
        # Results of the last step would not be late yet.
        strays = self.due(self.step - 1)
        if self.odds(0.03):
            early = calls.pop(self.rng.randrange(len(calls)))
            strays.append(self.orphan(early))
            self.made.repairs["missing_result"] += 1
        if said[0].get("type") == "reasoning":
            self.add(said.pop(0))
        self.results(strays)
        for message in said:
            self.add(message)
        self.made.turns += 1
        own = [call for call in calls if self.odds(0.85)]
        results = [*map(self.result, own), *self.due(self.step)]
        self.rng.shuffle(results)
        results += [self.orphan(call) for call in own if self.odds(0.05)]
        self.results(results, says=bool(own) and self.odds(0.1))
        self.made.requests.append(len(self.made.messages))
        self.answered += [call.id for call in own]
        missing = [call for call in calls if call not in own]
        self.made.repairs["missing_result"] += len(missing)
        self.late += [Late(call, self.step) for call in missing if self.odds(0.6)]
        if not own and self.odds(0.9):
            self.asks()
        elif not own:
            self.made.is_clear = False

    def call(self) -> Called:
        self.count += 1
        id = f"call_{self.count}"
        if self.answered and self.odds(0.05):
            id = self.answered.pop(self.rng.randrange(len(self.answered)))
        return Called(id, str(self.count))

    def results(self, results: list[Json], *, says: bool = False) -> None:
        if self.format != "messages":
            for result in results:
                self.add(result)
        elif results:
            blocks = [*results, {"type": "text", "text": self.says()}] if says else results
            self.add({"role": "user", "content": blocks})


def loop(rng: random.Random, format: FormatName, *, steps: int) -> Loop:
    """A loop of so many steps. A user, after whom nothing is pending, speaks last."""
    maker = LoopMaker(rng, format)
    if maker.odds(0.5):
        maker.add(maker.system())
    maker.asks()
    for _ in range(steps):
        maker.calls()
        if maker.odds(0.1):
            for message in maker.assistant([]):
                maker.add(message)
            maker.made.turns += 1
            maker.asks()
    maker.asks()
    return maker.made
