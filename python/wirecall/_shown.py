"""Values of hosts, clients and models as text, whatever they are: nothing here raises."""

import reprlib
import sys
from typing import Any

# No API nests values deeper, and `repr` of a deeper one may exceed Python's stack.
_MAX_LEVEL = 64


class _Repr(reprlib.Repr):
    """`repr` with a maximum depth; deeper values are "...". Sizes are not limited."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = _MAX_LEVEL
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
