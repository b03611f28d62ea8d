"""`--demo` of the examples: the test server, with a tiny model that reads the manual.

The model follows a plan. It writes text, and makes a mistake where the plan has one. The model of `warehouse`
needs no plan: it decides from the conversation what to do next, so it can play loops of any length.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import wirecall

DEMO = "--demo" in sys.argv[1:]
if DEMO:
    # Otherwise litellm downloads prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# One answer: its text, its calls as (name, arguments), and optionally a mistake that the model makes first.
Step = (
    tuple[str, Sequence[tuple[str, dict[str, Any]]]] | tuple[str, Sequence[tuple[str, dict[str, Any]]], str]
)


@contextmanager
def endpoint(default_model: str, plan: Sequence[Step], *, takes: Sequence[str] = ()) -> Iterator[str]:
    """Points the environment variables of the SDKs to the endpoint. Yields the name of the model.

    Arguments of the program other than `--demo` and those in `takes` are refused.
    """

    def planned() -> Any:
        from server import Call
        from server import Step as Planned
        from server.model import TextModel

        return TextModel(
            [
                Planned([Call(name, arguments) for name, arguments in calls], said, *mistake)
                for said, calls, *mistake in plan
            ]
        )

    with _endpoint(default_model, planned, takes) as model:
        yield model


@contextmanager
def warehouse(
    default_model: str, count: Callable[[str], float], *, takes: Sequence[str] = ()
) -> Iterator[str]:
    """The same, with a model that counts shelves and writes summaries."""

    def counting() -> Any:
        from warehouse import Counting

        return Counting(lambda request: round(count(str(request))))

    with _endpoint(default_model, counting, takes) as model:
        yield model


@contextmanager
def _endpoint(default_model: str, made: Callable[[], Any], takes: Sequence[str] = ()) -> Iterator[str]:
    if unknown := [given for given in sys.argv[1:] if given not in ("--demo", *takes)]:
        sys.exit(f"unknown argument {unknown[0]}; this takes {' or '.join(('--demo', *takes))}")
    if not DEMO:
        key = "ANTHROPIC_API_KEY" if default_model.startswith("claude") else "OPENAI_API_KEY"
        if not os.environ.get(key):
            sys.exit(f"{key} is not set. Set it, or run this with --demo, which needs no key.")
        yield os.environ.get("MODEL", default_model)
        return
    sys.path.append(str(_tests()))
    try:
        from server import serve
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        sys.exit("--demo needs aiohttp: pip install aiohttp")

    with serve(made()) as server:
        os.environ.update(
            OPENAI_BASE_URL=server.openai_url,
            OPENAI_API_KEY="demo",
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY="demo",
        )
        yield "demo"


def _tests() -> Path:
    """The folder of the test server: in this checkout, or in the checkout that wirecall is installed from."""
    for root in (Path(__file__).resolve().parents[1], Path(wirecall.__file__).resolve().parents[2]):
        if (found := root / "tests" / "clients").is_dir():
            return found
    sys.exit(
        "--demo needs a checkout of wirecall, which has the test server. Run the example in the checkout, "
        "or install wirecall from it: pip install -e PATH"
    )
