"""What `wirecall bench live` sends: proved to differ, shown by a dry run, with a key that is kept nowhere."""

import json
from pathlib import Path

import pytest
from live_support import KEY, MODES, Bench, serving, variant_of
from server import Answer, Failure, Request
from server.answers import Reply

# The proof that requests differ -----------------------------------------------------------------------------


def test_ablations_are_proved(tmp_path: Path) -> None:
    ablations = (
        "syntax=json",
        "placement=first",
        "no-manual",
        "descriptions=none",
        "protocol=hermes",
        "strict",
    )
    with serving() as server:
        bench = Bench(server, tmp_path, *(part for one in ablations for part in ("--ablation", one)))
        said = bench.run().stdout
        hashes = {(cell["ablation"], cell["case"]): cell["requests"][0]["sha256"] for cell in bench.cells}
        assert len(server.requests) == len(hashes) + 6 == 48
    for ablation in ablations[:-1]:
        assert f"m, {ablation}: the request differs in 6 of 6 cases" in said
    assert "m, strict: answers are parsed differently, the request differs in 0 of 6 cases" in said
    native_and_wire = 2
    assert len({cell["requests"][0]["sha256"] for cell in bench.cells}) == 6 * (native_and_wire + 5)


@pytest.mark.parametrize("field", ['model="other"', "max_tokens=99999", "n=5", "stream=false", "tools=[]"])
def test_a_parameter_does_not_change_what_the_run_sets(tmp_path: Path, field: str) -> None:
    """Of another model, or past the budget, the numbers would be wrong."""
    with serving() as server:
        said = Bench(server, tmp_path, "--parameter", field).run(code=1).output
    assert f"--parameter {field.partition('=')[0]}: this field is set by the run" in said
    assert server.requests == []


@pytest.mark.parametrize(
    "options",
    [
        ["--ablation", "placement=first", "--system", ""],
        ["--ablation", "protocol=wire"],
        ["--ablation", "syntax=wire"],
        ["--ablation", "descriptions=full"],
        ["--ablation", "protocol=hermes", "--modes", "native,wire,hermes"],
    ],
)
def test_two_equal_requests_fail_the_run(tmp_path: Path, options: list[str]) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, *options)
        said = bench.run(code=1).output
        assert "Two variants would send the same requests." in said
        assert "send the same request (SHA-256" in said
        assert not server.requests
    assert not bench.path.exists()


def test_that_failure_has_its_exit_code(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--ablation", "protocol=wire")
        with bench.start() as child:
            child.communicate(timeout=60)
        assert child.returncode == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--ablation", "colour=red"],
            "There is no ablation 'colour=red'. Available ablations: syntax, placement",
        ),
        (["--ablation", "syntax=xml"], 'is not valid: syntax is "xml"; it must be one of "wire", "json".'),
        (["--ablation", "protocol=nope"], "'protocol=nope' is not valid"),
        (["--ablation", "strict=yes"], "write strict"),
        (["--ablation", "syntax"], "write syntax=VALUE"),
        (["--ablation", "strict", "--modes", "native"], "Ablations change the mode 'wire'"),
        (["--ablation", "strict", "--ablation", "strict"], "'strict' is given twice in the ablations"),
        (["--modes", "native,nope"], "nope"),
        (["--judge", "m"], "m cannot be its own judge"),
        (["--cases", "nothing*"], "No case of small matches 'nothing*'"),
        (["--group", "no"], "small has no group 'no'. Available groups: light, mail, weather."),
        (["--parameter", "temperature"], "'temperature' is not NAME=JSON"),
        (["--models", ","], "--models is empty"),
        (["--modes", ""], "--modes is empty"),
        (["--base-url", "localhost:8000"], "A base URL begins with http:// or https://"),
        (["--base-url", ""], "A base URL begins with http:// or https://"),
        (["--price-in", "cheap"], "'cheap' is not a price"),
        (["--base-url", "http://a:b@localhost/v1"], "no user name"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, options: list[str], said: str) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, *options)
        code = 2 if "--parameter" in options or "--price-in" in options else 1
        assert said in " ".join(bench.run(code=code).output.split())
        assert not server.requests
    assert not bench.path.exists()


# Dry runs and keys ------------------------------------------------------------------------------------------


def test_a_dry_run_shows_what_is_sent_and_sends_nothing(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path, "--reps", "3", "--price-in", "1000", "--price-out", "1000")
        dry = ["--dry-run", "--encoding", "characters", "--max-output-tokens", "10"]
        said = bench.run(*dry, env={"OPENAI_API_KEY": ""}).stdout
        assert not server.requests
        assert not bench.path.exists()
        bench.run("--max-output-tokens", "10")
        shown, sizes = said, dict.fromkeys(MODES, 0)
        for request in server.requests:
            body = request.json
            texts = [message["content"] for message in body["messages"]]
            tools = json.dumps(body["tools"], separators=(",", ":")) if "tools" in body else ""
            sizes[variant_of(request)[1]] += sum(map(len, (*texts, tools)))
    decoder = json.JSONDecoder()
    bodies = []
    while (start := shown.find(":\n{")) >= 0:
        body, end = decoder.raw_decode(shown, start + 2)
        bodies.append(body)
        shown = shown[end:]
    assert len(bodies) == 2
    assert all(body in [request.json for request in server.requests] for body in bodies)
    rows = {tuple(line.split()[:2]): line.split() for line in said.splitlines()}
    for mode in MODES:
        tokens, output = sizes[mode], 18 * 10
        row = rows["m", mode]
        assert row[2:] == [
            "18",
            f"{round(tokens / 18):,}",
            f"{tokens:,}",
            str(output),
            f"{(tokens + output) / 1000:,.4f}",
        ]


def test_a_key_has_to_be_in_the_environment(tmp_path: Path) -> None:
    with serving() as server:
        bench = Bench(server, tmp_path)
        assert "OPENAI_API_KEY is not set" in bench.run(code=1, env={"OPENAI_API_KEY": ""}).output
        assert "MY_KEY is not set" in bench.run("--key-variable", "MY_KEY", code=1).output
        for wrong in ("two words", "schlüssel", "a\nb", "a\x07"):
            said = bench.run(code=1, env={"OPENAI_API_KEY": wrong}).output
            assert "OPENAI_API_KEY does not hold a key" in said
            assert wrong not in said
        bench.run("--key-variable", "MY_KEY", env={"MY_KEY": " another\n", "OPENAI_API_KEY": ""})
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer another"}


def test_a_key_that_is_said_is_struck_out(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        words = request.headers["authorization"]
        return Answer(words) if "Lima" in request.body.decode() else Failure(400, words)

    with serving(script=script) as server:
        bench = Bench(server, tmp_path)
        bench.run(code=1)
        assert any(KEY in value for value in server.last.headers.values())
    assert {cell["reason"] for cell in bench.cells} == {"HTTP 400: Bearer [key]"}


def test_a_refused_key_ends_the_run(tmp_path: Path) -> None:
    with serving(script=lambda _: Failure(401, f"Incorrect API key provided: {KEY}.")) as server:
        bench = Bench(server, tmp_path, "--concurrency", "1")
        assert "rejected the key for m (HTTP 401)" in bench.run(code=1).output
        assert len(server.requests) == 1
    assert bench.cells == []
