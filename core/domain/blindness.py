"""Blind reading: what others think of a step shows once the reader has decided on it, of a session not before they are
through with it."""

from collections.abc import Iterable, Mapping

from core.domain.progress import judgement_of
from core.domain.step_entry import Note, Opinions
from core.domain.steps import Steps
from core.domain.trajectory import Trajectory
from core.domain.verdict import Verdict


def seen(verdicts: Mapping[str, Verdict], reader: str) -> Mapping[str, Verdict]:
    """The verdicts that may show: all, but none to a blind `reader` (an author's key) who gave none on this step yet.

    "" as the reader: nobody is blind.
    """
    return verdicts if not reader or any(v.author.key == reader for v in verdicts.values()) else {}


def is_judged(steps: Steps, at: int, reader: str) -> bool:
    """Whether the step at a place is judged, be it unsure, as the progress of a session counts it; if not it is
    undecided. To a blind `reader` by their own words alone."""
    opinions = steps.opinions.get(at)
    given = opinions.verdicts.values() if opinions is not None else ()
    mine = (v for v in given if reader in ("", v.author.key))
    return bool(given) and judgement_of(mine, len(steps.shape(at).tools)) is not None


def judged_count(steps: Steps, reader: str) -> int:
    """How many steps are judged."""
    return sum(is_judged(steps, at, reader) for at in steps.opinions)


def seen_opinions(opinions: Opinions, reader: str) -> Opinions:
    """All that may show of what was said of a step: own words always, others' as in `seen`."""
    if not reader or any(v.author.key == reader for v in opinions.verdicts.values()):
        return opinions
    return Opinions(notes=[note for note in opinions.notes if note.author.key == reader],
                    tags={tag: by for tag, by in opinions.tags.items() if reader in by})


def seen_remarks(notes: Iterable[Note], reader: str) -> list[Note]:
    """What may show of remarks on the whole session: to a blind reader their own, and what its file did not tell."""
    return [note for note in notes
            if not reader or note.author.key == reader or (note.author.kind == "import" and not note.repeats)]


def hide_opinions(trajectory: Trajectory, reader: str) -> None:
    """Take out of a folded session what a blind reader may not see; it must be the caller's own."""
    for opinions in trajectory.steps.opinions.values():
        left = seen_opinions(opinions, reader)
        if left is not opinions:  # in place: the steps hold these very objects
            opinions.verdicts.clear()
            opinions.tags.clear()
            opinions.tags.update(left.tags)
            opinions.notes[:] = left.notes
    trajectory.notes = seen_remarks(trajectory.notes, reader)
