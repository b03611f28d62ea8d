"""The options of commands that use models, and the objects made from them. Loads no library for measuring."""

import functools
import json
import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from wirecall_bench.artifact import Artifact, BenchError, Kind

if TYPE_CHECKING:
    from wirecall_bench.budget import Budget
    from wirecall_bench.endpoints import Endpoint
    from wirecall_bench.recording import Api

_ADDRESSES: "dict[Api, str]" = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
# The versions of these distributions affect the results.
_LIBRARIES = ("openai", "anthropic", "httpx2", "tenacity", "jsonschema")
_KEY_VARIABLES: "dict[Api, str]" = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class FiniteRange(click.FloatRange):
    """A float range that also rejects infinity and NaN, which pass all comparisons."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


@dataclass(frozen=True)
class RunOptions:
    """How models are used, what that may cost, and where the results go."""

    api: "Api"
    base_url: str | None
    key_variable: str | None
    models: list[str]
    modes: list[str]
    reps: int
    block: Literal["case", "group"]
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
        """One of the models in one mode; see `Endpoint`."""
        from wirecall_bench.endpoints import Endpoint, Tries

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
        """The API key, from the environment. A dry run needs none."""
        name = self.key_variable or _KEY_VARIABLES[self.api]
        key = os.environ.get(name, "").strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            # A later error could show the key.
            raise BenchError(f"{name} does not hold a key: it contains whitespace or non-ASCII characters.")
        if not key and not self.dry_run:
            raise BenchError(
                f"{name} is not set. Set it to the API key, or to any text if the server needs none."
            )
        return key or "none"

    def budget(self, models: Iterable[str]) -> "Budget":
        """The budget, with the given prices of these models."""
        from wirecall_bench.budget import Budget, Prices

        prices = {}
        for model in models:
            price_in, price_out, cached = (
                given.get(model, given.get(""))
                for given in (self.price_in, self.price_out, self.price_cached)
            )
            if price_in is not None and price_out is not None:
                prices[model] = Prices(price_in, price_out, cached)
            elif self.max_usd is not None:
                raise BenchError(f"--max-usd needs --price-in and --price-out for {model}.")
        return Budget(self.max_tokens, self.max_usd, prices)

    def artifact(self, kind: Kind, options: Mapping[str, Any]) -> Artifact:
        """The artifact to write, new or resumed."""
        begin = Artifact.resume if self.resume else Artifact.create
        return begin(self.output, kind, options, libraries=_LIBRARIES)


def with_run_options(output: str, modes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that adds these options to a command and passes them as `run_options`.

    Args:
        output: The default path of the artifact.
        modes: The default modes.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def collected(**given: Any) -> Any:
            names = [field.name for field in fields(RunOptions)]
            return command(run_options=RunOptions(**{name: given.pop(name) for name in names}), **given)

        decorated: Callable[..., Any] = collected
        for option in reversed(_options(output, modes)):
            decorated = option(decorated)
        return decorated

    return decorate


def listed(_ctx: object, _parameter: object, given: str | None) -> list[str]:
    """A click callback: `a,b` as a list."""
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
            help="The server's API: chat completions (openai) or messages (anthropic).",
        ),
        option("--base-url", metavar="URL", help="Base URL of the endpoint.  [default: the provider's]"),
        option(
            "--key-variable",
            metavar="NAME",
            help="Environment variable that holds the key.  [default: OPENAI_API_KEY or ANTHROPIC_API_KEY]",
        ),
        option(
            "--models",
            required=True,
            callback=listed,
            metavar="NAME,…",
            help="Model names, as the server knows them.",
        ),
        option(
            "--modes",
            callback=listed,
            default=modes,
            metavar="MODE,…",
            help="native, or a protocol: wire, hermes, gemma, xml, yaml, qwen3coder. Each answer one call: "
            "native-forced; under a grammar that llama.cpp takes: wire-grammar, hermes-grammar.",
        ),
        option("--reps", type=click.IntRange(1), default=1, help="How often each case is run."),
        option(
            "--block",
            type=click.Choice(["case", "group"]),
            default="case",
            help="The modes alternate after each case, or after each group of cases, so that a server with a "
            "prompt cache reads the tools of a group once.",
        ),
        option(
            "--seed",
            type=int,
            default=0,
            help="Seed of the order in which the modes alternate, and of --sample.",
        ),
        option(
            "--max-output-tokens",
            type=click.IntRange(1),
            default=2048,
            help="Maximum tokens of one answer.",
        ),
        option(
            "--output-parameter",
            type=click.Choice(["max_completion_tokens", "max_tokens"]),
            default="max_completion_tokens",
            help="Request field for --max-output-tokens; many servers know only max_tokens.",
        ),
        option(
            "--parameter",
            multiple=True,
            callback=_parameters,
            metavar="NAME=JSON",
            help="Another field for every request, such as temperature=0. Repeatable.",
        ),
        option(
            "--timeout",
            type=FiniteRange(0),
            default=120.0,
            metavar="SECONDS",
            help="Timeout of one request.",
        ),
        option(
            "--tries",
            type=click.IntRange(1),
            default=6,
            help="Maximum attempts for a request if the server is busy or unreachable.",
        ),
        option(
            "--concurrency",
            type=click.IntRange(1),
            default=4,
            metavar="N",
            help="Maximum concurrent requests.",
        ),
        option("--max-tokens", type=click.IntRange(1), help="Stop before more tokens than this are used."),
        option(
            "--max-usd",
            type=FiniteRange(0),
            help="Stop before the cost exceeds this. Needs --price-in and --price-out.",
        ),
        price("--price-in", "USD for a million input tokens, for one model or for all."),
        price("--price-out", "The same for output tokens."),
        price("--price-cached", "The same for cached input tokens.  [default: --price-in]"),
        option(
            "--output",
            type=click.Path(path_type=Path),
            default=output,
            metavar="FILE",
            help="File to write; `wirecall bench report` reads it.",
        ),
        option("--resume", is_flag=True, help="Continue FILE: cases that it contains are not run again."),
        option("--retry-failed", is_flag=True, help="With --resume, also run failed cases again."),
        option(
            "--dry-run", is_flag=True, help="Show what would be sent and what it would cost; send nothing."
        ),
        option(
            "--encoding",
            default="o200k_base",
            metavar="NAME",
            help="tiktoken vocabulary that --dry-run counts in, or characters.",
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
            raise click.BadParameter(f"{one!r} is not NAME=JSON; a string is written NAME='\"text\"'.")
    return parameters


def _priced(_ctx: object, _parameter: object, given: Sequence[str]) -> dict[str, float]:
    """The prices by model; the price of all other models is under ""."""
    prices = {}
    for one in given:
        model, _, text = one.rpartition("=")
        try:
            prices[model] = float(text)
        except ValueError:
            raise click.BadParameter(f"{one!r} is not a price; write 2.5 or MODEL=2.5.") from None
        if not 0 <= prices[model] < float("inf"):
            raise click.BadParameter(f"{one!r} is not a price: it must be 0 or more, and finite.")
    return prices
