"""The guide through the demonstration: each step ends when the thing was done, × ends it, and it takes no keyboard."""

from __future__ import annotations

import contextlib
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QToolBar
from support.eventually import eventually
from support.logs import Maker
from support.window import shown_window

from app.sessions.new import DEMONSTRATION
from app.window.tour import ERRING, Tour, TourBand
from core.domain.events import GuidanceQueued, VerdictGiven
from core.domain.verdict import Author
from core.protocol.operations import Guide
from core.store import outbox


@contextlib.contextmanager
def touring(folder: Path, maker: Maker) -> Iterator[tuple]:
    with shown_window(folder, maker, layout="live") as (made, place):
        tour = Tour(place, made)
        place.cursor.move("s1")
        yield made, place, tour, made.findChild(TourBand)
        tour.setParent(None)


def again(folder: Path) -> Path:
    """Where the window of a restart finds what the first one stored."""
    (folder / "again").mkdir()
    return folder / "again"


def demonstration() -> Maker:
    maker = Maker(0, task=DEMONSTRATION)
    for _ in range(3):
        maker.add_step()
    return maker


def test_the_guide_walks_through_look_guide_judge_and_export(tmp_path):
    maker = demonstration()
    with touring(tmp_path, maker) as (made, place, _, band):
        before = QApplication.focusWidget()
        assert band.isVisible() and (band.title.text(), band.count.text()) == ("Look", "1 of 4")
        assert made.docks["trajectory"].isAncestorOf(band), "it stands beside what it speaks of"
        made.show_panel("takeover")
        QApplication.processEvents()
        band.act.click()
        QApplication.processEvents()
        assert made.docks["guidance"].isAncestorOf(band)
        assert made.docks["guidance"].is_in_front, "nor is it left behind another panel's tab"
        assert place.sight.step == 1 and band.title.text() == "Tell it something"
        assert band.way.at == 1 and band.sentence.wordWrap()
        band.act.click()
        assert "held-out" in made.docks["guidance"].widget().box.toPlainText()
        assert QApplication.focusWidget() is before or made.docks["guidance"].isAncestorOf(QApplication.focusWidget())
    maker.say(GuidanceQueued(guidance="g1", text="hold out"), Author(kind="person", name="li"))
    maker.say(VerdictGiven(step=1, value="mask"), Author(kind="person", name="li"))
    with touring(tmp_path / "again", maker) as (made, place, tour, band):
        assert place.sight.step is None and band.title.text() == "Hand it on", "who speaks has looked"
        place.cursor.to_step(1)
        QApplication.processEvents()
        assert band.height() < 3 * band.act.height(), "over the review bar it takes little of what it speaks of"
        assert band.title.text() == "Hand it on" and made.findChild(QToolBar, "tour").isAncestorOf(band)
        band.act.click()
        assert made.layouts.current == "export" and not band.isVisible()
        tour._state.sync()
    shutil.copy(tmp_path / "again" / "window.ini", again(tmp_path / "again"))
    with touring(tmp_path / "again" / "again", maker) as (*_, band):
        assert not band.isVisible(), "who went through it is not led through it again"


def guided() -> Maker:
    maker = demonstration()
    maker.say(GuidanceQueued(guidance="g1", text="hold out"), Author(kind="person", name="li"))
    return maker


def test_in_a_small_window_the_guide_leaves_the_box_whole_and_the_list_what_it_needs(qtbot, tmp_path):
    with touring(tmp_path, demonstration()) as (made, place, _, band):
        made.resize(1272, 672)
        made.lay_out("live")
        QApplication.processEvents()
        band.act.click()
        dock, steps = made.docks["guidance"], made.docks["trajectory"]
        qtbot.waitUntil(lambda: dock.isAncestorOf(band) and dock._room.height() >= dock.need)
        made.thin.fit()
        QApplication.processEvents()
        assert dock._room.height() >= dock.need, "what it grew to stays"
        writer = place.desks.local.replica._writer
        writer.do_blocking(lambda conn: outbox.add(conn, "s1", Guide(guidance="g9", text="Wait.")))
        place.desks.outbox_changed.emit()
        qtbot.waitUntil(dock.widget().queue.list.isVisible)
        QApplication.processEvents()
        assert steps._room.height() >= steps.need


async def test_the_guide_masks_the_step_that_it_speaks_of(tmp_path):
    maker = guided()
    body = maker._body("create_file", fails=False)
    maker.step += 1
    wrote = replace(body.actions[0], arguments={"filename": ERRING, "content": "DATA = 'data/test.jsonl'"})
    maker.say(maker._step_fact(replace(body, number=maker.step, actions=(wrote,))))
    maker.add_step()
    with touring(tmp_path, maker) as (_, place, _, band):
        place.cursor.to_step(1)
        assert (band.title.text(), band.act.text()) == ("Judge", "Mask step 4") and band.act.isVisible()
        band.act.click()
        held = place.desks.of("s1").replica
        await eventually(lambda: held.commands("s1"))
        assert [(q.op.step, q.op.value) for q in held.commands("s1")] == [(4, "mask")]
        await place.scope.close()


def test_the_guide_offers_no_mask_where_nothing_used_the_test_data_yet(tmp_path):
    with touring(tmp_path, guided()) as (*_, band):
        assert band.title.text() == "Judge" and not band.act.isVisible()


def test_the_step_that_is_to_be_masked_is_the_one_that_takes_the_test_data():
    script = Path(__file__).parents[3] / "resources" / "tasks" / DEMONSTRATION / "script.toml"
    turns = tomllib.loads(script.read_text("utf-8"))["turn"]
    first = next(turn for turn in turns if ERRING in str(turn.get("calls")))
    assert "data/test.jsonl" in str(first["calls"])


def test_the_guide_is_closed_for_good_and_comes_back_from_the_menu(tmp_path):
    with touring(tmp_path, demonstration()) as (made, place, tour, band):
        band.closed.emit()
        assert not band.isVisible()
        tour._state.sync()
    shutil.copy(tmp_path / "window.ini", again(tmp_path))
    with touring(tmp_path / "again", demonstration()) as (made, place, tour, band):
        assert not band.isVisible() and isinstance(made.findChild(QToolBar, "tour"), QToolBar)
        place.actions["help.guide"].trigger()
        assert band.isVisible()
    with shown_window(tmp_path / "other", Maker(1)) as (made, place):
        tour = Tour(place, made)
        place.cursor.move("s1")
        assert not made.findChild(TourBand).isVisible(), "another session is no demonstration"
        tour.setParent(None)
