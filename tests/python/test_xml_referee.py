"""XML against lxml: documents are read as lxml reads them; calls and documents that one writes, both read."""

import json
import random
import re
import sys
from typing import Any

import pytest

import generate_values
from generate_values import exact
from law import count, seeded
from markup_support import broken, converted, document, element
from wirecall import Toolset, XmlError, format_xml, parse_xml

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    pytest.skip("lxml 6 would bring the GIL back for all tests", allow_module_level=True)

from lxml import etree

# What XML cannot carry, not even as a reference.
UNSAYABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FEW = count(10_000, 4)
NAMES = [name for name in generate_values.PLAIN_KEYS if name != "value"]


def tree(text: str) -> Any:
    parser = etree.XMLParser(
        remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True, huge_tree=True
    )
    # Bytes: it refuses a str that declares its encoding.
    return etree.fromstring(text.encode(), parser)


@pytest.mark.laws
def test_well_formed_documents_are_read_as_lxml_reads_them() -> None:
    rng = seeded(1)
    for _ in range(FEW):
        text = document(rng)
        root = tree(text)
        wanted = {root.tag: converted(root)}
        warnings: list[Any] = []
        assert parse_xml(text, warnings=warnings) == wanted, text
        assert (warnings, parse_xml(text, repair=False)) == ([], wanted), text


@pytest.mark.laws
def test_what_strict_takes_is_well_formed() -> None:
    rng = seeded(2)
    for _ in range(FEW):
        text = broken(rng, element(rng, 4).replace("<?pi <a> ?>", ""))
        try:
            value = parse_xml(text, repair=False)
        except XmlError:
            continue
        root = tree(text)
        assert value == {root.tag: converted(root)}, text


@pytest.mark.laws
def test_documents_that_are_written_are_read_by_lxml() -> None:
    rng = seeded(3)
    for _ in range(FEW):
        text = format_xml(generate_values.anything(rng), root="root")
        if not UNSAYABLE.search(text):
            root = tree(text)
            assert exact({root.tag: converted(root)}) == exact(parse_xml(text, repair=False)), text


# Calls: the types of the fields decide what is in their elements.


def schema(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    kind = (
        rng.choice(["string", "string", "integer", "number", "boolean", "array", "object"])
        if depth
        else "object"
    )
    if kind == "object" and depth < 4:
        names = rng.sample(NAMES, 3)
        return {
            "type": kind,
            "properties": {name: schema(rng, depth + 1) for name in names},
            "additionalProperties": False,
        }
    if kind == "array" and depth < 4:
        return {"type": kind, "items": rng.choice(({"type": "string"}, {"type": "integer"}, schema(rng)))}
    return {"type": "string"}


def members(of: dict[str, Any], parent: Any) -> dict[str, Any]:
    """What the elements in an element say; those of one name belong together."""
    found: dict[str, list[Any]] = {}
    for child in parent:
        found.setdefault(child.tag, []).append(child)
    return {name: said(of["properties"][name], children) for name, children in found.items()}


def said(of: dict[str, Any], found: list[Any]) -> Any:
    text = found[0].text or ""
    if of["type"] == "array" and not (len(found) == 1 and text.startswith("[")):
        return [said(of["items"], [one]) for one in found]
    [one] = found
    if of["type"] == "string":
        return text
    if of["type"] == "object" and not text.startswith("{"):
        return members(of, one)
    return json.loads(text)


@pytest.mark.laws
def test_calls_that_are_written_are_read_by_lxml() -> None:
    rng = seeded(4)
    compared = 0
    for _ in range(FEW):
        of = schema(rng)
        arguments = generate_values.arguments(rng, of)
        text = Toolset([{"name": "tool", "parameters": of}], protocol="xml").encode("tool", arguments)
        # What costs tokens and helps other readers alone is not written.
        if UNSAYABLE.search(text) or "]]>" in text or "\r" in text:
            continue
        assert exact(members(of, tree(text))) == exact(arguments), text
        compared += 1
    assert compared > FEW / 2


def build(rng: random.Random, parent: Any, name: str, of: dict[str, Any], value: Any) -> None:
    # A lone item is split at its commas, and one that looks like a list is taken for the whole one.
    if of["type"] == "array" and len(value) > 1 and not any(str(item).startswith("[") for item in value):
        for item in value:
            build(rng, parent, name, of["items"], item)
        return
    made = etree.SubElement(parent, name)
    if of["type"] == "object":
        fill(rng, made, of, value)
    elif of["type"] != "string":
        made.text = json.dumps(value)
    else:
        made.text = etree.CDATA(value) if "]]>" not in value and rng.random() < 0.3 else value


def fill(rng: random.Random, parent: Any, of: dict[str, Any], value: dict[str, Any]) -> None:
    for name, item in value.items():
        build(rng, parent, name, of["properties"][name], item)


@pytest.mark.laws
def test_calls_that_lxml_writes_are_read() -> None:
    rng = seeded(5)
    compared = 0
    for _ in range(FEW):
        of = schema(rng)
        arguments = generate_values.arguments(rng, of)
        root = etree.Element("tool")
        try:
            fill(rng, root, of, arguments)
        except ValueError:
            continue  # it holds what XML cannot carry
        text = etree.tostring(root, encoding="unicode", pretty_print=rng.random() < 0.5)
        for strict in (False, True):
            tools = Toolset([{"name": "tool", "parameters": of}], protocol="xml", strict=strict)
            message = tools.parse(text)
            assert [call.args for call in message.calls] == [arguments], text
            assert not message.calls[0].repairs, text
            compared += 1
    assert compared > FEW / 2
