"""What entered the context for a step stands under a border that says how much it is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import Maker
from support.window import SHIFT, press, shown_window

from app.kit import quantities, theme
from app.step.context import ContextModel
from app.step.eye_view import EyeView
from core.domain.context import MessageRef


def refs(*tokens: int) -> list[MessageRef]:
    return [MessageRef(hash=f"{number:064x}", role="user", tokens=count, source=f"step:{number}")
            for number, count in enumerate(tokens, 1)]


def said(model: ContextModel) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_a_border_stands_over_each_run_of_what_entered_with_its_own_figures(qtmodeltester):
    model = ContextModel()
    task, summary, stayed, call, result = all_of = refs(10, 20, 30, 1000, 747)
    model.show([task, stayed], all_of, entered="Entered for 9.38")
    qtmodeltester.check(model)
    assert said(model) == ["1", "Entered for 9.38 · 1 message(s) · +20 tokens", "2", "3",
                           "Entered for 9.38 · 2 message(s) · +1,747 tokens", "4", "5"]
    assert [model.row_of(one.hash) for one in (summary, call, result)] == [2, 5, 6], "no message is its border"
    model.mark_holding(frozenset({call.hash}))
    assert model.first_holding() == 5
    model.set_shown("entered")
    assert said(model) == ["2", "4", "5"], "where nothing else is listed nothing parts it"
    model.show(all_of, all_of, entered="Entered for 9.39")
    model.set_shown("context")
    assert len(said(model)) == len(all_of)


def test_the_border_lies_over_all_columns_is_drawn_and_passed_by_the_keys(qtbot, tmp_path):
    maker = Maker(1)
    for _ in range(4):
        maker.add_step("run_command")
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 4)
        press(window, Qt.Key.Key_C)
        table = window.findChild(EyeView).table
        model = table.model()
        qtbot.waitUntil(lambda: any(line.more and not line.is_border for line in model.lines))
        [at] = [row for row, line in enumerate(model.lines) if line.is_border]
        entered = [line.ref for line in model.lines if line.change == "entered"]
        figures = f"{len(entered)} message(s) · +{quantities.number(sum(ref.tokens for ref in entered))} tokens"
        assert model.index(at, 0).data() == f"Entered for 4 · {figures}" and at == model.rowCount() - len(entered) - 1
        assert table.columnSpan(at, 0) == model.columnCount()
        assert table.columnWidth(0) < table.width() // 8, "its words make no column wide"
        room = table.visualRect(model.index(at, 0))
        shown = table.viewport().grab(room).toImage()
        assert [shown.pixelColor(room.width() - 3, y).name() for y in (0, 8)] == [
            theme.colour(name).name() for name in ("keep", "keep_tint")]
        table.setFocus()
        table.selectRow(at + 1)
        QTest.keyClick(table, Qt.Key.Key_Up)
        assert table.currentIndex().row() == at - 1


def test_the_chosen_message_stays_chosen_while_a_text_of_other_steps_is_looked_for(qtbot, tmp_path):
    maker = Maker(1)
    maker.add_step("run_command")
    maker.add_step("run_command")
    maker.guide("use the marmalade split")
    maker.add_step("run_command")
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 2)
        press(window, Qt.Key.Key_C)
        eye = window.findChild(EyeView)
        qtbot.waitUntil(lambda: eye.table.model().index(0, 3).data() == "–")
        chosen = eye.table.currentIndex().row()
        press(window, Qt.Key.Key_C, SHIFT)
        QTest.keyClicks(eye.presence.box, "marmalade")
        qtbot.waitUntil(lambda: "Not yet" in eye.presence.answer.text(), timeout=20_000)
        assert [one.row() for one in eye.table.selectionModel().selectedRows()] == [chosen] != [-1]
