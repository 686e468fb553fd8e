"""Snapshots of real sandboxes: what they hold, what they cost, and that what is restored is the same."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.sandboxes import Box, box, command

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.progress import AgentProgress
from core.agents.restored_session import restore_in_place
from core.agents.saved_files import HostSaver, Seen, load_host
from core.agents.saved_journal import fill_journal, payload_names, save_journal
from core.agents.saved_trees import SavedHost, paths_of
from core.agents.snapshot_store import Snapshot, SnapshotStore
from core.agents.snapshots import Snapshots
from core.agents.states import read_progress
from core.agents.subagent import SubagentCall
from core.domain.blob import blob_hash
from core.domain.errors import Conflict, NotFound
from core.domain.events import SessionStateChanged, encode_event, make_event
from core.domain.task import SnapshotRules
from core.sandbox.sandbox import Sandbox
from core.store.pieces import PieceWriter

FILL = ("mkdir -p d/empty 'odd name' && head -c 9000000 /dev/urandom > big && echo text > d/t && chmod 640 d/t && "
        "ln -s t d/link && ln -s /nowhere dangling && printf 'x' > $'bytes-\\xff' && touch -d @1234567890 d/t && "
        "mkfifo pipe; echo home > ~/h")


async def save(sandbox: Sandbox, store: SnapshotStore, seen: Seen) -> tuple[SavedHost, Seen, int]:
    with PieceWriter(store.pieces) as writer:
        saver = HostSaver(sandbox, writer, seen)
        saved = await saver.save()
        writer.commit()
        return saved, saver.seen, writer.added


async def look(sandbox: Sandbox) -> str:
    roots = " ".join(f"'{folder}'" for folder in sandbox.folders.values())
    listing = await sandbox.run(["bash", "-c", f"for r in {roots}; do cd \"$r\" && find . -mindepth 1 ! -type p "
                                 "-printf '%p %y %m %l %T@\\n' | sort; cat big d/t h 2>/dev/null | sha256sum; done"])
    assert listing.exit_code == 0, listing.output
    return listing.output.decode("utf-8", "replace")


@pytest.fixture(params=["local", pytest.param("docker", marks=pytest.mark.docker)])
def place(request: pytest.FixtureRequest, tmp_path: Path):
    with box(request.param, tmp_path / "box") as made:
        yield made


def test_what_is_restored_is_what_was_saved_and_what_is_unchanged_costs_nothing(place: Box, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "home")

    async def work(sandbox: Sandbox) -> None:
        await command(sandbox, FILL)
        await asyncio.sleep(0.05)
        saved, seen, added = await save(sandbox, store, {})
        before = await look(sandbox)
        assert added > 9_000_000 and saved.files >= 4
        assert [p.split(":")[0] for p in saved.problems] == ["workspace/pipe"]
        again, seen, added = await save(sandbox, store, seen)
        assert (added, again.trees) == (0, saved.trees), "nothing changed: nothing is stored, nothing read"
        await command(sandbox, "echo more >> d/t; rm dangling; printf tail >> big")
        changed, _, added = await save(sandbox, store, seen)
        assert added < 2_000_000 and changed.trees["workspace"] != saved.trees["workspace"]
        await load_host(sandbox, store.pieces, saved)
        assert await look(sandbox) == before
        restored, _, added = await save(sandbox, store, {})
        assert (added, restored.trees) == (0, saved.trees), "the same, by its content's name"

    place.use(work)
    store.close()


def test_another_kind_of_host_gets_the_same_files(place: Box, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "home")
    found: list[SavedHost] = []

    async def take(sandbox: Sandbox) -> None:
        await command(sandbox, FILL)
        found.append((await save(sandbox, store, {}))[0])

    async def put(sandbox: Sandbox) -> None:
        await load_host(sandbox, store.pieces, found[0])
        assert (await save(sandbox, store, {}))[0].trees == found[0].trees

    place.use(take)
    with box("local", tmp_path / "other") as other:
        other.use(put)
    assert {path for path, _ in paths_of(store.pieces, found[0].trees["workspace"])} >= {"big", "d/t", "d/link"}
    store.close()


def test_a_sweep_removes_what_no_snapshot_needs_and_a_writer_notices(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path)
    with PieceWriter(store.pieces) as first:
        name = first.put(os.urandom(100_000))
        first.commit()
    with PieceWriter(store.pieces) as second:
        second.rely([name])
        assert store.pieces.sweep(set) == 1 and not list((tmp_path / "snapshots/packs").iterdir())
        with pytest.raises(Conflict, match="removed meanwhile"):
            second.commit()
    with pytest.raises(NotFound):
        store.pieces.get(name)
    store.close()


def snapshot(store: SnapshotStore, step: int, cause: str, hours: float, journal: Journal) -> Snapshot:
    """One of a session that took an hour for each step, without hosts."""
    with PieceWriter(store.pieces) as writer:
        at = datetime.now(UTC) - timedelta(hours=hours)
        return store.commit(writer, Snapshot(id=f"{cause}-{step}", session=journal.session, step=step, cause=cause,
                                             at=at, hosts={}, terminals=(), journal=save_journal(journal, writer)), {})


def test_the_newest_stay_with_those_by_hand_and_before_advice_and_of_the_rest_ever_fewer(tmp_path: Path) -> None:
    store, journal = SnapshotStore(tmp_path), Journal(tmp_path / "journal.db", "s")
    causes = {3: "person", 40: "guidance"}
    for step in range(1, 101):
        journal.put_blob(f"payload {step}".encode())
        snapshot(store, step, causes.get(step, "steps"), 200 - step, journal)
    before = store.pieces.bytes_stored()
    assert store.prune("s", SnapshotRules(newest=5)) > 80
    left = [one.step for one in store.of("s")]
    assert left[-5:] == [96, 97, 98, 99, 100] and {3, 40} <= set(left) and 1 in left
    assert len(left) < 20 and store.pieces.bytes_stored() < before
    assert payload_names(store.pieces, store.get("steps-100").journal)
    assert store.prune("s", SnapshotRules(newest=5)) == 0
    assert store.forget("s") == len(left) and store.pieces.bytes_stored() == 0
    journal.close()
    store.close()


def test_a_journal_is_restored_to_what_it_was_entry_by_entry(tmp_path: Path) -> None:
    store, journal = SnapshotStore(tmp_path / "home"), Journal(tmp_path / "journal.db", "s")
    parts = []
    for count in (300, 300):
        for n in range(count):
            journal.add(SessionStateChanged(state="running", reason=f"r{n}"))
            journal.put_blob(os.urandom(20))
        journal.put_slot("progress", AgentProgress(steps=count))
        with PieceWriter(store.pieces) as writer:
            parts.append(save_journal(journal, writer, parts[-1] if parts else None))
            writer.commit()
    assert parts[1].entry_segments[0] == parts[0].entry_segments[0], "what is there already is not stored again"
    made = Journal(tmp_path / "made.db", "s")
    fill_journal(made, store.pieces, parts[1])
    assert made.entries(1, 1000, 1 << 30) == journal.entries(1, 1000, 1 << 30) and made.id == journal.id
    assert made.sql("SELECT hash FROM blob ORDER BY rowid") == journal.sql("SELECT hash FROM blob ORDER BY rowid")
    assert made.slot("progress", AgentProgress) == AgentProgress(steps=300)
    for one in (made, journal, store):
        one.close()


def test_the_journals_of_subagents_are_restored_as_far_as_the_log_has_come(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    store, journal = SnapshotStore(tmp_path / "home"), Journal(tmp_path / "old/journal.db", "s")
    first = SubagentCall(session="s.sub.1", line="subagent-1", caller="s", step=1, title="", asked="", command="c")
    journal.put_slot("subagents", [first])
    other = journal.beside(tmp_path / "old/subagents/subagent-1.db", first.session)
    other.add(SessionStateChanged(state="running"))
    other.put_blob(b"payload")
    snapshots = Snapshots(journal, Inbox(journal), {}, store, SnapshotRules(), _nothing)
    asyncio.run(snapshots.take("person"))
    other.close()
    del journal.others["subagent-1.db"]  # one that is over is not opened again, and its part stays
    asyncio.run(snapshots.take("person"))
    store.prune("s", SnapshotRules(newest=1))
    logged = {"s": journal.entries(1, 99, 1 << 20), "s.sub.2": [b"called since"]}
    end = encode_event(make_event(SessionStateChanged(state="finished"), other.author))
    logged["s.sub.1"] = [*Journal(tmp_path / "old/subagents/subagent-1.db", "s.sub.1").entries(1, 9, 1 << 20), end]
    assert restore_in_place(tmp_path / "new", store, store.last("s"), lambda one: logged.get(one, []))
    made = Journal(tmp_path / "new/subagents/subagent-1.db", "s.sub.1")
    assert (made.id, made.entries(1, 9, 1 << 20)) == (other_id(journal, tmp_path), logged["s.sub.1"])
    assert made.compressed(blob_hash(b"payload")) and read_progress(made).state == "finished"
    calls = Journal(tmp_path / "new/journal.db", "s").slot("subagents", tuple[SubagentCall, ...]) or ()
    assert [(one.session, one.is_sent) for one in calls] == [("s.sub.1", False), ("s.sub.2", True)]


async def _nothing() -> None:
    """There is no terminal."""


def other_id(journal: Journal, tmp_path: Path) -> str:
    return Journal(tmp_path / "old/subagents/subagent-1.db", f"{journal.session}.sub.1").id
