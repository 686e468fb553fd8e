"""The dialog of a new session by itself: where its keys go, and that its words have their room."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QWidget

from app.desk.session_key import OWN
from app.sessions.new_dialog import NewSessionDialog, Offer, TaskChoice
from core.domain.host_rights import HostRight
from core.domain.task import Limits
from core.domain.task_terms import TaskTerms

RIGHT = HostRight("network", "main")
TERMS = TaskTerms(text="Write the sum into answer.txt.\n" * 9, limits=Limits(steps=40, wall_s=900, evaluations=2))
OFFER = Offer(tuple(TaskChoice(f"task-{n}", f"Add up a long column of numbers, try {n}", ("main",), (RIGHT,), "digest",
                               TERMS) for n in range(3)))


@pytest.fixture
def dialog(qtbot):
    """Shown over a window of the smallest size, and asking."""
    window = QWidget()
    window.resize(1280, 720)
    window.show()
    made = NewSessionDialog([(OWN, "This computer")], OWN, window)
    made.ask()
    made.open()
    qtbot.waitExposed(made)
    made.activateWindow()
    qtbot.waitUntil(lambda: made.focusWidget() is not None)
    yield made
    window.deleteLater()


def test_the_keys_choose_a_task_as_soon_as_there_are_some(dialog):
    dialog.show_offer(OWN, OFFER)
    assert dialog.focusWidget() is dialog.task
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Down)
    assert dialog.task.currentData() == "task-1"


def test_who_chose_a_model_meanwhile_stays_there(dialog):
    dialog.model.setFocus()
    QTest.keyClick(dialog.model, Qt.Key.Key_Down)
    dialog.show_offer(OWN, OFFER)
    assert dialog.focusWidget() is dialog.model


def test_no_sentence_moves_the_dialog_or_takes_the_room_of_another(dialog, qtbot):
    dialog.show_offer(OWN, OFFER)
    width = dialog.width()
    dialog.model.setCurrentIndex(dialog.model.findData("openai"))
    for address, key in (("", ""), ("notaurl", ""), ("http://10.0.0.5/v1?x=1", "sk-" + "a" * 50),
                         ("https://" + "a" * 80 + ".example/v1", "MY_KEY")):
        for line, text in ((dialog.url, address), (dialog.key, key)):
            line.setText(text)
        for sandbox in (0, 1):
            dialog.sandbox.setCurrentIndex(sandbox)
            qtbot.wait(1)  # layouts are made when Qt comes to it
            assert dialog.width() == width
            about = dialog.about
            assert about.text.geometry().bottom() < about.budget.geometry().top()
            for label in (dialog.sends, about.budget, about.sandbox, about.rights, dialog.sheet.lines):
                if label.isVisible():
                    assert label.height() >= label.heightForWidth(label.width()), label.text()
            start = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
            assert start.mapTo(dialog, QPoint(0, start.height())).y() <= dialog.height() <= 720


def test_tab_never_stops_on_what_shows_no_focus(dialog):
    dialog.show_offer(OWN, OFFER)
    passed = [dialog.focusWidget()]
    while len(passed) < 20:
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        passed.append(dialog.focusWidget())
    assert {type(w).__name__ for w in passed} <= {"ElidedBox", "QComboBox", "QPlainTextEdit", "QCheckBox",
                                                  "QPushButton"}


def test_a_dialog_that_grows_stays_on_the_screen_and_names_rights_once(dialog):
    room = dialog.screen().availableGeometry()
    dialog.move(dialog.x(), room.bottom() - 200)
    dialog.show_offer(OWN, OFFER)
    assert dialog.frameGeometry().bottom() <= room.bottom(), "its buttons, too"
    assert dialog.sheet.isVisible() and not dialog.about.rights.isVisible()
    dialog.show_offer(OWN, Offer((TaskChoice("plain", "Plain", ("main",), terms=TERMS),)))
    assert not dialog.sheet.isVisible() and dialog.about.rights.isVisible()


def test_evaluations_are_named_only_where_somebody_evaluates(dialog):
    for is_scored in (True, False):
        terms = replace(TERMS, is_scored=is_scored)
        dialog.show_offer(OWN, Offer((TaskChoice("plain", "Plain", ("main",), terms=terms),)))
        assert ("evaluation" in dialog.about.budget.text()) is is_scored
        assert " · 15 min" in dialog.about.budget.text() and "00" not in dialog.about.budget.text()
