"""Words are found in every session, with what stands round them, and a click opens the very step."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import Maker
from support.panels import workplace

from app.find.panel import build
from app.kit.entries import TwoLinesRole


def session(seed: int, title: str, words: str) -> Maker:
    maker = Maker(seed, title)
    maker.random.shuffle([1])
    maker.add_step()
    maker.text = lambda count: f"before {words} after"  # type: ignore[method-assign]
    maker.add_step()
    maker.guide(f"mind the {words}")
    maker.add_step()
    return maker


def test_all_sessions_are_searched_and_a_hit_opens_its_step(qtbot, tmp_path):
    with workplace(tmp_path, session(1, "First", "珊瑚 reef"), session(2, "Second", "walrus\u202e")) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(400, 300)
        panel.show()
        assert "every session" in panel.empty.label.text()
        panel.box.insert("珊瑚")
        model = panel.list.model()
        qtbot.waitUntil(lambda: model.rowCount() > 0, timeout=30_000)
        rows = [model.index(r, 0).data(TwoLinesRole) for r in range(model.rowCount())]
        assert {row.title for row in rows} == {"First"}
        assert all(row.below[a:b] == "珊瑚" for row in rows for a, b in row.spans)
        assert any(row.right == "step 2 · thought" for row in rows)
        QTest.keyClick(panel.box, Qt.Key.Key_Down)
        assert panel.list.selectionModel().isSelected(panel.list.model().index(0)), "one sees where one is"
        row = next(r for r, line in enumerate(rows) if line.right == "step 2 · thought")
        panel.list.setCurrentIndex(model.index(row, 0))
        panel.grab()
        QTest.keyClick(panel.list, Qt.Key.Key_Return)
        assert (place.cursor.session, place.cursor.step) == ("s1", 2)
        assert place.cursor.sought.search("x 珊瑚 y")
        panel.box.setText("walrus")
        qtbot.waitUntil(lambda: model.rowCount() and model.index(0, 0).data(TwoLinesRole).title == "Second",
                        timeout=30_000)
        assert all("\u202e" not in model.index(r, 0).data(TwoLinesRole).below for r in range(model.rowCount()))
        panel.box.setText("nowheretobefound")
        qtbot.waitUntil(lambda: model.rowCount() == 0, timeout=30_000)
        assert panel.empty.label.text() == "Nothing found."
