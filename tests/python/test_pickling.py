"""Pickles and copies: of toolsets, messages and plans. What cannot be pickled says so."""

import copy
import io
import json
import multiprocessing
import pickle
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import generate
import wirecall
from collected_texts import Source, each_source
from law import count, seeded
from wirecall import Definition, Field, Format, Message, Plan, Protocol, ToolError, Toolset
from wirecall._tools.toolset import ToolsetOptions

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def get_weather(city: str, days: int = 1) -> str:
    """Get the weather."""
    return f"{city} {days}"


class Station:
    """With a method that is a tool."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0

    def measure(self, times: int) -> str:
        """Measure."""
        self.calls += 1
        return self.name * times


class Acme(Protocol):
    """A protocol of an application, with a manual of its own."""

    def format_call(self, name: str, arguments: str) -> str:
        return f"{name} {arguments}"

    def parse(self, body: str) -> tuple[str, str]:
        name, _, arguments = body.partition(" ")
        return name, arguments

    def format_tools(self, tools: Any, header: str | None) -> str:
        return "\n".join(f"{tool.name} {json.dumps(tool.parameters)} {tool.strict}" for tool in tools)


class Named(Toolset):
    """A subclass with another constructor, and attributes."""

    label: str
    notes: list[str]

    def __new__(cls, label: str) -> "Named":
        made = super().__new__(cls, [("get", SCHEMA)], protocol="hermes")
        made.label, made.notes = label, []
        return made


def again(value: Any) -> Iterator[Any]:
    for protocol in PROTOCOLS:
        yield pickle.loads(pickle.dumps(value, protocol))
    yield copy.copy(value)
    yield copy.deepcopy(value)


def behaviour(tools: Toolset, texts: list[str], calls: list[tuple[str, Any]]) -> list[Any]:
    """What a toolset does, without random ids."""

    def tried(function: Callable[[], Any]) -> Any:
        try:
            return function()
        except (ValueError, TypeError) as error:
            return type(error), str(error)

    ids = {"ids": partial(str, "i")}
    streams = []
    for text in texts:
        parser = tools.parser(**ids)
        streams.append([*parser.feed(text), *parser.finish()])
    return [
        repr(tools),
        tools.protocol,
        tools.names,
        tools.result_marks,
        tools.manual(),
        tools.manual(header=""),
        [tools.plan(name) for name in tools.names],
        streams,
        [tried(lambda name=name, given=given: tools.encode(name, given)) for name, given in calls],
        tried(lambda: tools.grammar("gbnf")),
        tools.encode_result("x", ["</tool-result>"]),
    ]


def options(rng: Any) -> ToolsetOptions:
    """Some options that go together."""
    chosen: ToolsetOptions = {
        "protocol": rng.choice(["wire", "hermes", "auto", "kimi-k2", "yaml", "gemma"]),
        "recover": rng.choice([False, True, ("hermes", "gemma")]),
        "syntax": rng.choice(["wire", "json"]),
        "strict": rng.random() < 0.3,
        "unknown_tools": rng.choice(["auto", "error", "forward"]),
        "invalid_tools": rng.choice(["error", "untyped"]),
        "validate": rng.choice(["report", "error"]),
        "code": rng.choice(["call", "text"]),
        "descriptions": rng.choice(["full", "tools", "none"]),
        "constraints": rng.random() < 0.5,
        "reasoning": rng.choice(["auto", "separate", "content", None, ("<a>", "</a>", "separate")]),
        "limits": rng.choice([None, {"calls": 2}, {"depth": 9, "call_bytes": 2000}]),
    }
    if chosen["protocol"] == "wire":
        chosen["delimiters"] = rng.choice([None, ("<<", ">>")])
    return chosen


@pytest.mark.laws
@pytest.mark.parametrize("number", range(8))
def test_toolset_after_a_pickle_does_the_same(number: int) -> None:
    rng = seeded(number)
    made = 0
    while made < max(2, count(400, 20)):
        schemas = generate.toolset(rng)
        given = [
            Definition(name, rng.choice([None, "Does it."]), schema, rng.choice([None, True, False]))
            for name, schema in schemas.items()
        ]
        try:
            tools = Toolset(given, **options(rng))
        except (ToolError, ValueError):
            continue  # These do not go together.
        made += 1
        texts = [generate.message(rng, schemas) for _ in range(3)]
        calls = [(name, generate.arguments(rng, schema)) for name, schema in schemas.items()] + [("no", {})]
        expected = behaviour(tools, texts, calls)
        for other in again(tools):
            assert type(other) is Toolset
            assert behaviour(other, texts, calls) == expected


def test_toolset_after_a_pickle_has_the_definitions_it_was_compiled_with() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = {"name": "get", "parameters": copy.deepcopy(schema)}
    tools = Toolset([tool])
    manual = tools.manual()
    tool["parameters"]["properties"]["a"]["type"] = "string"  # type: ignore[index]
    tool["name"] = "other"
    [native] = tools.for_api("responses")
    assert (native["name"], native["parameters"]) == ("get", schema)
    for other in again(tools):
        assert other.names == ("get",)
        assert other.manual() == manual
        assert other.parse("<call>get a=1</call>").calls[0].args == {"a": 1}


def test_toolset_of_functions_keeps_them() -> None:
    tools = Toolset([get_weather, Station("x").measure, {"name": "get", "parameters": SCHEMA}])
    for other in again(tools):
        assert other.manual() == tools.manual()
        assert other.names == ("get_weather", "measure", "get")
        text = "<call>get_weather city=Rome days=2</call>"
        assert other.run(other.parse(text).calls[0]) == "Rome 2"
        assert other.run(other.parse("<call>measure times=3</call>").calls[0]) == "xxx"


class Agent:
    """Has the toolset of its own methods."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.tools = Toolset([self.search])

    def search(self, query: str) -> str:
        """Search."""
        self.queries.append(query)
        return f"found {query}"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_object_with_a_toolset_of_its_methods_is_pickled(protocol: int) -> None:
    agent = Agent()
    other = pickle.loads(pickle.dumps(agent, protocol))
    tools = pickle.loads(pickle.dumps(agent.tools, protocol))
    for one in (other.tools, tools):
        assert one.run({"name": "search", "input": {"query": "x"}}) == "found x"
    assert (other.queries, agent.queries) == (["x"], [])


class ByValue(pickle.Pickler):
    """Pickles local functions, as cloudpickle does."""

    def reducer_override(self, obj: Any) -> Any:
        return (local_function, ()) if "<locals>" in getattr(obj, "__qualname__", "") else NotImplemented


def local_function() -> Callable[[str], str]:
    def local(city: str) -> str:
        return f"{city} here"

    return local


def test_toolset_of_a_local_function_is_pickled_by_a_pickler_that_can() -> None:
    ByValue(written := io.BytesIO()).dump(Toolset([local_function()]))
    tools = pickle.loads(written.getvalue())
    assert tools.run({"name": "local", "input": {"city": "Rome"}}) == "Rome here"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_toolset_of_a_local_function_is_not_pickled(protocol: int) -> None:
    class Locked:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def locked(self) -> None:
            """Lock."""

    for tool, name in ((local_function(), "local"), (Locked().locked, "Locked|lock")):
        tools = Toolset([get_weather, tool])
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError), match=name):
            pickle.dumps(tools, protocol)
        assert copy.copy(tools).manual() == tools.manual()
        assert copy.deepcopy(tools).manual() == tools.manual()


def test_toolset_with_a_model_needs_no_table_to_be_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = Toolset([("get", SCHEMA)], model="Qwen/Qwen3-Coder-30B-A3B-Instruct")
    text = pickle.dumps(tools)
    monkeypatch.setattr("wirecall._tools.toolset.protocol_for", None)
    assert pickle.loads(text).protocol == tools.protocol != "wire"


def test_toolset_with_a_custom_protocol_keeps_it() -> None:
    acme = Acme(open="[[", close="]]", name="acme")
    tools = Toolset([{"name": "get", "parameters": SCHEMA, "strict": True}], protocol=acme)
    for other in again(tools):
        assert (other.protocol, other.manual()) == ("acme", tools.manual())
        assert other.parse(tools.encode("get", {"city": "x"})).calls[0].args == {"city": "x"}

    class Local(Acme):
        pass

    with pytest.raises((pickle.PicklingError, AttributeError), match="Local"):
        pickle.dumps(Toolset(protocol=Local(open="[[", close="]]")))


def test_a_format_is_pickled_with_its_toolset() -> None:
    acme = Format(name="acme", call="<do>{name} {arguments}</do>")
    for other in again(acme):
        assert (other, hash(other), repr(other)) == (acme, hash(acme), repr(acme))
    tools = Toolset([("get", SCHEMA)], protocol=acme)
    for loaded in again(tools):
        assert (loaded.protocol, loaded.manual()) == ("acme", tools.manual())


def test_subclass_of_toolset_keeps_its_class_and_attributes() -> None:
    tools = Named("mine")
    tools.notes.append("one")
    for other in again(tools):
        assert type(other) is Named
        assert (other.label, other.notes, other.protocol) == ("mine", ["one"], "hermes")
        assert other.manual() == tools.manual()
    assert copy.copy(tools).notes is tools.notes
    assert copy.deepcopy(tools).notes is not tools.notes


def test_copy_of_a_toolset_in_its_own_state_has_itself() -> None:
    tools = Named("mine")
    tools.itself = tools  # type: ignore[attr-defined]
    deep = copy.deepcopy(tools)
    assert deep is not tools
    assert deep.itself is deep  # type: ignore[attr-defined]


def test_copy_of_a_toolset_is_the_toolset() -> None:
    tools = Toolset([("get", SCHEMA)])
    assert copy.copy(tools) is copy.deepcopy(tools) is tools


@pytest.mark.parametrize(
    ("tools", "options"),
    [
        (5, {}),
        ([5], {}),
        ([("get", {"type": "no"})], {}),
        ([], {"protocol": "no"}),
        ([], {"other": 1}),
        ([], {"limits": {"depth": 10**9}}),
        ([], {"recover": 5}),
        ([], 5),
        (None, None),
    ],
)
def test_toolset_from_a_wrong_state_raises(tools: Any, options: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Toolset._restored(tools, options)


@pytest.mark.laws
@pytest.mark.parametrize("number", range(4))
def test_message_after_a_pickle_is_equal(number: int) -> None:
    rng = seeded(number)
    for _ in range(count(400, 20)):
        schemas = generate.toolset(rng)
        tools = Toolset(schemas.items(), protocol=rng.choice(["wire", "kimi-k2"]), validate="error")
        text = generate.message(rng, schemas)
        if tools.protocol == "kimi-k2":
            text = f"<think>{text}</think>{tools.encode_message(text, [])}"
        check_message(tools.parse(text))
        for plan in map(tools.plan, tools.names):
            assert all(type(other) is Plan and other == plan for other in again(plan))


@each_source
def test_message_of_a_collected_text_after_a_pickle_is_equal(
    source: Source,
) -> None:
    for one in source():
        check_message(one.parsed(one.toolset()))


def check_message(message: Message) -> None:
    for other in again(message):
        assert other == message
        assert repr(other) == repr(message)
        assert (other.framing, other.text, other.reasoning) == (
            message.framing,
            message.text,
            message.reasoning,
        )
        assert (other.calls, other.errors) == (message.calls, message.errors)


@pytest.mark.parametrize(
    "value", [Plan("f", "json", [Field("a", "string", True)], "why"), Field("a", "b", False)]
)
def test_plan_after_a_pickle_is_equal(value: Any) -> None:
    for other in again(value):
        assert (type(other), other, repr(other)) == (type(value), value, repr(value))
        assert eval(repr(other), vars(wirecall)) == value


@pytest.mark.parametrize(
    ("state", "match"),
    [
        ((5,), "iterable"),
        ((["x"],), "an item must be a Text, Reasoning, CallEnd or CallError, not str"),
        (([wirecall.CallStart(0, "i", "f")],), "an item must be .*, not CallStart"),
        (((), [5]), "tuple"),
        (((), [(-1, 2)]), "negative"),
        ((), "items"),
    ],
)
def test_message_from_a_wrong_state_raises(state: Any, match: str) -> None:
    with pytest.raises((TypeError, OverflowError), match=match):
        Message(*state)


def test_parser_is_not_pickled() -> None:
    parser = Toolset([("get", SCHEMA)]).parser()
    parser.feed("<call>get ci")
    for function in (*(partial(pickle.dumps, protocol=one) for one in PROTOCOLS), copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match=r"a Parser cannot be pickled or copied.* feed it to a new parser"
        ):
            function(parser)
    assert parser.feed("ty=x</call>")[-1].type == "call_end"


# A new process -----------------------------------------------------------------------------------


def parsed(work: tuple[Toolset, str]) -> tuple[Message, str, str]:
    tools, text = work
    message = tools.parse(text)
    return message, tools.manual(), str(tools.run(message.calls[0]))


def test_toolset_in_a_spawned_process_does_the_same() -> None:
    acme = Acme(open="[[", close="]]", name="acme")
    sets = [Toolset([get_weather], recover=True), Toolset([get_weather], protocol=acme)]
    work = [(tools, tools.encode("get_weather", {"city": "Rome", "days": 2})) for tools in sets]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        done = pool.map(parsed, work)
    for (tools, text), (message, manual, result) in zip(work, done, strict=True):
        assert manual == tools.manual()
        [call], [expected] = message.calls, tools.parse(text).calls
        assert (call.args, call.start, call.end) == (expected.args, expected.start, expected.end)
        assert result == "Rome 2"
