"""The rules in the window: what each would change in the open session, switched and tuned by hand."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QSpinBox, QWidget
from support.logs import PERSON, Maker
from support.panels import workplace

from app.kit.entries import EntryRole, TwoLinesRole
from app.review.rules import MEANINGS, lines, meaning
from app.review.rules_controller import RulesController
from app.review.rules_dialog import RulesDialog
from core.domain.events import VerdictGiven
from core.supervision.rule_file import FILE, read_rule_file
from core.supervision.rules import RULES
from core.workers.rules import RuleLine


def failing() -> Maker:
    made = Maker(5)
    for fails in (False, True, True, False):
        made.add_step(fails=fails)
    made.say(VerdictGiven(step=2, value="keep", reason="it was a probe"), PERSON)
    return made


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def place(qapp, tmp_path):
    with workplace(tmp_path / "home", failing()) as (told, _):
        yield told


def opened(place, host, qtbot, run=lambda: None) -> RulesDialog:
    place.cursor.move("s1")
    controller = RulesController(place, host, run)
    controller.open()
    dialog = controller._dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.model.rowCount() >= len(RULES.names()) and bool(dialog._effects), timeout=60_000)
    return dialog


def row_of(dialog: RulesDialog, rule: str):
    names = [dialog.model.index(i).data(EntryRole) for i in range(dialog.model.rowCount())]
    return dialog.model.index(names.index(rule))


def choose(dialog: RulesDialog, rule: str) -> None:
    dialog.list.setCurrentIndex(row_of(dialog, rule))


def right(dialog: RulesDialog, rule: str) -> str:
    return row_of(dialog, rule).data(TwoLinesRole).right


def test_what_a_rule_would_change_is_seen_before_it_is_switched_on(place, host, qtbot) -> None:
    dialog = opened(place, host, qtbot)
    choose(dialog, "error_result")
    assert right(dialog, "error_result") == "masks 1" and dialog.on.isChecked()
    assert "in this session: 2." in dialog.effect.text() and "Kept by a person all the same: 1." in dialog.effect.text()
    assert [dialog.found.index(i).data(EntryRole) for i in range(dialog.found.rowCount())] == [2, 3]
    dialog.on.click()
    file = place.home.path / "rules" / FILE
    qtbot.waitUntil(lambda: right(dialog, "error_result") == "would mask 1", timeout=60_000)
    assert read_rule_file(file).rules == {"error_result": {"enabled": False}} and not dialog.on.isChecked()
    dialog.usual.click()
    qtbot.waitUntil(lambda: right(dialog, "error_result") == "masks 1", timeout=60_000)
    assert read_rule_file(file).rules == {} and not dialog.usual.isEnabled()
    dialog.reject()


def test_a_rule_is_tuned_for_the_sessions_of_a_task(place, host, qtbot) -> None:
    dialog = opened(place, host, qtbot)
    dialog.scope.setCurrentIndex(1)
    dialog.scope.activated.emit(1)
    choose(dialog, "idle_gpus")
    box = dialog.boxes["gpus"]
    assert isinstance(box, QSpinBox) and dialog.task == "task_5"
    box.setValue(8)
    box.editingFinished.emit()
    qtbot.waitUntil(lambda: dialog._rules["idle_gpus"].settings["gpus"] == 8, timeout=60_000)
    assert read_rule_file(place.home.path / "rules" / FILE).tasks["task_5"].rules == {"idle_gpus": {"gpus": 8}}
    choose(dialog, "second_edit")
    assert list(dialog.boxes) == ["any_file"] and isinstance(dialog.boxes["any_file"], QCheckBox)
    dialog.reject()


def test_a_step_that_is_found_is_gone_to_and_the_rules_can_be_run(place, host, qtbot) -> None:
    ran = []
    dialog = opened(place, host, qtbot, lambda: ran.append(1))
    choose(dialog, "error_result")
    dialog.examples.setCurrentIndex(dialog.found.index(1))
    QTest.keyClick(dialog.examples, Qt.Key.Key_Return)
    assert place.cursor.step == 3
    dialog.run.click()
    assert ran == [1]
    dialog.reject()


def test_blind_judging_shows_nothing_of_what_rules_find(place, host, qtbot) -> None:
    place.settings.set("review.blind", True)
    place.cursor.move("s1")
    controller = RulesController(place, host, lambda: None)
    controller.open()
    dialog = controller._dialog
    qtbot.waitUntil(lambda: dialog.model.rowCount() > 0 and "blindly" in dialog.problem.text(), timeout=60_000)
    assert not dialog._effects and dialog.found.rowCount() == 0
    dialog.reject()


def test_a_file_that_cannot_be_read_is_said(place, host, qtbot) -> None:
    folder = place.home.path / "rules"
    folder.mkdir()
    (folder / FILE).write_text("[rules\n")
    controller = RulesController(place, host, lambda: None)
    controller.open()
    qtbot.waitUntil(lambda: "rules.toml cannot be read" in controller._dialog.problem.text(), timeout=60_000)
    controller._dialog.reject()


def test_every_rule_has_words_and_a_persons_own_its_name(qapp) -> None:
    assert set(MEANINGS) == set(RULES.names())
    assert meaning("wordy") == "wordy" and "off" in lines(RuleLine(name="wordy", enabled=False), None).below
