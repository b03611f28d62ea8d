"""The three hooks, sync and async: whole loops over plain dicts, stacked, overridden, many at once."""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest

import wirecall
from chat_support import BAD, GET, GOOD, SET, ULM, USER, accumulated, asking, body, call, chunks, result, said
from wirecall import ToolCallError, ToolError, Toolset, UnsupportedRequestError

Json = dict[str, Any]
REQUEST = asking()


class Model:
    """A provider: plays its answers, one for each request, and remembers what it was sent."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.given: list[Mapping[str, Any]] = []
        self.sent: list[Mapping[str, Any]] = []
        self.closed = 0

    def _next(self, request: Mapping[str, Any]) -> str:
        self.given.append(request)
        self.sent.append(copy.deepcopy(request))
        return self.texts[len(self.sent) - 1]

    def generate(self, request: Mapping[str, Any]) -> Json:
        return body(self._next(request))

    async def agenerate(self, request: Mapping[str, Any]) -> Json:
        await asyncio.sleep(0)
        return body(self._next(request))

    def stream(self, request: Mapping[str, Any]) -> Iterator[Any]:
        try:
            yield from chunks(self._next(request))
            yield "[DONE]"
        finally:
            self.closed += 1

    async def astream(self, request: Mapping[str, Any]) -> AsyncIterator[Any]:
        try:
            for event in chunks(self._next(request)):
                await asyncio.sleep(0)
                yield event
            yield "[DONE]"
        finally:
            self.closed += 1


def message(found: Mapping[str, Any]) -> Any:
    made = found["choices"][0]["message"]
    calls = [one["function"] for one in made.get("tool_calls", ())]
    return made["content"], calls, found["choices"][0]["finish_reason"]


def generated(middleware: Any, model: Model, request: Any = REQUEST, **overrides: Any) -> Any:
    return message(middleware.wrap_generate(model.generate, request, **overrides))


def agenerated(middleware: Any, model: Model, request: Any = REQUEST, **overrides: Any) -> Any:
    return message(asyncio.run(middleware.awrap_generate(model.agenerate, request, **overrides)))


def _read(events: list[Any]) -> Any:
    assert events.pop() == "[DONE]"
    assert "[DONE]" not in events
    [state] = accumulated(events).values()
    calls = [{"name": name, "arguments": arguments} for name, arguments, _ in state["calls"]]
    return state["content"] or None, calls, state["reason"]


def streamed(middleware: Any, model: Model, request: Any = REQUEST, **overrides: Any) -> Any:
    found = _read(list(middleware.wrap_stream(model.stream, request, **overrides)))
    assert model.closed == len(model.sent)
    return found


def astreamed(middleware: Any, model: Model, request: Any = REQUEST, **overrides: Any) -> Any:
    async def run() -> list[Any]:
        return [event async for event in middleware.awrap_stream(model.astream, request, **overrides)]

    found = _read(asyncio.run(run()))
    assert model.closed == len(model.sent)
    return found


ALL = pytest.mark.parametrize("ask", [generated, agenerated, streamed, astreamed])
Ask = Callable[..., Any]


# --- the hooks


@ALL
def test_a_call(ask: Ask) -> None:
    model = Model(f"Look. {GOOD}")
    before = copy.deepcopy(REQUEST)
    assert ask(wirecall.compact_tools(), model) == ("Look. ", [ULM], "tool_calls")
    assert before == REQUEST
    [sent] = model.sent
    assert sent.keys() == {"model", "messages", "stop"}
    assert [part["role"] for part in sent["messages"]] == ["system", "user"]


@ALL
def test_asked_again(ask: Ask) -> None:
    model = Model(f"Hm. {BAD}", f"Sorry. {GOOD}")
    assert ask(wirecall.compact_tools(), model) == ("Hm. \n\nSorry. ", [ULM], "tool_calls")
    first, second = model.sent
    assert second["messages"][:2] == first["messages"]
    assert [part["role"] for part in second["messages"][2:]] == ["assistant", "user"]


@ALL
def test_retries_are_bounded(ask: Ask) -> None:
    model = Model(*[BAD] * 9)
    content, calls, reason = ask(wirecall.compact_tools(max_retries=3, emit_raw_on_error=True), model)
    assert (content, calls, reason) == (BAD, [], "stop")
    assert len(model.sent) == 4


@ALL
def test_untouched(ask: Ask) -> None:
    request = {"messages": [USER]}
    model = Model(GOOD)
    assert ask(wirecall.compact_tools(), model, request) == (GOOD, [], "stop")
    assert model.given[0] is request


@ALL
def test_options_for_one_request(ask: Ask) -> None:
    middleware = wirecall.compact_tools(max_retries=0, emit_raw_on_error=True)
    assert ask(middleware, Model(BAD), on_error="native")[1] == [{"name": "get", "arguments": BAD}]
    assert ask(middleware, Model(BAD, GOOD), max_retries=1)[1] == [ULM]
    assert ask(middleware, Model(BAD)) == (BAD, [], "stop")


@ALL
def test_a_rewritten_request(ask: Ask) -> None:
    middleware = wirecall.compact_tools()
    made = middleware.transform_params(REQUEST)
    assert ask(middleware, Model(GOOD), made) == (None, [ULM], "tool_calls")
    with pytest.raises(TypeError, match="transform_params"):
        ask(middleware, Model(GOOD), middleware.transform_params(REQUEST), max_retries=2)


@ALL
def test_what_is_raised_before_anything_is_sent(ask: Ask) -> None:
    model = Model(GOOD)
    for request, expected in (
        (asking(tools=[{"type": "function"}]), ToolError),
        (asking(tool_choice=call(None, "nope")), UnsupportedRequestError),
    ):
        with pytest.raises(expected):
            ask(wirecall.compact_tools(), model, request)
    with pytest.raises(TypeError, match="no option 'nope'"):
        ask(wirecall.compact_tools(), model, nope=1)
    with pytest.raises(ToolCallError):
        ask(wirecall.compact_tools(), Model(BAD), on_error="raise")
    assert model.sent == []


@ALL
def test_an_agent_loop(ask: Ask) -> None:
    """Calls and results of each turn are text in the next one's request, whose beginning never changes."""
    middleware = wirecall.compact_tools()
    model = Model(*[f"Step. <call>get city=C{step}</call>" for step in range(5)], "Done.")
    messages: list[Json] = [USER]
    for step in range(6):
        content, calls, reason = ask(middleware, model, asking(*messages))
        if not calls:
            assert (content, reason) == ("Done.", "stop")
            break
        assert calls == [{"name": "get", "arguments": f'{{"city":"C{step}"}}'}]
        ids = [f"{step}.{at}" for at in range(len(calls))]
        messages.append(said(*[call(id, **one) for id, one in zip(ids, calls, strict=True)], content=content))
        messages += [result(id, f"R{step}") for id in ids]
    assert len(model.sent) == 6
    for earlier, later in zip(model.sent, model.sent[1:], strict=False):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
    assert model.sent[-1]["messages"][-2:] == [
        {"role": "assistant", "content": "Step. \n<call>get city=C4</call>"},
        {"role": "user", "content": '<tool-result name="get">R4</tool-result>'},
    ]


def test_transform_params() -> None:
    middleware = wirecall.compact_tools(no_manual=True)
    made = middleware.transform_params(REQUEST, placement="first")
    assert isinstance(made.toolset, Toolset)
    assert made.toolset.names == ("get", "set")
    assert made.params["messages"][0]["content"] == "get city\nset city"
    assert made.toolset.parse(GOOD).calls[0].args == {"city": "Ulm"}
    plain = {"messages": [USER]}
    untouched = middleware.transform_params(plain)
    assert untouched.params is plain
    assert untouched.toolset is None


def test_toolsets_are_compiled_once() -> None:
    first, second = wirecall.compact_tools(), wirecall.compact_tools(max_retries=7)
    assert first.transform_params(REQUEST).toolset is second.transform_params(copy.deepcopy(REQUEST)).toolset


def test_options_are_checked() -> None:
    with pytest.raises(TypeError, match="no option 'nope'"):
        wirecall.compact_tools(nope=1)
    with pytest.raises(ValueError, match="placement"):
        wirecall.compact_tools(placement="middle")


def test_an_answer_that_is_no_dict() -> None:
    with pytest.raises(TypeError, match="must be a dict"):
        wirecall.compact_tools().wrap_generate(lambda request: "text", REQUEST)  # type: ignore[arg-type,return-value]


# --- stacking


def test_middlewares_stack() -> None:
    seen: list[Any] = []

    class Log:
        def wrap_generate(self, generate: Any, params: Any) -> Any:
            seen.append(params)
            found = generate(params)
            seen.append(found)
            return found

    model = Model(BAD, GOOD)
    inner, outer = wirecall.compact_tools(max_retries=0), wirecall.compact_tools()
    log = Log()

    def send(request: Any) -> Any:
        return log.wrap_generate(lambda params: inner.wrap_generate(model.generate, params), request)

    assert message(outer.wrap_generate(send, REQUEST)) == (None, [ULM], "tool_calls")
    assert len(model.sent) == 2
    assert seen[0] == model.sent[0]


def test_streams_stack() -> None:
    model = Model(BAD, GOOD)
    inner, outer = wirecall.compact_tools(), wirecall.compact_tools()
    found = list(outer.wrap_stream(lambda request: inner.wrap_stream(model.stream, request), REQUEST))
    assert _read(found) == (None, [ULM], "tool_calls")
    assert model.closed == 2


def test_tokens_saved_are_told_where_they_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(query: str) -> str:
        """Find."""
        return query

    monkeypatch.setattr("wirecall.tokens.cached_tokenizer", lambda: len)
    told: list[wirecall.Notice] = []
    # Else what was counted before, without a tokenizer, would be known already.
    tools = wirecall.compact_tools(on_event=told.append, manual_header="Count me.")
    tools.transform_params(REQUEST)
    assert [notice.kind for notice in told] == ["saved"]
    assert int(told[0].detail) != 0
    sent = tools.transform_params({**REQUEST, "tools": [find]}).params
    assert "find query" in sent["messages"][0]["content"]
    assert len(told) == 1


@ALL
@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ('<tool_call>\n{"name": "get", "arguments": {"city": "Ulm"}}\n</tool_call>', ["hermes"]),
        ('[TOOL_CALLS]get[ARGS]{"city": "Ulm"}', ["mistral"]),
        ("I cannot look that up.", []),
        (f"Look. {GOOD}", []),
    ],
)
def test_calls_of_another_format_are_told(ask: Ask, answer: str, kinds: list[str]) -> None:
    told: list[wirecall.Notice] = []
    ask(wirecall.compact_tools(on_event=told.append), Model(answer))
    assert [notice.detail for notice in told if notice.kind == "other_format"] == kinds


# --- streams that fail


class DroppedError(Exception):
    pass


def dropping(closed: list[str]) -> Any:
    def stream(request: Any) -> Iterator[Any]:
        try:
            yield from chunks(["A ", "<call>get city=U"])[:-1]
            raise DroppedError
        finally:
            closed.append("yes")

    return stream


def test_a_stream_that_drops() -> None:
    closed: list[str] = []
    events = []
    with pytest.raises(DroppedError):
        events.extend(wirecall.compact_tools().wrap_stream(dropping(closed), REQUEST))
    [state] = accumulated(events).values()
    assert state["content"] == "A "
    assert state["calls"] == []
    assert closed == ["yes"]


def test_a_drop_says_more_than_the_call_that_it_cut_off() -> None:
    tools = wirecall.compact_tools(on_error="raise")
    with pytest.raises(DroppedError):
        list(tools.wrap_stream(dropping([]), REQUEST))

    async def run() -> None:
        async def stream(request: Any) -> AsyncIterator[Any]:
            for event in dropping([])(request):
                yield event

        async for _ in tools.awrap_stream(stream, REQUEST):
            pass

    with pytest.raises(DroppedError):
        asyncio.run(run())


def test_an_async_stream_that_drops() -> None:
    closed: list[str] = []
    events = []

    async def stream(request: Any) -> AsyncIterator[Any]:
        for event in dropping(closed)(request):
            yield event

    async def run() -> None:
        async for event in wirecall.compact_tools().awrap_stream(stream, REQUEST):
            events.append(event)

    with pytest.raises(DroppedError):
        asyncio.run(run())
    [state] = accumulated(events).values()
    assert state["content"] == "A "


def test_a_client_that_goes_closes_the_source() -> None:
    model = Model("A long text")
    stream = wirecall.compact_tools().wrap_stream(model.stream, REQUEST)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert model.closed == 1

    async def run() -> None:
        model = Model("A long text")
        stream = wirecall.compact_tools().awrap_stream(model.astream, REQUEST)
        await stream.__anext__()
        await stream.aclose()  # type: ignore[attr-defined]
        assert model.closed == 1

    asyncio.run(run())


class Connection:
    """Chunks of an SDK: an iterator that wants to be closed."""

    def __init__(self, *texts: str) -> None:
        self.chunks = iter(chunks(texts))
        self.closed = 0

    def __iter__(self) -> Iterator[Any]:
        return self.chunks

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in self.chunks:
            yield event

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


def test_connections_are_closed() -> None:
    first, second = Connection(BAD), Connection(GOOD)
    waiting = iter([first, second])
    found = list(wirecall.compact_tools().wrap_stream(lambda request: next(waiting), REQUEST))
    assert accumulated(found)[0]["reason"] == "tool_calls"
    assert (first.closed, second.closed) == (1, 1)

    async def run() -> None:
        connection = Connection(GOOD)
        stream = wirecall.compact_tools().awrap_stream(lambda request: connection, REQUEST)
        found = [event async for event in stream]
        assert accumulated(found)[0]["reason"] == "tool_calls"
        assert connection.closed == 1

    asyncio.run(run())


def test_a_stream_that_breaks_is_closed() -> None:
    model = Model('<call>get city="New York" =</call> more')
    events = list(wirecall.compact_tools(stream_arguments=True).wrap_stream(model.stream, REQUEST))
    assert "error" in events[-1]
    assert model.closed == 1
    assert len(model.sent) == 1


def test_an_async_stream_may_be_awaited_first() -> None:
    model = Model(GOOD)

    async def stream(request: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(0)
        return model.astream(request)

    async def run() -> list[Any]:
        return [event async for event in wirecall.compact_tools().awrap_stream(stream, REQUEST)]

    assert _read(asyncio.run(run())) == (None, [ULM], "tool_calls")


# --- many at once


def test_one_middleware_serves_a_thousand_requests_at_once() -> None:
    middleware = wirecall.compact_tools()

    async def one(number: int) -> Any:
        good = f"<call>get city=C{number}</call>"
        model = Model(*([BAD, good] if number % 3 == 0 else [good]))
        if number % 2:
            found = message(await middleware.awrap_generate(model.agenerate, asking()))
        else:
            found = _read([event async for event in middleware.awrap_stream(model.astream, asking())])
        assert len(model.sent) == (2 if number % 3 == 0 else 1)
        return found

    async def run() -> list[Any]:
        return await asyncio.gather(*[one(number) for number in range(1000)])

    for number, found in enumerate(asyncio.run(run())):
        assert found == (None, [{"name": "get", "arguments": f'{{"city":"C{number}"}}'}], "tool_calls")


def test_native_tools_of_the_provider_travel() -> None:
    search = {"type": "web_search"}
    made = wirecall.compact_tools().transform_params(asking(tools=[GET, search, SET]))
    assert made.params["tools"] == [search]
    assert made.toolset is not None
    assert made.toolset.names == ("get", "set")


class Dumped:
    """An object of an SDK, which is not a dict but can become one."""

    def model_dump(self) -> dict[str, Any]:
        return {}


def test_what_is_no_dict_is_refused_with_advice() -> None:
    middleware = wirecall.compact_tools()

    async def asynchronous(request: Any) -> dict[str, Any]:
        return {}

    with pytest.raises(TypeError, match="not coroutine: use awrap_generate"):
        middleware.wrap_generate(asynchronous, REQUEST)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not Dumped: return its model_dump\(\)"):
        middleware.wrap_generate(lambda request: Dumped(), REQUEST)  # type: ignore[arg-type,return-value]
    # Chunks that pass unread would show the text of calls.
    with pytest.raises(TypeError, match=r"not Dumped: yield its model_dump\(\)"):
        list(middleware.wrap_stream(lambda request: [Dumped()], REQUEST))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"validate": "x"}, "validate is"),
        ({"syntax": "x"}, "syntax is"),
        ({"protocol": "x"}, "no protocol"),
        ({"delimiters": ("a", "b")}, "at least two characters"),
    ],
)
def test_wrong_values_are_refused_before_the_first_request(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wirecall.compact_tools(**wrong)


def test_a_number_of_retries_is_an_int() -> None:
    with pytest.raises(TypeError, match="max_retries must be an int, not str"):
        wirecall.compact_tools(max_retries="1")
