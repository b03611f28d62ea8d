"""Reads tool definitions of every common form as name, description and JSON Schema.

Only the form is checked here; the core checks the schema. The input is never mutated, and a schema that is a
dict is returned as the same object.
"""

import json
import math
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from wirecall.errors import ToolError, install_extra

# Each is also the name of a folder in `_apis`, whose `api.py` has the `Api`.
ApiName = Literal["chat", "responses", "messages"]
API_NAMES: tuple[ApiName, ...] = get_args(ApiName)


class Definition(NamedTuple):
    """One tool.

    Attributes:
        name: Not empty; whether it can be written in a call is checked when the toolset is built.
        description: None if there is none.
        parameters: JSON Schema of the arguments.
        strict: The flag of the same name in the tools of OpenAI and Anthropic; None if it is not set.
    """

    name: str
    description: str | None
    parameters: dict[str, Any] | bool
    strict: bool | None


_FORMS = (
    "a function, a pydantic model, a dataclass or a TypedDict; "
    "a tool of OpenAI, Anthropic or MCP; "
    'a dict with "name" and "parameters" or "schema"; a tuple (name, schema); '
    'or a JSON Schema with "type": "object" and a "title" that is a name'
)
_MISSING = object()
# The maximum depth of the search for the cause once json has rejected a schema; cycles are found earlier.
_MAX_DEPTH = 500
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "schema")
# Members of other APIs that look like misspelled known ones.
_NOT_TYPOS = ("outputSchema", "output_schema")
# How similar an unknown member must be to a known one to be a typo: `params` is one.
_MIN_SIMILARITY = 0.75
# The keywords of all drafts, and OpenAPI's. Keys that begin with "$" or "x-" count as keywords, too.
_KEYWORDS = frozenset(
    """
    additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType
    contentSchema default definitions dependencies dependentRequired dependentSchemas deprecated description
    disallow discriminator divisibleBy else enum example examples exclusiveMaximum exclusiveMinimum extends
    externalDocs format id if items maxContains maxItems maxLength maxProperties maximum minContains minItems
    minLength minProperties minimum multipleOf not nullable oneOf pattern patternProperties prefixItems
    properties propertyNames readOnly required then title type unevaluatedItems unevaluatedProperties
    uniqueItems writeOnly
    """.split()  # noqa: SIM905
)


def definitions(tools: Iterable[object]) -> list[Definition]:
    """Read tool definitions, in any mix of these forms and in the order given.

    - OpenAI chat tools `{"type": "function", "function": {"name", "description", "parameters", "strict"}}`,
      their inner dicts alone, Responses tools `{"type": "function", "name", "parameters", ...}`
    - Anthropic tools `{"name", "description", "input_schema"}`
    - MCP tools `{"name", "description", "inputSchema"}`, or objects with these attributes (or `input_schema`)
    - JSON Schema and a name: `{"name", "schema"}`, `(name, schema)`, or a schema of type object whose
      `title` is a valid name
    - pydantic models, dataclasses and TypedDicts: their name and docstring
    - functions, methods, `functools.partial`, objects with `__call__`, sync or async: types from annotations,
      descriptions from `Annotated[..., "text"]`, `pydantic.Field` and Google, NumPy or reST docstrings
    - a `Definition`

    Missing parameters mean an object without properties.

    Raises:
        ToolError: A definition is in none of these forms or incomplete, two have the same name, or `tools`
            is a single tool.
        ImportError: A function or class, and the extra `pydantic` is not installed.
    """
    found: dict[str, Definition] = {}
    for position, tool in enumerate(tool_list(tools)):
        read = definition(tool, position)
        if read.name in found:
            raise two_tools(read.name)
        found[read.name] = read
    return list(found.values())


def definition(tool: object, position: int) -> Definition:
    """The definition of the tool at this position.

    Raises:
        ToolError: It is in none of the forms that `definitions` lists, or incomplete; the error names the
            tool if its name is known.
    """
    return _read(tool, f"tools[{position}]")


def untyped(tool: object, name: str) -> Definition:
    """The definition of a tool of which only the name and the description can be used."""
    if isinstance(tool, Mapping):
        inner = tool.get("function", tool)
        description = inner.get("description") if isinstance(inner, Mapping) else None
    else:
        description = getattr(tool, "description", None)
    return Definition(name, description if isinstance(description, str) and description else None, {}, None)


def tool_list(tools: Iterable[object]) -> list[object]:
    """The tools that `definitions` is given, as a list.

    Raises:
        ToolError: `tools` is a single tool.
    """
    if _is_single_tool(tools):
        raise ToolError("pass a list of tools, such as Toolset([tool])")
    return list(tools)


def two_tools(name: str) -> ToolError:
    return ToolError("two tools have this name; rename one", tool=name)


def native_tool(definition: Definition, api: ApiName) -> dict[str, Any]:
    """The definition as it is in `tools` of a request to an API."""
    tool = {key: value for key, value in definition._asdict().items() if value is not None}
    tool["parameters"] = json.loads(schema_text(definition))
    if api == "chat":
        return {"type": "function", "function": tool}
    if api == "responses":
        # Here, `strict` is true by default, which few schemas fit.
        return {"type": "function", "strict": False, **tool}
    tool["input_schema"] = tool.pop("parameters")
    return tool


def callable_of(tool: object) -> Callable[..., Any] | None:
    """The function or class that a tool is; None for definitions of any other form."""
    if isinstance(tool, (Mapping, tuple)) or _mcp_schema(tool) is not _MISSING:
        return None
    if isinstance(tool, (staticmethod, classmethod)):
        tool = tool.__func__
    return tool if callable(tool) else None


def no_tool(name: str, names: Sequence[str], *, others: Sequence[str] = ()) -> str:
    """The message for a name that none of the tools has; `others` are also possible."""
    if not names:
        return f"there is no tool {name!r}, because there are no tools"
    # Loaded for errors only.
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? Available" if near else "available"
    return f"there is no tool {name!r}; {hint}: {', '.join((*others, *names))}"


def schema_text(definition: Definition) -> str:
    """The parameters as JSON text.

    Raises:
        ToolError: They contain something that JSON cannot express; the pointer says where.
    """
    try:
        text = json.dumps(definition.parameters, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        pointer, message = _find_invalid(definition.parameters)
        raise ToolError(message, tool=definition.name, pointer=pointer) from error
    return text


def _is_single_tool(tools: object) -> bool:
    return (
        not isinstance(tools, Iterable)
        or isinstance(tools, (Mapping, str, bytes, Definition))
        or callable(tools)
        or _mcp_schema(tools) is not _MISSING
        or (isinstance(tools, tuple) and len(tools) == 2 and isinstance(tools[0], str))
    )


def _mcp_schema(tool: object) -> object:
    """The schema of an MCP tool object, else `_MISSING`. Version 2 of the SDK uses snake case."""
    if isinstance(tool, type) or not hasattr(tool, "name"):
        return _MISSING
    return getattr(tool, "inputSchema", getattr(tool, "input_schema", _MISSING))


def _read(tool: object, where: str) -> Definition:
    if isinstance(tool, Mapping):
        return _read_dict(tool, where)
    if isinstance(tool, Definition):
        return _definition(where, *tool)
    if isinstance(tool, tuple) and len(tool) == 2:
        return _definition(where, tool[0], None, tool[1])
    if (schema := _mcp_schema(tool)) is not _MISSING:
        return _definition(where, getattr(tool, "name", None), getattr(tool, "description", None), schema)
    if (function := callable_of(tool)) is not None:
        return _read_callable(function)
    raise _unknown_form(tool, where)


def _read_dict(tool: Mapping[str, Any], where: str) -> Definition:
    kind = tool.get("type")
    if kind == "object" and "title" in tool and "name" not in tool:
        if not _is_name(tool["title"]):
            raise ToolError(f"{where}: the title {tool['title']!r} is not a tool name: pass (name, schema)")
        return _definition(where, tool["title"], tool.get("description"), tool)
    # Custom tools of Anthropic have a schema, those of OpenAI a grammar.
    has_custom_schema = kind == "custom" and "input_schema" in tool
    if kind in (None, "function") and "function" in tool:
        tool = tool["function"]
        if not isinstance(tool, Mapping):
            raise ToolError(f'{where}: "function" must be a dict')
    elif isinstance(kind, str) and kind not in ("function", "object") and not has_custom_schema:
        raise ToolError(
            f"{where}: a tool of type {kind!r} is defined by the provider and stays native; leave it out here"
        )
    keys = [key for key in _SCHEMA_KEYS if key in tool]
    _refuse_typos(tool, where, has_schema=bool(keys))
    if kind == "object" or (not keys and ("name" not in tool or "properties" in tool)):
        raise _unknown_form(tool, where)
    if len(keys) > 1:
        message = f"{where}: it has both {keys[0]!r} and {keys[1]!r}; keep one of them"
        raise ToolError(message, tool=_name_in(tool))
    parameters = tool[keys[0]] if keys else None
    return _definition(where, tool.get("name"), tool.get("description"), parameters, tool.get("strict"))


def _refuse_typos(tool: Mapping[str, Any], where: str, *, has_schema: bool) -> None:
    """Refuses a member that resembles a missing known one; other unknown members are allowed."""
    known = ("name", "description", "strict", *_SCHEMA_KEYS)
    missing = [key for key in known if key not in tool and not (has_schema and key in _SCHEMA_KEYS)]
    for key in tool:
        if key in known or key in _NOT_TYPOS:
            continue
        # Loaded for unknown members only.
        from difflib import get_close_matches

        if near := get_close_matches(str(key), missing, 1, _MIN_SIMILARITY):
            message = f"{where}: there is no member {key!r}; did you mean {near[0]!r}?"
            raise ToolError(message, tool=_name_in(tool))


def _read_callable(tool: Callable[..., Any]) -> Definition:
    try:
        from wirecall._tools import introspection
    except ImportError as error:
        raise ImportError(
            "tools from functions and classes need pydantic and docstring_parser. "
            f"{install_extra('pydantic')}"
        ) from error
    if isinstance(tool, type):
        title, description, schema = introspection.describe_class(tool)
        return Definition(title if _is_name(title) else tool.__name__, description, schema, None)
    return Definition(*introspection.describe_function(tool), None)


def _definition(where: str, name: Any, description: Any, parameters: Any, strict: Any = None) -> Definition:
    if not isinstance(name, str) or not name:
        raise ToolError(f"{where}: its name must be a non-empty string, not {name!r}")
    if parameters is None:
        parameters = {"type": "object", "properties": {}}
    if not isinstance(parameters, (dict, bool)):
        message = f"the parameters must be a JSON Schema (a dict or a bool), not {type(parameters).__name__}"
        raise ToolError(message, tool=name, pointer="")
    if parameters and isinstance(parameters, dict) and not any(map(_is_keyword, parameters)):
        names = reprlib.repr(list(parameters))
        message = f'no member is a keyword of JSON Schema: {names}; properties belong in "properties"'
        raise ToolError(message, tool=name, pointer="")
    if description is not None and not isinstance(description, str):
        raise ToolError(f"the description must be a string, not {type(description).__name__}", tool=name)
    if strict is not None and not isinstance(strict, bool):
        raise ToolError(f'"strict" must be true or false, not {strict!r}', tool=name)
    return Definition(name, description or None, parameters, strict)


def _name_in(tool: Mapping[str, Any]) -> str | None:
    name = tool.get("name")
    return name if isinstance(name, str) and name else None


def _is_keyword(key: object) -> bool:
    # Other keys than strings are refused, with a pointer, when the schema is written as JSON.
    return not isinstance(key, str) or key in _KEYWORDS or key.startswith(("$", "x-"))


def _is_name(title: object) -> TypeGuard[str]:
    """Whether a title can be a tool name: no whitespace, and no character that ends a name in a call."""
    return isinstance(title, str) and re.fullmatch(r"""[^\s<{"'=]+""", title) is not None


def _unknown_form(tool: object, where: str) -> ToolError:
    return ToolError(f"{where}: {reprlib.repr(tool)} is not a tool definition. Accepted forms: {_FORMS}")


def _find_invalid(schema: object) -> tuple[str | None, str]:
    """Where and why a schema is not valid JSON: a pointer, None if there is no one place, and a message."""
    todo: list[tuple[str, object, tuple[int, ...]]] = [("", schema, ())]
    while todo:
        pointer, value, ancestors = todo.pop()
        if len(ancestors) == _MAX_DEPTH:
            break
        if id(value) in ancestors:
            return pointer, "the schema contains itself"
        if isinstance(value, dict):
            for key in value:
                if not (key is None or isinstance(key, (str, int, float))):  # JSON text of these can be a key
                    return pointer, f"the key {reprlib.repr(key)} is not a string"
                if isinstance(key, str) and not _is_unicode(key):
                    return pointer, f"the key {key!r} has a lone surrogate"
            members: Iterable[tuple[object, object]] = value.items()
        elif isinstance(value, (list, tuple)):
            members = enumerate(value)
        elif isinstance(value, float) and not math.isfinite(value):
            return pointer, f"{value} is not a JSON number"
        elif isinstance(value, str) and not _is_unicode(value):
            return pointer, f"{value!r} has a lone surrogate"
        elif not (value is None or isinstance(value, (str, int, float))):
            return pointer, f"{reprlib.repr(value)} is not a JSON value"
        else:
            continue
        deeper = (*ancestors, id(value))
        for key, member in members:
            escaped = str(key).replace("~", "~0").replace("/", "~1")
            todo.append((f"{pointer}/{escaped}", member, deeper))
    return None, "the schema is nested too deeply"


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
