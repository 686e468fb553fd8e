"""A choice in little room: whole words where they fit, an ellipsis where not, and never a letter cut."""

from __future__ import annotations

from app.kit.elided_box import ElidedBox
from app.trajectory.filter_bar import FilterBar


def test_words_that_have_no_room_end_in_an_ellipsis(qtbot):
    box = ElidedBox(None)
    qtbot.addWidget(box)
    box.addItem("Judged by anybody at all")
    box.resize(90, 30)
    assert box.drawn != box.words == "Judged by anybody at all" and box.drawn.endswith("…")
    box.resize(400, 30)
    assert box.drawn == box.words


def test_the_filters_of_steps_take_two_lines_and_cut_no_word(qtbot):
    bar = FilterBar()
    qtbot.addWidget(bar)
    for width in (360, 540, 900):
        bar.resize(width, bar.heightForWidth(width) if bar.hasHeightForWidth() else bar.sizeHint().height())
        bar.show()
        for box in bar.boxes.values():
            fits = box.fontMetrics().horizontalAdvance(box.words) < box.width() - 40
            assert (box.drawn == box.words) or not fits
            assert box.drawn == box.words or box.drawn.endswith("…")
    assert bar.clear.geometry().top() < bar.boxes["time"].geometry().bottom(), "no third line for a button alone"
