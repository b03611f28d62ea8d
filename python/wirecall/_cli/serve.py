"""`wirecall serve`: the gateway."""

import asyncio
import logging
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from wirecall import Format
from wirecall._cli.console import printable
from wirecall._cli.inputs import UserError
from wirecall._cli.options import protocol_options

# Keys come from the environment only: arguments of a process can be read by others.
_KEYS = "WIRECALL_SERVE_KEYS"
_UPSTREAM_KEY = "WIRECALL_SERVE_UPSTREAM_KEY"
_ADMIN_TOKEN = "WIRECALL_SERVE_ADMIN_TOKEN"
_PORT = click.IntRange(0, 65535)


@click.command(
    context_settings={"auto_envvar_prefix": "WIRECALL_SERVE"},
    epilog=f"""\b
Environment:
  {_UPSTREAM_KEY}  replaces the keys of clients
  {_KEYS}          the gateway's own keys, separated by commas; a client must send one
  {_ADMIN_TOKEN}   has to be sent to the admin port as a bearer token
  WIRECALL_SERVE_NAME          any option; values of those that can be repeated are separated by spaces

--allow-host, --allow-origin, --allow-path and --allow-option can be repeated.

\b
Examples:
  wirecall serve --demo
  wirecall serve --upstream http://127.0.0.1:11434/v1
  wirecall serve --config routes.toml --port 8080
""",
)
@click.option("--upstream", metavar="URL", help="The server's base URL, such as http://127.0.0.1:11434/v1.")
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Routes by model, a TOML file; read again on SIGHUP.",
)
@protocol_options
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", default=4300, type=_PORT, help="Port for clients; 0 takes a free one.")
@click.option("--admin-host", default="127.0.0.1", help="Address of the admin port.")
@click.option("--admin-port", default=4301, type=_PORT, help="Port of the metrics; 0 takes a free one.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name of the gateway's host.")
@click.option("--allow-origin", multiple=True, metavar="ORIGIN", help="A web page that may use the gateway.")
@click.option("--allow-path", multiple=True, metavar="PATH", help="Another path to pass on: /embeddings.")
@click.option("--allow-option", multiple=True, metavar="NAME", help="An option that clients may change.")
@click.option(
    "--open", "is_open", is_flag=True, envvar="WIRECALL_SERVE_OPEN", help="Serve other machines without keys."
)
@click.option("--comments/--no-comments", default=True, help="SSE comments while a call is held back.")
@click.option("--demo", is_flag=True, help="Start a scripted server, too, and use it as upstream.")
def serve(
    upstream: str | None,
    config: Path | None,
    protocol: str | Format,
    host: str,
    port: int,
    admin_host: str,
    admin_port: int,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
    allow_path: tuple[str, ...],
    allow_option: tuple[str, ...],
    is_open: bool,
    comments: bool,
    demo: bool,
) -> None:
    """Run a gateway that gives clients native tool calls.

    Clients in any language change one base URL. The server gets tools as text, and its answers are read.
    """
    try:
        from wirecall._gateway import demo as demonstration
        from wirecall._gateway.errors import ConfigError
        from wirecall._gateway.guard import Guard
        from wirecall._gateway.server import GatewaySettings
        from wirecall._gateway.server import serve as serve_until_told
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("aiohttp", "prometheus_client"):
            raise
        from wirecall.errors import install_extra

        raise UserError(f"{error.name} is not installed. {install_extra('serve')}") from error
    if demo and (upstream or config):
        raise click.UsageError("--demo has an upstream of its own: leave --upstream and --config out.")
    options: dict[str, Any] = {"protocol": protocol}
    if not comments:
        options["keep_alive"] = None
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("wirecall.gateway").setLevel(logging.INFO)

    def settings(url: str | None) -> GatewaySettings:
        return GatewaySettings(
            upstream=url,
            upstream_key=os.environ.get(_UPSTREAM_KEY) or None,
            config=config,
            options=options,
            accepted=frozenset(allow_option),
            host=host,
            port=port,
            admin_host=admin_host,
            admin_port=admin_port,
            guard=Guard(
                keys=tuple(filter(None, map(str.strip, os.environ.get(_KEYS, "").split(",")))),
                hosts=frozenset(map(str.lower, allow_host)),
                origins=frozenset(allow_origin),
                open=is_open,
            ),
            admin_token=os.environ.get(_ADMIN_TOKEN) or None,
            paths=allow_path,
        )

    def ready(url: str, admin_url: str) -> None:
        target = "a scripted server" if demo else upstream or str(config)
        click.echo(f"wirecall serve: {url}/v1 -> {printable(target)}", err=True)
        click.echo(f"metrics: {admin_url}/metrics", err=True)
        if demo:
            click.echo(demonstration.shown(url), err=True)

    async def main() -> None:
        async with demonstration.upstream() if demo else nullcontext(upstream) as url:
            await serve_until_told(settings(url), ready)

    try:
        asyncio.run(main())
    except ConfigError as error:
        raise UserError(printable(str(error))) from error
