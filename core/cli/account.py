"""`tiphys account`: who may look, guide and review on this server."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import msgspec

from core.cli.account_rights import change, rights, rights_options, until
from core.cli.invite import invite
from core.cli.log_access import reading
from core.cli.number import Number
from core.cli.output import emit, json_option, note, say, table
from core.domain.errors import Conflict, Denied, NotFound
from core.store import accounts, attribution, identities, invitations, log
from core.store.accounts import Account
from core.store.home import Home, write_private
from core.store.sqlite import Connection


@click.group()
def account() -> None:
    """Invite people to this home's server, list them, give and take access."""


account.add_command(invite)


@account.command()
@click.argument("name")
@rights_options
@json_option
def add(name: str, role: str | None, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make an account and print its token, which is not shown again (for people: invite)."""
    held = rights(role, scopes)
    token = change(lambda conn: accounts.add_account(conn, name, held))
    if as_json:
        emit({"name": name, "scopes": held, "token": token})
    else:
        say(token)
        note(f"This is the token of {name}. It is not shown again.")


@account.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """Make the token of NAME void, and an invitation that was not used; its connections are closed."""
    def work(conn: Connection) -> None:
        _refuse_own(conn, name, "revoked")
        withdrawn = invitations.withdraw(conn, name)
        try:
            accounts.revoke(conn, name)
        except NotFound:
            if not withdrawn:
                raise

    change(work)
    emit({"name": name, "revoked": True}) if as_json else say(f"{name} has no access any more.")


@account.command()
@click.argument("name")
@json_option
def rotate(name: str, as_json: bool) -> None:
    """Give NAME another token and print it; the one of before is void at once (for people: invite --again)."""
    home = Home.default()

    def work(conn: Connection) -> str:
        is_own = _is_own(conn, name)
        token = accounts.rotate(conn, name)
        if is_own:
            write_private(home.admin_token, token.encode())
        return token

    token = change(work)
    if as_json:
        emit({"name": name, "token": token})
    else:
        say(token)
        note(f"The token of {name} from before is void. This one is not shown again.")


@account.command()
@click.argument("name")
@click.option("--days", type=Number(0, 36500), help="From now on; 0: at once.")
@click.option("--on", "day", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]), help="The day (UTC), as 2027-01-31.")
@click.option("--never", is_flag=True, help="Not by itself.")
@json_option
def expire(name: str, days: float | None, day: datetime | None, never: bool, as_json: bool) -> None:
    """Say when the account of NAME ends by itself."""
    if (days is not None) + (day is not None) + never != 1:
        raise click.UsageError("Give one of --days, --on and --never.")
    at = day.replace(tzinfo=UTC) if day else until(days)

    def work(conn: Connection) -> None:
        if at is not None:
            _refuse_own(conn, name, "given an end")
        accounts.expire(conn, name, at)

    change(work)
    emit({"name": name, "expires_at": at}) if as_json else say(f"{name} {_ends(at)}.")


def _ends(at: datetime | None) -> str:
    if at is None:
        return "has access until it is revoked"
    return f"has access until {day_of(at)} UTC" if at > datetime.now(UTC) else "has no access any more"


def _refuse_own(conn: Connection, name: str, what: str) -> None:
    """Without that account no command would be left to give rights back. Raises Conflict (own_account)."""
    if _is_own(conn, name):
        raise Conflict("own_account", f"{name} is this computer's own account, by which its server is run: it "
                       f"cannot be {what}.", name=name)


def _is_own(conn: Connection, name: str) -> bool:
    """Whether an account is the one by which commands of this computer write."""
    try:
        return accounts.principal(conn, Home.default().admin_token.read_text().strip()).name == name
    except (OSError, Denied):
        return False


@account.command()
@click.argument("name")
@click.argument("subject")
@json_option
def link(name: str, subject: str, as_json: bool) -> None:
    """Say whose the account of NAME is at the lab's log-in: SUBJECT is `ISSUER SUB`, as a refused log-in names it."""
    change(lambda conn: identities.link(conn, name, subject))
    emit({"name": name, "subject": subject}) if as_json else say(f"{name} logs in as {subject}.")


@account.command(name="list")
@json_option
def list_accounts(as_json: bool) -> None:
    """List the accounts and open invitations, never their tokens."""
    with reading(Home.default()) as conn:
        found, invited = accounts.accounts(conn), invitations.open_invitations(conn)
    if as_json:
        for one in found:
            emit({**msgspec.structs.asdict(one), "role": one.role or None})
        for waiting in invited:
            emit({"name": waiting.account, "scopes": waiting.scopes, "invited_until": waiting.expires_at})
        return
    rows: list[tuple[str | None, ...]]
    rows = [(a.name, a.role or ", ".join(a.scopes), _state(a), day_of(a.last_login), a.last_address,
             day_of(a.expires_at)) for a in found]
    rows += [(i.account, accounts.role_of(i.scopes) or ", ".join(i.scopes),
              f"invited until {day_of(i.expires_at)}", None, None, None) for i in invited]
    table(("name", "role", "state", "last login (UTC)", "from", "expires (UTC)"), rows)


def _state(one: Account) -> str:
    if one.revoked_at:
        return f"revoked {day_of(one.revoked_at)}"
    return "expired" if one.expires_at and one.expires_at <= datetime.now(UTC) else "active"


def day_of(moment: datetime | None) -> str | None:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}" if moment else None


@account.command()
@click.argument("name", default="")
@json_option
def activity(name: str, as_json: bool) -> None:
    """List the events that came with the token of NAME (default: of every account), and whose they claim to be."""
    with reading(Home.default()) as conn:
        if name and not accounts.is_known(conn, name):
            raise NotFound("no_account", f"There is no account {name}.", account=name)
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
