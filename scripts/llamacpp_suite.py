"""Extract the cases of llama.cpp's own suite, `tests/test-chat.cpp`. `make templates` runs this script.

`scripts/templates.py` has put the source beside the official templates; the cases go into
.venv/share/llamacpp_suite.jsonl. The suite calls a test builder:

    auto tst = peg_tester("models/templates/NAME.jinja", detailed_debug);
    tst.test(TEXT).tools({ TOOL }).expect_content("...").expect_tool_calls({ ... }).run();

Each line of the output is one such call with one template: the message that llama.cpp reads, and how the test
has to read it. If the script fails, it prints the reason, and the tests are skipped.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from templates import SUITE_SOURCE, TEMPLATES

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))

from rendering import OPENERS, template

SUITE = TEMPLATES.parent / "llamacpp_suite.jsonl"

MARKERS = "llama.cpp keeps the markers of reasoning that it leaves in the content"
PARTIAL = "llama.cpp returns the call that was cut off; here it is an error"
SCHEMA = "llama.cpp unwraps answers that follow a JSON schema"
PROMPTED = "llama.cpp adds the end of the prompt to the reasoning"
# Cases whose results cannot be compared, by line in test-chat.cpp.
NOT_COMPARABLE = {
    2116: PARTIAL,
    2156: MARKERS,
    2377: "llama.cpp shows a repeated opener of reasoning",
    2648: SCHEMA,
    2704: MARKERS,
    2831: MARKERS,
    2847: PARTIAL,
    2883: MARKERS,
    2962: PARTIAL,
    5071: PARTIAL,
    5232: "llama.cpp reads reasoning in a format that has none",
    5379: PARTIAL,
    5809: "llama.cpp reads tags as text; vLLM, SGLang and wirecall read them as an object",
    6175: PARTIAL,
    6227: PROMPTED,
    6235: PROMPTED,
    6318: SCHEMA,
    6458: MARKERS,
}

# How the prompt of Apriel 1.6 opens the reasoning.
ENDINGS = (*OPENERS, "Here are my reasoning steps:")

Json = dict[str, Any]


class SuiteError(Exception):
    """The suite is not as this script reads it."""


# Tokens of C++ ------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""
    (?P<skipped> \s+ | //[^\n]* | /\*.*?\*/ )
    | R"(?P<fence>[^()\s]*)\((?P<raw>.*?)\)(?P=fence)"
    | "(?P<string> (?: \\. | [^"\\] )* )"
    | (?P<name> [A-Za-z_]\w* (?: ::\w+ )* )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


class Token(NamedTuple):
    kind: str
    """string, name, other or end."""
    text: str
    """The value of a string, and otherwise the source."""
    line: int


def tokens(source: str) -> Iterator[Token]:
    line = 1
    for match in TOKEN.finditer(source):
        if match["raw"] is not None:
            yield Token("string", match["raw"], line)
        elif match["string"] is not None:
            text = ESCAPE.sub(lambda escape: ESCAPED.get(escape[1], escape[1]), match["string"])
            yield Token("string", text, line)
        elif match["skipped"] is None:
            yield Token("name" if match["name"] else "other", match[0], line)
        line += match[0].count("\n")
    yield Token("end", "", line)


# Values -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assistant:
    """A message of the assistant."""

    content: str = ""
    reasoning: str = ""
    calls: list[list[str]] = field(default_factory=list)


def assistant(
    content: str, reasoning: str = "", name: str = "", arguments: str = "", _id: str = ""
) -> Assistant:
    return Assistant(content, reasoning, [[name, arguments]] if name else [])


# The functions of the suite that make values. A tester is the list of its templates.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "peg_tester": lambda path, *_: path if isinstance(path, list) else [path],
    "simple_assist_msg": assistant,
    "message_with_tool_calls": lambda name, arguments: assistant("", "", name, arguments),
    "message_with_tool_calls_and_reasoning": lambda name, arguments, why: assistant("", why, name, arguments),
    "message_with_content_and_tool_call": lambda text, name, arguments: assistant(text, "", name, arguments),
    "message_with_reasoning_and_tool_call": lambda why, name, arguments: assistant("", why, name, arguments),
    "message_with_reasoning_content_and_multiple_tool_calls": lambda why, text, calls: Assistant(
        text, why, calls
    ),
}
# The types of the variables that the tests use.
TYPES = ("auto", "char", "common_chat_msg", "common_chat_tool", "std::string")


class Test(NamedTuple):
    """A call of the builder: the arguments of each of its methods."""

    line: int
    templates: list[str]
    given: dict[str, list[Any]]


class Reader:
    """Reads the variables of the suite, in their order, and the calls of the builder."""

    def __init__(self, source: str) -> None:
        self.tokens = list(tokens(source))
        self.at = 0
        self.names: dict[str, Any] = {"true": True, "false": False}
        for at in range(len(self.tokens)):
            if self.follows(at, ":", "{") and self.tokens[at + 2].kind == "string":
                # A loop over templates. Its variable is used as the name of all of them.
                self.at = at + 1
                self.names[self.tokens[at - 1].text] = self.value()
        # The parameter of test_lfm2_parser, which is called in such a loop.
        self.names["template_path"] = self.names["tmpl"]
        self.at = 0

    def follows(self, at: int, *texts: str) -> bool:
        """Whether these are the next tokens, none of them a string."""
        found = self.tokens[at : at + len(texts)]
        return all(token.kind != "string" for token in found) and [token.text for token in found] == [*texts]

    def skip(self, *texts: str) -> bool:
        found = self.follows(self.at, *texts)
        self.at += len(texts) if found else 0
        return found

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def tests(self) -> Iterator[Test]:
        while (token := self.take()).kind != "end":
            if token.text in TYPES and token.kind == "name":
                self.variable()
            elif token.text in self.names and self.skip(".", "test", "("):
                given = {"test": self.values(")")}
                while self.skip("."):
                    method = self.take().text
                    self.expect("(")
                    given[method] = self.values(")")
                yield Test(token.line, self.names[token.text], given)

    def variable(self) -> None:
        """A declaration with a value that is a literal or made by one of the functions."""
        name, start = self.tokens[self.at], self.at + 1
        if name.kind != "name" or not (self.follows(start, "=") or self.follows(start, "{")):
            return
        self.at = start
        if self.skip("="):
            first = self.tokens[self.at]
            called = first.text in FUNCTIONS and self.follows(self.at + 1, "(")
            if not (first.kind == "string" or called):
                return
        self.names[name.text] = self.value()

    def expect(self, text: str) -> None:
        if not self.skip(text):
            token = self.tokens[self.at]
            raise SuiteError(f"line {token.line}: {token.text!r} instead of {text!r}.")

    def values(self, closer: str) -> list[Any]:
        found: list[Any] = []
        while not self.skip(closer):
            found.append(self.value())
            if not self.follows(self.at, closer):
                self.expect(",")
        return found

    def value(self) -> Any:
        found = self.term()
        while self.skip("+"):
            found += self.term()
        return found

    def term(self) -> Any:
        """A string, a list, a call, a variable, or the name of a constant as a string."""
        token = self.take()
        if token.kind == "string":
            text = token.text
            while self.tokens[self.at].kind == "string":
                text += self.take().text
            return text
        if token.text == "{":
            return self.values("}")
        if token.text in FUNCTIONS and self.skip("("):
            return FUNCTIONS[token.text](*self.values(")"))
        if token.kind == "name" and not self.follows(self.at, "("):
            return self.names.get(token.text, token.text)
        raise SuiteError(f"line {token.line}: {token.text!r} is not the start of a known value.")


# Cases --------------------------------------------------------------------------------------------


def cases(source: str) -> Iterator[Json]:
    for line, templates, given in Reader(source).tests():
        tools = [
            {"name": name, "description": description, "parameters": json.loads(parameters)}
            for name, description, parameters in option(given, "tools", [])
        ]
        for path in templates:
            name = PurePosixPath(path).stem
            message = expected(given)
            yield {
                "line": line,
                "template": name,
                "tools": tools,
                "text": given["test"][0],
                "in_reasoning": in_reasoning(name, tools, given),
                "truncated": option(given, "is_partial", False),
                "reasoning": reasoning(given),
                "expected": {
                    "content": message.content,
                    "reasoning": message.reasoning,
                    "calls": message.calls,
                },
                "not_comparable": NOT_COMPARABLE.get(line),
            }


def option(given: dict[str, list[Any]], method: str, default: Any) -> Any:
    """The argument of a method, or the builder's default."""
    return given[method][0] if method in given else default


def reasoning(given: dict[str, list[Any]]) -> str | None:
    """The option of a toolset: reasoning is content, or is separate."""
    none = "COMMON_REASONING_FORMAT_NONE"
    return "content" if option(given, "reasoning_format", none) == none else None


def expected(given: dict[str, list[Any]]) -> Assistant:
    """The message that llama.cpp reads, without the part of it that the prompt contains."""
    message: Assistant = option(given, "expect", Assistant())
    message = replace(
        message,
        content=option(given, "expect_content", message.content),
        reasoning=option(given, "expect_reasoning", message.reasoning),
        calls=[call[:2] for call in option(given, "expect_tool_calls", message.calls)],
    )
    *_, last = option(given, "messages", [None])
    if not isinstance(last, Assistant):
        return message
    return replace(
        message,
        content=message.content.removeprefix(last.content),
        reasoning=message.reasoning.removeprefix(last.reasoning),
    )


def in_reasoning(name: str, tools: list[Json], given: dict[str, list[Any]]) -> bool:
    """Whether the prompt ends in reasoning."""
    continued = option(given, "continue_final_message", None)
    if continued is not None:
        return bool(continued == "COMMON_CHAT_CONTINUATION_REASONING")
    thinking = option(given, "enable_thinking", True)
    prompt = template(name).render(
        messages=[{"role": "user", "content": "Hey there!"}],
        tools=[{"type": "function", "function": tool} for tool in tools],
        add_generation_prompt=True,
        enable_thinking=thinking,
        thinking=thinking,
        bos_token="",
        eos_token="</s>",
        # Needed by firefunction.
        functions="",
        datetime="",
    )
    return prompt.rstrip().endswith(ENDINGS)


def main() -> int:
    try:
        lines = [
            json.dumps(case, ensure_ascii=False) for case in cases(SUITE_SOURCE.read_text(encoding="utf-8"))
        ]
    except SuiteError as error:
        print(f"{error} The tests of llama.cpp's suite are skipped.")
        return 1
    SUITE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
