"""`--demo` of the examples: the server of the tests, and behind it a tiny model that reads the manual.

The model's part is a plan; what it writes is text, and it makes a mistake where the plan says so. In a
warehouse it has none: what it does next it reads from the conversation, so it can do so as long as one likes.
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
    # litellm would fetch prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# One answer: what is said, calls as (name, arguments), and perhaps a mistake that is made first.
Step = (
    tuple[str, Sequence[tuple[str, dict[str, Any]]]] | tuple[str, Sequence[tuple[str, dict[str, Any]]], str]
)


@contextmanager
def endpoint(default_model: str, plan: Sequence[Step]) -> Iterator[str]:
    """Where the SDKs shall ask, by their environment variables. Yields the name of the model."""

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

    with _endpoint(default_model, planned) as model:
        yield model


@contextmanager
def warehouse(default_model: str, count: Callable[[str], float]) -> Iterator[str]:
    """The same, with a model that counts shelves, and summarises."""

    def counting() -> Any:
        from warehouse import Counting

        return Counting(lambda request: round(count(str(request))))

    with _endpoint(default_model, counting) as model:
        yield model


@contextmanager
def _endpoint(default_model: str, made: Callable[[], Any]) -> Iterator[str]:
    if not DEMO:
        yield os.environ.get("MODEL", default_model)
        return
    sys.path.append(str(_tests()))
    from server import serve

    with serve(made()) as server:
        os.environ.update(
            OPENAI_BASE_URL=server.openai_url,
            OPENAI_API_KEY="demo",
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY="demo",
        )
        yield "demo"


def _tests() -> Path:
    """The folder of the test server: in this checkout, or in the one that wirecall is installed from."""
    for root in (Path(__file__).resolve().parents[1], Path(wirecall.__file__).resolve().parents[2]):
        if (found := root / "tests" / "clients").is_dir():
            return found
    sys.exit(
        "--demo needs a checkout of wirecall, for the server of its tests. Run the example in the checkout, "
        "or install wirecall from it: pip install -e PATH"
    )
