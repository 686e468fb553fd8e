"""Makes files/journal-<newest migration>.db. Run once, when a migration is released, with the code of that release.

    PYTHONPATH=.:tests python tests/core/agents/make_old_journal.py
"""

from pathlib import Path

from support.logs import Maker

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.schema import migrations
from core.agents.states import enter
from core.domain.events import GuidanceQueued, SessionCreated, encode_event, make_event
from core.domain.task import Task
from core.domain.verdict import Author


def main() -> None:
    """Every table with something in it, then the WAL folded into the file."""
    path = Path(__file__).parent / "files" / f"journal-{migrations.names[-1]}.db"
    path.unlink(missing_ok=True)
    maker, person = Maker(1), Author(kind="person", name="Ada")
    journal = Journal(path, "old")
    inbox = Inbox(journal)
    facts = [SessionCreated(task=Task(id="t", title="T", description="d")), GuidanceQueued(guidance="g1", text="first"),
            GuidanceQueued(guidance="g2", text="second")]
    inbox.take(1, [encode_event(make_event(f, person)) for f in facts[:2]])
    enter(journal, "running")
    with journal.transaction("bind"):
        inbox.bind(1)
    step = maker.add_step()
    for data in maker.blobs.values():
        journal.put_blob(data)
    journal.add(step)
    inbox.take(3, [encode_event(make_event(facts[2], person))])
    journal.sql("INSERT INTO call VALUES (2, 0, x'7b7d', NULL)")
    journal.sql("INSERT INTO change VALUES ('r')")
    journal.sql("INSERT INTO gateway_line VALUES ('main', 'main', x'5b5d', '')")
    journal.sql("INSERT INTO gateway_item VALUES ('main', 0, x'00', x'5b5d')")
    journal.sql("INSERT INTO gateway_call VALUES ('c', 1)")
    journal.close()
    from core.store.sqlite import connect

    conn = connect(path)
    for statement in ("PRAGMA journal_mode=DELETE", "PRAGMA page_size=1024", "VACUUM"):
        conn.execute(statement)
    conn.close()


if __name__ == "__main__":
    main()
