"""Both SDKs, as parameters of the tests of `wrap` that are the same with them."""

from collections.abc import Callable, Iterable

import pytest
from wrapping import Ask, Sdk
from wrapping_anthropic import ANTHROPIC
from wrapping_openai import OPENAI

SDKS = (OPENAI, ANTHROPIC)
KINDS = [(sdk, kind) for sdk in SDKS for kind in sdk.kinds]

sdks = pytest.mark.parametrize("sdk", SDKS, ids=[sdk.module.__name__ for sdk in SDKS])
kinds = pytest.mark.parametrize(("sdk", "kind"), KINDS, ids=[kind.__name__ for _, kind in KINDS])


def asking(ways: Callable[[Sdk], Iterable[Ask]]) -> pytest.MarkDecorator:
    """With each kind of client, in each of these ways."""
    cases = [(sdk, kind, ask) for sdk, kind in KINDS for ask in ways(sdk)]
    ids = [f"{kind.__name__}-{ask.__name__}" for _, kind, ask in cases]
    return pytest.mark.parametrize(("sdk", "kind", "ask"), cases, ids=ids)


whole = asking(lambda sdk: sdk.whole)
streamed = asking(lambda sdk: sdk.streamed)
asks = asking(lambda sdk: (*sdk.whole, *sdk.streamed))


def finish(sdk: Sdk, ask: Ask) -> str:
    return {**sdk.whole, **sdk.streamed}[ask]
