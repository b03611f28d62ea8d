"""The parsers that are compared: who is there reads right what is written, and who is not says why."""

import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from wirecall_bench.artifact import version
from wirecall_bench.correctness import entries_of, judge
from wirecall_bench.peers import (
    ARGUMENTS,
    Contestant,
    MissingPackageError,
    WrongResultError,
    contestants,
    written,
)
from wirecall_bench.workloads import Message, Workload, WorkloadCall, workloads

WHO = {contestant.name: contestant for contestant in contestants()}
WORKS = {workload.name: workload for workload in workloads(["4KB"], 5)}
OURS = ("wirecall wire", "wirecall hermes")
OF_ARGUMENTS = ("jiter", "jiter strings", "partial-json-parser")
# vLLM's ends a call at the first closing marker, even inside of an argument.
SERVERS = {"SGLang": ("sglang", []), "vLLM": ("vllm", ["markers"])}


@pytest.mark.parametrize("workload", WORKS.values(), ids=str)
@pytest.mark.parametrize("name", OURS)
def test_what_reads_messages_reads_all_works(name: str, workload: Workload) -> None:
    (entry,) = entries_of(workload, [WHO[name]])
    judge(entry, limit=60)
    assert (entry.correct, entry.reason) == (True, None)


@pytest.mark.parametrize("workload", WORKS.values(), ids=str)
@pytest.mark.parametrize("name", OF_ARGUMENTS)
def test_what_reads_arguments_reads_all_calls(name: str, workload: Workload) -> None:
    (entry,) = entries_of(workload, [WHO[name]])
    judge(entry, limit=60)
    if workload.name == "prose":
        assert entry.open_stream is None
        assert entry.reason == "the work has no call, and this contestant is given nothing else"
    else:
        assert (entry.correct, entry.reason) == (True, None)


@pytest.mark.parametrize("workload", WORKS.values(), ids=str)
@pytest.mark.parametrize("name", SERVERS)
def test_parsers_of_servers_where_they_are_installed(name: str, workload: Workload) -> None:
    distribution, wrong = SERVERS[name]
    if version(distribution) is None:
        pytest.skip(f"{distribution} is not installed")
    (entry,) = entries_of(workload, [WHO[name]])
    judge(entry, limit=60)
    assert (entry.correct, entry.reason) == (True, None) or (
        workload.name in wrong and entry.correct is False
    )


@pytest.mark.parametrize("name", [*OF_ARGUMENTS, *SERVERS])
def test_what_is_not_installed_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(distribution: str) -> str:
        raise metadata.PackageNotFoundError(distribution)

    monkeypatch.setattr(metadata, "version", nothing)
    with pytest.raises(MissingPackageError, match=r"^[a-z-]+ is not installed$"):
        WHO[name].prepare([])


def test_what_cannot_be_imported_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda distribution: "0.5")
    # As if it were not there, or something that it imports.
    monkeypatch.setitem(sys.modules, "jiter", None)
    with pytest.raises(MissingPackageError, match=r"^jiter 0\.5 cannot be imported: ModuleNotFoundError: "):
        WHO["jiter"].prepare([])


def test_texts_of_a_work() -> None:
    call = WorkloadCall("write_file", {"path": "a.py", "content": "x"})
    workload = Workload("w", "1", WORKS["code"].tools, [Message("Well.", [call, call]), Message("No.")])
    text = "<call>write_file path=a.py content=x</call>"
    assert written(workload, "wire") == [
        (f"Well.\n{text}\n{text}", workload.messages[0]),
        ("No.", workload.messages[1]),
    ]
    arguments = ('{"path":"a.py","content":"x"}', Message("", [WorkloadCall("", call.arguments)]))
    assert written(workload, ARGUMENTS) == [arguments, arguments]


# What parsers return, as others do it ----------------------------------------------------------------------


def understood(contestant: Contestant, *returned: object) -> Message:
    assert contestant.reader is not None
    reader = contestant.reader()
    for one in returned:
        reader.take(one)
    return reader.message()


def event(type: str, **members: object) -> SimpleNamespace:
    return SimpleNamespace(type=type, index=0, **members)


CALL = Message("a b", [WorkloadCall("f", {"x": 1})])


def test_events_are_understood() -> None:
    start, end = event("call_start", name="f"), event("call_end", arguments='{"x":1}')
    first, second = (event("arguments_delta", delta=delta) for delta in ('{"x"', ":1}"))
    texts = [event("text", text=text) for text in ("a ", "b")]
    assert understood(WHO["wirecall wire"], texts, [start, first], [], [second, end]) == CALL
    with pytest.raises(WrongResultError, match="the deltas of call 1, joined, are not its arguments"):
        understood(WHO["wirecall wire"], [start, first, end])
    with pytest.raises(WrongResultError, match="the arguments of call 1 are not valid JSON"):
        understood(WHO["wirecall wire"], [start, first])
    with pytest.raises(WrongResultError, match="unknown_tool: no"):
        understood(WHO["wirecall wire"], [event("call_error", kind="unknown_tool", message="no")])


def test_what_sglang_returns_is_understood() -> None:
    def item(name: str | None, parameters: str) -> SimpleNamespace:
        return SimpleNamespace(tool_index=0, name=name, parameters=parameters)

    returned = [("a ", []), ("b", [item("f", "")]), ("", [item(None, '{"x"'), item(None, ":1}")])]
    assert understood(WHO["SGLang"], *returned) == CALL


def test_what_vllm_returns_is_understood() -> None:
    def delta(content: str | None, *functions: tuple[str | None, str | None]) -> SimpleNamespace:
        calls = [
            SimpleNamespace(index=0, function=SimpleNamespace(name=name, arguments=arguments))
            for name, arguments in functions
        ]
        return SimpleNamespace(content=content, tool_calls=calls)

    returned = [delta("a "), None, delta("b", ("f", None)), delta(None, (None, '{"x"'), (None, ":1}"))]
    assert understood(WHO["vLLM"], *returned) == CALL
