"""Blind reading: what others think of a step shows once the reader has decided on it, of a session not before they are
through with it."""

from collections.abc import Iterable, Mapping

from core.domain.step_entry import Note, Opinions
from core.domain.trajectory import Trajectory
from core.domain.verdict import DECIDED, PEOPLE, Verdict


def seen(verdicts: Mapping[str, Verdict], reader: str) -> Mapping[str, Verdict]:
    """The verdicts that may show: all, but none to a blind `reader` (an author's key) who gave none on this step yet.

    "" as the reader: nobody is blind.
    """
    return verdicts if not reader or any(v.author.key == reader for v in verdicts.values()) else {}


def decided(opinions: Opinions, reader: str) -> bool:
    """Whether a step shows as kept or masked by a person, or by those who made the file; `reader` as in `seen`."""
    return any(v.author.kind in PEOPLE and v.value in DECIDED for v in seen(opinions.verdicts, reader).values())


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
