"""The processor time of a chunk in vLLM's chat serving: wirecall, a built-in parser, and a replay of deltas.

    python tests/servers/vllm/cost.py [KB …]

The replay sends the same deltas as wirecall without reading the text, so it is the floor. All are measured in
one process, in turns; the figures are microseconds a chunk of 4 characters, the least of several runs.
"""

import asyncio
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1", OMP_NUM_THREADS="1", VLLM_TARGET_DEVICE="cpu")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from checkpoint import WRITE_FILE
from scripted import Server, pieces
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionToolsParam
from vllm.plugins import load_general_plugins

from wirecall._serving.message import Delta
from wirecall._serving.served import ServedFormat
from wirecall.integrations._vllm.messages import message_of
from wirecall.integrations._vllm.parser import WirecallParser
from wirecall.integrations._vllm.server import definitions

RUNS = 5
CODE = "def f(x):\n    return x + 1\n"


def hermes(text: str) -> str:
    call = {"name": "write_file", "arguments": {"path": "a.py", "content": text}}
    return f"I write it.\n<tool_call>\n{json.dumps(call)}\n</tool_call>"


def qwen3coder(text: str) -> str:
    parameters = f"<parameter=path>\na.py\n</parameter>\n<parameter=content>\n{text}\n</parameter>"
    return f"I write it.\n<tool_call>\n<function=write_file>\n{parameters}\n</function>\n</tool_call>"


# The format, what its model writes, and vLLM's parser for it.
CASES: dict[str, tuple[Callable[[str], str], str]] = {
    "hermes": (hermes, "hermes"),
    "qwen3coder": (qwen3coder, "qwen3_coder"),
}


class Replay(WirecallParser):
    """Sends recorded deltas, without reading the text."""

    tape: list[Delta]
    at = 0

    def parse_delta(self, *args: Any, **options: Any) -> Any:
        delta = self.tape[self.at]
        self.at += 1
        return message_of(delta, call_id=self._call_id)


async def answer(chat: Any, tools: list[Any] | None) -> None:
    fields = {"tools": tools} if tools else {}
    request = ChatCompletionRequest(
        model="m", messages=[{"role": "user", "content": "hi"}], stream=True, max_tokens=900_000, **fields
    )
    async for _ in await chat.create_chat_completion(request):
        pass


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [1, 16, 64, 256]
    load_general_plugins()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "Qwen3-8B")
        heads = f"{'format':12}{'KB':>5}{'chunks':>8}{'no parser':>11}{'replay':>9}"
        print(f"{heads}{'wirecall':>10}{'more':>7}{'built-in':>10}")
        for format, (written, builtin) in CASES.items():
            measure(server, format, written, builtin, sizes)


def measure(
    server: Server, format: str, written: Callable[[str], str], builtin: str, sizes: list[int]
) -> None:
    loop = asyncio.new_event_loop()
    name = f"wirecall_{format}"
    chats = {"none": server.chat(None), "wirecall": server.chat(name), "built-in": server.chat(builtin)}
    replay = chats["replay"] = server.chat(name)
    own = replay.parser_cls
    for size in sizes:
        text = (CODE * (size * 1024 // len(CODE) + 1))[: size * 1024]
        server.engine.script = pieces(written(text))
        chunks = len(server.engine.script)
        tape = recorded(own.served, server.engine.script)
        replay.parser_cls = type("Replayed", (Replay,), {**own_fields(own), "tape": tape})
        least = dict.fromkeys(chats, float("inf"))
        for run in range(RUNS):
            for kind, chat in chats.items():
                # A quadratic parser is measured once.
                if kind == "built-in" and run and size > 16:
                    continue
                gc.collect()
                start = time.process_time()
                loop.run_until_complete(answer(chat, None if kind == "none" else [WRITE_FILE]))
                least[kind] = min(least[kind], (time.process_time() - start) / chunks * 1e6)
        more = least["wirecall"] - least["replay"]
        print(
            f"{format:12}{size:5}{chunks:8}{least['none']:11.1f}{least['replay']:9.1f}"
            f"{least['wirecall']:10.1f}{more:7.2f}{least['built-in']:10.1f}",
            flush=True,
        )


def recorded(served: ServedFormat, script: list[str]) -> list[Delta]:
    """The deltas of a message. The last one has what the end gives."""
    tools = [ChatCompletionToolsParam(**WRITE_FILE)]
    reader = served.reader(served.toolset(definitions(tools)), in_reasoning=False)
    tape = [reader.feed(text) for text in script]
    tape[-1].add(reader.finish(truncated=False))
    return tape


def own_fields(parser: type[WirecallParser]) -> dict[str, Any]:
    """The class attributes that were set when the parser was composed."""
    names = ("served", "stops", "tool_parser_cls", "reasoning_parser_cls", "tool_strict_level")
    return {name: getattr(parser, name) for name in names}


if __name__ == "__main__":
    main()
