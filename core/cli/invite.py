"""`tiphys account invite`: a link or file that makes an account, once, where it is opened."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import click

from core.cli.account_rights import change, rights, rights_options, until
from core.cli.number import Number
from core.cli.options import NewPlace
from core.cli.output import emit, json_option, note, say
from core.client.certificate import split_address, with_pin
from core.client.dial import is_loopback
from core.domain.errors import NotFound, Unavailable
from core.domain.invitation import SUFFIX, Invitation
from core.server.address import host_of
from core.store import invitations
from core.store.endpoint import Endpoint, read_endpoint
from core.store.home import Home, write_private


@click.command()
@click.argument("name")
@rights_options
@click.option("--days", type=Number(0, 3650, min_open=True), default=7.0, show_default=True,
              help="How long the invitation is good.")
@click.option("--account-days", type=Number(0, 36500, min_open=True),
              help="The account itself ends after so long.")
@click.option("--address", default="", metavar="URL",
              help="What the server is reached at; default: what it says itself.")
@click.option("--file", "target", type=NewPlace(dir_okay=False), metavar="FILE",
              help="Write the invitation into this file, to be opened by a double click (….tiphys-invitation).")
@click.option("--again", is_flag=True, help="NAME has an account: invite to another token for it (a new computer).")
@json_option
def invite(name: str, role: str | None, scopes: tuple[str, ...], days: float, account_days: float | None, address: str,
           target: Path | None, again: bool, as_json: bool) -> None:
    """Invite NAME: prints a link that makes the account when it is opened, once.

    The link holds the server's address, the fingerprint of its certificate and a one-time token.
    """
    server = _address(address)
    held, valid = rights(role, scopes), timedelta(days=days)
    if again:
        token = change(lambda conn: invitations.invite_again(conn, name, valid))
    else:
        token = change(lambda conn: invitations.invite(conn, name, held, valid, until(account_days)))
    link = str(Invitation(server=server, name=name, token=token))
    _warn(server)
    if target is not None:
        target = target if target.suffix == SUFFIX else target.with_name(target.name + SUFFIX)
        write_secret(target, link)
    if as_json:
        emit({"name": name, "link": link, "file": str(target) if target else None, "server": server,
              "expires_at": datetime.now(UTC) + valid})
    else:
        say(str(target) if target else link)


def write_secret(target: Path, text: str) -> None:
    """Write a line that nobody else may read. Raises Unavailable (file_not_written)."""
    try:
        write_private(target, (text + "\n").encode())
    except OSError as error:
        raise Unavailable("file_not_written", f"{target} cannot be written: {error}", path=str(target),
                          why=str(error)) from error


def _address(given: str) -> str:
    """What people reach the server at. Raises NotFound (no_address), InvalidInput (bad_public_address)."""
    endpoint = read_endpoint(Home.default())
    address = given or (next(iter(endpoint.addresses), endpoint.url) if endpoint else "")
    if not address:
        raise NotFound("no_address", "No server has run here yet: start it, or say with --address what it is reached "
                       "at.")
    host_of(split_address(address)[0])
    return _with_own_pin(address, endpoint)


def _with_own_pin(address: str, endpoint: Endpoint | None) -> str:
    """The address, with the fingerprint of the server's certificate where it names the server itself."""
    own = [*endpoint.addresses, endpoint.url] if endpoint is not None else []
    known = dict(split_address(one) for one in own)
    plain, pin = split_address(address.rstrip("/"))
    if own and is_loopback(plain) and urlsplit(plain).port == urlsplit(own[-1]).port:
        known[plain] = split_address(own[-1])[1]
    return with_pin(plain, pin or known.get(plain, ""))


def _warn(server: str) -> None:
    address, pin = split_address(server)
    if is_loopback(address):
        note(f"{address} is reached from this computer alone. For others: set host and names (or address) in the "
             "server's settings, or give --address.")
    elif not pin and address.startswith("wss:"):
        note(f"The invitation holds no fingerprint, so people's computers must know the certificate that {address} "
             "shows. Where it is a self-signed one: --address URL#sha256=…, as “tiphys serve” prints it.")
