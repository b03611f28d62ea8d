"""A server on this machine that speaks the APIs of OpenAI and Anthropic, with a tiny model.

python examples/demo_server.py        # no key, no network

The model reads and writes only text. It reads the manual that wirecall writes, calls the tool that fits the
question best, and reports its result. It works with any tools, but it only compares words: it is not a
language model.
"""

import argparse
import asyncio
import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arguments import check_arguments

import wirecall

DEMO = "--demo" in sys.argv[1:]
if DEMO or "--help" in sys.argv[1:]:
    # Otherwise litellm downloads prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# One answer: its text, its calls as (name, arguments), and optionally a mistake that the model makes first.
Step = (
    tuple[str, Sequence[tuple[str, dict[str, Any]]]] | tuple[str, Sequence[tuple[str, dict[str, Any]]], str]
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--port", type=int, default=8765, help="8765 by default; 0 for a free one")
    parser.add_argument("--verbose", action="store_true", help="print what the model reads and writes")
    options = parser.parse_args()
    _find_server("The demo server")
    try:
        asyncio.run(_serve(options.port, verbose=options.verbose))
    except KeyboardInterrupt:
        sys.exit(130)
    except OverflowError:
        sys.exit(f"--port must be from 0 to 65535, not {options.port}")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sys.exit(
                f"Port {options.port} is taken. Is the demo server running? Otherwise, use another --port."
            )
        sys.exit(f"Port {options.port} cannot be used: {error.strerror or error}")


async def _serve(port: int, *, verbose: bool) -> None:
    from guessing import Guessing
    from server import Request, Server

    model = Guessing()

    def answer(request: Request) -> Any:
        answered = model(request)
        if verbose:
            print(f"\n{request.body.decode()}\n-> {answered.parts}", flush=True)
        server.requests.clear()  # tests look at them
        return answered

    server = Server(answer)
    await server.start(port=port)
    try:
        print(
            f"""The demo server runs at {server.url}. Press Ctrl-C to stop it. Paste one of these:

client = wirecall.wrap(OpenAI(base_url="{server.openai_url}", api_key="-"))  # model="demo"
client = wirecall.wrap(Anthropic(base_url="{server.url}", api_key="-"))  # model="demo"
""",
            flush=True,
        )
        await asyncio.Event().wait()
    finally:
        await server.stop()


# The rest is `--demo` of the other examples. Their model follows a plan: it writes text, and makes a mistake
# where the plan has one. The model of `warehouse` decides from the conversation what to do next, so it can
# play loops of any length.


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
    check_arguments("--demo", *takes)
    if not DEMO:
        key = "ANTHROPIC_API_KEY" if default_model.startswith("claude") else "OPENAI_API_KEY"
        if not os.environ.get(key):
            sys.exit(f"{key} is not set. Set it, or run this with --demo, which needs no key.")
        yield os.environ.get("MODEL", default_model)
        return
    _find_server("--demo")
    from server import serve

    with serve(made()) as server:
        os.environ.update(
            OPENAI_BASE_URL=server.openai_url,
            OPENAI_API_KEY="demo",
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY="demo",
        )
        yield "demo"


def _find_server(what: str) -> None:
    """Makes the test server importable."""
    sys.path.append(str(_tests(what)))
    try:
        import aiohttp  # noqa: F401
    except ModuleNotFoundError:
        sys.exit(f"{what} needs aiohttp: pip install aiohttp")


def _tests(what: str) -> Path:
    """The folder of the test server: in this checkout, or in the checkout that wirecall is installed from."""
    for root in (Path(__file__).resolve().parents[1], Path(wirecall.__file__).resolve().parents[2]):
        if (found := root / "tests" / "clients").is_dir():
            return found
    sys.exit(
        f"{what} needs a checkout of wirecall, which has the test server. Run the example in the checkout, "
        "or install wirecall from it: pip install -e PATH"
    )


if __name__ == "__main__":
    main()
