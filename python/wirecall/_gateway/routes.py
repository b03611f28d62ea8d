"""Routes: which upstream serves a model, and with which options. From flags, or from a TOML file."""

import fnmatch
import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wirecall._apis.registry import apis
from wirecall._clients.codec import Codec
from wirecall._gateway.errors import ConfigError
from wirecall._text.options import Options
from wirecall._tools.formats.description import Format
from wirecall._tools.option_types import unknown
from wirecall.errors import ToolError

# What clients of a gateway expect: reasoning beside the answer, and no tools that only a provider can run.
DEFAULTS: Mapping[str, Any] = {"reasoning": "separate", "native_tools": "drop"}

_FILE_KEYS = {"upstream", "key_env", "options", "route"}
_ROUTE_KEYS = {"name", "model", "upstream", "key_env", "native", "options"}
# Functions, and what the gateway decides itself.
_OWN = {"debug", "record_content", "on_event", "on_record", "native_when", "template"}
# Options that could raise costs or reveal contents.
_NOT_FOR_CLIENTS = _OWN | {"limits", "max_retries", "protocol", "model", "grammar", "grammar_longest"}


def check_accepted(names: Collection[str]) -> None:
    """Checks the options that clients may change.

    Raises:
        ConfigError: There is no such option, or clients may never change it.
    """
    known = {one.name for one in fields(Options)} - _NOT_FOR_CLIENTS
    for name in names:
        if name in _NOT_FOR_CLIENTS:
            raise ConfigError(f"clients may not change the option {name}")
        if name not in known:
            raise ConfigError(unknown(name, known))


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """A server. `key` replaces the keys of clients; None: they are passed on."""

    url: str
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        url = self.url.rstrip("/")
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018  (it raises)
        except ValueError as error:
            raise ConfigError(f"the upstream {self.url} is not a URL: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"the upstream {self.url} must begin with http:// or https://, as in http://127.0.0.1:11434/v1"
            )
        if parts.username is not None or parts.query or parts.fragment:
            raise ConfigError(
                "an upstream has no user name and no query: give its key as WIRECALL_SERVE_UPSTREAM_KEY"
            )
        if ending := next((one for api in apis().values() for one in api.routes if url.endswith(one)), None):
            raise ConfigError(f"the upstream {url} is a base URL: leave {ending} out")
        object.__setattr__(self, "url", url)


@dataclass(frozen=True, kw_only=True)
class ModelRoute:
    """What happens to requests for some models.

    Attributes:
        name: What metrics and logs call it.
        model: A glob that the model's name must match.
        native: Requests pass unchanged: this model has native tools.
        codec: Rewrites requests and reads answers, with the options of the route.
    """

    name: str
    model: str
    upstream: Upstream
    native: bool = False
    codec: Codec = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Routes:
    """All routes, in their order; the first that matches is taken."""

    routes: tuple[ModelRoute, ...]

    def find(self, model: str) -> ModelRoute | None:
        return next((one for one in self.routes if fnmatch.fnmatchcase(model, one.model)), None)

    @property
    def default(self) -> ModelRoute:
        """Serves requests that name no model: that of the upstream for all models, or else the first."""
        return self.routes[-1] if self.routes[-1].model == "*" else self.routes[0]


def load(
    path: Path | None,
    url: str | None,
    options: Mapping[str, Any],
    accepted: Collection[str],
    *,
    key: str | None = None,
) -> Routes:
    """Reads the routes of a file. Models that none of them matches go to the upstream, if there is one.

    Args:
        url, key: The upstream, and the key that replaces those of clients. They override the file's.
        options: Those of every route, where it has no others.
        accepted: The options that clients may change.

    Raises:
        ConfigError: The file or an option cannot be used.
    """
    given = {} if path is None else _read(path)
    where = "the options" if path is None else str(path)
    _check(given, _FILE_KEYS, where)
    if url is None:
        upstream = _upstream(given, where, None, key)
    else:
        upstream = _upstream({"upstream": url}, "--upstream", None, key)
    common = {**DEFAULTS, **options, **_table(given, "options", where)}
    folder = Path() if path is None else path.parent
    default = _codec(common, accepted, folder, where)
    found: list[ModelRoute] = []
    routes = given.get("route", [])
    if not isinstance(routes, list):
        raise ConfigError(f"{where}: routes are tables that begin with [[route]]")
    for number, one in enumerate(routes, 1):
        at = f"{where}: route {number}"
        if not isinstance(one, dict):
            raise ConfigError(f"{where}: routes are tables that begin with [[route]]")
        _check(one, _ROUTE_KEYS, at)
        model, native = one.get("model"), one.get("native", False)
        if not isinstance(model, str):
            raise ConfigError(f'{at}: it needs a model, such as model = "qwen*"')
        if not isinstance(native, bool):
            raise ConfigError(f"{at}: native must be true or false")
        name = one.get("name", model)
        server = _upstream(one, at, upstream, None)
        if server is None:
            raise ConfigError(f"{at}: it has no upstream, and there is none for all routes")
        chosen = {**common, **_table(one, "options", at)}
        codec = _codec(chosen, accepted, folder, at)
        found.append(ModelRoute(name=str(name), model=model, upstream=server, native=native, codec=codec))
    if upstream is not None:
        found.append(ModelRoute(name="default", model="*", upstream=upstream, codec=default))
    if not found:
        raise ConfigError("there is no upstream: give one with --upstream, or routes with --config")
    return Routes(routes=tuple(found))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def _check(given: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for name in given:
        if name not in known:
            raise ConfigError(f"{where}: {unknown(name, known, 'key')}")


def _table(given: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    table = given.get(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: {name} must be a table")
    return table


def _upstream(
    given: Mapping[str, Any], where: str, inherited: Upstream | None, key: str | None
) -> Upstream | None:
    """The upstream of a table, or the inherited one, with the key of the table."""
    url, env = given.get("upstream"), given.get("key_env")
    if not all(one is None or isinstance(one, str) for one in (url, env)):
        raise ConfigError(f"{where}: upstream and key_env must be strings")
    if env is not None and key is None and not (key := os.environ.get(env)):
        raise ConfigError(f"{where}: the environment variable {env} is not set")
    if url is None:
        return inherited if inherited is None or env is None else Upstream(url=inherited.url, key=key)
    try:
        return Upstream(url=url, key=key)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def _codec(chosen: dict[str, Any], accepted: Collection[str], folder: Path, where: str) -> Codec:
    if refused := _OWN & chosen.keys():
        raise ConfigError(f"{where}: a gateway has no option {', '.join(sorted(refused))}")
    protocol = chosen.get("protocol")
    try:
        if isinstance(protocol, str) and protocol.endswith((".toml", ".json")):
            chosen = {**chosen, "protocol": Format.load(folder / protocol)}
        lists = ("delimiters", "reasoning")
        chosen = {k: tuple(v) if k in lists and isinstance(v, list) else v for k, v in chosen.items()}
        return Codec(Options().with_overrides(chosen), accepted=accepted)
    except OSError as error:
        raise ConfigError(f"{where}: {protocol}: {error.strerror or error}") from error
    except (ToolError, TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error
