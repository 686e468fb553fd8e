"""What a session on a task will be: the task's text, its budget, where the agent works, and what it takes there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFormLayout, QFrame, QPlainTextEdit, QWidget

from app.desk.right_words import rights_words
from app.kit import quantities, theme
from app.kit.boxes import column
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, displayable, one_line
from core.domain.task import AgentSettings, Limits
from core.domain.task_terms import TaskTerms


class TaskSheet(QFrame):
    """Text, budget, sandbox and rights, as they will be with the agent that is chosen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit(self, readOnly=True)
        self.text.setFixedHeight(theme.px(112))
        self.text.setAccessibleName(self.tr("The task's text"))
        self.budget = PlainLabel("", self, wrap=True)
        self.sandbox = PlainLabel("", self, wrap=True)
        self.rights = PlainLabel("", self, wrap=True)
        form = QFormLayout()
        for title, label in ((self.tr("Budget"), self.budget), (self.tr("Sandbox"), self.sandbox),
                             (self.tr("Rights"), self.rights)):
            form.addRow(PlainLabel(title, self, faint=True), label)
        column(self.text, form, on=self, spacing=2 * theme.GRID, margin=0)

    def show_terms(self, terms: TaskTerms, hosts: Sequence[str], agent: AgentSettings | None) -> None:
        """Show a task's terms; `agent` is the chosen one, None for that of the task."""
        text = displayable(terms.text) or self.tr("The task says nothing of itself.")
        if self.text.toPlainText() != text:
            self.text.setPlainText(text)
        self.budget.setText(self._budget(terms.limits))
        sandbox = agent.sandbox if agent is not None else terms.sandbox
        named = ", ".join(one_line(host, 30) for host in hosts[:8])
        confined = self.tr("%Ln Docker container(s): {names}", None, plural(max(1, len(hosts)))).format(names=named)
        if terms.environment:
            sentence = self.tr("none needed: it is played in {environment}")
            self.sandbox.setText(sentence.format(environment=one_line(terms.environment, 60)))
            self.rights.setText(rights_words(terms.rights) if agent is None and terms.rights else self.tr("nothing"))
            return
        self.sandbox.setText(confined if sandbox == "docker" else self.tr("none: the agent runs UNCONFINED"))
        kinds = ("image", "network", "reach", "data", "machine") if agent is not None else None
        taken = [right for right in terms.rights if kinds is None or right.kind in kinds]
        self.rights.setText(rights_words(taken) or self.tr("nothing beyond a closed container"))

    def _budget(self, limits: Limits) -> str:
        """When a session ends by itself, in one line."""
        parts = [self.tr("%Ln step(s)", None, plural(limits.steps)) if limits.steps is not None else "",
                 quantities.duration(limits.wall_s),
                 quantities.money(limits.cost_usd) if limits.cost_usd is not None else "",
                 self.tr("{n} tokens").format(n=quantities.tokens(limits.tokens)) if limits.tokens is not None else "",
                 self.tr("%Ln evaluation(s)", None, plural(limits.evaluations)) if limits.evaluations is not None
                 else ""]
        return " · ".join(filter(None, parts)) or self.tr("no limit: it ends when somebody stops it")
