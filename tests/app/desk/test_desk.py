"""The desk: which sessions it asks the server for."""

from __future__ import annotations

from pathlib import Path

import msgspec
from support.logs import Maker, make_session
from support.panels import told_session, workplace

from app.desk import fold
from app.desk.desk import MOST_WATCHED, Desk
from app.step.panel import build as build_step
from core.client.client import Client
from core.client.replica import Replica
from core.domain.events import Placed
from core.domain.trajectory import fold as fold_of
from core.protocol.server_state import MAX_SUBSCRIPTIONS
from core.store import log
from core.store.folds import FoldStore


async def test_whoever_leafs_through_many_sessions_follows_the_last_of_them(tmp_path: Path) -> None:
    replica = Replica(tmp_path / "copy.db")
    desk = Desk(replica)
    desk.watch("before the server")
    desk.attach(Client(replica, "ws://127.0.0.1:9", "token"))
    assert desk.client is not None and desk.client.watched == {"before the server"}
    for number in range(MAX_SUBSCRIPTIONS + 50):
        desk.watch(f"s{number}")
        desk.watch("s0")
    assert len(desk.client.watched) == MOST_WATCHED < MAX_SUBSCRIPTIONS
    assert {"s0", f"s{MAX_SUBSCRIPTIONS + 49}"} <= desk.client.watched
    replica.close()


def test_a_desk_that_is_closed_reads_no_more(qtbot, tmp_path: Path) -> None:
    with workplace(tmp_path, told_session()) as (place, replica):
        place.desks.local.trajectory("s1")
        changed: list[str] = []
        place.desks.trajectory_changed.connect(changed.append)
        for tell in replica.events_added:
            tell("s1", 1, 1)
        place.desks.local.close()
        for tell in replica.events_added:
            tell("s1", 2, 2)
        qtbot.wait(60)
        assert not changed and place.desks.local.row("s1") is None


def without_bodies() -> tuple[Maker, dict[str, bytes]]:
    maker = Maker(2)
    for _ in range(3):
        maker.add_step()
    blobs, maker.blobs = maker.blobs, {}
    return maker, blobs


async def test_what_is_looked_at_goes_first_and_what_is_left_is_asked_for_no_more(tmp_path: Path) -> None:
    maker, _ = without_bodies()
    client = Client(Replica(tmp_path / "copy.db"), "ws://127.0.0.1:9", "token")
    with workplace(tmp_path, maker, client=client) as (place, replica):
        hashes = [entry.body for entry in place.desks.local.trajectory("s1").steps]
        place.desks.local.want(hashes[:2])
        fetch = place.desks.local.body(hashes[2], lambda data: None)
        wanted = client._state.wants._wanted
        assert list(wanted) == [hashes[2], *hashes[:2]]
        fetch.cancel()
        assert list(wanted) == hashes[:2]
    replica.close()


async def test_the_step_panel_says_why_a_text_is_not_there(tmp_path: Path) -> None:
    maker, _ = without_bodies()
    client = Client(Replica(tmp_path / "copy.db"), "ws://127.0.0.1:9", "token")
    with workplace(tmp_path, maker, client=client) as (place, replica):
        panel = build_step(place, None)
        place.cursor.move("s1", 2)
        assert "as soon as the server is reached" in panel.text.edit.placeholderText()
        for call in client.on_absent:
            call(place.desks.local.trajectory("s1").step(2).body)
        assert "does not hold this text" in panel.text.edit.placeholderText()
        place.cursor.move("s1", 3)
        place.desks.local.detach()
        assert "switched off" in panel.text.edit.placeholderText()
        panel.deleteLater()
    replica.close()


def long_session(steps: int = 1_500) -> Maker:
    maker = Maker(5)
    for _ in range(steps):
        maker.add_step()
    return maker


def test_a_long_session_is_read_in_slices_and_the_next_time_at_once(qtbot, tmp_path: Path) -> None:
    maker = long_session()
    with workplace(tmp_path, maker) as (place, replica):
        announced: list[int] = []
        held = place.desks.local.trajectory("s1")
        assert 0 < held.seq <= fold.AT_ONCE
        assert 0 < place.desks.local.progress("s1") < 1
        place.desks.trajectory_changed.connect(lambda session: announced.append(held.seq))
        replica._writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[-3:]))
        place.desks.local._on_events("s1", 1, 1)
        qtbot.waitUntil(lambda: announced[-1:] == [len(maker.bodies) + 3], timeout=20_000)
        assert place.desks.local.progress("s1") == 1
        assert held.seq == len(maker.bodies) + 3
        assert len(held.steps) == 1_500
        files = tmp_path.rglob("*.fold")
        qtbot.waitUntil(lambda: any(files) or any(tmp_path.rglob("*.fold")), timeout=20_000)
        again = Desk(replica).trajectory("s1")
        assert again.seq == held.seq
        assert list(again.steps) == list(held.steps)
        assert list(again.items) == list(held.items)


def test_a_share_of_a_session_that_still_comes_is_one_of_all_that_the_server_has(qtbot, tmp_path: Path) -> None:
    with workplace(tmp_path, long_session()) as (place, replica):
        desk = place.desks.local
        held = desk.trajectory("s1")
        row = msgspec.structs.replace(desk.row("s1"), seq=4 * replica.head("s1"))
        desk.row = lambda session: row
        assert desk.progress("s1") == held.seq / row.seq < 0.25


def test_a_slower_machine_folds_less_at_once_and_all_of_it_in_the_end(qtbot, tmp_path: Path, monkeypatch) -> None:
    with workplace(tmp_path, long_session(500)) as (place, replica):
        events = replica.head("s1")
        assert fold.AT_LEAST < events < fold.AT_ONCE
        monkeypatch.setattr(fold, "AT_ONCE_S", 60.0)
        assert Desk(replica).trajectory("s1").seq == events
        monkeypatch.setattr(fold, "AT_ONCE_S", 0.0)
        held = place.desks.local.trajectory("s1")
        assert held.seq == fold.AT_LEAST
        qtbot.waitUntil(lambda: place.desks.local.progress("s1") == 1, timeout=20_000)
        assert held.seq == events


def test_a_fold_of_another_log_is_not_taken(tmp_path: Path) -> None:
    store = FoldStore(tmp_path / "copy.db")
    mine, other = (placed(make_session(steps=20, seed=seed)[0]) for seed in (1, 2))
    whole = fold_of("s", mine)
    store.save("s", FoldStore.encode(whole, mine[-1].body))
    assert store.load("s", lambda seqs: {s: mine[s - 1].body for s in seqs}) is not None
    assert store.load("s", lambda seqs: {s: other[s - 1].body for s in seqs if s <= len(other)}) is None
    assert store.load("unknown", lambda seqs: {}) is None


def placed(bodies: list[bytes]) -> list[Placed]:
    return [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)]
