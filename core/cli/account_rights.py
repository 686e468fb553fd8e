"""What `tiphys account` and `tiphys account invite` share: the options for rights, and how accounts are changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import click

from core.cli.log_access import writing
from core.store.accounts import ROLES, SCOPES
from core.store.home import Home
from core.store.sqlite import Connection

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])


def rights_options(command: F) -> F:
    """--role and --scope: what an account may do."""
    roles = "; ".join(f"{role}: {', '.join(scopes)}" for role, scopes in ROLES.items())
    command = click.option("--role", type=click.Choice(list(ROLES)), help=f"{roles}. Default: annotator.")(command)
    about = "A right beside those of the role, or instead of any; may be given several times."
    return click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help=about)(command)


def rights(role: str | None, scopes: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes that were asked for."""
    of_role = ROLES[role or "annotator"] if role or not scopes else ()
    return tuple(dict.fromkeys((*of_role, *scopes)))


def change(work: Callable[[Connection], T]) -> T:
    """The result of work on the accounts of this home. Raises what it raises."""
    return writing(Home.default(), lambda authority: authority.accounts(work))


def until(days: float | None) -> datetime | None:
    """The time in so many days; None for none."""
    return datetime.now(UTC) + timedelta(days=days) if days is not None else None
