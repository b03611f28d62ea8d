"""The grammar of a request, for servers that let the model write only what a grammar accepts."""

from typing import NamedTuple

from wirecall._text.options import GrammarServer, Options
from wirecall._text.response import Choice
from wirecall._tools.toolset import Toolset


class RequestGrammar(NamedTuple):
    """A grammar, and the server that takes it."""

    server: GrammarServer
    text: str


def write(toolset: Toolset, choice: Choice, options: Options) -> RequestGrammar | None:
    """Writes the grammar of a request with these tools.

    None if the options want none, or if the model may not call a tool.

    Raises:
        ToolError: A schema is too large for a grammar.
    """
    if options.grammar is None or choice.mode == "none" or not toolset.names:
        return None
    if choice.names:
        # A grammar of these tools alone; it does not matter if one of them is called "auto" or "none".
        named = [tool._asdict() for tool in toolset._definitions() if tool.name in choice.names]
        toolset = options.toolset(named)
    return RequestGrammar(
        options.grammar, options.grammar_text(toolset, choice.mode, parallel=choice.parallel)
    )
