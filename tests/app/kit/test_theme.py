"""Colours can be read: 4.5:1 or better on every background, light and dark."""

from __future__ import annotations

import pytest
from support.window import shown_window

from app.export.loss_chart import LossChart
from app.kit import theme
from app.kit.contrast import LEAST, ratio
from core.workers.training import Metric

BACKGROUNDS = ("window", "base", "alternate", "selected", "button")


@pytest.mark.parametrize("dark", [0, 1])
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_colour_has_contrast(background, dark):
    colours = {**theme.COLOURS, "text": theme.SURFACES["text"]}
    weak = {name: pair[dark] for name, pair in colours.items()
            if ratio(pair[dark], theme.SURFACES[background][dark]) < 4.5}
    assert weak == {}


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_scheme_is_applied(qapp, scheme, dark):
    theme.apply(qapp, scheme)
    assert theme.is_dark() is dark
    assert theme.colour("error").name() == theme.COLOURS["error"][dark]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_high_contrast_is_seven_to_one_everywhere(qapp, scheme):
    theme.apply(qapp, scheme, strength="high")
    assert theme.is_high_contrast() and theme.is_dark() is (scheme == "dark")
    grounds = [theme.colour(name).name() for name in BACKGROUNDS]
    names = [*theme.COLOURS, "text", "accent", "line"]
    weak = {n: theme.colour(n).name() for n in names if min(ratio(theme.colour(n).name(), g) for g in grounds) < LEAST}
    assert weak == {}
    inks = [theme.terminal_colour(n).name() for n in theme.TERMINAL]
    assert min(ratio(ink, grounds[1]) for ink in inks) >= LEAST
    palette = qapp.palette()
    for role, ground in ((palette.ColorRole.Text, palette.ColorRole.Base),
                         (palette.ColorRole.PlaceholderText, palette.ColorRole.Base),
                         (palette.ColorRole.ButtonText, palette.ColorRole.Button),
                         (palette.ColorRole.HighlightedText, palette.ColorRole.Highlight)):
        assert ratio(palette.color(role).name(), palette.color(ground).name()) >= LEAST
    theme.apply(qapp, scheme)
    assert not theme.is_high_contrast()


def test_the_system_decides_and_a_change_is_followed_at_once(qapp, tmp_path):
    with shown_window(tmp_path) as (_, place):
        assert theme.system_wants_contrast() in (True, False)
        place.settings.set("appearance.contrast", "high")
        assert theme.is_high_contrast()
        place.settings.set("appearance.colours", "dark")
        assert theme.is_high_contrast() and theme.is_dark()
        place.settings.set("appearance.contrast", "normal")
        assert not theme.is_high_contrast() and theme.is_dark()


def test_every_icon_draws(qapp):
    names = [p.stem for p in (theme.RESOURCES / "icons").glob("*.svg")]
    assert names
    for name in names:
        assert not theme.icon(name).pixmap(16, 16).isNull()


def test_icons_follow_the_scheme(qapp):
    icon = theme.icon("eye")
    inks = []
    for scheme in ("light", "dark"):
        theme.apply(qapp, scheme)
        image = icon.pixmap(32, 32).toImage()
        inks.append({image.pixelColor(x, y).name() for x in range(32) for y in range(32)
                     if image.pixelColor(x, y).alpha() == 255})
    assert theme.SURFACES["text"][0] in inks[0]
    assert theme.SURFACES["text"][1] in inks[1]


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
