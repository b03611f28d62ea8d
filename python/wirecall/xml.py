"""XML as models write it: parsed with repairs, typed by a schema, whole or in parts; and formatted."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wirecall import _core
from wirecall.errors import XmlWarning

if TYPE_CHECKING:
    from typing import Self

__all__ = ["XmlParser", "format_xml", "parse_xml"]

# The limit of a call.
_MAX_BYTES = 16 * 1024 * 1024
_MAX_DEPTH = 128


def _schema_text(schema: object) -> str | None:
    if schema is None:
        return None
    if not isinstance(schema, Mapping | bool):
        raise TypeError(f"schema must be a JSON Schema (a mapping), not {_type_name(schema)}")
    return json.dumps(dict(schema) if isinstance(schema, Mapping) else schema)


def _type_name(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


class XmlParser(_core.XmlParser):
    """Parses one XML document in parts: `feed` each part, then `finish`.

    The value does not depend on how the text is cut. It is that of `parse_xml`, and so are the exceptions.

    Args:
        schema: A JSON Schema of the value.
        repair: Accept common mistakes.
        max_bytes: Maximum size of the document in UTF-8; 16777216 (16 MiB).
        max_depth: Maximum nesting of elements; 128. Values over 512 count as 512.
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
    """Parse XML into JSON values, typed by a schema.

    Elements become members of objects. A repeated tag becomes a list, and so does an element that contains
    only `<item>` elements, or only `<0>`, `<1>` and so on. Attributes become members whose names begin with
    `@_`; text next to attributes or elements becomes the member `#text`. Text is converted to the type in the
    schema, by the same rules as in calls. Without a type, JSON numbers, `true`, `false`, `null`, objects and
    arrays are parsed, and anything else is a string. If the schema declares a string, its value is the text
    up to the first closing tag of its name, and other tags in it are content. Numeric entities and the five
    named ones are decoded once, and CDATA is unwrapped. Comments, processing instructions and document types
    are ignored; nothing is ever fetched or expanded.

    The value is an object with the root element as its member. If the schema declares properties, but not the
    root element, it is the root element's own value.

    Args:
        text: The document. Lone surrogates become U+FFFD.
        schema: A JSON Schema of the value.
        repair: Accept common mistakes: unclosed or mismatched tags, unescaped `<` and `&`, attributes without
            quotes, several roots, text around the root.
        warnings: A list that receives the first 100 repairs and schema violations, in order.
        max_bytes: Maximum size of the document in UTF-8; 16777216 (16 MiB).
        max_depth: Maximum nesting of elements; 128. Values over 512 count as 512.

    Raises:
        XmlError: A member has two different values, or a limit is exceeded. Without `repair`, also for any
            malformed XML and for values that do not match the schema.
        ToolError: The schema cannot work; the error has the location.
        ValueError: A limit is less than 1.
        TypeError: The text is not a str, the schema not a mapping, or `warnings` not a list.
    """
    if warnings is not None and not isinstance(warnings, list):
        raise TypeError(f"warnings must be a list, not {_type_name(warnings)}")
    parser = XmlParser(schema, repair=repair, max_bytes=max_bytes, max_depth=max_depth)
    try:
        parser.feed(text)
        return parser.finish()
    finally:
        if warnings is not None:
            warnings.extend(parser.warnings)


def format_xml(value: Any, schema: Mapping[str, Any] | None = None, *, root: str | None = None) -> str:
    """Format a JSON value as XML elements; `parse_xml` with the same schema returns the value.

    Members become elements, indented by two spaces; lists become repeated elements. Values that have no such
    form are written as JSON between the tags: empty objects and lists, lists of one item where the schema
    declares no list, and objects with keys that are not XML names. Any XML parser can read the text, unless
    it contains control characters, which XML forbids.

    Args:
        value: A value that `json.dumps` accepts.
        schema: A JSON Schema of the value.
        root: The name of the root element. Without it, the value must be an object with one member, the root.

    Raises:
        ValueError: The `root` is missing, is not an XML name, or is a property in the schema; the value
            contains NaN, an infinity or a lone surrogate, or is nested more than 128 levels deep.
        TypeError: The value cannot be JSON, or the schema is not a mapping.
        ToolError: The schema cannot work.
    """
    return _core.format_xml(value, _schema_text(schema), root)
