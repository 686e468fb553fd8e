"""`tiphys agreement`: how far rules, judges and people agree, and what each rule changes."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from core.cli.log_access import account_here, blind_reader, reading, trajectory
from core.cli.output import emit, json_option, note, say, table
from core.cli.propose_verdicts import rules_for, rules_option, step_bodies, task_of
from core.domain.plural import counted
from core.store import log
from core.store.home import Home
from core.supervision.agreement import Agreement, effects
from core.supervision.agreement import agreement as compare


@click.command()
@click.argument("sessions", nargs=-1)
@rules_option
@json_option
def agreement(sessions: tuple[str, ...], rules_folder: Path | None, as_json: bool) -> None:
    """Hold rules and judges against people on SESSIONS (default: all), people against each other, and say what each
    rule changes, or would if it were switched on."""
    home = Home.default()
    with reading(home) as conn:
        named = sessions or [r.session for r in log.rows(conn) if log.head(conn, r.session)]
        me = account_here(conn, home)
        if blind := [s for s in named if blind_reader(conn, home, s, me)]:
            note(f"Left out, as you judge them blindly: {', '.join(blind)}")
            named = [s for s in named if s not in blind]
        trajectories = [trajectory(conn, s) for s in named]
        chosen = [rules_for(home, task_of(t), rules_folder) for t in trajectories]
        changes = tuple(effects(trajectories, step_bodies(conn), chosen))
        result = msgspec.structs.replace(compare(trajectories), rules=changes)
    emit(result) if as_json else _print_agreement(result)


def _print_agreement(found: Agreement) -> None:
    labelled = f", {found.labelled} by labels that their files brought" if found.labelled else ""
    say(f"{counted(found.sessions, 'session')}, {counted(found.steps, 'step')}, {found.decided} decided by people"
        f"{labelled}.")
    table(["source", "masks", "judged", "confirmed", "precision", "missed", "kappa"],
          [[s.source, s.masks, s.judged, s.confirmed, s.precision, s.missed, s.kappa] for s in found.sources])
    table(["person", "person", "steps", "agreement", "kappa"],
          [[p.first, p.second, p.steps, p.raw, p.kappa] for p in found.pairs])
    table(["person", "decided", "looked at", "active time", "median a step"],
          [[p.person, p.decided, p.timed, _minutes(p.seconds), "–" if p.each is None else f"{p.each:g} s"]
           for p in found.times])
    say(f"Krippendorff's alpha of all people: {'–' if found.alpha is None else format(found.alpha, '.3f')}")
    table(["rule", "on", "finds", "would mask", "overruled"],
          [[r.rule, "yes" if r.enabled else "no", r.found, r.would_mask, r.overruled] for r in found.rules])


def _minutes(seconds: float) -> str:
    """0:42:05."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
