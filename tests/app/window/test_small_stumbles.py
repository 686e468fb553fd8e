"""Small things that annotators stumbled over: stale hints and titles, notices cut off, buttons for nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QTabBar, QToolButton, QWidget
from support.logs import Maker
from support.panels import told_session, workplace
from support.window import press, shown_window

from app.desk.actions import Actions
from app.guidance.view import GuidanceView
from app.kit import icons, theme, tokens
from app.kit.safe_text import PlainLabel, set_hint
from app.review.bar import ReviewBar
from app.trajectory.view import TrajectoryView
from app.window.keys_dialog import KeysDialog
from app.window.session_head import SessionHead
from app.window.window import Window
from core.domain.events import SessionStateChanged, VerdictGiven
from core.domain.verdict import Author
from core.store import log

LONG = "run.traj: The file does not hold the exact input of every step: contexts are taken from its history."


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, watched) -> None:
        super().__init__(watched)
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, watched, event) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_a_hint_that_changes_while_it_is_seen_is_painted_anew(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (window, _):
        box = window.findChild(GuidanceView).box
        window.show_panel("guidance")
        QApplication.processEvents()
        paints = Paints(box.viewport())
        set_hint(box, "Nobody is there to be guided.")
        qtbot.waitUntil(lambda: paints.count > 0)


def test_the_title_names_a_session_that_is_known_only_after_it_was_opened(qtbot, tmp_path):
    with shown_window(tmp_path, layout="live") as (window, place):
        place.cursor.move("late")
        assert window.windowTitle() == "Tiphys"
        maker = Maker(4, "Came later")

        def come(conn) -> None:
            log.create(conn, "late")
            log.append(conn, "late", maker.bodies)

        place.desks.local.replica._writer.do_blocking(come)
        place.desks.local._on_events("late", 1, len(maker.bodies))
        qtbot.waitUntil(lambda: window.windowTitle() == "Came later – Tiphys")


def test_the_acts_on_a_message_wait_until_one_is_chosen(qtbot, tmp_path):
    with shown_window(tmp_path, layout="live") as (_, place):
        assert not any(place.actions[f"guide.{key}"].isEnabled() for key in ("edit", "withdraw", "again", "effect"))


def test_the_search_in_guidance_is_left_as_it_is_entered_by_key(qtbot, tmp_path):
    maker = told_session()
    maker.guide("look at the loader")
    maker.guide("look at the split")
    with shown_window(tmp_path, maker, layout="live") as (window, place):
        place.cursor.move("s1")
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        queue = window.findChild(GuidanceView).queue
        place.actions["guide.find_all"].trigger()
        QTest.keyClicks(queue.words, "split")
        press(window, Qt.Key.Key_Down)
        assert queue.list.hasFocus() and queue.line.text == "look at the split"
        queue.words.setFocus()
        press(window, Qt.Key.Key_Escape)
        assert queue.list.hasFocus() and not queue.words.text() and queue.list.model().rowCount() == 2
        assert not place.actions["guide.find_all"].isChecked()


def test_notices_show_the_whole_of_their_sentences(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (window, place):
        place.cursor.move("s1", 2)
        for sentence in (LONG, "Short.", LONG + LONG):
            place.notices.tell(sentence, "attention", "s1")
        QApplication.processEvents()
        texts = [label for label in window.toasts.findChildren(PlainLabel) if len(label.text()) > 1]
        assert len(texts) == 3
        assert all(label.height() >= label.heightForWidth(label.width()) for label in texts)
        free = (window.menuBar().cornerWidget(), *(button for button in window.head.acts if button.isVisible()))
        assert len(free) > 1 and not any(window.toasts.geometry().intersects(
            QRect(one.mapTo(window, QPoint()), one.size())) for one in free), "what acts on a session is not covered"


def test_a_notice_of_before_the_window_is_shown_leaves_the_switch_and_what_acts_free(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (window, place):
        place.cursor.move("s1", 2)
        window.hide()
        place.notices.tell(LONG, "attention")
        window.show()
        free = (window.menuBar().cornerWidget(), *(button for button in window.head.acts if button.isVisible()))
        rooms = [QRect(one.mapTo(window, QPoint()), one.size()) for one in free]
        qtbot.waitUntil(lambda: not any(map(window.toasts.geometry().intersects, rooms)))


def test_sessions_without_a_common_beginning_say_so(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="compare") as (window, _):
        compare = window.docks["compare"].widget()
        compare.show_comparison(0, (4, 3), 4)
        assert compare.summary.text() == "They differ from the first step on."
        compare.show_comparison(1, (4, 3), 4)
        assert compare.summary.text() == "The first 1 step(s) are the same."


def test_a_long_title_is_shortened_over_the_window(qtbot, tmp_path):
    with shown_window(tmp_path, Maker(4, "word " * 60), layout="live") as (window, place):
        place.cursor.move("s1")
        assert window.windowTitle().endswith("… – Tiphys") and len(window.windowTitle()) == 89


def test_the_current_step_stays_in_sight_when_the_list_becomes_lower(qtbot, tmp_path):
    maker = Maker(4)
    for _ in range(60):
        maker.add_step()
    with shown_window(tmp_path, maker, layout="live") as (window, place):
        place.cursor.move("s1", 30)
        steps = window.docks["trajectory"].widget().list
        last = steps.rows_in_sight()[-2]
        place.cursor.to_step(steps.model().step_of_row(last))
        QApplication.processEvents()
        window.resize(window.width(), window.height() - 200)
        QApplication.processEvents()
        row = steps.currentIndex().row()
        assert row == last
        assert 0 <= steps.rowViewportPosition(row) <= steps.viewport().height() - steps.rowHeight(row)


def test_the_newest_guidance_is_in_sight_until_the_reader_scrolls_up(qtbot, tmp_path):
    maker = told_session()
    for number in range(9):
        maker.guide(f"message {number}")
    with shown_window(tmp_path, maker, layout="live") as (window, place):
        place.cursor.move("s1")
        queue = window.findChild(GuidanceView).list
        bar = queue.verticalScrollBar()
        qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
        window.resize(window.width() - 300, window.height() - 150)
        QApplication.processEvents()
        assert bar.value() == bar.maximum() > 0
        bar.setValue(0)
        window.resize(window.width() + 200, window.height() + 50)
        QApplication.processEvents()
        assert bar.value() == 0


def test_who_has_no_queue_is_led_to_a_list_that_has_sessions(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="queue") as (window, _):
        table = window.docks["queue"].widget()
        qtbot.waitUntil(lambda: "such as Undecided" in table.empty.label.text())


def test_a_first_window_leaves_room_for_its_frame_on_the_screen(qtbot, tmp_path):
    with workplace(tmp_path, told_session()) as (place, _):
        window = Window(place, tmp_path / "window.ini")
        qtbot.addWidget(window)
        room = window.screen().availableGeometry()
        assert room.height() < 1000 and room.height() - 60 <= window.height() <= room.height() - 40


def test_menu_and_status_are_as_high_as_their_words_and_no_arrow_lies_on_an_icon(qtbot, tmp_path):
    """At 1280 × 720 each pixel of chrome is one of the list less; Qt's own arrow covered the icons with a menu."""
    with shown_window(tmp_path, told_session(), layout="live") as (window, _):
        assert window.status.height() == theme.px(tokens.HEIGHTS["status"])
        assert window.menuBar().height() <= theme.px(tokens.HEIGHTS["menu"])
        plain, with_menu = QToolButton(window), QToolButton(window)
        with_menu.setMenu(QMenu(with_menu))
        for button in (plain, with_menu):
            button.setIcon(icons.icon("plus"))
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
            button.resize(40, 30)
        assert plain.grab().toImage() == with_menu.grab().toImage()


def test_the_bar_names_the_step_that_it_judges_so_that_no_number_reads_as_a_count(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (window, place):
        place.cursor.move("s1", 4)
        bar = window.findChild(ReviewBar)
        qtbot.waitUntil(lambda: (bar.number.text(), bar.state.text()) == ("Step 4", "undecided"))
        assert bar.number.fontInfo().weight() > bar.state.fontInfo().weight(), "the number is what the eye looks for"


def test_the_head_tells_a_blind_reader_nothing_of_how_far_others_reviewed(qtbot, tmp_path):
    maker = told_session()
    maker.say(VerdictGiven(step=2, value="keep"), Author(kind="person", name="ada"))
    maker.say(SessionStateChanged(state="finished", reason="done"), Author(kind="agent", name="a"))
    with workplace(tmp_path, maker) as (place, _):
        head = SessionHead(place)
        qtbot.addWidget(head)
        place.cursor.move("s1", 1)
        assert head.facts.text().endswith("not fully reviewed")
        place.settings.set("review.blind", True)
        assert head.facts.text().endswith(", not reviewed")


def test_the_head_says_why_a_session_ended_early(qtbot, tmp_path):
    maker = told_session()
    maker.say(SessionStateChanged(state="finished", reason="limit_steps"), Author(kind="agent", name="a"))
    with workplace(tmp_path, maker) as (place, _):
        head = SessionHead(place)
        qtbot.addWidget(head)
        place.cursor.move("s1", 1)
        assert "its steps are used up  ·  finished" in head.facts.text()


def test_the_sheet_of_keys_is_scrolled_by_keys(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1280, 500)
    window.show()
    dialog = KeysDialog(Actions(window), window)
    dialog.open()
    dialog.activateWindow()
    qtbot.waitUntil(lambda: dialog.focusWidget() is dialog.sheet)
    bar = dialog.sheet.verticalScrollBar()
    assert bar.maximum() > 0
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_PageDown)
    assert bar.value() > 0
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_a_click_on_a_button_that_acts_leaves_the_keys_where_they_are(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (window, place):
        place.cursor.move("s1")
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        box = window.findChild(GuidanceView).box
        place.actions["go.guide"].trigger()
        qtbot.waitUntil(box.hasFocus)
        buttons = [button for button in window.findChild(SessionHead).acts if button.isVisible() and button.isEnabled()]
        assert buttons
        for button in buttons:
            button.clicked.disconnect()  # what it does is asked about elsewhere
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            assert box.hasFocus()


def test_keys_do_not_stay_in_a_panel_that_went_behind_another_tab(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (window, place):
        place.cursor.move("s1", 2)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        remarks = window.docks["remarks"]
        window.show_panel("remarks")
        QApplication.processEvents()
        other = window.tabifiedDockWidgets(remarks)[0].windowTitle()
        remarks.widget().filter.setFocus()
        qtbot.waitUntil(remarks.widget().filter.hasFocus)
        bar, at = next((bar, n) for bar in window.findChildren(QTabBar) for n in range(bar.count())
                       if bar.isVisible() and bar.tabText(n) == other)
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center())
        qtbot.waitUntil(lambda: not remarks.is_in_front)
        qtbot.waitUntil(lambda: window.findChild(TrajectoryView).list.hasFocus())
