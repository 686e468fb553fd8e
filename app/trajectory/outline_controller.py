"""Wires the outline beside the step list: the phases of the session, kept up while it is open."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from app.trajectory.model import TrajectoryModel
from app.trajectory.outline import Phase, lines_of, phases_of
from app.trajectory.view import TrajectoryView

RENEW_MS = 300
"""While a session grows its outline is read again this often at most."""


class OutlineController(QObject):
    """Nothing is computed while the outline is closed."""

    def __init__(self, place: Workplace, model: TrajectoryModel, panel: TrajectoryView,
                 go: Callable[[int], None], here: Callable[[], int]) -> None:
        """`go(item)` shows an item; `here()` is the one that is looked at, -1 for none."""
        super().__init__(panel)
        self._model, self._panel, self._go, self._here = model, panel, go, here
        self._timer = single_shot(self, RENEW_MS, self.show)
        self._action = place.actions["go.outline"]
        self._action.toggled.connect(self._on_toggled)
        panel.outline_button.toggled.connect(self._action.setChecked)
        panel.outline.opened.connect(self._on_opened)
        place.sight.grew.connect(self._on_grew)
        place.sight.stepped.connect(self._on_stepped)

    def show(self) -> None:
        """Show the phases, and mark the one that is read."""
        trajectory = self._model.trajectory
        if not self._action.isChecked():
            return
        phases = phases_of(trajectory) if trajectory is not None else []
        self._panel.phases.show([(phase, lines_of(trajectory, phase)) for phase in phases] if trajectory else [])
        self._mark()

    def _mark(self) -> None:
        here = self._here()
        entries = self._panel.phases.entries
        row = next((i for i, (phase, _) in enumerate(entries) if isinstance(phase, Phase)
                    and phase.first <= here <= phase.last), len(entries) - 1 if here < 0 else -1)
        if row >= 0:
            self._panel.outline.setCurrentIndex(self._panel.phases.index(row))

    def _on_toggled(self, on: bool) -> None:
        self._panel.outline_button.setChecked(on)
        self._panel.outline.setVisible(on)
        if on:
            self.show()
            self._panel.outline.setFocus()

    def _on_opened(self, phase: object) -> None:
        if isinstance(phase, Phase):
            self._go(phase.first)

    def _on_grew(self) -> None:
        if self._action.isChecked() and not self._timer.isActive():
            self._timer.start()

    def _on_stepped(self) -> None:
        if self._action.isChecked():
            self._timer.start()
