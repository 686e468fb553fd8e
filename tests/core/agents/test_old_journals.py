"""Journals of every released version open and go on; a newer one is refused with a sentence and not touched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.schema import migrations
from core.agents.states import enter, read_progress
from core.domain.errors import ProtocolMismatch
from core.domain.events import GuidanceDelivered, SessionStateChanged, StepAdded
from core.store.sqlite import connect

OLD = sorted((Path(__file__).parent / "files").glob("journal-*.db"))


def test_every_migration_has_a_journal_of_its_time() -> None:
    assert [f.stem for f in OLD] == [f"journal-{name}" for name in migrations.names]


@pytest.mark.parametrize("old", OLD, ids=lambda f: f.stem)
def test_an_old_journal_opens_says_what_it_said_and_goes_on(old: Path, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    shutil.copy(old, path)
    journal = Journal(path, "old")
    inbox = Inbox(journal)
    before = journal.facts()
    assert [type(f) for f in before] == [SessionStateChanged, GuidanceDelivered, StepAdded]
    assert (inbox.cursor, read_progress(journal).state) == (3, "running")
    assert inbox.created is not None and inbox.created.task.id == "t"
    assert [(h.id, h.text) for h in inbox.waiting()] == [("g2", "second")]
    assert [(h.id, h.step) for h in inbox.delivered(1)] == [("g1", 1)]
    step = before[2]
    assert isinstance(step, StepAdded) and journal.blob(step.body)
    with journal.transaction("bind"):
        inbox.bind(2)
    enter(journal, "finished")
    assert journal.facts()[:3] == before and len(journal.facts()) > 4
    journal.close()


def test_a_newer_journal_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal(path, "s").close()
    conn = connect(path)
    conn.execute("INSERT INTO _sqlite_migrations VALUES (99, 'journal', 'm0099_future', '')")
    conn.execute("PRAGMA journal_mode=DELETE")
    conn.close()
    before = path.read_bytes()
    with pytest.raises(ProtocolMismatch) as caught:
        Journal(path, "s")
    assert "m0099_future" in caught.value.sentence
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".db")] == ["journal.db"]
    conn = connect(path)
    conn.execute("PRAGMA journal_mode=DELETE")
    conn.close()
    assert path.read_bytes()[100:] == before[100:], "but for the header's change counters"
