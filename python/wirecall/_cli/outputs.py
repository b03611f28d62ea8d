"""Standard output: lines that are flushed, and JSON in characters that the output can carry."""

import json
import sys
from typing import Any


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def to_json(value: Any) -> str:
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not is_unicode, separators=(",", ":"))
