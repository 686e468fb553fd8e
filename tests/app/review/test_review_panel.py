"""The Review panel: what it shows offline, and verdicts through a real server there and back."""

import asyncio
import time

import msgspec
import pytest
import qasync
from PySide6.QtWidgets import QWidget
from support.panels import told_session, workplace
from support.wire import account, fill, running_client, serving

from app.desk.session_key import key_of
from app.review import panel as verdicts
from core.aio import TaskScope
from core.client.client import Client
from core.client.replica import Replica
from core.domain.events import StepAdded, decode_event, encode_event, make_event
from core.protocol.messages import Nak
from core.protocol.operations import GiveVerdict


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def place(qapp, tmp_path):
    with workplace(tmp_path, told_session()) as (told, _):
        yield told


def test_every_opinion_stands_there_with_who_and_why(place, host) -> None:
    view = verdicts.build(place, host)
    assert view._stack.currentIndex() == 0
    place.cursor.move("s1", 2)
    assert "mask" in view._opinions.text and "null_action" in view._opinions.text
    assert "looked at nothing" in view._opinions.text
    assert "masked" in view._final.text()
    assert view._counts.text() == "all opinions together: kept 1 · masked 1 · neither 8 · judged by people 1"
    place.cursor.to_step(3)
    assert "well done" in view._opinions.text and "kept" in view._final.text()


def test_blind_hides_the_others_until_the_reader_has_decided(place, host) -> None:
    view = verdicts.build(place, host)
    place.cursor.move("s1", 2)
    view.blind.setChecked(True)
    assert "null_action" not in view._opinions.text
    assert view._final.text() == ""
    assert place.settings.get("review.blind") is True
    view.blind.setChecked(False)
    assert "null_action" in view._opinions.text


def test_a_remark_that_was_begun_stays_with_its_step(place, host) -> None:
    view = verdicts.build(place, host)
    place.cursor.move("s1", 2)
    view.bar.remark.write()
    view.bar.remark.setPlainText("half a remark")
    place.cursor.to_step(3)
    assert view.bar.remark.toPlainText() == "" and view.bar.remark.isHidden()
    place.cursor.to_step(2)
    assert view.bar.remark.toPlainText() == "half a remark" and not view.bar.remark.isHidden()


async def test_once_decided_the_others_show_and_the_next_undecided_comes(place, host) -> None:
    view = verdicts.build(place, host)
    view.blind.setChecked(True)
    place.cursor.move("s1", 2)
    place.actions["review.keep"].trigger()
    assert "null_action" in view._opinions.text and "kept" in view._final.text()
    assert place.cursor.step == 2
    view.advance.setChecked(True)
    place.cursor.to_step(4)
    place.actions["review.mask"].trigger()
    assert place.cursor.step == 5
    place.actions["review.unsure"].trigger()
    assert place.cursor.step == 5, "unsure decides nothing"
    place.cursor.mark((6, 7))
    place.actions["review.keep"].trigger()
    assert (place.cursor.step, place.cursor.marks) == (8, ())
    await place.scope.close()


def test_rules_run_where_the_session_is(place, host) -> None:
    told = []
    place.notices.posted.connect(told.append)
    place.desks.local.server = "lab"
    view = verdicts.build(place, host)
    place.cursor.move(key_of("s1", "lab"), 2)
    view.rules.click()
    assert [n.sentence for n in told] == ["Rules run on the server's own computer:  tiphys judge s1"]
    assert view.rules.isEnabled()


def test_what_judges_is_off_where_no_step_is_read(place, host) -> None:
    keys = ("keep", "mask", "unsure", "none", "note", "tag", "reason", "action", "undo", "next")

    def on() -> set[str]:
        return {key for key in keys if place.actions[f"review.{key}"].isEnabled()}

    verdicts.build(place, host)
    assert on() == set()
    place.cursor.move("s1", 2)
    assert on() == set(keys) - {"undo"}
    place.actions["view.queue"].setChecked(True)
    assert on() == {"next"}, "sessions are chosen there, no step is read"
    place.actions["view.queue"].setChecked(False)
    place.cursor.move("")
    assert on() == set()


def test_next_undecided_moves_the_one_cursor(place, host) -> None:
    verdicts.build(place, host)
    place.cursor.move("s1", 2)
    place.actions["review.next"].trigger()
    assert place.cursor.step == 4


async def eventually(predicate, timeout: float = 60) -> None:
    end = time.monotonic() + timeout
    while not predicate():
        assert time.monotonic() < end, "it never happened"
        await asyncio.sleep(0.01)


def test_verdicts_go_to_the_server_come_back_and_are_undone(qapp, host, tmp_path) -> None:
    async def main() -> None:
        async with serving(tmp_path / "home") as server:
            maker = told_session()
            await fill(server, "s1", maker.bodies)
            token = account(tmp_path / "home", "wang", "view", "review")
            async with (running_client(tmp_path / "replica.db", server.url, token, "s1") as client,
                        TaskScope("panels") as scope):
                await eventually(lambda: client.replica.head("s1") == len(maker.bodies))
                with workplace(tmp_path / "home", client=client, scope=scope) as (place, _):
                    await judge(place)

    async def judge(place) -> None:
        view = verdicts.build(place, host)
        place.cursor.move("s1", 2)
        view.bar.reason.setEditText("it had looked before")
        place.actions["review.keep"].trigger()
        assert "kept" in view._final.text()
        entry = place.desks.local.trajectory("s1").step(2)
        await eventually(lambda: "person:wang" in entry.verdicts)
        assert entry.verdicts["person:wang"].reason == "it had looked before"
        await eventually(lambda: view._counts.text() == "all opinions together: kept 2 · masked 0 · neither 8 · "
                                                        "judged by people 2")
        place.actions["review.undo"].trigger()
        assert "masked" in view._final.text()
        await eventually(lambda: "person:wang" not in entry.verdicts)
        place.cursor.mark((4, 5, 6))
        place.actions["review.mask"].trigger()
        await eventually(lambda: all(place.desks.local.trajectory("s1").step(n).outcome == "mask" for n in (4, 5, 6)))
        view.bar.remark.noted.emit("a loop")
        await eventually(lambda: [n.text for n in place.desks.local.trajectory("s1").step(5).notes] == ["a loop"])

    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
        runner.run(asyncio.wait_for(main(), 60))


def test_at_the_live_tail_a_key_judges_the_newest_step_only_once_it_has_been_seen(place, host, monkeypatch) -> None:
    told, sent = [], []
    place.notices.posted.connect(told.append)
    monkeypatch.setattr(place.sender, "send", lambda session, op, **_: sent.append((op.step, op.value)))
    view = verdicts.build(place, host)
    place.cursor.move("s1", None)
    assert view._title.text().startswith("Step 10")
    place.actions["review.mask"].trigger()
    assert sent == [] and "just come" in told[0].sentence
    monkeypatch.setattr(verdicts, "SETTLED_MS", 0)
    place.actions["review.mask"].trigger()
    assert sent == [(10, "mask")]
    assert place.cursor.step is None
    place.actions["review.note"].trigger()
    assert place.cursor.step == 10


def test_a_verdict_that_no_server_has_answered_still_stands_after_a_restart(place, host) -> None:
    asyncio.run(place.desks.local.replica.add("s1", GiveVerdict(step=4, value="mask", reason="a loop")))
    told = []
    place.notices.posted.connect(told.append)
    view = verdicts.build(place, host)
    place.cursor.move("s1", 4)
    assert "masked" in view._final.text() and "a loop" in view._opinions.text
    [queued] = place.desks.local.replica.waiting()
    refusal = Nak(id=queued.id, cseq=1, kind="Denied", code="missing_scope", sentence="No.")
    asyncio.run(place.desks.local.replica.answered(refusal))
    assert "masked" not in view._final.text() and len(told) == 1


def test_a_verdict_on_what_a_step_says_no_more_is_refused_said_and_offered_again(qapp, host, tmp_path) -> None:
    """Judged offline while the step was half written: the server has the whole of it by then."""
    maker, told = told_session(), []

    async def main() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s1", maker.bodies)
            token = account(tmp_path / "home", "wang", "view", "review")
            async with running_client(tmp_path / "replica.db", server.url, token, "s1") as client:
                await eventually(lambda: client.replica.head("s1") == len(maker.bodies))
            async with TaskScope("panels") as scope:
                held = Replica(tmp_path / "replica.db")
                with workplace(tmp_path / "home", replica=held, scope=scope) as (place, mine):
                    view = verdicts.build(place, host)
                    await judge(place, mine, view, server)
                    client = Client(mine, server.url, token)
                    place.desks.local.attach(client)
                    client.watch("s1")
                    running = scope.spawn(client.run(), name="client")
                    await answered(place, mine, view)
                    running.cancel()

    async def judge(place, mine, view, server) -> None:
        place.notices.posted.connect(told.append)
        place.cursor.move("s1", 4)
        view.bar.reason.setEditText("a loop")
        place.actions["review.mask"].trigger()
        view.bar.remark.noted.emit("half a thought")
        await eventually(lambda: len(mine.waiting()) == 2)
        added = next(e for e in map(decode_event, maker.bodies) if isinstance(e.fact, StepAdded)
                     and e.fact.head.number == 4)
        other = msgspec.structs.replace(added.fact, body="ab" * 32, is_rewritten=True)
        await fill(server, "s1", [encode_event(make_event(other, added.author))])

    async def answered(place, mine, view) -> None:
        entry = lambda: place.desks.local.trajectory("s1").step(4)  # noqa: E731
        await eventually(lambda: len(told) == 2 and entry().body == "ab" * 32)
        assert "Step 4 has changed since you judged it" in told[0].sentence and "half a thought" in told[1].sentence
        assert not entry().verdicts and view._final.text() == "undecided"
        assert not view.bar.again.isHidden() and view.bar.again.text() == (
            "You chose “mask” before this step changed: say it again")
        assert view.bar.remark.toPlainText() == "half a thought" and view.bar.reason.currentText() == "a loop"
        view.bar.again.click()
        await eventually(lambda: "person:wang" in entry().verdicts)
        assert entry().verdicts["person:wang"].reason == "a loop" and view.bar.again.isHidden()

    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
        runner.run(asyncio.wait_for(main(), 60))
