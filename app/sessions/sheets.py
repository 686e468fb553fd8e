"""What a task is and what it asks of a computer, on two sheets of the dialog for a new session."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QPlainTextEdit, QWidget

from app.desk.right_words import rights_words
from app.kit import quantities, theme
from app.kit.boxes import column, named
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, displayable, one_line
from core.domain.host_rights import HostRight
from core.domain.task import AgentSettings, Limits
from core.domain.task_terms import TaskTerms


class TaskSheet(QFrame):
    """Text, budget, sandbox and rights, as they will be with the agent that is chosen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = named(QPlainTextEdit(self, readOnly=True), self.tr("The task's text"))
        self.text.setFixedHeight(theme.px(112))
        self.budget = PlainLabel("", self, wrap=True)
        self.sandbox = PlainLabel("", self, wrap=True)
        self.rights = PlainLabel("", self, wrap=True)
        self._form = form = QFormLayout()
        for title, label in ((self.tr("Budget"), self.budget), (self.tr("Sandbox"), self.sandbox),
                             (self.tr("Rights"), self.rights)):
            form.addRow(PlainLabel(title, self, faint=True), label)
        column(self.text, form, on=self, spacing=2 * theme.GRID, margin=0)

    def show_terms(self, terms: TaskTerms, hosts: Sequence[str], agent: AgentSettings | None) -> None:
        """Show a task's terms; `agent` is the chosen one, None for that of the task."""
        text = displayable(terms.text) or self.tr("The task says nothing of itself.")
        if self.text.toPlainText() != text:
            self.text.setPlainText(text)
        self.budget.setText(self._budget(terms.limits, is_scored=terms.is_scored))
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

    def name_rights(self, on: bool) -> None:
        """Whether the rights stand here: once is enough where they are asked for below."""
        self._form.setRowVisible(self.rights, on)

    def _budget(self, limits: Limits, *, is_scored: bool) -> str:
        """When a session ends by itself, in one line."""
        parts = [self.tr("%Ln step(s)", None, plural(limits.steps)) if limits.steps is not None else "",
                 (quantities.duration if (limits.wall_s or 0) % 60 else quantities.minutes)(limits.wall_s),
                 quantities.money(limits.cost_usd) if limits.cost_usd is not None else "",
                 self.tr("{n} tokens").format(n=quantities.tokens(limits.tokens)) if limits.tokens is not None else "",
                 self.tr("%Ln evaluation(s)", None, plural(limits.evaluations))
                 if is_scored and limits.evaluations is not None else ""]
        return " · ".join(filter(None, parts)) or self.tr("no limit: it ends when somebody stops it")


class RightsSheet(QFrame):
    """Names every right. On this computer a checkbox allows them; another server's operator must have done so there."""

    toggled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.rights: tuple[HostRight, ...] = ()
        self._can_allow = False
        self.title = PlainLabel("", self, wrap=True)
        self.title.setFont(theme.bold_font(self.title.font()))
        self.lines = PlainLabel("", self, wrap=True)
        self.remedy = PlainLabel("", self, wrap=True)
        self.allow = QCheckBox(self.tr("I allow this, as long as the task's folder stays as it is"), self)
        self.allow.toggled.connect(self.toggled)
        column(self.title, self.lines, self.remedy, self.allow, on=self, spacing=2 * theme.GRID, margin=3 * theme.GRID)

    def show_rights(self, rights: tuple[HostRight, ...], task: str, here: bool, can_allow: bool) -> None:
        """Name these rights of a task; other ones than before must be allowed anew. `can_allow`: by a tick, here."""
        if rights != self.rights or can_allow != self._can_allow:
            self.allow.setChecked(False)
        self.rights, self._can_allow = rights, can_allow
        self.title.setText(self.tr("This task asks for more than a closed container on this computer:") if here else
                           self.tr("This task asks for more than a closed container on the server's computer:"))
        self.lines.setText(rights_words(rights))
        command = f"tiphys allow task {task}"
        self.remedy.setText(
            self.tr("The task's folder cannot be read whole, so that nothing can be allowed to it.") if here else
            self.tr("Nobody has allowed it there. Who runs the server can: {command}").format(command=command))
        self.remedy.setVisible(not can_allow)
        self.allow.setVisible(can_allow)

    @property
    def is_allowed(self) -> bool:
        """Whether nothing is asked, or a person has allowed it."""
        return not self.rights or (self._can_allow and self.allow.isChecked())
