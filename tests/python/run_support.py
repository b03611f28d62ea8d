"""What the tests of `Toolset.run` share: a tool, and calls in the form of Anthropic's API."""

from typing import Any


def get_weather(city: str, days: int = 1) -> str:
    """Get the weather."""
    return f"{city}: 21 degrees for {days} days"


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "input": arguments}
