"""Tool calling over plain text: read from a stream, typed by JSON Schema, as native tool calls."""

from wirecall._core import (
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
    Text,
    loads,
)
from wirecall.answer import CallFailed
from wirecall.chain import Middleware
from wirecall.clients import wrap
from wirecall.compaction import compact_context
from wirecall.definitions import Definition, definitions
from wirecall.detection import Detection, detect
from wirecall.dialects.base import Refused
from wirecall.errors import JsonError, JsonWarning, ToolError, XmlError, XmlWarning
from wirecall.kinds import ErrorKind, ProblemKind, RepairKind
from wirecall.markup import XmlParser, format_xml, parse_xml
from wirecall.middleware import compact_tools
from wirecall.options import Notice, NoticeKind, WrapOptions
from wirecall.protocol import Protocol
from wirecall.record import Attempt, MessageOutline, Record, RecordEvent
from wirecall.toolset import Toolset, ToolsetOptions

# That of pyproject.toml, also where the package is used without being installed.
__version__ = "0.1.0"

Event = Text | CallStart | ArgumentsDelta | CallEnd | CallError

__all__ = [
    "PROTOCOLS",
    "ArgumentsDelta",
    "Attempt",
    "CallEnd",
    "CallError",
    "CallFailed",
    "CallStart",
    "Definition",
    "Detection",
    "ErrorKind",
    "Event",
    "Field",
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
    "Record",
    "RecordEvent",
    "Refused",
    "RepairKind",
    "Text",
    "ToolError",
    "Toolset",
    "ToolsetOptions",
    "WrapOptions",
    "XmlError",
    "XmlParser",
    "XmlWarning",
    "compact_context",
    "compact_tools",
    "definitions",
    "detect",
    "format_xml",
    "loads",
    "parse_xml",
    "wrap",
]
