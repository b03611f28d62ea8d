"""Thirteen tools of the kinds that agents are given, and nineteen calls to them."""

from __future__ import annotations

from typing import Any


def _tool(name: str, description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "parameters": schema}


_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_BOOLEAN = {"type": "boolean"}
_STRINGS = {"type": "array", "items": {"type": "string"}}


def _one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


TOOLS: list[dict[str, Any]] = [
    _tool(
        "get_forecast",
        "Weather for a place.",
        ["place"],
        place=_STRING,
        days=_INTEGER,
        units=_one_of("si", "us"),
    ),
    _tool("current_time", "The time in a time zone.", ["zone"], zone=_STRING),
    _tool(
        "send_email",
        "Send an email.",
        ["to", "subject", "body"],
        to=_STRING,
        subject=_STRING,
        body=_STRING,
        priority=_one_of("low", "normal", "high"),
    ),
    _tool(
        "find_products",
        "Search the shop.",
        ["query"],
        query=_STRING,
        limit=_INTEGER,
        max_price=_NUMBER,
        in_stock=_BOOLEAN,
    ),
    _tool("fetch_page", "Fetch a web page.", ["url"], url=_STRING, method=_one_of("GET", "HEAD")),
    _tool("calculate", "Evaluate an expression.", ["expression"], expression=_STRING, digits=_INTEGER),
    _tool("list_files", "List a directory.", ["path"], path=_STRING, recursive=_BOOLEAN, pattern=_STRING),
    _tool(
        "set_reminder",
        "Remind the user later.",
        ["message", "at"],
        message=_STRING,
        at=_STRING,
        channel=_one_of("push", "email", "sms"),
    ),
    _tool("run_sql", "Run a read-only query.", ["sql"], sql=_STRING, limit=_INTEGER, timeout=_NUMBER),
    _tool(
        "book_meeting",
        "Book a room.",
        ["title", "date", "minutes", "attendees"],
        title=_STRING,
        date=_STRING,
        minutes=_INTEGER,
        attendees=_STRINGS,
        room=_STRING,
        projector=_BOOLEAN,
    ),
    _tool(
        "update_profile",
        "Change a user's profile.",
        ["user", "profile"],
        user=_STRING,
        profile=_object(
            ["name"],
            name=_STRING,
            about=_STRING,
            address=_object(["city"], street=_STRING, zip=_STRING, city=_STRING, country=_STRING),
            settings=_object([], theme=_one_of("light", "dark"), newsletter=_BOOLEAN),
        ),
    ),
    _tool("set_flag", "Switch a feature flag.", ["flag", "on"], flag=_STRING, on=_BOOLEAN),
    _tool("sentiment", "Rate the tone of a text.", ["text"], text=_STRING, language=_STRING),
]

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_forecast", {"place": "Lisbon"}),
    ("get_forecast", {"place": "São Paulo", "days": 3, "units": "si"}),
    ("current_time", {"zone": "Europe/Vienna"}),
    (
        "send_email",
        {
            "to": "mara@example.com",
            "subject": "Friday's release",
            "body": "Hi Mara,\nthe build is green; shall we ship at 14:00?\n\nBest, Jo",
            "priority": "high",
        },
    ),
    ("send_email", {"to": "team@example.com", "subject": "Minutes", "body": 'She said "let\'s wait" twice.'}),
    ("find_products", {"query": "running shoes", "limit": 5, "max_price": 89.9, "in_stock": True}),
    ("find_products", {"query": "4711", "limit": 10}),
    ("fetch_page", {"url": "https://example.com/docs?page=2&sort=new"}),
    ("calculate", {"expression": "(17 + 4) * 2.5 / 3", "digits": 4}),
    ("list_files", {"path": "./src", "recursive": True}),
    ("list_files", {"path": "C:\\temp\\new", "recursive": False, "pattern": "*.txt"}),
    ("set_reminder", {"message": "water the plants", "at": "2026-03-01T08:30:00Z", "channel": "push"}),
    ("run_sql", {"sql": "SELECT name, total FROM orders WHERE state = 'open' AND total > 100", "limit": 50}),
    (
        "run_sql",
        {
            "sql": "SELECT \"user id\", count(*)\nFROM events\nWHERE kind <> 'ping'\nGROUP BY 1",
            "timeout": 2.5,
        },
    ),
    (
        "book_meeting",
        {
            "title": "Sprint review",
            "date": "2026-05-15",
            "minutes": 45,
            "attendees": ["ana@example.com", "bo@example.com"],
            "room": "2B",
            "projector": True,
        },
    ),
    ("book_meeting", {"title": "Sync", "date": "2026-06-01", "minutes": 15, "attendees": ["me@example.com"]}),
    (
        "update_profile",
        {
            "user": "u-1029",
            "profile": {
                "name": "Ida Berg",
                "about": "Engineer & climber",
                "address": {"street": "12 Hill Rd", "zip": "04109", "city": "Leipzig", "country": "DE"},
                "settings": {"theme": "dark", "newsletter": False},
            },
        },
    ),
    ("set_flag", {"flag": "new-checkout", "on": True}),
    ("sentiment", {"text": "I can't believe how good this is!", "language": "en"}),
]
