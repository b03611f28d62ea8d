"""How a model writes calls, and reads its manual and results, in other formats than wire: its own rules."""

import json
import re
from collections.abc import Mapping
from typing import Any

NAME = re.compile(r"<tool_name>(.*?)</tool_name>", re.DOTALL)
TEXT = re.compile(r"<(result|error)>(.*)</\1>", re.DOTALL)
RESPONSE = re.compile(r"<tool_response>\n?(.*?)\n?</tool_response>", re.DOTALL)
# A pattern in a signature, in which brackets mean something else.
PATTERN = re.compile(r" /(?:[^/\\]|\\.)*/(?![^ ,}\]])")
Result = tuple[str, str, bool]  # name ("" where the format says none), text, whether it is an error


class Hermes:
    open, close = "<tool_call>", "</tool_call>"
    knows_unknown = True  # a call of a tool that there is not is a call, not text
    names_results = False  # and says which of them are errors; else the order says whose they are

    def required(self, system: str, name: str) -> list[str] | None:
        """The keys that the manual wants for a tool; None where there is no such tool."""
        for line in system.splitlines():
            # The example of a call has a line of its own, too.
            tool = json.loads(line) if line.startswith("{") else {}
            if tool.get("name") == name and "parameters" in tool:
                return list(tool["parameters"].get("required", []))
        return None

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return self.written(json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False))

    def broken(self, name: str, what: str) -> str:
        return self.written(f'{{"name": "{name}", "arguments": {what}}}')

    def written(self, body: str) -> str:
        return f"{self.open}\n{body}\n{self.close}"

    def results(self, text: str) -> list[Result]:
        return [("", tag[1], False) for tag in RESPONSE.finditer(text)]


class Gemma(Hermes):
    open, close = "```tool_call", "```"
    names_results = True

    def results(self, text: str) -> list[Result]:
        found = [json.loads(tag[1]) for tag in RESPONSE.finditer(text)]
        return [(one["name"], _text(one["content"]), one.get("error", False)) for one in found]


class _Signatures:
    """Formats whose manual has a line for each tool: its name, and the fields in brackets."""

    knows_unknown = False
    names_results = True

    def required(self, system: str, name: str) -> list[str] | None:
        for line in system.splitlines():
            if line == name or line.startswith(f"{name} "):
                fields = re.match(r" \{(.*)\}", PATTERN.sub("", line[len(name) :]))
                keys = [field.partition(":")[0] for field in _fields(fields[1])] if fields else []
                return [key.partition(" ")[0] for key in keys if "?" not in key and key != "…"]
        return None


class Xml(_Signatures):
    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        lines = [f"<{key}>{text}</{key}>" for key, value in arguments.items() for text in _texts(value)]
        return "\n".join([f"<{name}>", *lines, f"</{name}>"])

    def broken(self, name: str, what: str) -> str:
        return f"<{name}>{{{what}}}</{name}>"

    def results(self, text: str) -> list[Result]:
        found = []
        for tag in RESPONSE.finditer(text):
            name, said = NAME.search(tag[1]), TEXT.search(tag[1])
            assert name is not None
            assert said is not None
            found.append((name[1], said[2], said[1] == "error"))
        return found


class Yaml(Xml):
    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items()]
        return "\n".join([f"<{name}>", *lines, f"</{name}>"])

    def broken(self, name: str, what: str) -> str:
        return f"<{name}>\n{{{what}}}\n</{name}>"


class Qwen3Coder(_Signatures):
    knows_unknown = True
    names_results = False

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        lines = [
            f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>"
            for key, value in arguments.items()
        ]
        return "\n".join(["<tool_call>", f"<function={name}>", *lines, "</function>", "</tool_call>"])

    def broken(self, name: str, what: str) -> str:
        return f"<tool_call>\n<function={name}>\n{{{what}}}\n</function>\n</tool_call>"

    def results(self, text: str) -> list[Result]:
        return [("", tag[1], False) for tag in RESPONSE.finditer(text)]


FORMATS: dict[str, Any] = {
    "hermes": Hermes(),
    "gemma": Gemma(),
    "xml": Xml(),
    "yaml": Yaml(),
    "qwen3coder": Qwen3Coder(),
}


def _text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def _texts(value: Any) -> list[str]:
    """What is in the tags of a value: a list of plain texts repeats them."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) and item for item in value):
        return [_escaped(item) for item in value]
    return [_escaped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _fields(text: str) -> list[str]:
    """The text between the commas that are outside brackets."""
    fields, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            fields.append("")
        else:
            fields[-1] += character
    return fields
