"""Values of conversations as JSON text, however deeply they are nested."""

import json
from collections.abc import Mapping

from wirecall._shown import as_str, shown

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class _Text(str):
    """A piece of the text that is written, among values."""

    __slots__ = ()


_COMMA = _Text(",")


def written(value: object) -> str:
    """A value as compact JSON; a string is returned unchanged."""
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
