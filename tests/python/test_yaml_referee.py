"""The yaml protocol against ruamel.yaml: what one writes, the other reads as the same, or refuses."""

import io
import json
import random
import re
from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

import generate_values
from generate_values import exact
from law import count, seeded
from wirecall import Message, Toolset

CASES = count(1000, 5)
TAG = "tag:yaml.org,2002:"
# Line breaks to ruamel.yaml, as in YAML 1.1; in 1.2 they are none.
OLD_BREAKS = re.compile("[\x85\u2028\u2029]")
# Spaces in the empty lines at the start of a block scalar: ruamel.yaml takes them for its indentation.
BLANK_TOP = re.compile(r"[|>][-+0-9]*(?: +#.*)?\r?\n(?:\r?\n)* +\r?\n")
# What is not read, and says so.
REFUSED = re.compile(
    r"\? is not supported|a key in a list needs braces|one document only"
    r"|a key is missing before the colon|a key is missing in braces"
    # `{? "key" : 1}`, which ruamel.yaml writes where a key is long.
    r"|plain text cannot start like that|a quote in plain text is not closed"
)


class UnlikeError(Exception):
    """A mapping that is not a JSON object."""


def compose(text: str) -> Node:
    node = YAML(typ="safe", pure=True).compose(text)
    assert isinstance(node, Node)
    return node


def core(node: Node) -> Any:
    """What a node is in the core schema of YAML 1.2 (10.3.2), which has no dates and no `1_000`."""
    if isinstance(node, MappingNode):
        members: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise UnlikeError
            said = core(value)
            # The same again is ignored.
            if exact(members.setdefault(key.value, said)) != exact(said):
                raise UnlikeError
        return members
    if isinstance(node, SequenceNode):
        return [core(item) for item in node.value]
    text = node.value
    if node.style is not None:
        return text
    if re.fullmatch(r"null|Null|NULL|~|", text):
        return None
    if re.fullmatch(r"true|True|TRUE|false|False|FALSE", text):
        return text[0] in "tT"
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        return int(text, 0)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        return float(text)
    return text


def toolset(x: Any, **options: Any) -> Toolset:
    schema = {"type": "object", "properties": {"x": x}, "required": ["x"]}
    return Toolset([{"name": "tool", "parameters": schema}], protocol="yaml", **options)


ANYTHING = toolset({}, strict=True)
TEXTS = toolset({"type": "string"})


def read(tools: Toolset, text: str) -> Message:
    return tools.parse(f"<tool>\n{text}</tool>")


@pytest.mark.laws
def test_what_is_written_is_read_by_ruamel() -> None:
    rng = seeded(1)
    for _ in range(CASES):
        schema = generate_values.root_schema(rng)
        arguments = generate_values.arguments(rng, schema)
        tools = Toolset([{"name": "tool", "parameters": schema}], protocol="yaml")
        text = tools.encode("tool", arguments)
        body = text.removeprefix("<tool>").removesuffix("</tool>")
        # No arguments, or JSON, where the first key is too long.
        if body.startswith("\n"):
            assert exact(core(compose(body))) == exact(arguments), text


def node_of(rng: random.Random, value: Any) -> Node:
    """The value, each part of it in some style."""
    if isinstance(value, dict):
        members = [(node_of(rng, key), node_of(rng, item)) for key, item in value.items()]
        return MappingNode(f"{TAG}map", members, flow_style=rng.random() < 0.3)
    if isinstance(value, list):
        items = [node_of(rng, item) for item in value]
        return SequenceNode(f"{TAG}seq", items, flow_style=rng.random() < 0.3)
    if isinstance(value, str):
        return ScalarNode(f"{TAG}str", value, style=rng.choice((None, None, "'", '"', "|", ">")))
    kinds = {bool: "bool", int: "int", float: "float", type(None): "null"}
    return ScalarNode(TAG + kinds[type(value)], json.dumps(value))


def written(rng: random.Random, node: Node) -> str:
    """What ruamel.yaml makes of it, in some layout."""
    yaml = YAML(typ="safe", pure=True)
    yaml.width = rng.choice((8, 20, 80, 1000))
    yaml.indent(*rng.choice(((2, 2, 0), (2, 4, 2), (4, 4, 2), (3, 3, 1))))
    yaml.allow_unicode = rng.random() < 0.8
    stream = io.StringIO()
    yaml.serialize(node, stream)
    return stream.getvalue()


@pytest.mark.laws
def test_what_ruamel_writes_is_read() -> None:
    rng = seeded(2)
    read_as_it_is = 0
    for _ in range(CASES):
        value = node_of(rng, generate_values.anything(rng))
        text = written(rng, MappingNode(f"{TAG}map", [(ScalarNode(f"{TAG}str", "x"), value)]))
        try:
            # What it wrote, not what it was asked to write: it has bugs.
            wanted = core(compose(text))
        except YAMLError:
            continue
        if OLD_BREAKS.search(text):
            continue
        message = read(ANYTHING, text)
        for error in message.errors:
            assert REFUSED.search(error.message), f"{text}\n{error.message}"
        for call in message.calls:
            assert exact(call.args) == exact(wanted), text
            read_as_it_is += 1
    # Of few cases, several may be refused by chance.
    assert CASES - read_as_it_is < max(5, CASES * 0.1)


# Layout and text as people write it, right or wrong.
PIECES = (
    " ", "  ", "\n", "\n  ", "\n  ", "\n    ", "\r\n", "\n- ", "\n  - ", "\n    - ", "\nb: ", "\n  b: ",
    "\n    c: ", "a", "b c", "1", "-1", "012", "0x1F", "true", "~", "é", ": ", ":", "- ", "-", "#",
    " # c", "'", "''", "'it''s'", '"', '"q"', "\\n", "\\", "|", "|-", "|+", "|2", ">", ">-", ">+", "[",
    "]", "{", "}", ", ", ",", "[]", "{}", "[a, b]", "{a: 1}", "? ", "a: ", "b: ", "'k': ", '"k": ',
    "|\n  x\n  y\n", ">\n  x\n  y\n\n  z\n", "|\n    deep\n   less\n", "...", "---", "x#y", "http://x",
    "%", "@", "`", "=", "<",
)  # fmt: skip


def source(rng: random.Random) -> str:
    return "x: " + "".join(rng.choice(PIECES) for _ in range(rng.randint(1, rng.choice((4, 8, 14))))) + "\n"


@pytest.mark.laws
def test_any_text_is_read_as_ruamel_reads_it_or_refused() -> None:
    rng = seeded(3)
    both = 0
    for _ in range(CASES * 4):
        text = source(rng)
        [found] = read(ANYTHING, text).items
        if found.type == "call_error" or BLANK_TOP.search(text):
            continue
        assert exact(found.args) == exact(core(compose(text))), text
        both += 1
    assert both > CASES / 2


@pytest.mark.laws
@pytest.mark.parametrize("make", [source, lambda rng: f"x: {generate_values.text(rng)}\n"])
def test_a_scalar_for_a_string_is_its_text(make: Any) -> None:
    rng = seeded(4)
    both = 0
    for _ in range(CASES * 2):
        text = make(rng)
        try:
            [[_, node], *others] = compose(text).value
        except YAMLError:
            continue
        if not isinstance(node, ScalarNode) or OLD_BREAKS.search(text) or others:
            continue
        for call in read(TEXTS, text).calls:
            assert call.args == {"x": node.value}, text
            both += 1
    assert both > CASES / 4
