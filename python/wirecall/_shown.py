"""Values of hosts, clients and models as text, whatever they are: nothing here raises."""

import json
import reprlib
import sys
from collections.abc import Mapping
from typing import Any

# No API nests values deeper, and `repr` of a deeper one may exceed Python's stack.
MAX_LEVEL = 64


class _Repr(reprlib.Repr):
    """`repr` with a maximum depth; deeper values are "...". Sizes are not limited."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = MAX_LEVEL
        for name in vars(self):
            if name.startswith("max") and name != "maxlevel":
                setattr(self, name, sys.maxsize)

    def repr_int(self, x: int, level: int) -> str:
        try:
            return repr(x)
        except ValueError:
            # Python refuses to write so many decimal digits.
            return hex(x)


_repr = _Repr().repr


def shown(value: Any) -> str:
    """The `repr` of a value, shortened where it is nested too deeply."""
    try:
        return repr(value)
    except Exception:
        return _repr(value)


def as_str(value: Any) -> str:
    """The value itself if it is a str, otherwise its `repr`."""
    return value if isinstance(value, str) else shown(value)


def encodable(text: str) -> str:
    """A text that can be encoded as UTF-8: U+FFFD replaces lone surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shortened(text: str, length: int) -> str:
    """The beginning of a text, with "…" in place of what is cut off."""
    return text if len(text) <= length else f"{text[:length]}…"


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class _Text(str):
    """A piece of the text that is written, among values."""

    __slots__ = ()


_COMMA = _Text(",")


def written(value: object) -> str:
    """A value as compact JSON; a str is returned unchanged. What is not JSON is written as `shown` does."""
    if isinstance(value, str):
        return value
    try:
        return _encode(value)
    except RecursionError:
        return _nested(value)
    except Exception:
        return shown(value)  # Not a JSON value.


def _nested(value: object) -> str:
    """Without recursion, which is slower. Keys are written with `str`."""
    done: list[str] = []
    # A stack of values and pieces of text; the last is written next.
    left: list[object] = [value]
    while left:
        one = left.pop()
        if isinstance(one, _Text):
            done.append(one)
        elif type(one) is dict or isinstance(one, Mapping):
            items = [
                part
                for key, held in one.items()
                for part in (_Text(f"{_encode(as_str(key))}:"), held, _COMMA)
            ]
            left += [_Text("}"), *reversed(items[:-1]), _Text("{")]
        elif isinstance(one, (list, tuple)):
            items = [part for held in one for part in (held, _COMMA)]
            left += [_Text("]"), *reversed(items[:-1]), _Text("[")]
        else:
            done.append(written(one) if not isinstance(one, str) else _encode(one))
    return "".join(done)
