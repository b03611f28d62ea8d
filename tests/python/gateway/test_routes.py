"""Routes: the first that matches, its upstream, key, format and options; files that cannot be used."""

import json
import re
from pathlib import Path

import pytest
from gateway_support import Seen, asking, gateway, running, scripted, whole

from wirecall._gateway import routes
from wirecall._gateway.errors import ConfigError
from wirecall._gateway.server import GatewaySettings

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'


@running
async def test_the_first_route_that_matches_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hermes(_: object, seen: Seen) -> object:
        return whole(HERMES)

    monkeypatch.setenv("OTHER_KEY", "sk-other")
    async with scripted(hermes) as (other, url):  # type: ignore[arg-type]
        config = tmp_path / "routes.toml"
        config.write_text(
            f'[[route]]\nname = "other"\nmodel = "qwen*"\nupstream = "{url}/"\nkey_env = "OTHER_KEY"\n'
            '[route.options]\nprotocol = "hermes"\n'
            '[[route]]\nmodel = "qwen3"\noptions = {protocol = "mistral"}\n'
            '[[route]]\nmodel = "native-*"\nnative = true\n',
            encoding="utf-8",
        )
        async with gateway(config=config) as one:
            status, body = await one.post(asking(model="qwen3"), headers={"authorization": "Bearer mine"})
            assert status == 200
            assert (
                "Rome" in json.loads(body)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
            )
            assert other.seen[-1].path == "/v1/chat/completions"
            assert other.seen[-1].headers["authorization"] == "Bearer sk-other"
            assert one.upstream.seen == []
            status, body = await one.post(asking(model="m"), headers={"authorization": "Bearer mine"})
            assert "New York" in body.decode()
            assert one.upstream.seen[-1].headers["authorization"] == "Bearer mine"
            native = asking(model="native-1")
            await one.post(native)
            assert one.upstream.seen[-1].json == native
            found = await one.metrics()
            assert found['wirecall_requests_total{api="chat",outcome="calls",route="other"}'] == 1
            assert found['wirecall_requests_total{api="chat",outcome="passed",route="native-*"}'] == 1


@running
async def test_a_route_is_found_by_its_glob(tmp_path: Path) -> None:
    config = tmp_path / "routes.toml"
    async with scripted() as (_, url):
        config.write_text(f'[[route]]\nmodel = "a*"\nupstream = "{url}"\n', encoding="utf-8")
        settings = GatewaySettings(config=config)
        assert settings.load_routes().find("b") is None
        assert settings.load_routes().find("abc") is not None


def test_a_format_of_a_file_is_found_beside_the_routes(tmp_path: Path) -> None:
    import wirecall

    wirecall.Format(name="acme", like="hermes").save(tmp_path / "acme.toml")
    config = tmp_path / "routes.toml"
    config.write_text('[options]\nprotocol = "acme.toml"\n', encoding="utf-8")
    found = routes.load(config, "http://127.0.0.1/v1", {}, ())
    assert found.default.codec.options.protocol == wirecall.Format.load(tmp_path / "acme.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[route", "routes.toml"),
        ("x = 1", "there is no key 'x'"),
        ("route = 3", "[[route]]"),
        ("route = [3]", "[[route]]"),
        ("[[route]]\n", "route 1: it needs a model"),
        ('[[route]]\nmodel = "a"\nmodle = "b"', "did you mean 'model'"),
        ('[[route]]\nmodel = "a"\nnative = 1', "true or false"),
        ('[[route]]\nmodel = "a"\nupstream = "ftp://x"', "route 1: the upstream"),
        ('[[route]]\nmodel = "a"\nupstream = "http://u:p@h/v1"', "route 1: an upstream has no user name"),
        ('[[route]]\nmodel = "a"\nupstream = "http://h:99999/v1"', "route 1: the upstream"),
        (
            '[[route]]\nmodel = "a"\nupstream = "http://h/v1"\nkey_env = "NOT_SET_ANYWHERE"',
            "NOT_SET_ANYWHERE is not set",
        ),
        ('[[route]]\nmodel = "a"\noptions = 3', "must be a table"),
        ('[[route]]\nmodel = "a"\noptions = {protocol = "herms"}', "hermes"),
        ('[[route]]\nmodel = "a"\noptions = {protocol = "no.toml"}', "no.toml"),
        ('[[route]]\nmodel = "a"\noptions = {on_eror = "text"}', "did you mean 'on_error'"),
        ('[[route]]\nmodel = "a"\noptions = {on_error = "never"}', "must be one of"),
        ('[[route]]\nmodel = "a"\noptions = {debug = true}', "no option debug"),
        ('[[route]]\nmodel = "a"\noptions = {on_record = "x"}', "on_record"),
        ('[[route]]\nmodel = "a"\nupstream = 3', "must be strings"),
    ],
)
def test_a_file_that_cannot_be_used_says_where(text: str, said: str, tmp_path: Path) -> None:
    config = tmp_path / "routes.toml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as info:
        routes.load(config, "http://127.0.0.1/v1", {}, ())
    assert said in str(info.value)
    assert "\n" not in str(info.value)


def test_there_must_be_an_upstream(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--upstream"):
        routes.load(None, None, {}, ())
    with pytest.raises(ConfigError, match="No such file"):
        routes.load(tmp_path / "none.toml", None, {}, ())
    config = tmp_path / "routes.toml"
    config.write_text('[[route]]\nmodel = "a"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="no upstream"):
        routes.load(config, None, {}, ())


def test_the_routes_of_the_page_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-x")
    page = Path(__file__).parents[3] / "docs" / "gateway.md"
    if not page.exists():
        pytest.skip("not in a checkout")
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)):
        config = tmp_path / f"{number}.toml"
        config.write_text(block, encoding="utf-8")
        found = routes.load(config, None, {}, ())
        assert [one.name for one in found.routes] == ["coder", "*/gpt-*", "default"]
        assert found.routes[1].upstream.key == "sk-x"


def test_keys_belong_to_their_upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A", "key-a")
    monkeypatch.setenv("B", "key-b")
    config = tmp_path / "routes.toml"
    config.write_text(
        'upstream = "http://one/v1"\nkey_env = "A"\n'
        '[[route]]\nmodel = "own"\nupstream = "http://two/v1"\n'
        '[[route]]\nmodel = "other"\nkey_env = "B"\n'
        '[[route]]\nmodel = "same"\n',
        encoding="utf-8",
    )

    def found(url: str | None, key: str | None) -> dict[str, tuple[str, str | None]]:
        loaded = routes.load(config, url, {}, (), key=key)
        return {one.model: (one.upstream.url, one.upstream.key) for one in loaded.routes}

    one, two, three = "http://one/v1", "http://two/v1", "http://three/v1"
    rest = {"own": (two, None)}
    # Of the option, without a key.
    bare = three, None
    assert found(None, None) == {**rest, "other": (one, "key-b"), "same": (one, "key-a"), "*": (one, "key-a")}
    assert found(None, "k") == {**rest, "other": (one, "key-b"), "same": (one, "k"), "*": (one, "k")}
    assert found(three, None) == {
        **rest,
        "other": (three, "key-b"),
        "same": bare,
        "*": bare,
    }
    assert found(three, "k") == {**rest, "other": (three, "key-b"), "same": (three, "k"), "*": (three, "k")}
