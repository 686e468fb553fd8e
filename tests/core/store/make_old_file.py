"""Makes files/log-<newest migration>.db. Run once, when a migration is released, with the code of that release.

    PYTHONPATH=.:tests python tests/core/store/make_old_file.py
"""

from datetime import UTC, datetime
from pathlib import Path

from support.logs import Maker

from core.domain.queue import QueueItem, ReviewQueue
from core.protocol.operations import Guide
from core.store import accounts, blobs, commands, log, outbox, queues
from core.store.schema import migrations, open_log
from core.store.sqlite import transaction


def main() -> None:
    """Fill every table with something, then fold the WAL into the file."""
    path = Path(__file__).parent / "files" / f"log-{migrations.names[-1]}.db"
    path.unlink(missing_ok=True)
    maker = Maker(1)
    maker.guide("keep the seed")
    for _ in range(2):
        maker.add_step()
    conn = open_log(path)
    with transaction(conn):
        conn.execute("UPDATE meta SET value = '0123456789abcdef' WHERE key = 'epoch'")
        log.create(conn, "old")
        for data in maker.blobs.values():
            blobs.put(conn, data)
        log.append(conn, "old", maker.bodies)
        log.lease(conn, "old", "journal")
        outbox.add(conn, "old", Guide(guidance="g", text="keep the seed"), id="c1")
        outbox.save_draft(conn, "old", "half a")
        commands.remember(conn, "client", "c1", 1, b"body", b"{}")
        accounts.add_account(conn, "li", ["guide"], token="tph_not_a_secret_of_anyone")
        conn.execute("INSERT INTO setting VALUES ('a', 'b')")
        queues.put(conn, [ReviewQueue(queue="q", name="Old", by="li", at=datetime(2026, 1, 1, tzinfo=UTC))],
                   [QueueItem(queue="q", session="old")])
    conn.execute("PRAGMA journal_mode=DELETE")
    conn.execute("PRAGMA page_size=1024")
    conn.execute("VACUUM")
    conn.close()


if __name__ == "__main__":
    main()
