"""Training: what to train on, start and stop, and the loss as it falls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QStackedLayout,
    QWidget,
)

from app.kit import theme
from app.kit.boxes import column, row
from app.kit.folder_box import FolderBox
from app.kit.quantities import duration, number, tokens
from app.kit.safe_text import PlainLabel, visible
from core.workers.training import Metric

if TYPE_CHECKING:
    from app.export.loss_chart import LossChart

_LOG_LINES = 500


class TrainingView(QWidget):
    """Intents: `started` data folder, model folder, output folder, settings; `stopped`."""

    started = Signal(str, str, str, dict)
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.data = FolderBox(self.tr("Folder of the data set"), self.tr("Written on the first page, format TRL"), self)
        self.model = FolderBox(self.tr("Folder of the model"),
                               self.tr("SmolLM2, the small model of the training extra"), self)
        self.out = FolderBox(self.tr("Folder for the trained model"), self.tr("A new folder"), self)
        self._start = QPushButton(self.tr("Train"), self)
        self._start.clicked.connect(self._ask_start)
        self._stop = QPushButton(self.tr("Stop and keep a checkpoint"), self)
        self._stop.clicked.connect(self.stopped)
        self._state = PlainLabel("", self, wrap=True)
        self._read_off = PlainLabel("", self, elide=True, faint=True)
        self._hint = PlainLabel(self.tr("The loss and the speed are drawn here while a model trains."), self, wrap=True)
        self._log = QPlainTextEdit(self, readOnly=True, maximumBlockCount=_LOG_LINES)
        self._log.setFont(theme.mono_font())
        self._log.setAccessibleName(self.tr("What the training said"))
        self._log.setMaximumHeight(6 * self.fontMetrics().height())
        self._log.hide()
        for box in (self.data, self.model, self.out):
            box.changed.connect(self._allow_start)
            box.edit.textChanged.connect(self._allow_start)
        self.method = QComboBox(self)
        self.method.addItem(self.tr("all parameters"), "full")
        self.method.addItem(self.tr("LoRA adapter, merged at the end"), "lora")
        self.rate = QLineEdit("5e-6", self)
        self.rate.setValidator(QDoubleValidator(0.0, 1.0, 12, self.rate))
        self.rate.validator().setLocale(QLocale.c())
        self.batch = QSpinBox(self, minimum=1, maximum=4096, value=64)
        self.epochs = QSpinBox(self, minimum=1, maximum=100)
        self.thoughts = QComboBox(self)
        self.thoughts.setToolTip(self.tr("What recorded reasoning in the data set does"))
        for text, value in ((self.tr("as exported"), "data"), (self.tr("without loss"), "context"),
                            (self.tr("must train"), "keep"), (self.tr("must be absent"), "drop")):
            self.thoughts.addItem(text, value)
        self._name_fields()
        self._running = False
        self._lay_out()
        self.show_running(False)

    def _name_fields(self) -> None:
        named: tuple[tuple[QWidget, str], ...] = (
            (self.method, self.tr("Method")), (self.thoughts, self.tr("Thoughts")),
            (self.rate, self.tr("Learning rate")), (self.batch, self.tr("Batch")), (self.epochs, self.tr("Epochs")))
        for edit, name in named:
            edit.setAccessibleName(name)
            edit.setMinimumWidth(48)

    def _lay_out(self) -> None:
        form = QFormLayout(rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows,
                           fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setSpacing(theme.GRID)
        form.addRow(PlainLabel(self.tr("Data set"), self), self.data)
        form.addRow(PlainLabel(self.tr("Start from"), self), self.model)
        form.addRow(PlainLabel(self.tr("Save in"), self), self.out)
        form.addRow(PlainLabel(self.tr("Thoughts"), self), self.thoughts)
        form.addRow(PlainLabel(self.tr("Method"), self), self._hyper())
        actions = row(self._start, self._stop, (self._state, 1), spacing=2 * theme.GRID)
        chart = QWidget(self)
        self._stack = QStackedLayout(chart)
        hint = QWidget(chart)
        column(self._hint, on=hint)
        self._stack.addWidget(hint)
        column(form, actions, (chart, 1), self._read_off, self._log, on=self, spacing=2 * theme.GRID,
               margin=2 * theme.GRID)

    def _hyper(self) -> QWidget:
        """What is most often changed, in one row."""
        box = QWidget(self)
        line = row((self.method, 3), on=box, spacing=2 * theme.GRID, margin=0)
        for name, edit in ((self.tr("Learning rate"), self.rate), (self.tr("Batch"), self.batch),
                           (self.tr("Epochs"), self.epochs)):
            line.addWidget(PlainLabel(name, self))
            line.addWidget(edit, 1)
        return box

    @property
    def settings(self) -> dict[str, str]:
        """The training settings that are chosen here, by their names."""
        chosen = {"method": str(self.method.currentData()), "batch": str(self.batch.value()),
                  "thoughts": str(self.thoughts.currentData()), "epochs": str(self.epochs.value())}
        if self.rate.hasAcceptableInput() and float(self.rate.text()) > 0:
            rate = float(self.rate.text())
            chosen |= {"learning_rate": f"{rate:g}", "min_learning_rate": f"{rate / 5:g}"}
        return chosen

    def show_running(self, running: bool) -> None:
        """Whether a model trains now."""
        self._running = running
        self._stop.setVisible(running)
        self._start.setVisible(not running)
        for box in (self.data, self.model, self.out, self.method, self.thoughts, self.rate, self.batch, self.epochs):
            box.setEnabled(not running)
        self._allow_start()

    def show_points(self, points: Sequence[Metric]) -> None:
        """The progress so far."""
        if points:
            self.chart.show_points(points)
            self._stack.setCurrentIndex(1)
            self._state.setText(self._progress_text(points[-1]))

    def show_state(self, sentence: str) -> None:
        """A sentence of ours beside the button."""
        self._state.setText(sentence)

    def add_log(self, text: str) -> None:
        """What else the process said."""
        self._log.show()
        self._log.appendPlainText(visible(text, escapes=False))

    def clear(self) -> None:
        """A new training begins."""
        self._log.clear()
        self._log.hide()
        self._stack.setCurrentIndex(0)

    @cached_property
    def chart(self) -> LossChart:
        """What draws. Made with the first points: pyqtgraph and numpy take a quarter of a second to load."""
        from app.export.loss_chart import LossChart

        made = LossChart(self)
        made.reading.connect(self._read_off.setText)
        self._stack.addWidget(made)
        return made

    def _progress_text(self, last: Metric) -> str:
        parts = [self.tr("step {step} of {steps}").format(step=number(last.step), steps=number(last.steps))
                 if last.steps else self.tr("step {step}").format(step=number(last.step))]
        if last.loss is not None:
            parts.append(self.tr("loss {loss}").format(loss=f"{last.loss:.4f}"))
        if last.tokens_per_s is not None:
            parts.append(self.tr("{rate} tokens/s").format(rate=tokens(round(last.tokens_per_s))))
        if last.trained_share is not None:
            parts.append(self.tr("{share} % of the tokens trained").format(share=f"{100 * last.trained_share:.1f}"))
        if last.memory_mb:
            parts.append(self.tr("{size} GB memory").format(size=f"{last.memory_mb / 1000:.1f}"))
        if last.seconds and last.steps and 0 < last.step < last.steps:
            left = last.seconds / last.step * (last.steps - last.step)
            parts.append(self.tr("{time} left").format(time=duration(left)))
        return " · ".join(parts)

    def _allow_start(self, *_: object) -> None:
        self._start.setEnabled(not self._running and bool(self.data.path) and bool(self.out.path))

    def _ask_start(self) -> None:
        self.started.emit(self.data.path, self.model.path, self.out.path, self.settings)
