"""Tool calls as plain text: parsed from a stream, typed by JSON Schema, delivered as native tool calls."""

from wirecall._apis.base import UnsupportedRequestError
from wirecall._clients.hooks import compact_tools
from wirecall._clients.middleware import Middleware
from wirecall._clients.wrap import wrap
from wirecall._core import (
    FAMILIES,
    PROTOCOLS,
    ArgumentsDelta,
    CallEnd,
    CallError,
    CallStart,
    Field,
    Message,
    Parser,
    Plan,
    Problem,
    Reasoning,
    Text,
    loads,
)
from wirecall._kinds import ErrorKind, ProblemKind, RepairKind
from wirecall._public import publish
from wirecall._text.notices import Notice, NoticeKind
from wirecall._text.options import WrapOptions
from wirecall._text.parts import ToolCallError
from wirecall._text.record import Attempt, MessageOutline, Record, RecordEvent
from wirecall._tools.checkpoints import format_for
from wirecall._tools.compiled import InvalidTool
from wirecall._tools.definitions import Definition, definitions
from wirecall._tools.detection import Detection, detect
from wirecall._tools.formats.description import Format
from wirecall._tools.grammar import Grammar, GrammarKind, Unconstrained
from wirecall._tools.protocol import Protocol
from wirecall._tools.running import ToolResult
from wirecall._tools.toolset import Toolset, ToolsetOptions
from wirecall.compaction import compact_context
from wirecall.errors import JsonError, JsonWarning, ToolError, XmlError, XmlWarning
from wirecall.xml import XmlParser, format_xml, parse_xml

# As in pyproject.toml; known even if the package is not installed.
__version__ = "0.1.0"

Event = Text | Reasoning | CallStart | ArgumentsDelta | CallEnd | CallError

__all__ = [
    "FAMILIES",
    "PROTOCOLS",
    "ArgumentsDelta",
    "Attempt",
    "CallEnd",
    "CallError",
    "CallStart",
    "Definition",
    "Detection",
    "ErrorKind",
    "Event",
    "Field",
    "Format",
    "Grammar",
    "GrammarKind",
    "InvalidTool",
    "JsonError",
    "JsonWarning",
    "Message",
    "MessageOutline",
    "Middleware",
    "Notice",
    "NoticeKind",
    "Parser",
    "Plan",
    "Problem",
    "ProblemKind",
    "Protocol",
    "Reasoning",
    "Record",
    "RecordEvent",
    "RepairKind",
    "Text",
    "ToolCallError",
    "ToolError",
    "ToolResult",
    "Toolset",
    "ToolsetOptions",
    "Unconstrained",
    "UnsupportedRequestError",
    "WrapOptions",
    "XmlError",
    "XmlParser",
    "XmlWarning",
    "compact_context",
    "compact_tools",
    "definitions",
    "detect",
    "format_for",
    "format_xml",
    "loads",
    "parse_xml",
    "wrap",
]

publish(globals())
