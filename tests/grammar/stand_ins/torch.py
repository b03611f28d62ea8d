"""What xgrammar names of PyTorch, so that it can be imported without it: its masks can be arrays of numpy."""

import sys

# The library below xgrammar asks, too, and would take this for PyTorch.
if not hasattr(sys.modules.get("tvm_ffi"), "__all__"):
    raise ImportError("PyTorch is not installed")


class Tensor:
    """For annotations."""


FloatTensor = LongTensor = Tensor
int32 = "int32"


def tensor(value: object, dtype: object = None) -> object:
    return value
