"""`tiphys login`: a token of a server, by the lab's own accounts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from core.cli.invite import write_secret
from core.cli.output import emit, json_option, note, say
from core.client.device_login import begin, log_in
from core.client.invitation import Joined
from core.store.accounts import make_token


@click.command()
@click.argument("address", metavar="URL")
@click.option("--token-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the token into this file, for `tiphys open --server URL --token-file FILE`; without it the "
                   "token is printed.")
@json_option
def login(address: str, token_file: Path | None, as_json: bool) -> None:
    """Log in to the server at URL by the lab's own accounts, with a code that is entered in any browser.

    For programs and machines without a display; the desktop does the same under File › Servers….
    """
    token = make_token()
    joined = asyncio.run(_log_in(address, token))
    if token_file is not None:
        write_secret(token_file, token)
    if as_json:
        emit({"name": joined.name, "scopes": joined.scopes, "file": str(token_file) if token_file else None,
              "token": None if token_file else token})
    else:
        note(f"You are {joined.name} there: {', '.join(joined.scopes)}.")
        say(str(token_file) if token_file else token)


async def _log_in(address: str, token: str) -> Joined:
    started = await begin(address)
    note(f"Open {started.code.verification_uri} in a browser, on any computer, and enter {started.code.user_code}")
    return await log_in(address, await started.id_token(), token)
