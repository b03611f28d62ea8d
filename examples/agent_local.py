"""An agent with a small model on this machine. A grammar makes the model write well-formed calls.

make model && make demo-live                          # installs llama-server and a model, and runs this
OPENAI_BASE_URL=http://127.0.0.1:8080/v1 python examples/agent_local.py                # any llama-server
OPENAI_BASE_URL=… MODEL=my-model python examples/agent_local.py "How many miles are 42 kilometers?"

It prints what the model saw, what it wrote under the grammar, and the native calls that came out. The tools
are real and need no network. A grammar makes calls well-formed, not right: a model of 135 million parameters
often chooses the wrong tool or value.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arguments import check_arguments
from openai import APIConnectionError, APIError, OpenAI

import wirecall
from wirecall import Record

FOLDER = Path(__file__).resolve().parent
# Meters, and grams.
UNITS = {
    "meter": ("length", 1.0),
    "kilometer": ("length", 1000.0),
    "mile": ("length", 1609.344),
    "foot": ("length", 0.3048),
    "gram": ("mass", 1.0),
    "kilogram": ("mass", 1000.0),
    "pound": ("mass", 453.59237),
}


def convert_units(value: float, from_unit: str, to_unit: str) -> str:
    (kind, factor), (other, divisor) = UNITS[from_unit], UNITS[to_unit]
    if kind != other:
        return f"Error: a {from_unit} cannot be converted into a {to_unit}."
    return f"{value:g} {from_unit} = {value * factor / divisor:.6g} {to_unit}"


def search_files(word: str) -> str:
    """The number of lines with a word, and the first of them, in the Markdown files beside this program."""
    found = [
        f"{path.name}:{number}: {line.strip()[:80]}"
        for path in sorted(FOLDER.glob("*.md"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word.lower() in line.lower()
    ]
    return "\n".join([f"Lines with {word!r}: {len(found)}", *found[:2]])


FUNCTIONS: Mapping[str, Callable[..., str]] = {"search_files": search_files, "convert_units": convert_units}


def tool(name: str, description: str, properties: Mapping[str, Any]) -> Any:
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


UNIT = {"type": "string", "enum": [*UNITS]}
TOOLS = [
    tool(
        "search_files",
        "Find a word in the text files of this folder.",
        {"word": {"type": "string"}},
    ),
    tool(
        "convert_units",
        "Convert a value from one unit into another.",
        {"value": {"type": "number"}, "from_unit": UNIT, "to_unit": UNIT},
    ),
]
QUESTIONS = ("Search the files for the word grammar.", "How many kilometers are 26 miles?")


def answer(client: OpenAI, model: str, question: str, records: list[Record]) -> None:
    """One call, which the grammar requires, and a sentence about its result."""
    messages: list[Any] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": question},
    ]
    common: dict[str, Any] = {"model": model, "tools": TOOLS, "temperature": 0, "max_tokens": 96}
    one_call: dict[str, Any] = {"tool_choice": "required", "parallel_tool_calls": False}
    completion = client.chat.completions.create(messages=messages, **common, **one_call)
    message = completion.choices[0].message
    show_exchange(records[-1])
    print("\nWHAT CAME OUT")
    calls = message.to_dict().get("tool_calls", [])
    print(indented(json.dumps(calls, indent=2) if calls else f"no call: {message.content!r}"))
    messages.append(message.to_dict(exclude_none=True))
    for call in message.tool_calls or []:
        assert call.type == "function"
        result = FUNCTIONS[call.function.name](**json.loads(call.function.arguments))
        print(f"\nRESULT\n{indented(result)}")
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    if message.tool_calls:
        completion = client.chat.completions.create(messages=messages, tool_choice="none", **common)
        print(f"\nANSWER\n{indented(completion.choices[0].message.content or '')}")


def show_exchange(record: Record) -> None:
    """What was sent to the model in the first attempt, and what it answered in the last one."""
    request = json.loads(record.attempts[0].request or "{}")
    print("\nWHAT THE MODEL SAW")
    for message in request["messages"]:
        print(indented(f"[{message['role']}] {message['content']}"))
    lines = request["grammar"].splitlines()
    print(f"\nTHE GRAMMAR: {len(lines)} rules, which begin with")
    print(indented("\n".join(line if len(line) <= 100 else f"{line[:97]}..." for line in lines[:4])))
    reply = json.loads(record.attempts[-1].answer or "{}")
    print("\nWHAT IT WROTE")
    print(indented(reply["choices"][0]["message"]["content"] or ""))


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def main(questions: Sequence[str]) -> int:
    if "OPENAI_BASE_URL" not in os.environ:
        print("OPENAI_BASE_URL is not set. Set it to that of a llama-server, or run `make demo-live`.")
        return 1
    records: list[Record] = []
    options: Any = {"grammar": "llama.cpp", "on_record": records.append, "record_content": True}
    # llama-server needs no key.
    client = wirecall.wrap(OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none")), **options)
    try:
        for question in questions or QUESTIONS:
            print(f"{'=' * 100}\nQUESTION\n  {question}")
            answer(client, os.environ.get("MODEL", "local"), question, records)
    except APIConnectionError:
        print(f"No server answers at {client.base_url}. Run `make model` first, then `make demo-live`.")
        return 1
    except APIError as error:
        print(f"The server refuses the request: {error.message}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    check_arguments("QUESTION")
    sys.exit(main(sys.argv[1:]))
