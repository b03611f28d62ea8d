"""What `maturin build --pgo` runs between its two builds (`make wheel PGO=1`): what hosts do.

The compiler optimises for size what never runs here. So all that the extension does is run: the rows of `make
bench-against`, the cases of tests/vectors, whole and in characters, and all ways to read and write JSON and
XML.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import wirecall

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches" / "python"))

import against  # noqa: E402

SECONDS = 0.1
Job = Callable[[], object]


def vectors(folder: str) -> list[dict[str, Any]]:
    files = sorted((ROOT / "tests" / "vectors" / folder).glob("*.jsonl"))
    return [
        json.loads(line) for file in files for line in file.read_text(encoding="utf-8").split("\n") if line
    ]


def kept(tools: wirecall.Toolset, text: str) -> None:
    """A host that keeps the events, and reads them."""
    parser = tools.parser()
    events: list[wirecall.Event] = []
    for at in range(0, len(text), 4):
        parser.feed_into(text[at : at + 4], events)
    events += parser.finish()
    for event in events:
        match event:
            case wirecall.CallStart(_, id, name) | wirecall.CallEnd(_, id, name):
                assert id
                assert name
            case _:
                pass


def case(protocol: str, given: dict[str, Any]) -> None:
    options = {key: tuple(v) if isinstance(v, list) else v for key, v in given.get("options", {}).items()}
    in_reasoning = options.pop("in_reasoning", False)
    text, truncated = given["text"], given["truncated"]
    for more in ({}, {"strict": True}, {"validate": "error"}, {"code": "text"}):
        tools = wirecall.Toolset(given["tools"], **{"protocol": protocol, **options, **more})
        assert tools.manual()
        message = tools.parse(text, truncated=truncated, in_reasoning=in_reasoning)
        for call in message.calls:
            assert tools.encode(call.name, call.arguments)
        for error in message.errors:
            assert tools.encode_result(error.name, error)
        assert tools.neutralise(text) is not None
        parser = tools.parser(in_reasoning=in_reasoning)
        for character in text:
            parser.feed(character)
        parser.finish(truncated=truncated)


def load(text: str) -> None:
    wirecall.loads(text, warnings=[])
    wirecall.loads(text, warnings=[], partial=True)
    with suppress(wirecall.JsonError):
        wirecall.loads(text, relaxed=False)


def jobs() -> Iterator[Job]:
    yield from against.rows().values()
    for options, text in against.MESSAGES.values():
        yield partial(kept, wirecall.Toolset([against.TOOL], **options), text)
    for protocol in dict.fromkeys([*wirecall.PROTOCOLS, *wirecall.FAMILIES]):
        tools = wirecall.Toolset([against.TOOL], protocol=protocol)
        yield partial(tools.encode, "write", against.VALUES)
        yield partial(tools.parse_many, [text for _, text in against.MESSAGES.values()])
        for given in vectors(protocol):
            if "expected" in given:
                case(protocol, given)
    yield partial(wirecall.loads, f"[{','.join([against.BODY] * 20)}]")
    yield lambda: [load(given["text"]) for given in vectors("json")]
    yield partial(wirecall.parse_xml, against.XML)
    yield partial(wirecall.format_xml, {"write": against.VALUES})


def main() -> None:
    for job in jobs():
        until = perf_counter() + SECONDS
        while perf_counter() < until:
            job()


if __name__ == "__main__":
    main()
