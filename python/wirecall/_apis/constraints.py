"""A grammar of the calls in a request, and what the request must not have beside it."""

from typing import Any

from wirecall._apis.base import ParsedRequest, UnsupportedRequestError
from wirecall._apis.values import Json, kind_of, mapping
from wirecall._text.grammar import RequestGrammar

# Fields by which a request of the host constrains the model itself: of llama.cpp, of vLLM, and of vLLM before
# version 0.12, which had one field for each kind.
_FIELDS = (
    *("grammar", "json_schema", "structured_outputs"),
    *("guided_json", "guided_regex", "guided_choice", "guided_grammar", "structural_tag"),
)


def check_alone(
    request: Json, parsed: ParsedRequest, grammar: RequestGrammar, format_key: str, format: Any
) -> None:
    """Checks that nothing else in a rewritten request says what the model may write.

    Args:
        format_key: Where the API has the format of structured output.
        format: That format; plain text is not a constraint.

    Raises:
        UnsupportedRequestError: The request has structured output, another grammar, or native tools.
    """
    # A host that calls an SDK itself has such fields in `extra_body`.
    fields = {**mapping(request.get("extra_body")), **request}
    given = [key for key in _FIELDS if fields.get(key) not in (None, "")]
    if kind_of(format) not in (None, "text"):
        given.append(format_key)
    if given:
        raise UnsupportedRequestError(
            f"the request has `{given[0]}`, and grammar={grammar.server!r} adds a grammar of the calls, but "
            f"servers take only one constraint: leave `{given[0]}` out and get structured output through a "
            "tool, or set the option grammar to None for this request"
        )
    if parsed.native:
        kind = kind_of(parsed.native[0])
        raise UnsupportedRequestError(
            f"the request has a tool of the type {kind!r}, and grammar={grammar.server!r} lets the model "
            "call function tools only: leave it out, or set the option grammar to None for this request"
        )


def structured_outputs(grammar: RequestGrammar) -> Json:
    """The field in which vLLM takes a structural tag, in chat completions and Responses."""
    return {"structured_outputs": {"structural_tag": grammar.text}}
