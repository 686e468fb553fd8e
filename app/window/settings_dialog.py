"""Settings: the dialog is made from the declared table, a page per group; a change holds at once, there is no OK."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, QTime
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QPlainTextEdit,
    QSpinBox,
    QTabWidget,
    QTimeEdit,
    QWidget,
)

from app.desk.settings import GROUPS, SETTINGS, Setting, Settings
from app.kit import theme
from app.kit.boxes import column
from app.kit.i18n import translate
from app.kit.safe_text import PlainLabel
from app.kit.scrolled import Scrolled, within


class SettingsDialog(QDialog):
    """One control per setting, by group."""

    def __init__(self, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self.setWindowTitle(self.tr("Settings"))
        self.pages = QTabWidget(self, documentMode=True)
        for group, title in GROUPS.items():
            self.pages.addTab(Scrolled(self._group(group), self), _tr(title))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        whole = column((self.pages, 1), on=self, margin=4 * theme.GRID)
        tabs = self.pages.tabBar().sizeHint().width() + 12 * theme.GRID
        self.resize(self.sizeHint().expandedTo(QSize(min(tabs, within(parent, tabs, 0).width()), 0)))
        whole.addWidget(buttons)

    def _group(self, group: str) -> QWidget:
        box = QWidget(self)
        form = QFormLayout()
        column(form, 1, on=box)
        for setting in SETTINGS:
            if setting.key.startswith(f"{group}."):
                control = self._control(setting, box)
                words = "" if isinstance(setting.default, bool) else _tr(setting.label)
                form.addRow(PlainLabel(words, box, buddy=control), control)
                if self._settings.is_fixed(setting.key):
                    control.setEnabled(False)
                    control.setToolTip(self.tr("The administrator of this computer has fixed this."))
                if setting.note:
                    note = PlainLabel(_tr(setting.note), box, font=theme.small_font(self.font()), wrap=True)
                    form.addRow(PlainLabel("", box), note)
        return box

    def _control(self, setting: Setting, parent: QWidget) -> QWidget:
        value = self._settings.get(setting.key)
        if isinstance(setting.default, bool):
            check = QCheckBox(_tr(setting.label), parent)
            check.setChecked(bool(value))
            check.toggled.connect(partial(self._settings.set, setting.key))
            return check
        if setting.choices:
            combo = QComboBox(parent)
            for key, text in setting.choices:
                combo.addItem(_tr(text), key)
            combo.setCurrentIndex(max(0, combo.findData(value)))
            combo.currentIndexChanged.connect(partial(self._choose_value, setting.key, combo))
            return combo
        if setting.kind == "time":
            clock = QTimeEdit(QTime.fromString(str(value), "HH:mm"), parent)
            clock.setDisplayFormat("HH:mm")
            clock.timeChanged.connect(partial(self._set_time, setting.key))
            return clock
        if setting.kind == "lines":
            lines = QPlainTextEdit(str(value), parent, tabChangesFocus=True)
            lines.setFixedHeight(4 * self.fontMetrics().height() + 2 * theme.GRID)
            lines.textChanged.connect(partial(self._set_lines, setting.key, lines))
            return lines
        if isinstance(setting.default, int):
            count = QSpinBox(parent, minimum=int(setting.low), maximum=int(setting.high), value=int(value))
            count.valueChanged.connect(partial(self._settings.set, setting.key))
            return count
        decimals, step = (2, 0.05) if setting.high <= 1 else (1, 0.5)
        spin = QDoubleSpinBox(parent, decimals=decimals, singleStep=step, minimum=setting.low, maximum=setting.high,
                              value=float(value))
        spin.valueChanged.connect(partial(self._settings.set, setting.key))
        return spin

    def _set_time(self, key: str, time: QTime) -> None:
        self._settings.set(key, time.toString("HH:mm"))

    def _set_lines(self, key: str, lines: QPlainTextEdit) -> None:
        self._settings.set(key, lines.toPlainText())

    def _choose_value(self, key: str, combo: QComboBox, index: int) -> None:
        self._settings.set(key, combo.itemData(index))


def _tr(text: str) -> str:
    return translate("Settings", text)
