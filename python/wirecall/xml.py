"""XML as models write it: read with repairs and typed by a schema, whole or in parts, and written."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wirecall import _core
from wirecall.errors import XmlWarning

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["XmlParser", "format_xml", "parse_xml"]

# A document as large as the largest call.
_MAX_BYTES = 16 * 1024 * 1024
_MAX_DEPTH = 128


def _schema_text(schema: object) -> str | None:
    if schema is None:
        return None
    if not isinstance(schema, Mapping | bool):
        raise TypeError(f"schema must be a JSON Schema (a mapping), not {_said(schema)}")
    return json.dumps(dict(schema) if isinstance(schema, Mapping) else schema)


def _said(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


class XmlParser(_core.XmlParser):
    """Reads one XML document in parts: `feed` them as they come, then `finish`.

    The value is the same however the text is cut, and the same as that of `parse_xml`, which explains it.

    Args:
        schema: As in `parse_xml`.
        repair: As in `parse_xml`.
        max_bytes: Bytes of UTF-8 in the document; 16777216 (16 MiB).
        max_depth: Elements inside each other; 128. At most 512 count.

    Raises:
        ToolError: A schema that cannot work; it names the place.
        ValueError: A limit that does not count from 1.
        TypeError: A schema that is no mapping.
    """

    def __new__(
        cls,
        schema: Mapping[str, Any] | None = None,
        *,
        repair: bool = True,
        max_bytes: int = _MAX_BYTES,
        max_depth: int = _MAX_DEPTH,
    ) -> "Self":
        return super().__new__(
            cls, _schema_text(schema), repair=repair, max_bytes=max_bytes, max_depth=max_depth
        )


def parse_xml(
    text: str,
    schema: Mapping[str, Any] | None = None,
    *,
    repair: bool = True,
    warnings: list[XmlWarning] | None = None,
    max_bytes: int = _MAX_BYTES,
    max_depth: int = _MAX_DEPTH,
) -> Any:
    """Read XML as JSON values, typed by a schema.

    Elements are the members of objects. A repeated tag is a list, and so are an element that holds nothing
    but `<item>` elements, or `<0>`, `<1>` and so on. Attributes are members with `@_` before their names;
    text beside them, or beside elements, is the member `#text`. Text becomes what the schema wants, by the
    rules that calls are typed by; without a type JSON numbers, `true`, `false`, `null`, objects and arrays
    are those, and anything else a string. What the schema says is a string is the text between its tags, up
    to the first closing tag of its name: other tags in it are content. Entities (numbers, and the five that
    XML names) are decoded once, CDATA is unwrapped; comments, instructions and document types are ignored,
    and nothing is ever fetched or expanded.

    The value is an object with the root element for its member. If the schema declares members, but not this
    one, it is the root element's own value.

    Args:
        text: The document. Lone surrogates are read as U+FFFD.
        schema: A JSON Schema of the value.
        repair: Read near misses: tags that are not closed or do not fit, `<` and `&` that are not escaped,
            attributes without quotes, several roots, text around them.
        warnings: A list to which is added what was repaired or does not fit the schema, in the order it was
            found: the first 100.
        max_bytes: Bytes of UTF-8 in the document; 16777216 (16 MiB).
        max_depth: Elements inside each other; 128. At most 512 count.

    Raises:
        XmlError: One member twice, with different values; a limit. Without `repair` anything that is not as
            it has to be, values that do not fit the schema included.
        ToolError: A schema that cannot work; it names the place.
        ValueError: A limit that does not count from 1.
        TypeError: The text is no str, the schema no mapping, or `warnings` no list.
    """
    if warnings is not None and not isinstance(warnings, list):
        raise TypeError(f"warnings must be a list, not {_said(warnings)}")
    parser = XmlParser(schema, repair=repair, max_bytes=max_bytes, max_depth=max_depth)
    try:
        parser.feed(text)
        return parser.finish()
    finally:
        if warnings is not None:
            warnings.extend(parser.warnings)


def format_xml(value: Any, schema: Mapping[str, Any] | None = None, *, root: str | None = None) -> str:
    """Write a JSON value as elements; `parse_xml` with the same schema reads it back.

    Members are elements, indented by two blanks; lists are repeated elements. What these cannot carry stands
    as JSON between the tags: empty objects and lists, lists of one item where the schema has no list, keys
    that are no names. Any XML parser reads the text, except for control characters, which XML forbids.

    Args:
        value: What `json.dumps` takes.
        schema: A JSON Schema of the value.
        root: The name of the root element. Without it the value is an object with one member, which is the
            root.

    Raises:
        ValueError: A `root` that is no name, is a member of the value by its schema, or is missing; NaN, an
            infinity or a lone surrogate; over 128 levels of nesting.
        TypeError: A value that is no JSON, a schema that is no mapping.
        ToolError: A schema that cannot work.
    """
    return _core.format_xml(value, _schema_text(schema), root)
