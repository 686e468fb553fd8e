"""Colours can be read: 4.5:1 or better on every background, light and dark."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractItemView
from support.panels import told_session
from support.window import shown_window

from app.export.loss_chart import LossChart
from app.kit import theme
from app.kit.contrast import LEAST, ratio
from app.kit.tokens import COLOURS, GROUNDS, MEANINGS, TERMINAL
from core.workers.training import Metric

TEXTS = ("ink", "muted", *MEANINGS, "keyword", "string", "number", "comment", "name")


@pytest.mark.parametrize("scheme", range(4))
def test_every_text_can_be_read_on_every_ground(scheme):
    least = 4.5 if scheme < 2 else LEAST
    grounds = [COLOURS[name][scheme] for name in GROUNDS]
    weak = {name: COLOURS[name][scheme] for name in TEXTS
            if min(ratio(COLOURS[name][scheme], ground) for ground in grounds) < least}
    assert weak == {}
    assert all(ratio(COLOURS[n][scheme], COLOURS[f"{n}_tint"][scheme]) >= least for n in MEANINGS), "on its own tint"
    assert ratio(COLOURS["on_fill"][scheme], COLOURS["fill"][scheme]) >= least
    for lines in ("added_line", "removed_line", "added_word", "removed_word",
                  "chance_likely", "chance_open", "chance_rare", "chance_slight"):
        assert ratio(COLOURS["ink"][scheme], COLOURS[lines][scheme]) >= 4.5
    assert min(ratio(COLOURS["edge"][scheme], COLOURS[g][scheme]) for g in ("window", "base")) >= 3


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_scheme_is_applied(qapp, scheme, dark):
    for place, strength in ((dark, "normal"), (2 + dark, "high")):
        theme.apply(qapp, scheme, strength=strength)
        assert (theme.is_dark(), theme.is_high_contrast()) == (dark, strength == "high")
        assert {n: theme.colour(n).name() for n in COLOURS} == {n: values[place] for n, values in COLOURS.items()}
        assert COLOURS["line"][place] in qapp.styleSheet() and "@" not in qapp.styleSheet()
    inks = [theme.terminal_colour(n).name() for n in TERMINAL]
    assert min(ratio(ink, theme.colour("base").name()) for ink in inks) >= LEAST
    theme.apply(qapp, scheme, strength="normal")
    assert not theme.is_high_contrast()


def test_lengths_and_sizes_scale_with_the_text(qapp):
    theme.apply(qapp, "light", 10.0)
    normal, fact = theme.px(26), theme.font_of("fact").pointSizeF()
    theme.apply(qapp, "light", 15.0)
    assert theme.px(26) == pytest.approx(1.5 * normal, abs=2) and theme.font_of("fact").pointSizeF() > fact
    theme.apply(qapp, "light", 10.0)
    assert theme.px(18) == QFontMetrics(qapp.font()).height()


def test_the_system_decides_and_a_change_is_followed_at_once(qapp, tmp_path):
    with shown_window(tmp_path) as (_, place):
        assert theme.system_wants_contrast() in (True, False)
        place.settings.set("appearance.contrast", "high")
        assert theme.is_high_contrast()
        place.settings.set("appearance.colours", "dark")
        assert theme.is_high_contrast() and theme.is_dark()
        place.settings.set("appearance.contrast", "normal")
        assert not theme.is_high_contrast() and theme.is_dark()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_selected_has_a_frame_in_high_contrast(qapp, qtbot, tmp_path, scheme):
    with shown_window(tmp_path, told_session(), layout="read") as (window, place):
        place.cursor.move("s1", 4)
        framed = set()
        for strength in ("high", "normal"):
            theme.apply(qapp, scheme, strength=strength)
            for key in ("trajectory", "sessions", "outline", "queues", "files", "export"):
                window.show_panel(key)
                view = next(v for v in window.docks[key].widget().findChildren(QAbstractItemView) if v.isVisible())
                qtbot.waitUntil(lambda view=view: view.model().rowCount() > 0)
                if not view.currentIndex().isValid():
                    view.setCurrentIndex(view.model().index(view.model().rowCount() - 1, 0))
                rect = view.visualRect(view.currentIndex())
                seen = view.viewport().grab(rect).toImage().pixelColor(rect.width() // 2, 1).name()
                if seen == theme.colour("line").name():
                    framed.add((key, strength))
        keys = ("trajectory", "sessions", "outline", "queues", "files", "export")
        assert framed == {(key, "high") for key in keys}
    theme.apply(qapp, "light", strength="normal")


def test_chinese_has_a_font(qapp):
    assert any("CJK" in family for family in theme.ui_font(10).families())
    assert any("CJK" in family for family in theme.mono_font().families())


def test_a_loss_that_is_drawn_follows_light_and_dark(qapp):
    theme.apply(qapp, "light")
    chart = LossChart()
    chart.show_points([Metric(step=1, loss=2.0), Metric(step=2, loss=1.0)])
    theme.apply(qapp, "dark")
    qapp.processEvents()
    assert chart.backgroundBrush().color() == theme.colour("base")
    axis, curve = chart.ci.getItem(0, 0).getAxis("left"), chart.ci.getItem(0, 0).listDataItems()[0]
    assert axis.textPen().color() == theme.colour("muted") and curve.opts["pen"].color() == theme.colour("live")
    chart.deleteLater()
