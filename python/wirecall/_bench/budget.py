"""What a run may cost and what it has cost, in tokens and in dollars.

Before a request goes out, the most that it can cost is set aside; what the answer really cost takes its
place. So a limit is not passed, whatever runs at once. Two things are beyond this: a provider that writes
more than the request allows, and one that counts more tokens than half of the request's bytes; of the latter
it is learned what it counts.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

# English takes about four bytes for a token, Chinese about three.
_TOKENS_PER_BYTE = 1 / 2
_MILLION = 1_000_000
# The reason of what was skipped because of it.
REACHED = "budget"


class BudgetReachedError(Exception):
    """One request more could pass a limit."""


@dataclass(frozen=True)
class Usage:
    """Tokens of answers.

    Attributes:
        input: All that the model read, cached or not.
        output: All that it wrote, reasoning too.
        cached: Those of the input that came from a cache.
        unknown: Answers of which nobody said what they cost.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    unknown: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.unknown + other.unknown,
        )

    def as_dict(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Usage":
        """What `as_dict` made."""
        return cls(**fields)


@dataclass(frozen=True)
class Prices:
    """Dollars for a million tokens of a model; cached ones cost as much as others where nothing is said."""

    input: float
    output: float
    cached: float | None = None

    def usd(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / _MILLION


def most(size: int, output: int, tokens_per_byte: float = _TOKENS_PER_BYTE) -> Usage:
    """What a request of so many bytes can cost, if its answer can have so many tokens."""
    return Usage(int(size * tokens_per_byte) + 1, output)


class Reservation(NamedTuple):
    """What is set aside for one request."""

    model: str
    size: int
    usage: Usage


class Budget:
    """Limits and what was spent, for all threads of a run.

    Args:
        max_tokens: Input and output together.
        max_usd: Needs the prices of all models.
        prices: By model.

    Attributes:
        reached: Whether a request was refused. Then all are.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        max_usd: float | None = None,
        prices: Mapping[str, Prices] | None = None,
    ) -> None:
        self.max_tokens = max_tokens
        self.max_usd = max_usd
        self.reached = False
        self._prices = prices or {}
        self._tokens_per_byte: dict[str, float] = {}
        self._spent: dict[str, Usage] = {}
        self._reserved: list[Reservation] = []
        self._changed = threading.Condition()

    @property
    def usage(self) -> Usage:
        return sum(self._spent.values(), Usage())

    @property
    def usd(self) -> float | None:
        """What was spent; None where the price of a model is not known."""
        return self.cost(self._spent.items())

    def cost(self, used: Iterable[tuple[str, Usage]]) -> float | None:
        """Of models and what they used, in dollars; None where the price of one is not known."""
        total = 0.0
        for model, usage in used:
            if model not in self._prices:
                return None
            total += self._prices[model].usd(usage)
        return total

    def reserve(self, model: str, size: int, output: int) -> Reservation:
        """Set aside what a request can cost; where others hold what is left, wait what becomes of them.

        Args:
            model: Whose prices apply.
            size: Bytes of the request.
            output: Tokens that the answer can have.

        Raises:
            BudgetReachedError: It could pass a limit.
        """
        with self._changed:
            while not self.reached:
                rate = self._tokens_per_byte.get(model, _TOKENS_PER_BYTE)
                wanted = Reservation(model, size, most(size, output, rate))
                if self._fits(wanted):
                    self._reserved.append(wanted)
                    return wanted
                if not self._reserved:
                    self.reached = True
                    self._changed.notify_all()
                else:
                    self._changed.wait()
            raise BudgetReachedError("the budget does not allow another request")

    def settle(self, reservation: Reservation, usage: Usage | None) -> None:
        """What came of a reservation; None: an answer came, and nobody said what it cost.

        Then what was set aside is taken as spent.
        """
        with self._changed:
            self._reserved.remove(reservation)
            if usage is not None and usage.input:
                known = self._tokens_per_byte.get(reservation.model, _TOKENS_PER_BYTE)
                self._tokens_per_byte[reservation.model] = max(known, usage.input / reservation.size)
            self._spend(reservation.model, reservation.usage if usage is None else usage)
            self._changed.notify_all()

    def add(self, model: str, usage: Usage) -> None:
        """What an earlier part of the run cost."""
        with self._changed:
            self._spend(model, usage)

    def _fits(self, wanted: Reservation) -> bool:
        held = [*self._spent.items(), *((one.model, one.usage) for one in (*self._reserved, wanted))]
        if self.max_tokens is not None:
            total = sum((usage for _, usage in held), Usage())
            if total.input + total.output > self.max_tokens:
                return False
        if self.max_usd is not None:
            usd = self.cost(held)
            return usd is not None and usd <= self.max_usd
        return True

    def _spend(self, model: str, usage: Usage) -> None:
        self._spent[model] = self._spent.get(model, Usage()) + usage
