"""The rules: what each masks and why, switched and tuned, with what that changes in the open session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.kit import theme
from app.kit.boxes import column, named, row
from app.kit.entries import EntriesModel, EntryList, EntryRole, TwoLines
from app.kit.quantities import number
from app.kit.safe_text import PlainLabel, menu_text, one_line, visible
from app.kit.scrolled import within
from app.review.rules import effect_words, lines, meaning
from core.workers.rules import RuleEffect, RuleLine


class RulesDialog(QDialog):
    """Intents: `scoped` with a task ("": all), `changed` with a rule and what shall stand in rules.toml for it,
    `stepped` with a step, `run_asked`. Nothing waits for an OK."""

    scoped = Signal(str)
    changed = Signal(str, dict)
    stepped = Signal(int)
    run_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Rules"))
        self.resize(within(parent, 820, 560))
        self._rules: dict[str, RuleLine] = {}
        self._effects: dict[str, RuleEffect] = {}
        self.scope = named(QComboBox(self), self.tr("For which sessions"))
        self.model, self.found = EntriesModel(self), EntriesModel(self)
        self.list = EntryList(self.model, self.tr("Rules"), self)
        self.examples = EntryList(self.found, self.tr("Steps that the rule finds"), self)
        self.on = QCheckBox(self.tr("Switched on"), self)
        self.usual = QPushButton(self.tr("As it came"), self)
        self.run = QPushButton(self.tr("Let the rules judge now"), self)
        self.name, self.about, self.effect, self.problem = (PlainLabel("", self) for _ in range(4))
        self.busy = QProgressBar(self, minimum=0, maximum=0, textVisible=False)
        self.boxes: dict[str, QWidget] = {}
        self._form = QFormLayout()
        self._lay_out()
        self._connect()
        self._on_current(QModelIndex())

    def _lay_out(self) -> None:
        for label in (self.name, self.about, self.effect, self.problem):
            label.setWordWrap(True)
        self.name.setFont(theme.bold_font(self.font()))
        self.about.setFont(theme.small_font(self.font()))
        self.problem.set_meaning("error")
        self.busy.setFixedHeight(theme.GRID)
        switch = row(self.on, 1, self.usual)
        detail = column(self.name, self.about, switch, self._form, self.effect, (self.examples, 1),
                        spacing=2 * theme.GRID)
        left = column(self.scope, (self.list, 1), spacing=2 * theme.GRID)
        halves = row((left, 1), (detail, 1), spacing=3 * theme.GRID)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self.run, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column((halves, 1), self.busy, self.problem, buttons, on=self, spacing=2 * theme.GRID, margin=4 * theme.GRID)

    def _connect(self) -> None:
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.scope.activated.connect(self._on_scope)
        self.on.clicked.connect(self._on_switch)
        self.usual.clicked.connect(self._on_usual)
        self.run.clicked.connect(self.run_asked)
        self.examples.opened.connect(self._on_example)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)

    def _on_scope(self, *_: object) -> None:
        self.scoped.emit(self.task)

    def _on_switch(self, on: bool) -> None:
        self._emit_change("enabled", on)

    def _on_usual(self, *_: object) -> None:
        self.changed.emit(self.rule, {})

    def _on_example(self, step: object) -> None:
        self.stepped.emit(int(str(step)))

    @property
    def rule(self) -> str:
        """The name of the chosen rule; "" when none is."""
        index = self.list.currentIndex()
        return str(index.data(EntryRole)) if index.isValid() else ""

    @property
    def task(self) -> str:
        """The task whose sessions the changes are for; "" is all."""
        return str(self.scope.currentData() or "")

    def show_scopes(self, task: str, words: str) -> None:
        """All sessions, or those of the open session's task."""
        now = self.task
        self.scope.clear()
        self.scope.addItem(self.tr("For all sessions"), "")
        if task:
            self.scope.addItem(self.tr("Only for the task {task}").format(task=menu_text(one_line(words, 40))), task)
        self.scope.setCurrentIndex(max(0, self.scope.findData(now)))

    def show_rules(self, rules: Sequence[RuleLine]) -> None:
        """Show the rules as they hold."""
        self._rules = {r.name: r for r in rules}
        self._refresh()

    def show_effects(self, effects: Sequence[RuleEffect]) -> None:
        """Show what each changes in the open session; an empty list while that is not known."""
        self._effects = {e.rule: e for e in effects}
        self._refresh()

    def show_problem(self, sentence: str) -> None:
        """Why something cannot be done; "" is nothing."""
        self.problem.setText(visible(f"✗ {sentence}") if sentence else "")
        self.problem.setVisible(bool(sentence))

    def _refresh(self) -> None:
        chosen = self.rule
        self.model.show([(name, lines(rule, self._effects.get(name))) for name, rule in self._rules.items()])
        if not self.rule and self._rules:
            row = list(self._rules).index(chosen) if chosen in self._rules else 0
            self.list.setCurrentIndex(self.model.index(row))
        self._on_current(self.list.currentIndex())

    def _on_current(self, current: QModelIndex) -> None:
        rule = self._rules.get(self.rule)
        for widget in (self.on, self.usual):
            widget.setEnabled(rule is not None)
        version = one_line(f"{rule.name} {rule.version}", 100) if rule else ""
        self.name.setText(f"{meaning(rule.name)} · {version}" if rule else "")
        self.about.setText(visible(rule.about) if rule else "")
        self.on.setChecked(rule is not None and rule.enabled)
        self.usual.setEnabled(rule is not None and bool(rule.changed))
        self._show_settings(rule)
        effect = self._effects.get(self.rule)
        self.effect.setText(effect_words(rule, effect) if rule else "")
        self.found.show([(step, TwoLines(title=self.tr("Step {n}").format(n=number(step)), below=one_line(why)))
                         for _, step, why in (effect.examples if effect else ())])

    def _show_settings(self, rule: RuleLine | None) -> None:
        settings = rule.settings if rule else {}
        if list(self.boxes) != list(settings) or any(_value(b) != settings[k] for k, b in self.boxes.items()):
            while self._form.rowCount():
                self._form.removeRow(0)
            self.boxes = {key: self._box(key, value) for key, value in settings.items()}

    def _box(self, key: str, value: object) -> QWidget:
        box = named(_box_for(value, self), key)
        self._form.addRow(PlainLabel(key, self, buddy=box), box)
        if isinstance(box, QCheckBox):
            box.clicked.connect(partial(self._on_box, key))
        elif isinstance(box, QSpinBox | QDoubleSpinBox | QLineEdit):
            box.editingFinished.connect(partial(self._on_box, key))
        return box

    def _on_box(self, key: str, *_: object) -> None:
        rule, value = self._rules.get(self.rule), _value(self.boxes[key])
        if rule is not None and value != rule.settings.get(key):
            self._emit_change(key, value)

    def _emit_change(self, key: str, value: object) -> None:
        """One setting more for rules.toml; what equals the rule's own way needs no line for all sessions."""
        rule = self._rules.get(self.rule)
        if rule is None:
            return
        usual: Mapping[str, Any] = {"enabled": True, **rule.usual}
        changed = {**rule.changed, key: value}
        self.changed.emit(rule.name, changed if self.task else {k: v for k, v in changed.items() if v != usual.get(k)})


def _box_for(value: object, parent: QWidget) -> QWidget:
    if isinstance(value, bool):
        check = QCheckBox(parent)
        check.setChecked(value)
        return check
    if isinstance(value, int):
        return QSpinBox(parent, minimum=-1_000_000_000, maximum=1_000_000_000, value=value)
    if isinstance(value, float):
        return QDoubleSpinBox(parent, decimals=3, minimum=-1e9, maximum=1e9, value=value)
    return QLineEdit(str(value), parent)


def _value(box: QWidget) -> object:
    if isinstance(box, QCheckBox):
        return box.isChecked()
    if isinstance(box, QSpinBox | QDoubleSpinBox):
        return box.value()
    return box.text() if isinstance(box, QLineEdit) else None
