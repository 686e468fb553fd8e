"""Groups of sessions for other programs' reinforcement: `tiphys export … --to trl-async|verl|skyrl|…`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from core.cli.output import emit, say
from core.domain.errors import InvalidInput
from core.domain.plural import counted
from core.export.render import load_tokenizer
from core.llm.extra import require_extra
from core.store.home import Home
from core.workers.reinforcement import read_sheets

if TYPE_CHECKING:
    from core.training.group_export import Decode

GROUP_TARGETS = ("trl-async", "verl", "skyrl", "slime-rollout", "verifiers")
"""The forms of groups; `core.training.group_export` holds how each is written."""

_TAKEN = ("sessions", "target", "out", "model", "as_json")


def export_groups(home: Home, sessions: Sequence[str], form: str, out: Path, model: str, *, as_json: bool) -> None:
    """Write the rows. Raises InvalidInput (bad_options) for an option that would have no effect, ReportableError."""
    context = click.get_current_context()
    given = [name for name in context.params if name not in _TAKEN
             and context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if given:
        raise InvalidInput("bad_options", f"--to {form} writes what was sampled as it was sampled; "
                           f"--{given[0].replace('_', '-')} has no effect on that.")
    require_extra("numpy")
    from core.training.group_export import sessions_in, write_groups

    target = out if out.suffix == ".jsonl" else out / "groups.jsonl"
    db, names = _chosen(home, sessions)
    made = write_groups(form, db, names or sessions_in(db), target, _decoder(model))
    if as_json:
        emit(made)
        return
    left = [f"{n:,} {what}" for n, what in ((made.taken_over, "that people took over"),
                                            (made.without_score, "without a score"),
                                            (made.without_tokens, "without tokens")) if n]
    say(f"{counted(made.rows, 'row')} of {counted(made.sessions, 'session')} in {counted(made.groups, 'group')}"
        + (f" (left out: {', '.join(left)})" if left else "") + f": {made.file}")


def _chosen(home: Home, sessions: Sequence[str]) -> tuple[Path, list[str]]:
    """The log to read, and the sessions that are named; none for all of them. Raises InvalidInput (bad_sheets)."""
    if tuple(sessions) == ("all",):
        return home.server_db, []
    files = [Path(name) for name in sessions if name.endswith(".json")]
    if not files:
        return home.server_db, list(dict.fromkeys(sessions))
    folders = {file.absolute().parent.parent for file in files}
    if len(files) < len(sessions) or len(folders) > 1:
        raise InvalidInput("bad_options", "Name sessions of one home, or files of groups of one run.")
    try:
        groups = [group for file in files for group in read_sheets(file.read_bytes())]
    except (OSError, ValueError) as error:
        raise InvalidInput("bad_sheets", f"{files[0]} holds no groups of a run: {error}", path=str(files[0])) from error
    return folders.pop() / "home" / "server.db", [member.session for group in groups for member in group.sessions]


def _decoder(model: str) -> Decode:
    if not model:
        return lambda ids: ""
    require_extra("transformers", "jinja2")
    tokenizer = load_tokenizer(Path(model))
    return lambda ids: str(tokenizer.decode(list(ids)))
