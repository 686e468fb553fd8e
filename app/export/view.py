"""The Export and train panel: choose and check, preview token by token, train and watch the loss."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QListView,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QToolButton,
    QWidget,
)

from app.export.model import SessionChoices
from app.export.report_view import ReportView
from app.export.sample_view import SampleView
from app.export.training_view import TrainingView
from app.export.words import about
from app.kit import theme
from app.kit.boxes import column, named, row
from app.kit.elided_box import ElidedBox
from app.kit.folder_box import FolderBox
from app.kit.safe_text import PlainLabel
from core.workers.export import DATASET_FORMATS


class ChooseView(QWidget):
    """Which sessions, which format; a dry run, then writing. Intents: `checked`, `written`, `cancelled`, `picked`."""

    checked = Signal()
    written = Signal(str)
    cancelled = Signal()
    picked = Signal(str)

    def __init__(self, model: SessionChoices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = self._sessions(model)
        self._add_what()
        self._add_rows()
        self._add_opinions()
        self._add_run()
        self._lay_out()
        self.show_busy(None)

    def _sessions(self, model: SessionChoices) -> QListView:
        made = named(QListView(self), self.tr("Sessions to export"))
        made.setModel(model)
        made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setSpacing(theme.GRID // 2)
        made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        return made

    def _add_what(self) -> None:
        """Which format, of which tokenizer."""
        self.format = self._choice(self.tr("Format"), [(line.title, name) for name, line in DATASET_FORMATS.items()])
        for i, (name, line) in enumerate(DATASET_FORMATS.items()):
            self.format.setItemData(i, about(name, line), Qt.ItemDataRole.ToolTipRole)
        self._show_about()
        self.format.activated.connect(self._show_about)
        self.model = FolderBox(self.tr("Folder of the model or tokenizer"),
                               self.tr("SmolLM2, the small model of the training extra"), self)

    def _add_rows(self) -> None:
        """Which samples are made, and what each weighs."""
        self.balance = self._choice(self.tr("Balance"), [
            (self.tr("steps 7×, summaries 10×, computed once"), "auto"),
            (self.tr("repeat rows: steps 7×, summaries 10×"), "repeat"), (self.tr("a weight per row"), "weight"),
            (self.tr("none"), "none")])
        self.preset = self._choice(self.tr("Samples"), [
            (self.tr("each action once"), "once"), (self.tr("as in the paper (APOLLO)"), "paper")])
        self.preset.setToolTip(self.tr("Once: an action that was carried past a summary trains in the first sample "
                                       "only. As in the paper: each context before a summary, and the last one, trains "
                                       "all its actions."))
        self.preset.activated.connect(self._follow_preset)

    def _add_opinions(self) -> None:
        """What trains of what was judged, written by people, or thought."""
        self.unjudged = self._choice(self.tr("Not judged"), [
            (self.tr("refuse to write"), "refuse"), (self.tr("train them"), "keep"),
            (self.tr("do not train them"), "mask")])
        self.unjudged.setToolTip(self.tr("What becomes of steps that no person, rule or model judged"))
        self.taken_over = self._choice(self.tr("Written by people"), [
            (self.tr("train it as the agent's own"), "keep"), (self.tr("context alone, without loss"), "mask")])
        self.taken_over.setToolTip(self.tr("What becomes of steps that a person wrote in the agent's place"))
        self.thoughts = self._choice(self.tr("Thoughts"), [
            (self.tr("leave out (as in the paper)"), "drop"), (self.tr("show, without loss"), "context"),
            (self.tr("train with the action"), "keep")])
        self.thoughts.setToolTip(self.tr("What becomes of reasoning that was recorded before an action, where "
                                         "the chat template of the model has a place for it"))
        self.unmasked = QCheckBox(self.tr("Ignore all verdicts (ablation: train every action)"), self)

    def _add_run(self) -> None:
        """The check, the writing, and what they say."""
        self.report = ReportView(self, name=self.tr("Result of the check"))
        self.report.placeholder(self.tr(
            "Check says how many samples and tokens would be written, what would be refused and why; "
            "it writes nothing."))
        self._progress = QProgressBar(self, minimum=0, maximum=1000, textVisible=False)
        self._progress.setFixedHeight(2 * theme.GRID)
        self._check = QPushButton(self.tr("Check"), self)
        self._check.clicked.connect(self.checked)
        self._write = QPushButton(self.tr("Write …"), self)
        self._write.clicked.connect(self._ask_folder)
        self._cancel = QPushButton(self.tr("Cancel"), self)
        self._cancel.clicked.connect(self.cancelled)

    def _lay_out(self) -> None:
        picks = row(1, spacing=theme.GRID)
        for text, which in ((self.tr("All"), "all"), (self.tr("Finished"), "finished"), (self.tr("None"), "none")):
            button = QToolButton(self)
            button.setText(text)
            button.setProperty("which", which)
            button.clicked.connect(self._ask_pick)
            picks.insertWidget(picks.count() - 1, button)
        left = QWidget(self)
        column((self.list, 1), picks, on=left, spacing=theme.GRID, margin=0)
        form = QFormLayout(rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows,
                           fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setSpacing(theme.GRID)
        form.addRow(PlainLabel(self.tr("Format"), self), self.format)
        form.addRow(PlainLabel(self.tr("Tokenizer"), self), self.model)
        form.addRow(PlainLabel(self.tr("Balance"), self), self.balance)
        form.addRow(PlainLabel(self.tr("Samples"), self), self.preset)
        form.addRow(PlainLabel(self.tr("Not judged"), self), self.unjudged)
        form.addRow(PlainLabel(self.tr("Written by people"), self), self.taken_over)
        form.addRow(PlainLabel(self.tr("Thoughts"), self), self.thoughts)
        form.addRow(self.unmasked)
        buttons = row(self._check, self._write, self._cancel, 1, spacing=theme.GRID)
        right = QWidget(self)
        column(form, buttons, self._progress, (self.report, 1), on=right, spacing=2 * theme.GRID,
               margin=(2 * theme.GRID, 0, 0, 0))
        split = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        split.addWidget(left)
        split.addWidget(right)
        split.setSizes([200, 260])
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 2)
        column(split, on=self, margin=2 * theme.GRID)

    @property
    def options(self) -> dict[str, object]:
        """The options as the worker takes them."""
        return {"balance": self.balance.currentData(), "verdicts": "none" if self.unmasked.isChecked() else "final",
                "unjudged": self.unjudged.currentData(), "preset": self.preset.currentData(),
                "taken_over": self.taken_over.currentData(), "thoughts": self.thoughts.currentData()}

    def _choice(self, name: str, choices: list[tuple[str, str]]) -> ElidedBox:
        """A box of (text, value)."""
        box = named(ElidedBox(self), name)
        for text, value in choices:
            box.addItem(text, value)
        return box

    def _follow_preset(self) -> None:
        """The paper's rows are repeated; a person may choose otherwise afterwards."""
        balance = "repeat" if self.preset.currentData() == "paper" else "auto"
        self.balance.setCurrentIndex(self.balance.findData(balance))

    def show_chosen(self, count: int) -> None:
        """How many sessions are ticked."""
        self._chosen = count
        self._check.setEnabled(count > 0)
        self._write.setEnabled(count > 0)

    def show_busy(self, share: float | None) -> None:
        """The worker's progress, 0–1; None when it rests."""
        self._progress.setVisible(share is not None)
        self._cancel.setVisible(share is not None)
        self._progress.setRange(0, 1000 if share else 0)
        self._progress.setValue(int(1000 * (share or 0)))
        if share is not None:
            self.report.show_waiting(share)
        self._check.setEnabled(share is None and getattr(self, "_chosen", 0) > 0)
        self._write.setEnabled(share is None and getattr(self, "_chosen", 0) > 0)

    def _ask_pick(self) -> None:
        self.picked.emit(str(self.sender().property("which")))

    def _show_about(self) -> None:
        self.format.setToolTip(str(self.format.currentData(Qt.ItemDataRole.ToolTipRole)))

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("An empty or new folder for the data set"),
                             fileMode=QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.written)
        dialog.open()


class ExportView(QTabWidget):
    """Three pages: choose, preview, train."""

    def __init__(self, model: SessionChoices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choose = ChooseView(model, self)
        self.preview = SampleView(self)
        self.training = TrainingView(self)
        self.setDocumentMode(True)
        self.addTab(_scrolled(self.choose), self.tr("Choose"))
        self.addTab(self.preview, self.tr("Preview"))
        self.addTab(_scrolled(self.training), self.tr("Train"))


def _scrolled(page: QWidget) -> QScrollArea:
    """A page that may be shown smaller than it likes: a dock beside it would have to make room else."""
    area = QScrollArea(widgetResizable=True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its controls take the keys and scroll it along
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(page)
    return area
