"""The README's expressions for the SDKs."""

import anthropic
import openai
import pytest
from examples import written_in_the_readme

import wirecall


def test_the_readme_wraps_a_client() -> None:
    for what, kind in (("openai", openai.OpenAI), ("anthropic", anthropic.Anthropic)):
        with written_in_the_readme(what, **{kind.__name__: kind}) as client:
            assert type(client) is kind
            with pytest.raises(ValueError, match="already wrapped"):
                wirecall.wrap(client)
