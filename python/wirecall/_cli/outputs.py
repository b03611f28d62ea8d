"""JSON in characters that standard output can carry."""

import json
import sys
from typing import Any


def to_json(value: Any) -> str:
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not is_unicode, separators=(",", ":"))
