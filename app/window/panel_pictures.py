"""Pictures of each panel and dialog by itself: for the manual, and to be looked at."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.charts.view import ChartsView
from app.compare.panel import CompareController
from app.guidance.view import GuidanceView
from app.step.eye_view import EyeView
from app.window.bootstrap import Desktop
from app.window.keys_dialog import KeysDialog
from app.window.palette_controller import PaletteController
from app.window.palette_dialog import Palette
from app.window.settings_dialog import SettingsDialog

SETTLE_S = 0.7
"""Bodies, colours and layouts settle."""

PANEL = (760, 520)
"""The size of a panel's picture."""


async def take_panels(desktop: Desktop, out: Path, other: str) -> None:
    """Every panel floating, then the dialogs and what opens inside panels."""
    await _compared(desktop, out, other)
    desktop.window.filling.fill()
    for key, dock in desktop.window.docks.items():
        dock.setFloating(True)
        dock.show()
        dock.resize(*PANEL)
        await shoot(dock, out / f"panel-{key}.png")
        dock.hide()
    desktop.window.lay_out("live")
    await _inside(desktop, out)
    await _dialogs(desktop, out)


async def _compared(desktop: Desktop, out: Path, other: str) -> None:
    """Two sessions side by side, and over one another in the charts."""
    if other:
        for controller in desktop.window.findChildren(CompareController):
            controller.compare_with(other)
        for charts in desktop.window.findChildren(ChartsView):
            charts.other_toggled.emit(other, True)
        for _ in range(100):
            if desktop.desks.of(other).trajectory(other).steps:
                break
            await asyncio.sleep(0.1)
    desktop.window.lay_out("compare")
    await shoot(desktop.window, out / "compare.png")


async def _inside(desktop: Desktop, out: Path) -> None:
    """The eye with a text looked for; the steps before and after a message; the files by folder, side by side."""
    actions = desktop.actions
    trajectory = desktop.place.sight.trajectory
    assert trajectory is not None
    desktop.cursor.to_step(trajectory.steps[-1].head.number)
    actions["view.eye"].setChecked(True)
    for eye in desktop.window.findChildren(EyeView):
        eye.presence.ask("test split")
    for panel in desktop.window.findChildren(GuidanceView):
        panel.list.setCurrentIndex(panel.list.model().index(0, 0))
        actions["guide.effect"].setChecked(True)
    actions["files.sides"].setChecked(True)
    actions["files.tree"].setChecked(True)
    await shoot(desktop.window, out / "inside.png")
    for key in ("view.eye", "guide.effect", "files.sides", "files.tree"):
        actions[key].setChecked(False)


async def _dialogs(desktop: Desktop, out: Path) -> None:
    window, place = desktop.window, desktop.place
    made: tuple[tuple[str, QDialog], ...] = (
        ("settings", SettingsDialog(place.settings, window)), ("keys", KeysDialog(place.actions, window)),
        ("palette", Palette(window.findChildren(PaletteController)[0].commands(), window)))
    for name, dialog in made:
        dialog.show()
        await shoot(dialog, out / f"dialog-{name}.png")
        dialog.close()


async def shoot(widget: QWidget, path: Path) -> None:
    """Save what a widget shows once it has settled."""
    await asyncio.sleep(SETTLE_S)
    for _ in range(100):
        if not any(edit.isVisible() and edit.placeholderText().endswith("…") and not edit.toPlainText()
                   for edit in widget.findChildren(QPlainTextEdit) if edit.isReadOnly()):
            break
        await asyncio.sleep(0.1)  # a text is being fetched
    widget.grab().save(str(path))
    sys.stdout.write(f"{path}\n")
    sys.stdout.flush()
