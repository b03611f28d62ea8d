"""`python -m server`: plays a script, or a plan through one of the two models, until it is interrupted.

A script is a JSON list of {"text": …, "calls": [{"name": …, "arguments": {…}}], "finish": …, "delivery": {…}}
or {"status": 429, "message": …}; a plan is a list of {"calls": […], "text": …, "mistake": …}.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .answers import Answer, Call, Delivery, Failure, Reply
from .app import Script, Server
from .model import NativeModel, Step, TextModel

Item = TypeVar("Item")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m server", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--no-checks", action="store_true", help="take whatever is sent")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--script", type=Path, help="a JSON file; without one, every answer is Hello")
    source.add_argument("--text-plan", type=Path, help="a plan, for a model that writes calls as text")
    source.add_argument("--native-plan", type=Path, help="a plan, for a model with native tool calls")
    arguments = parser.parse_args()
    script: Script = lambda request: Answer("Hello.")  # noqa: E731
    if arguments.script:
        script = _load(arguments.script, _reply)
    elif arguments.text_plan:
        script = TextModel(_load(arguments.text_plan, _step))
    elif arguments.native_plan:
        script = NativeModel(_load(arguments.native_plan, _step))
    try:
        asyncio.run(_run(Server(script, checks=not arguments.no_checks), arguments.host, arguments.port))
    except KeyboardInterrupt:
        sys.exit(130)


async def _run(server: Server, host: str, port: int) -> None:
    await server.start(host, port)
    print(f"listening on {server.url}", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()


def _load(path: Path, item: Callable[[dict[str, Any]], Item]) -> list[Item]:
    return [item(value) for value in json.loads(path.read_text(encoding="utf-8"))]


def _reply(value: dict[str, Any]) -> Reply:
    if "status" in value:
        return Failure(value["status"], value.get("message", "The script wants an error."))
    text = [value["text"]] if value.get("text") else []
    delivery = Delivery(**value.get("delivery", {}))
    return Answer([*text, *_calls(value)], value.get("finish"), delivery=delivery)


def _step(value: dict[str, Any]) -> Step:
    return Step(_calls(value), value.get("text", ""), value.get("mistake"), value.get("alone", True))


def _calls(value: dict[str, Any]) -> list[Call]:
    return [Call(call["name"], call.get("arguments", {})) for call in value.get("calls", ())]


if __name__ == "__main__":
    main()
