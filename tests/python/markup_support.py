"""What the tests of XML share: a schema, generated documents, and the values that these must have."""

import json
import random
import re
from typing import Any
from xml.etree import ElementTree

from wirecall import XmlWarning, parse_xml

BLANKS = " \t\r\n"

FILE = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "mode": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "owner": {"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer"}}},
        "note": {"type": ["string", "null"]},
    },
}


def read(text: str, schema: Any = None, **options: Any) -> tuple[Any, list[str]]:
    warnings: list[XmlWarning] = []
    value = parse_xml(text, schema, warnings=warnings, **options)
    return value, [warning.reason for warning in warnings]


# What a tree of the standard library is by the rules of ours.


def typed(text: str) -> Any:
    text = text.strip(BLANKS)
    number = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", text)
    if not number and text not in ("true", "false", "null") and text[:1] not in ('"', "[", "{"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def converted(element: ElementTree.Element) -> Any:
    texts = [element.text or "", *(child.tail or "" for child in element)]
    text = "".join(texts)
    members: dict[str, list[Any]] = {f"@_{name}": [typed(value)] for name, value in element.attrib.items()}
    for child in element:
        members.setdefault(child.tag, []).append(converted(child))
    if not members:
        return typed(text)
    if text.strip(BLANKS):
        members["#text"] = [typed(text)]
    if list(members) == ["item"]:
        return members["item"]
    return {name: values[0] if len(values) == 1 else values for name, values in members.items()}


NAMES = ("a", "b", "item", "path", "x-y", "_z", "u.v", "é", "a1")
PIECES = (
    "x", " ", "\n", "1", "-2.5", "true", "null", "&amp;", "&lt;", "&gt;", "&#65;", "&#x1F600;", "&quot;", "é",
    "日本", "<![CDATA[<b>&amp;]]>", "<![CDATA[]]>", "<!-- <a> & -->", "<?pi <a> ?>", "'", '"', ">", "=", "/",
    "(]",
)  # fmt: skip
VALUES = ("x", "1", "a b", "&lt;", "&#65;", ">", "é", "", "true", " a\t")


def element(rng: random.Random, depth: int) -> str:
    name = rng.choice(NAMES)
    space = rng.choice(("", "", " ", "\n"))
    attributes = ""
    for attribute in rng.sample(NAMES, rng.choice((0, 0, 0, 1, 2))):
        quote = rng.choice("\"'")
        attributes += f" {attribute}{space}={space}{quote}{rng.choice(VALUES)}{quote}"
    if rng.random() < 0.1:
        return f"<{name}{attributes}{space}/>"
    parts = [
        element(rng, depth - 1) if depth and rng.random() < 0.5 else rng.choice(PIECES)
        for _ in range(rng.choice((0, 1, 1, 2, 4)))
    ]
    return f"<{name}{attributes}{space}>{''.join(parts)}</{name}{space}>"


def document(rng: random.Random) -> str:
    before = rng.choice(("", "", "<?xml version='1.0'?>", "<!DOCTYPE a>", "<!-- x -->\n"))
    return before + element(rng, 4) + rng.choice(("", "\n", "<!-- y -->"))


def broken(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        text = (
            text[:at]
            + rng.choice(("", "<", ">", "&", "</a>", "<a>", "/", "'", "<!--", "]]>", " ", "<b", "x"))
            + (text[at + rng.randrange(6) :])
        )
    return text
