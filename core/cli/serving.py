"""`tiphys serve`, `agent` and `tasks`: the server and what it starts."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli.output import emit, json_option, note, say, table


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(1, 65535), help="Default: 7717; with --private any free one.")
@click.option("--private", is_flag=True, help="For this computer's desktop alone.")
@click.option("--name", "names", multiple=True, help="A further host name under which clients address this server.")
@click.option("--certificate", default="", help="PEM file; with --key turns TLS on.")
@click.option("--key", default="", help="PEM file.")
@click.option("--self-signed", is_flag=True, help="TLS with a certificate that is made once, trusted by fingerprint.")
@click.option("--plain-text", is_flag=True, help="Listen beyond this computer without TLS: something else encrypts.")
@json_option
def serve(
    host: str, port: int | None, private: bool, names: tuple[str, ...], certificate: str, key: str, self_signed: bool,
    plain_text: bool, as_json: bool,
) -> None:
    """Run the session server until it is told to end (Ctrl+C)."""
    from core import logs
    from core.server.serve import Server, ServeSettings, run
    from core.store.home import Home

    home = Home.default()
    logs.set_up("server", home.logs)
    settings = ServeSettings(home=home, host=host, port=port, private=private, names=names,
                             certificate=certificate, key=key, self_signed=self_signed, plain_text=plain_text)

    def ready(server: Server) -> None:
        if as_json:
            emit({"url": server.url, "addresses": server.addresses, "home": str(home.path)})
            return
        say(f"Serving at {server.url}")
        for address in server.addresses:
            say(f"Elsewhere: {address}")

    run(settings, ready)


@click.command()
@click.option("--session", required=True)
@click.option("--url", required=True, help="The server's address.")
@click.option("--token-file", required=True, type=click.Path(path_type=Path), help="A file that holds the token.")
@click.option("--folder", required=True, type=click.Path(path_type=Path), help="Where the journal lies.")
def agent(session: str, url: str, token_file: Path, folder: Path) -> None:
    """Run one session's agent; it takes up where an earlier one ended."""
    import asyncio

    from core import logs
    from core.agents.runner import run_session
    from core.cli.failure import tell
    from core.domain.errors import Unavailable
    from core.domain.session import EX_TEMPFAIL

    logs.set_up("agent", folder)
    try:
        asyncio.run(run_session(folder, url, token_file.read_text().strip(), session))
    except Unavailable as error:
        tell(error.code, error.sentence)
        raise click.exceptions.Exit(EX_TEMPFAIL) from None


@click.command()
@json_option
def tasks(as_json: bool) -> None:
    """List the tasks that can be started by their id."""
    from core.store.home import Home
    from core.tasks.catalogue import Catalogue

    catalogue = Catalogue.of(Home.default().path)
    for problem in catalogue.problems():
        note(f"tiphys: {problem.sentence} [{problem.code}]")
    found = [entry.task for entry in catalogue.entries()]
    if as_json:
        for task in found:
            emit({"task": task.id, "title": task.title, "hosts": [h.name for h in task.hosts]})
    else:
        table(("task", "title", "hosts"), [(t.id, t.title, ", ".join(h.name for h in t.hosts)) for t in found])
