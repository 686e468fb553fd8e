"""Everybody's remarks on a session in the order of its steps. No Qt."""

from __future__ import annotations

from operator import itemgetter

import msgspec

from core.domain.steps import Note
from core.domain.trajectory import Trajectory


class Remark(msgspec.Struct, frozen=True):
    """A remark and its step; 0: on the session."""

    step: int
    note: Note


def remarks(trajectory: Trajectory, reader: str = "", words: str = "") -> list[Remark]:
    """Those of the session first. `reader`, the key of a blind one, sees what others say of a step once they decided
    on it; `words` must all occur in one."""
    found = [Remark(0, note) for note in trajectory.notes]
    remarked = ((at, opinions) for at, opinions in trajectory.steps.opinions.items() if opinions.notes)
    for at, opinions in sorted(remarked, key=itemgetter(0)):
        is_blind = bool(reader) and not any(v.author.key == reader for v in opinions.verdicts.values())
        found += [Remark(int(trajectory.steps.numbers[at]), note) for note in opinions.notes
                  if not is_blind or note.author.key == reader]
    wanted = words.casefold().split()
    return [one for one in found if all(word in _text(one) for word in wanted)]


def _text(remark: Remark) -> str:
    note = remark.note
    return f"{note.text} {note.author.name} {note.anchor.exact if note.anchor else ''}".casefold()
