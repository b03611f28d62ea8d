"""XML in general: the standard library as referee, laws over generated texts, and hostile input."""

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

import generate_values
from generate_values import exact
from law import count, seeded
from markup_support import FILE, broken, converted, document, element, read, typed
from wirecall import XmlError, XmlParser, format_xml, parse_xml

CASES = count(10_000)
FEW = count(10_000, 4)
MIB = 1 << 20


@pytest.mark.laws
def test_well_formed_documents_are_read_as_the_standard_library_reads_them() -> None:
    rng = seeded(1)
    for _ in range(CASES):
        text = document(rng)
        root = ElementTree.fromstring(text)
        wanted = {root.tag: converted(root)}
        assert read(text) == (wanted, []), text
        assert parse_xml(text, repair=False) == wanted, text


@pytest.mark.laws
def test_what_strict_takes_is_well_formed() -> None:
    rng = seeded(2)
    taken = 0
    for _ in range(CASES):
        # What is in an instruction, the declaration included, is ignored.
        text = broken(rng, element(rng, 4).replace("<?pi <a> ?>", ""))
        try:
            value = parse_xml(text, repair=False)
        except XmlError:
            continue
        root = ElementTree.fromstring(text)
        assert value == {root.tag: converted(root)}, text
        taken += 1
    assert taken > CASES / 50


@pytest.mark.laws
def test_repair_reads_everything_however_it_is_cut() -> None:
    rng = seeded(3)
    for _ in range(CASES):
        text = broken(rng, document(rng))
        schema = rng.choice((None, FILE, {"type": "object", "additionalProperties": {"type": "string"}}))
        repair = rng.random() < 0.7
        whole = outcome([text], schema, repair)
        assert outcome(list(text), schema, repair) == whole, text
        places = sorted(rng.randrange(len(text) + 1) for _ in range(3))
        chunks = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
        assert outcome(chunks, schema, repair) == whole, chunks
        if schema is None and repair:
            assert not isinstance(whole[0], XmlError), text


def outcome(chunks: list[str], schema: Any, repair: bool) -> tuple[Any, Any]:
    parser = XmlParser(schema, repair=repair)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        value = parser.finish()
    except XmlError as error:
        return str(error), None
    return json.dumps(value), parser.warnings


@pytest.mark.laws
def test_what_is_written_is_read() -> None:
    rng = seeded(4)
    for _ in range(FEW):
        schema = generate_values.root_schema(rng)
        value = generate_values.arguments(rng, schema)
        if "root" in schema.get("properties", {}):
            continue
        text = format_xml(value, schema, root="root")
        for repair in (True, False):
            assert exact(parse_xml(text, schema, repair=repair)) == exact(value), text


@pytest.mark.laws
def test_what_is_written_without_a_schema_is_read() -> None:
    rng = seeded(5)
    for _ in range(FEW):
        value = generate_values.anything(rng)
        text = format_xml(value, root="root")
        assert exact(parse_xml(text, repair=False)) == exact({"root": value}), text
        if not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text):
            root = ElementTree.fromstring(text)
            if isinstance(value, str) and not value.startswith('"') and typed(value) == value != "":
                assert root.text == value or root.text == json.dumps(value, ensure_ascii=False), text


def hostile() -> Iterator[tuple[str, str, Any]]:
    strings = {"type": "object", "additionalProperties": {"type": "string"}}
    yield "brackets", "<" * MIB, None
    yield "ampersands", "&" * MIB, None
    yield "references", "&#" * (MIB // 2), None
    yield "digits", "&#" + "1" * MIB, None
    yield "closing tags", "</a>" * (MIB // 4), None
    yield "closing tags inside", "<a>" * 100 + "</b>" * (MIB // 4), None
    yield "openings", "<a" * (MIB // 2), None
    yield "open quotes", '<a b="' * (MIB // 6), None
    yield "both quotes", "<a b=\"<a c='" * (MIB // 12), None
    yield "comments", "<!--" * (MIB // 4), None
    yield "CDATA", "<![CDATA[" * (MIB // 9), None
    yield "types", "<!DOCTYPE" * (MIB // 9), None
    yield "instructions", "<?a" * (MIB // 3), None
    yield "attributes", "<a " + "b='1' " * (MIB // 6) + "/>", None
    yield "other attributes", "<a " + " ".join(f"b{i}='1'" for i in range(MIB // 12)) + "/>", None
    yield "siblings", "<r>" + "<a/>" * (MIB // 4) + "</r>", None
    yield "other siblings", "<r>" + "".join(f"<a{i}/>" for i in range(MIB // 10)) + "</r>", None
    yield "unclosed strings", "<r>" + "".join(f"<s{i}></t>" for i in range(MIB // 12)), strings
    yield "nearly closed", "<r><s>" + "</s" * (MIB // 3), strings
    yield "blanks in a tag", "<a" + " " * MIB, None
    yield "blanks that close", "<r><s></" + " " * MIB, strings
    yield "a long name", "<" + "a" * MIB, None
    yield (
        "a list",
        "<r>" + "<a>1,2</a>" * (MIB // 10) + "</r>",
        {"type": "array", "items": {"type": "integer"}},
    )


@pytest.mark.parametrize(("text", "schema"), [pytest.param(t, s, id=i) for i, t, s in hostile()])
def test_hostile_input_takes_linear_time(text: str, schema: Any) -> None:
    """What is quadratic would take minutes."""
    for repair in (True, False):
        value, _ = outcome([text[at : at + 64] for at in range(0, len(text), 64)], schema, repair)
        assert value


def test_unclosed_tags_are_too_deep_at_once() -> None:
    for repair in (True, False):
        with pytest.raises(XmlError, match="more than 128 levels"):
            parse_xml("<a>" * MIB, repair=repair)
