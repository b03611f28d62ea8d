"""What a run may cost and has cost, in tokens and in dollars.

Before a request is sent, its maximum cost is reserved; the actual cost then replaces the reservation. So no
limit is exceeded, however many requests are concurrent. There are two exceptions: providers that generate
more than the request allows, and providers that count more tokens than half of the request's bytes. The
budget adapts to the latter.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

# English needs about four bytes per token, Chinese about three.
_TOKENS_PER_BYTE = 1 / 2
_MILLION = 1_000_000
# The reason of skipped cells.
REACHED = "budget"


class BudgetReachedError(Exception):
    """Another request could exceed a limit."""


@dataclass(frozen=True)
class Usage:
    """Tokens of answers.

    Attributes:
        input: All input tokens, cached or not.
        output: All output tokens, including reasoning.
        cached: The cached part of the input.
        unknown: The number of answers without a reported usage.
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
        """The inverse of `as_dict`."""
        return cls(**fields)


@dataclass(frozen=True)
class Prices:
    """Dollars per million tokens of a model. Cached tokens cost the same as others if no price is given."""

    input: float
    output: float
    cached: float | None = None

    def usd(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / _MILLION


def most(size: int, output: int, tokens_per_byte: float = _TOKENS_PER_BYTE) -> Usage:
    """The maximum usage of a request with this many bytes and output tokens."""
    return Usage(int(size * tokens_per_byte) + 1, output)


class Reservation(NamedTuple):
    """The reserved cost of one request."""

    model: str
    size: int
    usage: Usage


class Budget:
    """Limits and spending, shared by all threads of a run.

    Args:
        max_tokens: Maximum input and output tokens together.
        max_usd: Maximum cost; needs the prices of all models.
        prices: The prices by model.

    Attributes:
        reached: Whether a request was refused. All further ones are then refused, too.
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
        """The amount spent; None if the price of a model is unknown."""
        return self.cost(self._spent.items())

    def cost(self, used: Iterable[tuple[str, Usage]]) -> float | None:
        """The cost of the given usage in dollars; None if the price of a model is unknown."""
        total = 0.0
        for model, usage in used:
            if model not in self._prices:
                return None
            total += self._prices[model].usd(usage)
        return total

    def reserve(self, model: str, size: int, output: int) -> Reservation:
        """Reserve the maximum cost of a request. If other reservations hold the rest of the budget, wait for
        them.

        Args:
            model: The model, for its prices.
            size: Bytes of the request.
            output: Maximum tokens of the answer.

        Raises:
            BudgetReachedError: The request could exceed a limit.
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
        """Replace a reservation with the actual usage. None: there was an answer, but no reported usage.

        The reserved amount then counts as spent.
        """
        with self._changed:
            self._reserved.remove(reservation)
            if usage is not None and usage.input:
                known = self._tokens_per_byte.get(reservation.model, _TOKENS_PER_BYTE)
                self._tokens_per_byte[reservation.model] = max(known, usage.input / reservation.size)
            self._spend(reservation.model, reservation.usage if usage is None else usage)
            self._changed.notify_all()

    def add(self, model: str, usage: Usage) -> None:
        """Add the usage of an earlier part of the run."""
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
