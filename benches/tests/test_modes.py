"""The modes: what each one sends, proved on the requests that a server got."""

from pathlib import Path
from typing import Any

import pytest
from endpoint_support import APIS, ASK, GRAMMAR_MODES, TOOLS, asked, calling
from live_support import CASES, KNOWN, Bench, case_of, serving
from server import Request, serve
from server.answers import Reply
from server.erring import ErringModel

from wirecall import Toolset
from wirecall_bench.artifact import BenchError
from wirecall_bench.catalogue import built_in
from wirecall_bench.endpoints import Endpoint
from wirecall_bench.manuals import MANUALS
from wirecall_bench.modes import LONGEST, MODES, check_mode, mode_of
from wirecall_bench.plan import drawn
from wirecall_bench.recording import Api
from wirecall_bench.variants import Variant, baselines

FORCED = tuple(name for name, mode in MODES.items() if mode.forced)


def sent(api: Api, mode: str) -> dict[str, Any]:
    with asked([calling(mode)], api, mode) as (server, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
        assert answer.status == "ok", answer.reason
        assert [call.name for call in answer.calls] == ["get_weather"]
        assert not server.errors
        body: dict[str, Any] = server.last.json
        return body


@pytest.mark.parametrize("mode", GRAMMAR_MODES)
def test_a_grammar_is_sent_and_no_tools(mode: str) -> None:
    body = sent("openai", mode)
    protocol = mode.removesuffix("-grammar")
    toolset = Toolset(TOOLS, protocol=protocol)
    grammar = toolset.grammar("gbnf", tool_choice="required", parallel=False, longest=LONGEST)
    assert body["grammar"] == grammar.text
    # llama-server refuses a grammar beside tools. The choice is in the grammar and the manual.
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & body.keys()
    assert toolset.manual() in body["messages"][0]["content"]
    assert "you must call at least one tool" in body["messages"][0]["content"]


@pytest.mark.parametrize("mode", ["native", "wire", "hermes"])
def test_other_modes_have_no_grammar_and_no_choice(mode: str) -> None:
    assert not {"grammar", "tool_choice", "parallel_tool_calls"} & sent("openai", mode).keys()


@pytest.mark.parametrize(
    ("api", "fields"),
    [
        ("openai", {"tool_choice": "required", "parallel_tool_calls": False}),
        ("anthropic", {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}),
    ],
)
def test_native_forced_is_native_and_a_choice(api: Api, fields: dict[str, Any]) -> None:
    assert sent(api, "native-forced") == {**sent(api, "native"), **fields}


@pytest.mark.parametrize("api", APIS)
def test_without_tools_nothing_is_forced(api: Api) -> None:
    with asked([calling("native")], api, "native-forced") as (_, endpoint):
        assert b"tool_choice" not in endpoint.prepare(ASK).body.encode()


def test_a_grammar_needs_an_api_that_takes_one() -> None:
    with (
        serve([]) as server,
        pytest.raises(BenchError, match="this API has no field for a grammar"),
    ):
        Endpoint("anthropic", server.url, "m", "wire-grammar", key="k").prepare(ASK, TOOLS)


def test_the_modes_of_llama_cpp_are_proved_to_differ(tmp_path: Path) -> None:
    """All modes in one run, with every case in a block of its group."""
    model = ErringModel(KNOWN)

    def script(request: Request) -> Reply:
        return model(request)

    with serve(script, grammars="llama.cpp") as server:
        modes = ("native", "native-forced", "wire", "wire-grammar", "hermes-grammar")
        bench = Bench(server, tmp_path, "--modes", ",".join(modes), "--ablation", "manual=tools-first")
        bench.run("--block", "group", "--concurrency", "1")
        requests = list(server.requests)
    kinds = [(mode, "") for mode in modes]
    kinds += [("wire", "manual=tools-first"), ("wire-grammar", "manual=tools-first")]
    hashes = {
        (cell["mode"], cell["ablation"] or "", cell["case"]): cell["requests"][0]["sha256"]
        for cell in bench.cells
    }
    assert hashes.keys() == {(*kind, case["name"]) for kind in kinds for case in CASES}
    assert len(set(hashes.values())) == len(hashes) == len(requests)
    assert all(cell["scores"]["exact"] for cell in bench.cells), bench.cells
    # Two cases of a group follow each other in the same variant.
    names = [case_of(request) for request in requests]
    pairs = [tuple(names[at : at + 2]) for at in range(0, len(names), 2)]
    assert set(pairs) == {("lima", "three days"), ("mail", "mail with copies"), ("light on", "light off")}
    assert ["grammar" in request.json for request in requests].count(True) == 3 * len(CASES)


def test_two_names_of_one_request_are_refused(tmp_path: Path) -> None:
    with serving() as server:
        options = ("--modes", "wire-grammar,hermes-grammar", "--ablation", "protocol=hermes")
        said = Bench(server, tmp_path, *options).run(code=1).output
        assert "wire-grammar with protocol=hermes and hermes-grammar" in " ".join(said.split()).replace(
            "hermes-grammar and wire-grammar with protocol=hermes",
            "wire-grammar with protocol=hermes and hermes-grammar",
        )
        assert not server.requests


def test_forced_modes_are_compared_with_the_forced_one() -> None:
    variants = [Variant("m", mode) for mode in ("native", "native-forced", "wire", "wire-grammar")]
    ablated = Variant("m", "wire-grammar", "manual=tools-first")
    native, forced, wire, grammar = variants
    assert baselines([*variants, ablated]) == {
        forced: native,
        wire: native,
        grammar: forced,
        ablated: grammar,
    }
    assert baselines([native, grammar]) == {grammar: native}
    assert baselines([wire, grammar]) == {}


def test_the_names_of_modes() -> None:
    for mode in (*MODES, "wire", "qwen3coder"):
        check_mode(mode)
    with pytest.raises(BenchError, match="The mode 'wrie' is not valid"):
        check_mode("wrie")
    assert [mode_of(name).protocol for name in FORCED] == [None, "wire", "hermes"]


# Variants of the manual -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MANUALS)
def test_variants_of_the_manual_differ_and_are_complete(name: str) -> None:
    tools = built_in().tools[:12]
    manual = MANUALS[name](tools)
    assert manual != Toolset(tools).manual()
    assert all(tool.name in manual for tool in tools)
    assert "<call>" in manual
    assert len({MANUALS[one](tools) for one in MANUALS}) == len(MANUALS)


def test_the_parts_of_a_variant_are_those_of_the_manual() -> None:
    tools = built_in().tools[:4]
    usual = Toolset(tools).manual().splitlines()
    assert sorted(MANUALS["tools-first"](tools).splitlines()) == sorted(usual)
    for name, more in (("example-per-tool", 4), ("examples-last", 5)):
        lines = MANUALS[name](tools).splitlines()
        assert len(lines) == len(usual) + more
        assert set(usual) <= set(lines)


def test_an_unknown_manual_is_refused(tmp_path: Path) -> None:
    with serving() as server:
        said = Bench(server, tmp_path, "--ablation", "manual=none").run(code=1).output
    assert "available manuals: tools-first" in " ".join(said.split())


# Samples ----------------------------------------------------------------------------------------------------


def test_a_sample_has_cases_of_every_group_and_depends_on_the_seed(tmp_path: Path) -> None:
    cases = built_in().cases
    sample = drawn(cases, 3, 0)
    assert [case for case in cases if case in sample] == sample
    groups = [case.group for case in sample]
    assert {groups.count(group) for group in {case.group for case in cases}} == {3}
    assert sample == drawn(cases, 3, 0) != drawn(cases, 3, 1)
    assert drawn(cases, 100, 0) == cases
    with serving() as server:
        bench = Bench(server, tmp_path, "--sample", "1", "--modes", "native")
        bench.run()
    assert sorted(cell["group"] for cell in bench.cells) == ["light", "mail", "weather"]
