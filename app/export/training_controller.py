"""Runs a training as a process and draws what it reports; stopping it keeps a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.desk.worker import Worker, home_environment
from app.desk.workplace import Workplace
from app.export.training_view import TrainingView
from app.kit.timers import single_shot
from core import program
from core.store import training_environment
from core.workers.training import Metric, TrainEnd, TrainFailure, read_report

DRAW_MS = 100
SAVE_MS = 300_000
"""How long a training may take to end what it computes and to save; a large model on a processor needs minutes."""

MOST_POINTS = 200_000


class TrainingController(QObject):
    """One training at a time."""

    def __init__(self, place: Workplace, view: TrainingView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._worker: Worker | None = None
        self._points: list[Metric] = []
        self._end: TrainEnd | None = None
        self._draw = single_shot(self, DRAW_MS, self._redraw)
        view.started.connect(self.start)
        view.stopped.connect(self.stop)

    def start(self, data: str, model: str, out: str, settings: Mapping[str, str]) -> None:
        """Start training; nothing where one runs already."""
        if self._worker is not None:
            return
        self._points, self._end = [], None
        self._view.clear()
        python = training_environment.python(self._place.home)
        self._worker = Worker(command(data, model, out, settings, python), self,
                              environment=home_environment(self._place.home.path))
        self._worker.line.connect(self._on_line)
        self._worker.ended.connect(self._on_ended)
        self._view.show_running(True)
        self._view.show_state(self.tr("Starting: the model is being loaded …"))
        self._worker.start()

    def stop(self) -> None:
        """Ask the training to save and end."""
        if self._worker is not None:
            self._view.show_state(self.tr("Stopping: a checkpoint is being saved …"))
            self._worker.stop(SAVE_MS)

    def _on_line(self, line: bytes) -> None:
        try:
            report = read_report(line)
        except msgspec.ValidationError:
            self._view.add_log(line.decode("utf-8", "replace"))
            return
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # a library's own words
        if not isinstance(report, Metric):
            self._end = report
            return
        self._points.append(report)
        del self._points[:-MOST_POINTS]
        self._draw.start_once()

    def _redraw(self) -> None:
        self._view.show_points(self._points)

    def _on_ended(self, code: int, last_words: str) -> None:
        self._draw.stop()  # else it would write its progress over how the training ended
        self._redraw()
        if self._worker is not None:
            self._worker.deleteLater()
        self._worker = None
        self._view.show_running(False)
        self._view.show_state(self._sentence(code, last_words))

    def _sentence(self, code: int, last_words: str) -> str:
        end = self._end
        if end is None:
            return "✗ " + (last_words or self.tr("The training ended with code {code}.").format(code=code))
        if isinstance(end, TrainFailure) and end.error.code == "train_extra_missing":
            return self.tr("Training needs PyTorch and transformers, which are not installed here. "
                           "Install them with:  tiphys train-setup")
        if isinstance(end, TrainFailure):
            return "✗ " + end.error.sentence
        if end.done:
            return self.tr("✓ Trained. The model is in {folder}.").format(folder=end.folder)
        return self.tr("Stopped. The checkpoint is in {folder}; training into the same folder goes on.").format(
            folder=end.checkpoint or end.folder)


def command(data: str, model: str, out: str, settings: Mapping[str, str], python: Path | None = None) -> list[str]:
    """What starts the training, by the interpreter of the environment for it where there is one."""
    chosen = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    start = ["--model", model] if model else []
    return program.command("tiphys", "train", data, "--out", out, "--json", *start, *chosen, python=python)
