"""Runs a training as a process and draws what it reports; stopping it keeps a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from PySide6.QtCore import QObject

from app.desk.worker import Worker, home_environment, read_answer
from app.desk.workplace import Workplace
from app.export.model import Metric
from app.export.training_view import TrainingView
from app.kit.timers import single_shot

DRAW_MS = 100
SAVE_MS = 300_000
"""How long a training may take to end what it computes and to save; a large model on a processor needs minutes."""

_KEPT = 200_000


class TrainingController(QObject):
    """One training at a time."""

    def __init__(self, place: Workplace, view: TrainingView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._worker: Worker | None = None
        self._points: list[Metric] = []
        self._end: dict[str, Any] = {}
        self._draw = single_shot(self, DRAW_MS, self._redraw)
        view.started.connect(self.start)
        view.stopped.connect(self.stop)

    def start(self, data: str, model: str, out: str, settings: Mapping[str, str]) -> None:
        """Start training; nothing where one runs already."""
        if self._worker is not None:
            return
        self._points, self._end = [], {}
        self._view.clear()
        self._worker = Worker(command(data, model, out, settings), self,
                              environment=home_environment(self._place.home.path))
        self._worker.said.connect(self._said)
        self._worker.ended.connect(self._ended)
        self._view.show_running(True)
        self._view.show_state(self.tr("Starting: the model is being loaded …"))
        self._worker.start()

    def stop(self) -> None:
        """Ask the training to save and end."""
        if self._worker is not None:
            self._view.show_state(self.tr("Stopping: a checkpoint is being saved …"))
            self._worker.stop(SAVE_MS)

    def _said(self, told: dict[str, Any]) -> None:
        if "done" in told or "error" in told:
            self._end = told
            return
        try:
            self._points.append(read_answer(Metric, told))
        except msgspec.ValidationError:
            self._view.add_log(msgspec.json.encode(told).decode())
            return
        del self._points[:-_KEPT]
        if not self._draw.isActive():
            self._draw.start()

    def _redraw(self) -> None:
        self._view.show_points(self._points)

    def _ended(self, code: int, words: str) -> None:
        self._redraw()
        if self._worker is not None:
            self._worker.deleteLater()
        self._worker = None
        self._view.show_running(False)
        self._view.show_state(self._sentence(code, words))

    def _sentence(self, code: int, words: str) -> str:
        error = self._end.get("error")
        if isinstance(error, dict) and error.get("code") == "train_extra_missing":
            return self.tr("Training needs PyTorch and transformers, which are not installed here. "
                           "Install them with:  pip install 'tiphys[train]'")
        if isinstance(error, dict):
            return "✗ " + str(error.get("sentence", ""))
        if self._end.get("done"):
            return self.tr("✓ Trained. The model is in {folder}.").format(folder=self._end.get("folder", ""))
        if self._end.get("stopped"):
            return self.tr("Stopped. The checkpoint is in {folder}; training into the same folder goes on.").format(
                folder=self._end.get("checkpoint") or self._end.get("folder", ""))
        return "✗ " + (words or self.tr("The training ended with code {code}.").format(code=code))


def command(data: str, model: str, out: str, settings: Mapping[str, str]) -> list[str]:
    """The arguments of the Python that trains."""
    told = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    return ["-m", "core.cli", "train", data, "--out", out, "--json", *(["--model", model] if model else []), *told]
