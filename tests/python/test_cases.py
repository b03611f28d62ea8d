"""Cases that others collected, which are next to this repository: reports, peers' tests, broken laws.

Each case is read as expected. Where that would be a repair, an error is enough if its example runs.
What is read otherwise is listed here, with the reason. A listed case that is mended has to leave the list.
"""

import ast
import contextlib
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wirecall
from wirecall import Message, Toolset

CASES = Path(__file__).parents[3] / "shared" / "cases"
# Read so, or an error.
REPAIRS = ("arguable", "repair that", "untriaged")
# Beginnings of whatever opens a call, or a part of one.
MARKERS = ("<|", "<\uff5c", "<tool", "</tool", "<function", "</function", "<invoke", "<parameter", "[TOOL")

Case = dict[str, Any]


def named(reasons: dict[str, str]) -> dict[str, str]:
    """The reason of each case; `peers:1-3` names three."""
    out: dict[str, str] = {}
    for reason, names in reasons.items():
        for name in names.split():
            group = re.fullmatch(r"(\w+):(\d+)-(\d+)", name)
            each = [f"{group[1]}:{n}" for n in range(int(group[2]), int(group[3]) + 1)] if group else [name]
            assert not out.keys() & each, "a case is listed twice"
            out |= dict.fromkeys(each, reason)
    return out


# Read with an error, where what was meant is known.
ERRORS = named(
    {
        "a call after text without its frame is text": "peers:18",
        "a wrong tag after the name is an error": "getsigit/sigit#95",
        "a call without its section, or in one with another name, is an error": (
            "peers:30 peers:32-33 vllm-project/vllm#32216:nosection sgl-project/sglang#40236:bare"
        ),
        "a call of Python in a list of JSON is an error": "vllm-project/vllm#43116:marked",
        "what a section holds besides calls of its format is an error": (
            "peers:19 NVIDIA/TensorRT-LLM#18084"
        ),
        "a tag that is repeated in an object without a schema is a mistake": "peers:36",
    }
)

# Faults that are left: what was meant vanishes, or something else runs, and nothing is reported.
SILENT = named(
    {
        "a value may end in its own closing tag, on a line of its own": "ggml-org/llama.cpp#24807",
        "markers of reasoning are shown": "peers:37-39",
        "a token that begins a turn is part of the prompt; in a message, it is shown": "peers:42",
        "a branch that does not declare a key leaves it untyped": "sgl-project/sglang#36626:glm",
        "a key of that name is a member: nothing tells that it is around the arguments": "peers:35",
        "the declared type decides: JSON for a string is read as JSON and reported": (
            "raullenchai/Rapid-MLX#206"
        ),
        "whitespace around a value is a part of it": "minpeter/ai-sdk-tool-call-middleware#67",
        "text without the markers of the format: it may be an answer": (
            "peers:52 raullenchai/Rapid-MLX#480 vllm-project/vllm#43116 andrewyng/aisuite#339"
        ),
        "a call that is not understood is text, and what is quoted in it runs": "laws:24",
        "a string does not begin after a word": "laws:22",
        "documented: calls in other formats are text, and so is what is quoted in them": "laws:35",
        "markers stay in text that is neutralised": "laws:36-37 laws:39-40",
        "these delimiters are accepted, and not read": "laws:41",
        "the template leaves null out": "laws:42",
        "not well-formed, but read": "laws:43",
        "half of a surrogate pair is final too early": "laws:44",
    }
)

# Requests that are described in words, so that nothing can be run here.
IN_WORDS = ("stablyai/orca#19690", "exo-explore/exo#1882:wrap", "vllm-project/vllm#32587:wrap")


@cache
def load(name: str) -> dict[str, Case]:
    """The cases by id; by their line if they have none."""
    path = CASES / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    cases = [json.loads(line) for line in lines]
    return {case.get("id", f"{name}:{number}"): case for number, case in enumerate(cases, 1)}


def messages() -> dict[str, Case]:
    """Those that are a message and how it is read; the others describe requests in words."""
    cases = load("reports") | load("peers")
    return {name: case for name, case in cases.items() if "text" in case}


def parsed(case: Case) -> Message:
    options = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in case.get("options", {}).items()
    }
    tools = Toolset(case["tools"], protocol=case["protocol"], **options)
    return tools.parse(case["text"], truncated=False, in_reasoning=case.get("in_reasoning"))


def arguments(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def differences(case: Case, message: Message) -> list[str]:
    """What is not as expected."""
    expected = case["expected"]
    if isinstance(expected, str):
        assert expected == "a call or a CallError"
        return [] if message.calls or message.errors else ["neither a call nor an error"]
    calls = [[call.name, call.args] for call in message.calls]
    out = []
    for key, wanted in expected.items():
        match key:
            case "calls":
                good = calls == [[name, arguments(value)] for name, value in wanted]
            case "text" | "content":
                good = message.text.strip() == wanted.strip() if key == "text" else message.text == wanted
            case "reasoning":
                good = message.reasoning == wanted
            case "errors":
                good = len(message.errors) == wanted
            case "errors_min":
                good = len(message.errors) >= wanted
            case "no_marker":
                good = not any(mark in message.text for mark in MARKERS)
            case _:
                raise AssertionError(f"{key} is not known")
        if not good:
            out.append(key)
    return out


def fails_well(case: Case, message: Message) -> bool:
    """There is an error, and nothing that runs; the example of each error is read."""
    tools = Toolset(case["tools"], protocol=case["protocol"])
    examples = [error.example for error in message.errors]
    return (
        bool(examples)
        and not message.calls
        and all(
            example is not None and tools.parse(example, in_reasoning=False).calls for example in examples
        )
    )


def outcome(case: Case) -> str:
    """`good`, `error` if it is not as expected but an error is reported, or `silent`."""
    message = parsed(case)
    if not differences(case, message) or (case["verdict"].startswith(REPAIRS) and fails_well(case, message)):
        return "good"
    return "error" if message.errors else "silent"


needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")


def listed(name: str) -> str:
    known = [kind for kind, names in (("error", ERRORS), ("silent", SILENT)) if name in names]
    assert len(known) < 2, "it is listed twice"
    return known[0] if known else "good"


@needs_cases
@pytest.mark.parametrize("name", messages())
def test_a_message_is_read_as_expected_or_listed(name: str) -> None:
    assert outcome(messages()[name]) == listed(name)


def printed(code: str) -> str:
    """What a program prints, or the name of the exception that ends it."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "case", "exec"), {})
    except (ValueError, wirecall.WirecallError) as error:
        return type(error).__name__
    return out.getvalue().strip()


def values(text: str) -> list[Any]:
    """The values that were printed one after another: lists, and strings as `repr` writes them."""
    decoded, at = [], 0
    while at < len(text):
        # The shortest one: two strings in a row are one literal of Python.
        ends = (end for end in range(at + 1, len(text) + 1) if text[end : end + 1] in ("", " "))
        end = next(end for end in ends if is_literal(text[at:end]))
        decoded.append(ast.literal_eval(text[at:end]))
        at = end + 1
    return decoded


def is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return True


def is_mended(case: Case, out: str) -> bool:
    """Whether the printed text is what the case expects, which it says in words."""
    match case["law"], case["class"], case["expected"]:
        case 7, _, wanted if wanted.startswith("no call of rm"):
            calls, _errors = values(out)
            return "rm" not in calls and ("save must not run" not in wanted or "save" not in calls)
        case 7, _, wanted if wanted.startswith("an error"):
            calls, errors = values(out)
            return bool(errors) and not calls
        case 1, _, _:
            whole, cut = values(out)
            return bool(whole == cut)
        case 6, _, wanted if wanted == "[]":
            return out == "[]"
        case 6, _, wanted if wanted.startswith("[] and a backslash"):
            text, calls = values(out)
            return not calls and "\\" in text
        case 6, _, _:
            text, events, calls = values(out)
            return not calls and "\\" in text and not any(kind == "call_start" for kind, _ in events)
        case 8, "CLOSE that begins with ; or /", _:
            return out == "ValueError" or (bool(values(out)[1]) and not values(out)[2])
        case 8, _, _:
            return out in ("ValueError", '{"a":null}')
        case 11, name, _ if name.startswith("parse_xml"):
            return out == "XmlError"
        case 11, _, _:
            return not values(out)[0]
    raise AssertionError("it is not known what this case expects")


def programs() -> dict[str, Case]:
    return load("laws")


@needs_cases
@pytest.mark.parametrize("name", programs())
def test_a_program_prints_what_the_law_says_or_is_listed(name: str) -> None:
    case = programs()[name]
    assert ("good" if is_mended(case, printed(case["code"])) else "silent") == listed(name)


@needs_cases
def test_every_case_is_tried_or_named() -> None:
    everything = load("reports") | load("peers") | load("laws")
    assert set(everything) == {*messages(), *programs(), *IN_WORDS}
    assert set(ERRORS) | set(SILENT) <= set(everything)
