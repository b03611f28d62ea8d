"""A small simulated company for agents: files, mail, a calendar, a shop and tickets, with its tools.

Everything is deterministic. Tools receive arguments written by a model, so each error is a sentence that the
model can act on. A task is judged by the company's final state, so tools record what was done and nothing
else.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

Json = Any
Arguments = Mapping[str, Json]


class ToolUseError(Exception):
    """An error that the model receives instead of a result."""


def _object(properties: dict[str, Json], required: list[str] | None = None) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}


_ADDRESS = _object({"street": _text("With the number"), "city": _text("City"), "zip": _text("Postal code")})
_LINES = {
    "type": "array",
    "items": _object({"sku": _text("Article number"), "quantity": {"type": "integer", "minimum": 1}}),
}
_FIELDS = {"path": _text("From the root, without a leading slash")}

# For each tool its description and parameters. The method of `Environment` has its name.
TOOLS: Mapping[str, tuple[str, dict[str, Json]]] = {
    "list_files": ("Lists the paths of all files.", _object({})),
    "read_file": ("Reads a text file.", _object(_FIELDS)),
    "write_file": (
        "Writes a text file; an existing one is replaced.",
        _object({**_FIELDS, "content": _text("The whole text, exactly")}),
    ),
    "edit_file": (
        "Replaces a piece of a text file. The piece must occur exactly once.",
        _object({**_FIELDS, "old": _text("The piece"), "new": _text("The text that replaces it")}),
    ),
    "delete_file": ("Deletes a file permanently.", _object(_FIELDS)),
    "get_weather": ("The current weather in a city.", _object({"city": _text("Its name")})),
    "search_flights": (
        "Flights of a day, not sorted.",
        _object(
            {
                "origin": _text("Airport code"),
                "destination": _text("Airport code"),
                "date": _text("YYYY-MM-DD"),
            }
        ),
    ),
    "book_flight": (
        "Books a flight.",
        _object({"flight": _text("Flight number"), "passenger": _text("Full name")}),
    ),
    "list_events": ("The events of a day.", _object({"date": _text("YYYY-MM-DD")})),
    "create_event": (
        "Adds an event to the calendar. Two events cannot start at the same time.",
        _object(
            {
                "title": _text("Short"),
                "start": _text("YYYY-MM-DDTHH:MM"),
                "minutes": {"type": "integer", "minimum": 5},
                "attendees": {"type": "array", "items": _text("Mail address")},
            },
            ["title", "start", "minutes"],
        ),
    ),
    "find_customer": ("Finds a customer by mail address.", _object({"email": _text("Mail address")})),
    "list_orders": (
        "The orders of a customer, a page at a time.",
        _object(
            {"customer_id": _text("As C-1"), "cursor": _text("`next` of the previous page")}, ["customer_id"]
        ),
    ),
    "get_order": ("One order with its lines and prices.", _object({"order_id": _text("As O-1")})),
    "create_order": (
        "Orders articles for a customer.",
        _object({"customer_id": _text("As C-1"), "lines": _LINES, "ship_to": _ADDRESS}),
    ),
    "refund_order": (
        "Refunds an order, at most by what it cost.",
        _object(
            {"order_id": _text("As O-1"), "cents": {"type": "integer"}, "reason": _text("For the customer")}
        ),
    ),
    "set_stock_level": (
        "Sets the stock level below which an article is reordered.",
        _object({"sku": _text("Article number"), "level": {"type": "integer", "minimum": 0}}),
    ),
    "list_tickets": ("The support tickets of a customer.", _object({"customer_id": _text("As C-1")})),
    "update_ticket": (
        "Changes a support ticket.",
        _object(
            {
                "ticket_id": _text("As T-1"),
                "status": {"type": "string", "enum": ["open", "waiting", "closed"]},
                "comment": _text("For the customer"),
            },
            ["ticket_id", "status"],
        ),
    ),
    "send_mail": (
        "Sends a mail.",
        _object({"to": _text("Mail address"), "subject": _text("Subject"), "body": _text("Plain text")}),
    ),
    "send_text_message": (
        "Sends a short message to a phone.",
        _object({"number": _text("International, as +49…"), "text": _text("At most 160 characters")}),
    ),
    "send_letter": (
        "Prints a letter and posts it.",
        _object({"ship_to": _ADDRESS, "body": _text("Plain text")}),
    ),
    "save_contact": (
        "Saves a contact in the address book.",
        _object(
            {"name": _text("Full name"), "email": _text("Mail address"), "note": _text("Anything")}, ["name"]
        ),
    ),
    "fetch_page": ("The text of a web page.", _object({"url": _text("With https://")})),
}


@dataclass
class Environment:
    """The company. `log` has every successful call, with its arguments."""

    files: dict[str, str] = field(default_factory=dict)
    bookings: list[dict[str, str]] = field(default_factory=list)
    events: list[dict[str, Json]] = field(default_factory=list)
    orders: dict[str, dict[str, Json]] = field(default_factory=dict)
    refunds: list[dict[str, Json]] = field(default_factory=list)
    levels: dict[str, int] = field(default_factory=dict)
    tickets: dict[str, dict[str, Json]] = field(default_factory=dict)
    sent: list[dict[str, Json]] = field(default_factory=list)
    contacts: list[dict[str, Json]] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def call(self, name: str, arguments: Json) -> str:
        """The result of a call, as the text for the model.

        Raises:
            ToolUseError: The call failed and had no effect.
        """
        if name not in TOOLS:
            raise ToolUseError(f"there is no tool {name!r}")
        _check(name, arguments)
        tool: Callable[..., Json] = getattr(self, name)
        result = tool(**arguments)
        self.log.append(name)
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

    # Files

    def list_files(self) -> Json:
        return sorted(self.files)

    def read_file(self, path: str) -> Json:
        return self._file(path)

    def write_file(self, path: str, content: str) -> Json:
        self.files[path] = content
        return {"written": len(content)}

    def edit_file(self, path: str, old: str, new: str) -> Json:
        content = self._file(path)
        found = content.count(old) if old else 0
        if found != 1:
            raise ToolUseError(f"the piece occurs {found} times in {path}, not once; nothing was changed")
        self.files[path] = content.replace(old, new)
        return {"replaced": 1}

    def delete_file(self, path: str) -> Json:
        self._file(path)
        del self.files[path]
        return {"deleted": path}

    def _file(self, path: str) -> str:
        if path not in self.files:
            raise ToolUseError(
                f"there is no file {path}; available: {', '.join(sorted(self.files)) or 'none'}"
            )
        return self.files[path]

    # Travel and calendar

    def get_weather(self, city: str) -> Json:
        degrees = {"Oslo": 4, "Lisbon": 19, "Graz": 11, "Porto": 17}
        if city not in degrees:
            raise ToolUseError(f"no station in {city}; available: {', '.join(sorted(degrees))}")
        return {"city": city, "celsius": degrees[city]}

    def search_flights(self, origin: str, destination: str, date: str) -> Json:
        if (origin, destination, date) != ("VIE", "OSL", "2027-03-02"):
            return []
        return [
            {"flight": "OS 331", "departs": "07:10", "euros": 214},
            {"flight": "DY 1875", "departs": "13:40", "euros": 129},
            {"flight": "SK 2642", "departs": "18:05", "euros": 162},
        ]

    def book_flight(self, flight: str, passenger: str) -> Json:
        if flight not in ("OS 331", "DY 1875", "SK 2642"):
            raise ToolUseError(f"there is no flight {flight}; search_flights lists flight numbers")
        self.bookings.append({"flight": flight, "passenger": passenger})
        return {"booked": flight}

    def list_events(self, date: str) -> Json:
        return [event for event in self.events if event["start"].startswith(date)]

    def create_event(self, title: str, start: str, minutes: int, attendees: Json = ()) -> Json:
        if any(event["start"] == start for event in self.events):
            raise ToolUseError(f"{start} is taken; the next free time is {start[:11]}15:30")
        self.events.append({"title": title, "start": start, "minutes": minutes, "attendees": list(attendees)})
        return {"created": title}

    # Shop and support

    def find_customer(self, email: str) -> Json:
        known = {"ada@example.com": "C-7", "li@example.com": "C-12"}
        if email not in known:
            raise ToolUseError(f"no customer has the address {email}")
        return {"customer_id": known[email], "email": email}

    def list_orders(self, customer_id: str, cursor: str = "") -> Json:
        own = [order for order in self.orders.values() if order["customer_id"] == customer_id]
        if cursor and not cursor.isdecimal():
            raise ToolUseError(f"{cursor!r} is not a cursor: use `next` of the previous page")
        start = int(cursor or 0)
        page = [
            {"order_id": order["order_id"], "status": order["status"]} for order in own[start : start + 2]
        ]
        return {"orders": page, "next": str(start + 2) if start + 2 < len(own) else None}

    def get_order(self, order_id: str) -> Json:
        if order_id not in self.orders:
            raise ToolUseError(f"there is no order {order_id}; list_orders lists those of a customer")
        return self.orders[order_id]

    def create_order(self, customer_id: str, lines: Json, ship_to: Json) -> Json:
        order_id = f"O-{100 + len(self.orders)}"
        made = {"order_id": order_id, "customer_id": customer_id, "status": "new"}
        self.orders[order_id] = {**made, "lines": lines, "ship_to": ship_to}
        return made

    def refund_order(self, order_id: str, cents: int, reason: str) -> Json:
        order = self.get_order(order_id)
        most = sum(line.get("cents", 0) * line["quantity"] for line in order["lines"])
        if not 0 < cents <= most:
            raise ToolUseError(f"{cents} is not between 1 and {most}, which is what {order_id} cost in cents")
        self.refunds.append({"order_id": order_id, "cents": cents, "reason": reason})
        return {"refunded": cents}

    def set_stock_level(self, sku: str, level: int) -> Json:
        if sku not in self.levels:
            raise ToolUseError(f"there is no article {sku}; available: {', '.join(sorted(self.levels))}")
        self.levels[sku] = level
        return {"sku": sku, "level": level}

    def list_tickets(self, customer_id: str) -> Json:
        return [ticket for ticket in self.tickets.values() if ticket["customer_id"] == customer_id]

    def update_ticket(self, ticket_id: str, status: str, comment: str = "") -> Json:
        if ticket_id not in self.tickets:
            raise ToolUseError(
                f"there is no ticket {ticket_id}; available: {', '.join(sorted(self.tickets))}"
            )
        self.tickets[ticket_id] = {**self.tickets[ticket_id], "status": status, "comment": comment}
        return self.tickets[ticket_id]

    # Messages, contacts, the web

    def send_mail(self, to: str, subject: str, body: str) -> Json:
        self.sent.append({"by": "mail", "to": to, "subject": subject, "body": body})
        return {"sent": to}

    def send_text_message(self, number: str, text: str) -> Json:
        if len(text) > 160:
            raise ToolUseError(f"the text has {len(text)} characters; at most 160 fit")
        self.sent.append({"by": "text message", "to": number, "body": text})
        return {"sent": number}

    def send_letter(self, ship_to: Json, body: str) -> Json:
        self.sent.append({"by": "letter", "to": ship_to, "body": body})
        return {"sent": ship_to["city"]}

    def save_contact(self, name: str, email: str = "", note: str = "") -> Json:
        self.contacts.append({"name": name, "email": email, "note": note})
        return {"saved": name}

    def fetch_page(self, url: str) -> Json:
        if url not in self.pages:
            raise ToolUseError(f"404: {url}")
        return self.pages[url]


def definition(name: str) -> dict[str, Json]:
    """A tool as a chat completions definition."""
    description, parameters = TOOLS[name]
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def _check(name: str, arguments: Json) -> None:
    for error in Draft202012Validator(TOOLS[name][1]).iter_errors(arguments):
        raise ToolUseError(f"the arguments of {name} do not fit: {error.json_path}: {error.message}")
