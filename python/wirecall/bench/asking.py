"""The options of commands that ask models, and what is made of them. Nothing here needs the extra to load."""

import functools
import json
import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from wirecall.bench.artifact import Artifact, BenchError, Kind

if TYPE_CHECKING:
    from wirecall.bench.budget import Budget
    from wirecall.bench.endpoints import Endpoint
    from wirecall.bench.recording import Api

_ADDRESSES: "dict[Api, str]" = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
# Distributions whose versions belong to the result.
_LIBRARIES = ("openai", "anthropic", "httpx2", "tenacity", "jsonschema")
_KEY_VARIABLES: "dict[Api, str]" = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class FiniteRange(click.FloatRange):
    """Neither infinity nor NaN, which no comparison finds outside of a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no number.", param, ctx)
        return number


@dataclass(frozen=True)
class Asking:
    """How models are asked, what that may cost, and where the result goes: the options of `asking`."""

    api: "Api"
    base_url: str | None
    key_variable: str | None
    models: list[str]
    modes: list[str]
    reps: int
    seed: int
    max_output_tokens: int
    output_parameter: str
    parameter: dict[str, Any]
    timeout: float
    tries: int
    concurrency: int
    max_tokens: int | None
    max_usd: float | None
    price_in: dict[str, float]
    price_out: dict[str, float]
    price_cached: dict[str, float]
    output: Path
    resume: bool
    retry_failed: bool
    dry_run: bool
    encoding: str

    @property
    def address(self) -> str:
        return _ADDRESSES[self.api] if self.base_url is None else self.base_url

    def endpoint(
        self,
        model: str,
        mode: str,
        options: Mapping[str, Any] | None = None,
        *,
        budget: "Budget",
        stop: threading.Event,
    ) -> "Endpoint":
        """One of the models, in one mode; see `Endpoint`."""
        from wirecall.bench.endpoints import Endpoint, Tries

        return Endpoint(
            self.api,
            self.address,
            model,
            mode,
            key=self.key(),
            options=options,
            output=self.max_output_tokens,
            output_parameter=self.output_parameter,
            parameters=self.parameter,
            tries=Tries(self.tries),
            timeout=self.timeout,
            budget=budget,
            stop=stop,
        )

    def key(self) -> str:
        """From the environment; a dry run needs none."""
        name = self.key_variable or _KEY_VARIABLES[self.api]
        key = os.environ.get(name, "").strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            # Whoever refused it later would show it.
            raise BenchError(f"{name} holds what can be no key: blanks, or other characters than of ASCII.")
        if not key and not self.dry_run:
            raise BenchError(f"{name} is not set: it holds the key; any text where the server wants none.")
        return key or "none"

    def budget(self, models: Iterable[str]) -> "Budget":
        """With those prices of the models that were given."""
        from wirecall.bench.budget import Budget, Prices

        prices = {}
        for model in models:
            price_in, price_out, cached = (
                given.get(model, given.get(""))
                for given in (self.price_in, self.price_out, self.price_cached)
            )
            if price_in is not None and price_out is not None:
                prices[model] = Prices(price_in, price_out, cached)
            elif self.max_usd is not None:
                raise BenchError(f"--max-usd needs --price-in and --price-out of {model}.")
        return Budget(self.max_tokens, self.max_usd, prices)

    def artifact(self, kind: Kind, options: Mapping[str, Any]) -> Artifact:
        """The one that is written to, new or carried on."""
        begin = Artifact.resume if self.resume else Artifact.create
        return begin(self.output, kind, options, libraries=_LIBRARIES)


def asking(output: str, modes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command these options, as its argument `asking`.

    Args:
        output: Where the artifact goes, if nobody says otherwise.
        modes: Those that are asked then.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def collected(**given: Any) -> Any:
            names = [field.name for field in fields(Asking)]
            return command(asking=Asking(**{name: given.pop(name) for name in names}), **given)

        decorated: Callable[..., Any] = collected
        for option in reversed(_options(output, modes)):
            decorated = option(decorated)
        return decorated

    return decorate


def listed(_ctx: object, _parameter: object, given: str | None) -> list[str]:
    """`a,b` as a list, for `callback`."""
    return [part.strip() for part in (given or "").split(",") if part.strip()]


def _options(output: str, modes: str) -> list[Callable[[Any], Any]]:
    def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
        return cast(Callable[[Any], Any], click.option(*names, **settings))

    def price(name: str, what: str) -> Callable[[Any], Any]:
        return option(name, multiple=True, callback=_priced, metavar="[MODEL=]USD", help=what)

    return [
        option(
            "--api",
            type=click.Choice(["openai", "anthropic"]),
            default="openai",
            show_default=True,
            help="What the server speaks: chat completions, or messages.",
        ),
        option("--base-url", metavar="URL", help="Of any endpoint of that API; its maker's own by default."),
        option(
            "--key-variable",
            metavar="NAME",
            help="Environment variable with the key: OPENAI_API_KEY or ANTHROPIC_API_KEY by default.",
        ),
        option(
            "--models",
            required=True,
            callback=listed,
            metavar="NAME,…",
            help="Models, as the server calls them.",
        ),
        option(
            "--modes",
            callback=listed,
            default=modes,
            show_default=True,
            metavar="MODE,…",
            help="native, and protocols of wirecall: wire, hermes, gemma, xml, yaml, qwen3coder.",
        ),
        option(
            "--reps", type=click.IntRange(1), default=1, show_default=True, help="How often each is repeated."
        ),
        option(
            "--seed", type=int, default=0, show_default=True, help="Of the order in which all take turns."
        ),
        option(
            "--max-output-tokens",
            type=click.IntRange(1),
            default=2048,
            show_default=True,
            help="Of one answer.",
        ),
        option(
            "--output-parameter",
            type=click.Choice(["max_completion_tokens", "max_tokens"]),
            default="max_completion_tokens",
            show_default=True,
            help="What --max-output-tokens is called in requests; many servers know max_tokens only.",
        ),
        option(
            "--parameter",
            multiple=True,
            callback=_parameters,
            metavar="NAME=JSON",
            help="A further field of every request: temperature=0.",
        ),
        option(
            "--timeout",
            type=FiniteRange(0),
            default=120.0,
            show_default=True,
            metavar="SECONDS",
            help="Of one request.",
        ),
        option(
            "--tries",
            type=click.IntRange(1),
            default=6,
            show_default=True,
            help="How often a request is sent, at most, where a server is busy or out of reach.",
        ),
        option(
            "--concurrency",
            type=click.IntRange(1),
            default=4,
            show_default=True,
            metavar="N",
            help="Requests that are under way at once.",
        ),
        option("--max-tokens", type=click.IntRange(1), help="Stop before this many tokens are passed."),
        option("--max-usd", type=FiniteRange(0), help="Stop before it costs more. Needs prices."),
        price("--price-in", "Dollars for a million input tokens, of one model or all."),
        price("--price-out", "The same for output."),
        price("--price-cached", "The same for input from a cache; that of --price-in by default."),
        option(
            "--output",
            type=click.Path(path_type=Path),
            default=output,
            show_default=True,
            metavar="FILE",
            help="The artifact; `wirecall bench report` reads it.",
        ),
        option("--resume", is_flag=True, help="Carry on with FILE: what it has is not asked again."),
        option("--retry-failed", is_flag=True, help="With --resume, ask what failed again."),
        option("--dry-run", is_flag=True, help="Show what would be sent and its price; send nothing."),
        option(
            "--encoding",
            default="o200k_base",
            show_default=True,
            metavar="NAME",
            help="Vocabulary of tiktoken that a dry run counts in, or characters.",
        ),
    ]


def _parameters(_ctx: object, _parameter: object, given: Sequence[str]) -> dict[str, Any]:
    parameters = {}
    for one in given:
        name, equals, text = one.partition("=")
        try:
            parameters[name] = json.loads(text)
        except ValueError:
            equals = ""
        if not name or not equals:
            raise click.BadParameter(f"{one!r} is no NAME=JSON; a text is written NAME='\"text\"'.")
    return parameters


def _priced(_ctx: object, _parameter: object, given: Sequence[str]) -> dict[str, float]:
    """By model; that of all others under ""."""
    prices = {}
    for one in given:
        model, _, text = one.rpartition("=")
        try:
            prices[model] = float(text)
        except ValueError:
            raise click.BadParameter(f"{one!r} is no price; write 2.5 or MODEL=2.5.") from None
        if not 0 <= prices[model] < float("inf"):
            raise click.BadParameter(f"{one!r} is no price.")
    return prices
