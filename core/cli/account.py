"""`tiphys account`: who may look, guide and review on this server."""

from __future__ import annotations

import click

from core.cli.output import emit, json_option, say, table


@click.group()
def account() -> None:
    """Give and revoke access to this home's server."""


@account.command()
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(["view", "guide", "review", "propose", "admin"]),
              help="May be given several times (default: view, guide, review).")
@json_option
def add(name: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make an account and print its token, which is not shown again."""
    from core.cli.log_access import writing
    from core.store.home import Home

    held = scopes or ("view", "guide", "review")
    token = writing(Home.default(), lambda authority: authority.add_account(name, held))
    emit({"name": name, "scopes": held, "token": token}) if as_json else say(token)


@account.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """Make the token of NAME void; its connections are closed."""
    from core.cli.log_access import writing
    from core.store.home import Home

    writing(Home.default(), lambda authority: authority.revoke(name))
    emit({"name": name, "revoked": True}) if as_json else say(f"{name} has no access any more.")


@account.command(name="list")
@json_option
def list_accounts(as_json: bool) -> None:
    """List the accounts, never their tokens."""
    from core.cli.log_access import reading
    from core.store import accounts
    from core.store.home import Home

    with reading(Home.default()) as conn:
        found = accounts.accounts(conn)
    if as_json:
        for one in found:
            emit(one)
    else:
        table(("name", "scopes", "created", "revoked"),
              [(a.name, ", ".join(a.scopes), a.created_at, a.revoked_at) for a in found])


@account.command()
@click.argument("name", default="")
@json_option
def activity(name: str, as_json: bool) -> None:
    """List the events that came with the token of NAME (default: of every account), and whose they claim to be."""
    from core.cli.log_access import reading
    from core.store import attribution, log
    from core.store.home import Home

    with reading(Home.default()) as conn:
        for sent in attribution.sent(conn, name):
            for placed in log.read_all(conn, sent.session, sent.last, sent.first - 1):
                event = placed.event
                kind = str(getattr(event.fact, "kind", "") or event.fact.__struct_config__.tag)
                if as_json:
                    emit({"account": sent.account, "session": sent.session, "seq": placed.seq, "at": event.at,
                          "event": kind, "author": event.author})
                else:
                    say(f"{sent.account}  {sent.session}  {placed.seq}  {event.at:%Y-%m-%d %H:%M:%S}  {kind}  "
                        f"as {event.author.key}")
