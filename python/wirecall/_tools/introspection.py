"""Describes Python functions and classes as tools: name, description and JSON Schema.

Needs the extra `pydantic`: pydantic writes the schemas, docstring_parser reads the docstrings. The
module is imported only for functions and classes.

Annotations are evaluated and types run their own code in schema generation, so any exception may be raised:
each becomes a `ToolError` that names the parameter.
"""

import contextlib
import functools
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import docstring_parser
from docstring_parser import DocstringStyle, ParseError
from pydantic import BaseModel, Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonRef, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError

# typing's miss the TypedDicts of typing_extensions.
from typing_extensions import get_type_hints, is_typeddict

from wirecall.errors import ToolError

Schema = dict[str, Any]


def describe_class(cls: type) -> tuple[str | None, str | None, Schema]:
    """Title, description and schema of a pydantic model, a dataclass or a TypedDict.

    The title is None if the class does not set one; the description is the docstring. Both are removed from
    the root of the schema.

    Raises:
        ToolError: The class is not one of these, or a field's type has no JSON Schema.
    """
    name = cls.__name__
    if not (issubclass(cls, BaseModel) or is_dataclass(cls) or is_typeddict(cls)):
        raise ToolError(
            "a class must be a pydantic model, a dataclass or a TypedDict; "
            "to use a method as a tool, pass it bound to an instance",
            tool=name,
        )
    try:
        schema = TypeAdapter(cls).json_schema(schema_generator=_SchemaWithoutNoise)
    except Exception as error:
        raise ToolError(f"it has no JSON Schema ({_first_line(error)})", tool=name, pointer="") from error
    if "$ref" in schema:  # a recursive class: the root stays where it is referred to
        root = schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        title, description = root.get("title"), root.get("description")
    else:
        title, description = schema.pop("title", None), schema.pop("description", None)
    return title, description, schema


def describe_function(function: Callable[..., Any]) -> tuple[str, str | None, Schema]:
    """Name, description and schema of a callable.

    The description is the first paragraph of the docstring. The schema is an object with one property for
    each parameter, closed (`additionalProperties: false`) unless the function takes `**kwargs`. Arguments
    that a `functools.partial` has bound are not the model's to choose and are left out.

    Raises:
        ToolError: The signature cannot be read, or has a parameter that cannot be passed by name or whose
            type has no JSON Schema.
    """
    signature = read_signature(function)
    description, texts = _read_docstring(signature.doc)
    return signature.name, description, _object_schema(signature.name, signature.parameters, texts)


class Signature(NamedTuple):
    """The parameters of a callable that a call can fill.

    Attributes:
        name: The tool's name.
        doc: The docstring.
        parameters: The parameters, with evaluated annotations.
        bound: The names that a `functools.partial` has bound; they are not in `parameters`.
        needs_instance: True for a method without its instance. Its first parameter is not in `parameters`.
    """

    name: str
    doc: str | None
    parameters: list[inspect.Parameter]
    bound: frozenset[str]
    needs_instance: bool


def read_signature(function: Callable[..., Any]) -> Signature:
    """The signature of a callable.

    Raises:
        ToolError: It cannot be read.
    """
    inner, bound = function, set[str]()
    code: Callable[..., Any]
    while isinstance(inner, functools.partial):
        bound |= inner.keywords.keys()
        inner = inner.func
    target = inspect.unwrap(inner)
    if inspect.isfunction(target) or inspect.ismethod(target):
        code, doc = target, inspect.getdoc(inner)
    else:  # an object with __call__, which may say more than its class
        code = type(target).__call__
        doc = inspect.cleandoc((inspect.isfunction(code) and code.__doc__) or target.__doc__ or "")

    name = getattr(inner, "__name__", None) or type(inner).__name__
    if name == "<lambda>":
        raise ToolError("a lambda has no name: use def", tool=name)
    try:
        signature = inspect.signature(function)
        hints = get_type_hints(code, include_extras=True)
    except Exception as error:
        reason = f"its signature cannot be read ({_first_line(error)}); annotations must exist at run time"
        raise ToolError(reason, tool=name) from error

    parameters = [
        p.replace(annotation=hints.get(p.name, Any if p.annotation is p.empty else p.annotation))
        for p in signature.parameters.values()
        if p.name not in bound
    ]
    first = next(iter(signature.parameters), None)
    needs_instance = first in ("self", "cls") and first not in bound
    return Signature(name, doc, parameters[needs_instance:], frozenset(bound), needs_instance)


class _SchemaWithoutNoise(GenerateJsonSchema):
    """Omits titles that only repeat a name, and defaults that are not valid JSON."""

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Warnings are about what is omitted on purpose."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        found = super().generate_inner(schema)
        cls = schema.get("cls")
        if cls is not None:
            target = self.get_schema_from_definitions(JsonRef(found["$ref"])) if "$ref" in found else found
            if target is not None and target.get("title") == cls.__name__:
                del target["title"]
        return found

    def encode_default(self, dft: Any) -> Any:
        try:
            encoded = super().encode_default(dft)
            json.dumps(encoded, allow_nan=False)
        except Exception as error:  # pydantic's exceptions differ between versions
            raise PydanticSerializationError(f"{type(dft).__name__} is not JSON") from error
        return encoded


def _object_schema(tool: str, parameters: list[inspect.Parameter], texts: dict[str, str]) -> Schema:
    """The schema of a function's arguments; `texts` are the descriptions in its docstring."""
    adapters: dict[str, TypeAdapter[Any]] = {}
    required: list[str] = []
    rest: str | None = None
    for parameter in parameters:
        name, kind = parameter.name, parameter.kind
        if kind is parameter.VAR_POSITIONAL:
            raise ToolError(
                f"arguments of a call have names, so *{name} cannot be filled: use a list instead, such as "
                f"`{name}: list[str]` (or add functools.wraps to the decorator, if there is one)",
                tool=tool,
            )
        if kind is parameter.POSITIONAL_ONLY:
            raise ToolError(
                f"arguments of a call have names, so the positional-only {name!r} cannot be filled: "
                "remove the `/` from the signature",
                tool=tool,
            )
        adapters[name] = type_adapter(tool, parameter)
        default = parameter.default
        if kind is parameter.VAR_KEYWORD:
            rest = name
        elif default.is_required() if isinstance(default, FieldInfo) else default is parameter.empty:
            required.append(name)

    # One run for all parameters, so that the types they share are defined once.
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "validation", adapter) for name, adapter in adapters.items()],
        schema_generator=_SchemaWithoutNoise,
    )
    properties = {name: schemas[name, "validation"] for name in adapters}
    additional = (properties.pop(rest) or True) if rest is not None else False
    for parameter in parameters:
        text = _annotated_text(parameter.annotation) or texts.get(parameter.name)
        if text and parameter.name in properties:
            properties[parameter.name].setdefault("description", text)

    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = additional
    return schema | shared


def type_adapter(tool: str, parameter: inspect.Parameter) -> TypeAdapter[Any]:
    """The type of a parameter, with its default.

    Raises:
        ToolError: It has no JSON Schema.
    """
    annotation, default = parameter.annotation, parameter.default
    try:
        if isinstance(default, FieldInfo):
            annotation = Annotated[annotation, default]
        elif default is not parameter.empty:
            annotation = Annotated[annotation, Field(default=default)]
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        adapter.json_schema(schema_generator=_SchemaWithoutNoise)
    except Exception as error:
        is_rest = parameter.kind is parameter.VAR_KEYWORD
        raise ToolError(
            f"the type of {parameter.name!r} has no JSON Schema ({_first_line(error)}); if the model should "
            "not set it, bind it with functools.partial",
            tool=tool,
            pointer="/additionalProperties" if is_rest else f"/properties/{parameter.name}",
        ) from error
    return adapter


def _annotated_text(annotation: Any) -> str | None:
    """The description in `Annotated[..., "description"]`, also if that is a member of a union."""
    if get_origin(annotation) is Annotated:
        return next((text for text in annotation.__metadata__ if isinstance(text, str)), None)
    if get_origin(annotation) in (Union, UnionType):
        return next(filter(None, map(_annotated_text, get_args(annotation))), None)
    return None


def _read_docstring(doc: str | None) -> tuple[str | None, dict[str, str]]:
    """The first paragraph, and the description of each parameter, each on one line."""
    text = "\n" + (doc or "")  # without the line break, parsers dedent all lines after the first
    readings = []
    for style in (DocstringStyle.NUMPYDOC, DocstringStyle.GOOGLE, DocstringStyle.REST):
        # The parsers refuse docstrings of another style, or fail; NumPy's accepts anything.
        with contextlib.suppress(ParseError, IndexError):
            readings.append(docstring_parser.parse(text, style))
    parsed = max(readings, key=lambda reading: len(reading.meta))
    first = re.split(r"\n\s*\n", parsed.description or "")[0]
    texts = {
        name.strip().lstrip("*\\"): _one_line(param.description)
        for param in parsed.params
        for name in param.arg_name.split(",")  # NumPy style documents several at once: `x, y : int`
        if param.description
    }
    return _one_line(first) or None, texts


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
