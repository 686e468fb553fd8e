"""`tiphys serve`: the session server."""

from __future__ import annotations

import click

from core.cli.output import emit, json_option, say

PRIVATE_IDLE_MINUTES = 15.0
"""Time enough to open a window again that crashed; later the server starts with it."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(1, 65535), help="Default: 7717; with --private any free one.")
@click.option("--private", is_flag=True, help="For this computer's desktop alone.")
@click.option("--name", "names", multiple=True, help="A further host name under which clients address this server.")
@click.option("--certificate", default="", help="PEM file; with --key turns TLS on.")
@click.option("--key", default="", help="PEM file.")
@click.option("--self-signed", is_flag=True, help="TLS with a certificate that is made once, trusted by fingerprint.")
@click.option("--plain-text", is_flag=True, help="Listen beyond this computer without TLS: something else encrypts.")
@click.option("--allow-key", "keys", multiple=True, metavar="VAR=URL",
              help="Agents may send the value of this variable to this endpoint; remembered.")
@click.option("--idle-minutes", type=click.FloatRange(0), envvar="TIPHYS_IDLE_MINUTES", show_envvar=True,
              help="End after so long with nobody connected and nothing at work; 0: never. Default: 15 with --private.")
@click.option("--connections-of-account", "most", type=click.IntRange(1), show_envvar=True,
              envvar="TIPHYS_CONNECTIONS_OF_ACCOUNT", help="How many one account may have at once. Default: 64.")
@json_option
def serve(
    host: str, port: int | None, private: bool, names: tuple[str, ...], certificate: str, key: str, self_signed: bool,
    plain_text: bool, keys: tuple[str, ...], idle_minutes: float | None, most: int | None, as_json: bool,
) -> None:
    """Run the session server until it is told to end (Ctrl+C)."""
    from core import logs
    from core.cli.allow import allow_key
    from core.server.hub import MOST_OF_ACCOUNT
    from core.server.serve import Server, ServeSettings, run
    from core.store.home import Home

    logs.make_stderr_unfailing()  # a log that cannot be written must end no server
    home = Home.default()
    logs.set_up("server", home.logs)
    for pair in keys:
        allow_key(pair)
    settings = ServeSettings(home=home, host=host, port=port, private=private, names=names,
                             certificate=certificate, key=key, self_signed=self_signed, plain_text=plain_text,
                             connections_of_account=most or MOST_OF_ACCOUNT,
                             idle_s=60 * (PRIVATE_IDLE_MINUTES * private if idle_minutes is None else idle_minutes))

    def ready(server: Server) -> None:
        if as_json:
            emit({"url": server.url, "addresses": server.addresses, "home": str(home.path)})
            return
        say(f"Serving at {server.url}")
        for address in server.addresses:
            say(f"Elsewhere: {address}")

    run(settings, ready)
