"""Write docs/repairs.md from tests/slips; `make repairs` runs this.

The texts, and how they are read, come from the data. Only what each repair and error means is written here.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SLIPS = ROOT / "tests" / "slips"
FILES = {"wire": "wire", "json": "JSON", "tags": "tags and YAML"}

HEAD = """\
# Repairs

Made by `make repairs` from the near misses in [tests/slips](../tests/slips/README.md).

Models often write a call that is almost right. If it has exactly one reading, it is a call, and
`call.repairs` names what was repaired, in the order in which it was met. If it has several, or none, it is
an error with a sentence for the model and a correct example, and that call is not run. With `strict=True`
every repair is an error of the same name instead, unless the section below says otherwise. The rules are in
[the wire format](wire-format.md#5-repairs-near-misses-that-the-lenient-reader-reads-anyway) and in
[the other protocols](protocols.md).
"""

REPAIRS = {
    "bare_name": "The tool's name on a line of its own, then its elements: read as if the name were a tag.",
    "bare_text": "Text without elements, where one string is all that the tool needs: read as that string.",
    "call_style": "A call in another notation between the tags of wire (keyword arguments in parentheses, or "
    "an object with the name and the arguments): read as the name and its arguments.",
    "coerced": "A value in another form than its type has (a number or boolean in quotes, Python's `True`, "
    "an enum in other capitals, a lone value, a comma list or a list in quotes for a list): "
    "converted to the schema's type.",
    "colon_separator": "A colon instead of `=` after a declared key: read as `=`.",
    "comma_separator": "A comma between two arguments: ignored.",
    "empty_value": "A key without a value: read as the empty string.",
    "encoded_arguments": "Arguments, or a list or object in them, as a string of JSON: read as that JSON.",
    "enum_quotes": "A value of an enum in quotes of its own, or with other whitespace: read as that value.",
    "inner_quotes": "Unescaped quotes inside a quoted value: kept as part of the text.",
    "json_wrapper": "A JSON object in a Markdown fence, in `<json>` tags or in parentheses: read as "
    "the object alone.",
    "key_alias": "Another word for a key of the call object (`parameters` or `args`, `tool` or `function`): "
    "read as `arguments` or `name`.",
    "key_number": "The singular or plural of the one required key that a closed object lacks: read as that "
    "key.",
    "key_style": "A key in another style (`guest_name` for `guestName`, a subscript for a nested key): read "
    "as the declared key, if only one is meant.",
    "list_wrapper": "An object around a list (`item`, or indexes as keys): read as the list.",
    "markup": "Elements that are not closed, closing tags of nothing, text between fields, or the call's own "
    "closing tag in another style: the fields are read, the rest is ignored.",
    "missing_close": "The closing tag of a call, function or parameter is missing, but the next tag, or the "
    "end of a complete message, shows where it ends: closed there.",
    "missing_wrapper": "A function without `<tool_call>` around it: read as if it had one.",
    "other_format": "With `recover=True`, a call in another format than the toolset's: read by that format's "
    "rules.",
    "quote_style": "Typographic or triple quotes around a value: read as plain quotes.",
    "relaxed_json": "JSON with single quotes, bare keys, trailing commas, Python's literals and tuples, raw "
    "line breaks, unknown escapes or (not in wire) comments: read as the JSON that is meant.",
    "relaxed_yaml": "A backslash before a character that YAML does not escape: kept as a backslash.",
    "spaced_equals": "Spaces around the `=` of a declared key: ignored.",
    "stray_tag": "A tag or special token between the call's object and its end: ignored.",
    "tag_style": "Tags in another spelling or form (other capitals, spaces before `>`, attributes for "
    "a name or parameters, `<invoke>` for `<function>`): read as the protocol's own tags.",
    "tool_style": "The tool's name in another style, in quotes or backticks, or with a prefix such as "
    "`functions.`: read as the declared name, if only one is meant.",
    "trailing_characters": "One of `,` `;` `>` `/>` between the last value and the closing tag: ignored.",
    "unbalanced_brackets": "The last closing bracket is missing, or there are too many: read as balanced.",
    "unclosed_tag": "An opening tag without its `>`: read as if it were closed.",
    "unquoted_spaces": "Spaces in a string without quotes: part of the value.",
    "value_wrapper": "An object with the single key `value` around a scalar: read as the scalar.",
    "verbatim_text": "Text that YAML would refuse, or that continues unindented: taken exactly as written.",
}
ERRORS = {
    "duplicate_argument": "An argument is given twice, with different values.",
    "incomplete_call": "The message ends before the call does.",
    "invalid_json": "What should be JSON has no single reading.",
    "malformed_call": "The call has no single reading, or a form that is never a call.",
    "unknown_tool": "The tool does not exist; the example shows the tool with the nearest name.",
    "unterminated_value": "A value does not end where it should: a quote or a tag is not closed, or two "
    "places could close it.",
}

Slip = dict[str, Any]


def load(name: str) -> list[Slip]:
    """The near misses of one file."""
    with open(SLIPS / f"{name}.jsonl", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def source(slip: Slip) -> str:
    where = slip["source"]
    if where.startswith("https://github.com/"):
        owner, repository, _, number = where.removeprefix("https://github.com/").split("/")
        return f"[{owner}/{repository}#{number}]({where})"
    if where.startswith("docs/"):
        return f"[{where}]({where.removeprefix('docs/')})"
    return f"our own review, {where}" if where.startswith("finding ") else f"`{where}`"


def example(slips: list[Slip]) -> Slip:
    """The one to show: with a public source, if any has one; then the first."""
    return min(slips, key=lambda slip: not slip["source"].startswith("https://"))


def shown(slip: Slip) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in slip["text"].rstrip("\n").split("\n"))


def read_as(slip: Slip) -> str:
    calls = [
        f"`{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}`"
        + ("" if call["repairs"] else " (no repair)")
        for call in slip["calls"]
    ]
    return ", ".join([*calls, *(f"the error `{kind}`" for kind in slip["errors"])])


def repair(name: str, slips: list[Slip]) -> str:
    used = [slip for slip in slips if any(name in call["repairs"] for call in slip["calls"])]
    alone = [slip for slip in used if {name} == {one for call in slip["calls"] for one in call["repairs"]}]
    one = example(alone or used)
    said = REPAIRS[name]
    if any(slip.get("strict") == "read" for slip in used):
        said += " Strict mode reads some of these forms too, without a repair."
    where = f"In {one['protocol']}, read as {read_as(one)}. Source: {source(one)}."
    return f"### {name}\n\n{said}\n\n{shown(one)}\n{where}\n"


def error(kind: str, slips: list[Slip]) -> str:
    one = example([slip for slip in slips if slip["errors"] == [kind] and not slip["calls"]])
    where = f"In {one['protocol']}. Source: {source(one)}."
    return f"### {kind}\n\n{ERRORS[kind]}\n\n{shown(one)}\n{where}\n"


def page() -> str:
    files = {name: load(name) for name in FILES}
    slips = [slip for part in files.values() for slip in part]
    lines = ["| data | near misses | read with repairs | errors |", "|---|---|---|---|"]
    for name, part in files.items():
        read = sum(not slip["errors"] for slip in part)
        file = f"[{FILES[name]}](../tests/slips/{name}.jsonl)"
        lines.append(f"| {file} | {len(part)} | {read} | {len(part) - read} |")
    table = "\n".join(lines) + "\n"
    repairs = [repair(name, slips) for name in sorted(REPAIRS)]
    errors = [error(kind, slips) for kind in sorted(ERRORS)]
    return "\n".join([HEAD, table, "## What is read\n", *repairs, "## What is refused\n", *errors])


if __name__ == "__main__":
    sys.stdout.write(page())
