"""`grammar=`: what is added to requests for servers that sample under a grammar, and what is refused."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import wirecall
from chat_support import (
    BAD,
    GET,
    GOOD,
    SEARCH,
    SET,
    ULM,
    USER,
    accumulated,
    asking,
    body,
    call,
    chunks,
    result,
    rewritten,
    said,
    tool,
)
from wirecall import Record, ToolError, Toolset, UnsupportedRequestError, compact_tools
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

KINDS = {"llama.cpp": "gbnf", "vllm": "structural_tag"}
servers = pytest.mark.parametrize("server", KINDS)


def sent_grammar(request: Any) -> dict[str, Any]:
    """What a request says about grammars."""
    return {key: request[key] for key in ("grammar", "structured_outputs") if key in request}


def expected(server: str, tools: Any = (GET, SET), **choice: Any) -> dict[str, Any]:
    text = Toolset(tools).grammar(KINDS[server], **choice).text  # type: ignore[arg-type]
    return {"grammar": text} if server == "llama.cpp" else {"structured_outputs": {"structural_tag": text}}


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [named(name) for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


@servers
def test_the_grammar_is_added_to_the_rewritten_request(server: str) -> None:
    plain = rewritten(asking(temperature=0.5), stop_sequence="never")
    sent = rewritten(asking(temperature=0.5), grammar=server)
    assert sent_grammar(plain) == {}
    assert sent == {**plain, **expected(server)}


def test_a_structural_tag_is_json_text() -> None:
    [text] = rewritten(asking(), grammar="vllm")["structured_outputs"].values()
    assert json.loads(text).keys() == {"type", "format"}


CHOICES: dict[str, tuple[dict[str, Any], list[Any], dict[str, Any]]] = {
    "auto": ({"tool_choice": "auto"}, [GET, SET], {}),
    "null": ({"tool_choice": None}, [GET, SET], {}),
    "one call": ({"parallel_tool_calls": False}, [GET, SET], {"parallel": False}),
    "required": ({"tool_choice": "required"}, [GET, SET], {"tool_choice": "required"}),
    "any": ({"tool_choice": "any"}, [GET, SET], {"tool_choice": "required"}),
    "one required call": (
        {"tool_choice": "required", "parallel_tool_calls": False},
        [GET, SET],
        {"tool_choice": "required", "parallel": False},
    ),
    "named": ({"tool_choice": named("set")}, [GET, SET], {"tool_choice": "set"}),
    "one named call": (
        {"tool_choice": named("set"), "parallel_tool_calls": False},
        [GET, SET],
        {"tool_choice": "set", "parallel": False},
    ),
    "some allowed": ({"tool_choice": allowed("auto", "set")}, [SET], {}),
    "some required": (
        {"tools": [GET, SET, tool("add")], "tool_choice": allowed("required", "add", "get")},
        [GET, tool("add")],
        {"tool_choice": "required"},
    ),
}


@servers
@pytest.mark.parametrize(("more", "tools", "choice"), CHOICES.values(), ids=CHOICES)
def test_tool_choice_and_parallel_tool_calls_are_honoured(
    server: str, more: Any, tools: Any, choice: Any
) -> None:
    assert sent_grammar(rewritten(asking(**more), grammar=server)) == expected(server, tools, **choice)


@pytest.mark.parametrize("name", ["auto", "required", "none"])
def test_tools_may_have_the_names_of_choices(name: str) -> None:
    request = asking(tools=[GET, tool(name)], tool_choice=named(name))
    required = expected("llama.cpp", [tool(name)], tool_choice="required")
    assert sent_grammar(rewritten(request, grammar="llama.cpp")) == required


def test_functions_of_the_older_form_get_one_call() -> None:
    request = {"messages": [USER], "functions": [GET["function"]], "function_call": {"name": "get"}}
    one = expected("llama.cpp", [GET], tool_choice="get", parallel=False)
    assert sent_grammar(rewritten(request, grammar="llama.cpp")) == one


def test_other_options_are_those_of_the_toolset() -> None:
    options: Any = {"syntax": "json", "delimiters": ("<do>", "</do>")}
    text = Toolset([GET], **options).grammar("gbnf").text
    assert "<do>" in text
    assert rewritten(asking(tools=[GET]), grammar="llama.cpp", **options)["grammar"] == text


@servers
def test_values_may_have_a_bound(server: str) -> None:
    # xgrammar counts digits and items, but no characters.
    counting = {"type": "object", "properties": {"to": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "count", "parameters": counting}}]
    sent = sent_grammar(rewritten(asking(tools=tools), grammar=server, grammar_longest=50))
    assert sent == expected(server, tools, longest=50) != expected(server, tools)
    for wrong in (0, 1001):
        with pytest.raises(ValueError, match="grammar_longest"):
            compact_tools(grammar=server, grammar_longest=wrong)  # type: ignore[arg-type]


@servers
def test_a_template_without_text_still_gets_a_grammar(server: str) -> None:
    sent = rewritten(asking(), grammar=server, template=lambda tools: "")
    assert sent == {"model": "m", "messages": [USER], **expected(server)}


UNCONSTRAINED: dict[str, Any] = {
    "tool_choice none": asking(tool_choice="none"),
    "no tools": {"model": "m", "messages": [USER]},
    "calls in the history only": asking(said(call("1")), result("1"), USER, tools=()),
    "only tools of the provider": asking(tools=[SEARCH]),
    "only tools of the provider allowed": asking(
        tools=[GET, SEARCH],
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [SEARCH]}},
    ),
}


@servers
@pytest.mark.parametrize("request_", UNCONSTRAINED.values(), ids=UNCONSTRAINED)
def test_requests_without_calls_get_no_grammar(server: str, request_: Any) -> None:
    for more in ({}, {"response_format": {"type": "json_object"}, "grammar": 'root ::= "x"'}):
        asked = {**request_, **more}
        sent = Exchange(chat, asked, Options(grammar=server)).request  # type: ignore[arg-type]
        assert sent == Exchange(chat, asked, Options()).request


def test_native_when_passes_the_request_on() -> None:
    request = asking(response_format={"type": "json_object"})
    exchange = Exchange(chat, request, Options(grammar="vllm", native_when=lambda _: True))
    assert exchange.request is request


def test_one_request_can_do_without() -> None:
    tools = compact_tools(grammar="llama.cpp")
    assert "grammar" in tools.transform_params(asking()).params
    assert sent_grammar(tools.transform_params(asking(), grammar=None).params) == {}
    assert sent_grammar(compact_tools().transform_params(asking(), grammar="vllm").params) == expected("vllm")


# What cannot be beside a grammar ------------------------------------------------------------------

CONSTRAINTS: dict[str, Any] = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
    "grammar": 'root ::= "x"',
    "json_schema": {},
    "structured_outputs": {"regex": "x"},
    "guided_json": {},
    "guided_regex": "x",
    "guided_choice": ["x"],
    "guided_grammar": 'root ::= "x"',
    "structural_tag": "{}",
}


@servers
@pytest.mark.parametrize("key", CONSTRAINTS)
def test_two_constraints_are_refused(server: str, key: str) -> None:
    records: list[Record] = []
    options = Options(grammar=server, on_record=records.append)  # type: ignore[arg-type]
    because = (
        f"^the request has `{key}`, and grammar='{server}' adds a grammar of the calls, but servers take "
        f"only one constraint: leave `{key}` out and get structured output through a tool, or set the option "
        "grammar to None for this request$"
    )
    with pytest.raises(UnsupportedRequestError, match=because):
        Exchange(chat, asking(**{key: CONSTRAINTS[key]}), options)
    assert [record.outcome for record in records] == ["refused"]
    if key != "response_format":
        with pytest.raises(UnsupportedRequestError, match=because):
            Exchange(chat, asking(extra_body={key: CONSTRAINTS[key]}), options)


@servers
@pytest.mark.parametrize(
    "more",
    [
        {"response_format": {"type": "text"}},
        {"response_format": None},
        {"grammar": ""},
        {"structured_outputs": None, "guided_json": None},
        {"guided_decoding_backend": "xgrammar"},
    ],
    ids=str,
)
def test_what_constrains_nothing_stays(server: str, more: Any) -> None:
    assert rewritten(asking(**more), grammar=server) == {
        **rewritten(asking(**more), stop_sequence="never"),
        **expected(server),
    }


@servers
def test_tools_of_the_provider_are_refused(server: str) -> None:
    because = (
        f"has a tool of the type 'custom', and grammar='{server}' lets the model call function tools only"
    )
    with pytest.raises(UnsupportedRequestError, match=because):
        rewritten(asking(tools=[GET, SEARCH]), grammar=server)


# Retries, stop sequences, records -----------------------------------------------------------------


def whole(tools: Any, send: Callable[[Any], str], request: Any) -> Any:
    message = tools.wrap_generate(lambda sent: body(send(sent)), request)["choices"][0]["message"]
    return [one["function"] for one in message["tool_calls"]]


def streamed(tools: Any, send: Callable[[Any], str], request: Any) -> Any:
    [state] = accumulated(tools.wrap_stream(lambda sent: chunks(send(sent)), request)).values()
    return [{"name": name, "arguments": arguments} for name, arguments, _ in state["calls"]]


@servers
@pytest.mark.parametrize("ask", [whole, streamed])
@pytest.mark.parametrize(
    ("first", "more", "choice"),
    [(BAD, {}, {}), ("Hm.", {"tool_choice": named("get")}, {"tool_choice": "get"})],
    ids=["bad call", "missing call"],
)
def test_retries_are_constrained_in_the_same_way(
    server: str, ask: Any, first: str, more: Any, choice: Any
) -> None:
    answers: Iterator[str] = iter([first, GOOD])
    sent: list[Any] = []

    def send(request: Any) -> str:
        sent.append(request)
        return next(answers)

    assert ask(compact_tools(grammar=server), send, asking(**more)) == [ULM]
    assert [sent_grammar(request) for request in sent] == [expected(server, **choice)] * 2
    assert len(sent[1]["messages"]) == len(sent[0]["messages"]) + 2


@servers
def test_no_stop_sequence_can_cut_off_a_call(server: str) -> None:
    """The encoder writes the marks of results in values as they are, and so may the model."""
    mark = Toolset([GET]).result_marks[0]
    written = Toolset([GET]).encode("get", {"city": f"a {mark}>"})
    assert mark in written
    exchange = Exchange(chat, asking(stop=["END"]), Options(grammar=server))  # type: ignore[arg-type]
    assert exchange.request["stop"] == ["END"]
    read = exchange.whole(body(written))
    assert read is not None
    [made] = read["choices"][0]["message"]["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"city": f"a {mark}>"}
    for stop_sequence, stops in (("auto", {}), ("never", {}), ("always", {"stop": [mark]})):
        sent = rewritten(asking(), grammar=server, stop_sequence=stop_sequence)
        assert {key: sent[key] for key in sent if key == "stop"} == stops


@servers
def test_records_have_the_length_of_the_grammar(server: str) -> None:
    found: list[Record] = []
    tools = compact_tools(grammar=server, on_record=found.append)
    tools.wrap_generate(lambda _: body(GOOD), asking())
    tools.wrap_generate(lambda _: body("Hm."), asking(tool_choice="none"))
    text = Toolset([GET, SET]).grammar(KINDS[server]).text  # type: ignore[arg-type]
    assert [record.grammar_length for record in found] == [len(text), None]
    assert text not in repr(found)


# When grammars are written ------------------------------------------------------------------------


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The grammars that are written from now on."""
    found: list[tuple[Any, ...]] = []
    write = Toolset.grammar

    def noting(self: Toolset, kind: Any, **choice: Any) -> Any:
        found.append((self.names, kind, *choice.values()))
        return write(self, kind, **choice)

    monkeypatch.setattr(Toolset, "grammar", noting)
    return found


def test_a_grammar_is_written_once(written: list[tuple[Any, ...]]) -> None:
    mine = [tool("written_once"), tool("and_not_again")]
    tools = compact_tools(grammar="llama.cpp")
    written.clear()  # of the protocol's check
    requests = [
        asking(tools=mine, tool_choice=choice, parallel_tool_calls=parallel)
        for choice in ("auto", "required", named("written_once"))
        for parallel in (True, False)
    ]
    for request in [*requests, *json.loads(json.dumps(requests))]:
        tools.transform_params(request)
        compact_tools(grammar="llama.cpp", on_error="text").transform_params(request)
    names = ("written_once", "and_not_again")
    assert written == [
        (names, "gbnf", "auto", True, None),
        (names, "gbnf", "auto", False, None),
        (names, "gbnf", "required", True, None),
        (names, "gbnf", "required", False, None),
        (names[:1], "gbnf", "required", True, None),
        (names[:1], "gbnf", "required", False, None),
    ]


def test_no_grammar_is_written_without_the_option(written: list[tuple[Any, ...]]) -> None:
    rewritten(asking(tools=[tool("never_written")]))
    rewritten(asking(tools=[tool("never_written")], tool_choice="none"), grammar="vllm")
    assert not [names for names, *_ in written if "never_written" in names]


class Own(wirecall.Protocol):
    """Its body is known to Python only, so no grammar can be written for it."""

    def parse(self, text: str) -> Any:
        return None

    def format_call(self, name: str, arguments: Any) -> str:
        return name


@servers
def test_a_protocol_without_a_grammar_is_refused_at_once(server: str) -> None:
    protocol = Own(open="[CALL]", close="[/CALL]")
    for make in (compact_tools, Options):
        with pytest.raises(ToolError, match="grammar"):
            make(protocol=protocol, grammar=server)  # type: ignore[operator]
    with pytest.raises(ToolError, match="grammar"):
        compact_tools(protocol=protocol).transform_params(asking(), grammar=server)  # type: ignore[arg-type]


def test_options_that_do_not_exist() -> None:
    with pytest.raises(ValueError, match=r'^grammar is "sglang"; it must be one of "llama\.cpp", "vllm"$'):
        compact_tools(grammar="sglang")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r'^grammar must be one of "llama\.cpp", "vllm", not bool$'):
        compact_tools(grammar=True)  # type: ignore[arg-type]


# Other APIs ---------------------------------------------------------------------------------------

FLAT = [{"type": "function", **GET["function"]}, {"type": "function", **SET["function"]}]
CLAUDE = [{"name": "get", "input_schema": GET["function"]["parameters"]}]


def responses_request(**more: Any) -> dict[str, Any]:
    return {"model": "m", "input": "Hello", "tools": FLAT, **more}


def asked_of(api: Any, request: Any, **options: Any) -> Any:
    return Exchange(api, request, Options(**options)).request


@servers
def test_anthropic_messages_take_no_grammar(server: str) -> None:
    request = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": CLAUDE}
    because = (
        f"grammar='{server}' cannot be sent, because this API has no field .* use the server's chat comp"
    )
    with pytest.raises(UnsupportedRequestError, match=because):
        asked_of(messages, request, grammar=server)
    none = {**request, "tool_choice": {"type": "none"}}
    assert asked_of(messages, none, grammar=server) == asked_of(messages, none)


def test_responses_of_llama_cpp_take_no_grammar() -> None:
    because = (
        "grammar='llama.cpp' cannot be sent, because this server takes grammars in chat completions only"
    )
    with pytest.raises(UnsupportedRequestError, match=because):
        asked_of(responses, responses_request(), grammar="llama.cpp")


@pytest.mark.parametrize(
    ("more", "choice"),
    [
        ({}, {}),
        ({"tool_choice": "required"}, {"tool_choice": "required"}),
        ({"tool_choice": {"type": "function", "name": "set"}}, {"tool_choice": "set"}),
        ({"parallel_tool_calls": False}, {"parallel": False}),
    ],
    ids=str,
)
def test_responses_of_vllm(more: Any, choice: Any) -> None:
    sent = asked_of(responses, responses_request(**more), grammar="vllm")
    assert sent == {**asked_of(responses, responses_request(**more)), **expected("vllm", **choice)}
    none = responses_request(tool_choice="none")
    assert asked_of(responses, none, grammar="vllm") == asked_of(responses, none)


def test_responses_of_vllm_take_no_other_format() -> None:
    schema = {"format": {"type": "json_schema", "name": "x", "schema": {}}}
    with pytest.raises(UnsupportedRequestError, match=r"the request has `text\.format`, and grammar='vllm'"):
        asked_of(responses, responses_request(text=schema), grammar="vllm")
    with pytest.raises(UnsupportedRequestError, match="the request has `structured_outputs`"):
        asked_of(responses, responses_request(structured_outputs={"regex": "x"}), grammar="vllm")
    with pytest.raises(UnsupportedRequestError, match="a tool of the type 'web_search'"):
        asked_of(responses, responses_request(tools=[*FLAT, {"type": "web_search"}]), grammar="vllm")
    # The server refuses any format beside a grammar.
    plain = {"format": {"type": "text"}, "verbosity": "low"}
    request = responses_request(text=plain)
    assert asked_of(responses, request, grammar="vllm")["text"] == {"verbosity": "low"}
    assert request["text"] is plain


def test_a_retry_of_responses_is_constrained() -> None:
    exchange = Exchange(responses, responses_request(), Options(grammar="vllm"))
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": BAD}]}
    assert exchange.whole({"status": "completed", "output": [message]}) is None
    assert sent_grammar(exchange.request) == expected("vllm")


def test_a_bound_needs_a_grammar() -> None:
    with pytest.raises(ValueError, match=r'grammar_longest needs grammar="llama\.cpp"'):
        compact_tools(grammar_longest=20)
    bounded = compact_tools(grammar="llama.cpp", grammar_longest=20)
    # One request may do without.
    assert sent_grammar(bounded.transform_params(asking(), grammar=None).params) == {}
    assert "grammar" in sent_grammar(bounded.transform_params(asking()).params)
