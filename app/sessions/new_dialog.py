"""New session: on which server, a task of its catalogue, and with which model and sandbox the agent works."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QWidget

from app.desk.notices import sentence_of
from app.desk.right_words import right_words
from app.desk.session_key import OWN
from app.kit import theme
from app.kit.boxes import column
from app.kit.elided_box import ElidedBox
from app.kit.safe_text import PlainLabel, one_line
from app.kit.scrolled import Scrolled, hold_on_screen, within
from app.sessions.sheets import RightsSheet, TaskSheet
from core.domain.errors import InvalidInput
from core.domain.host_rights import HostRight, key_right
from core.domain.task import AgentSettings, ModelSettings
from core.domain.task_terms import TaskTerms

_OF_HOSTS = ("image", "build", "build_network", "root_tests", "service", "network", "reach", "data", "machine")
"""Kinds of rights that a task's hosts ask for, whatever model answers."""


class TaskChoice(msgspec.Struct, frozen=True):
    """One task of the catalogue."""

    task: str
    title: str
    hosts: tuple[str, ...] = ()
    asks: tuple[HostRight, ...] = ()
    """What it asks of the computer that it would run on, and nobody allowed yet."""
    digest: str = ""
    """What its folder holds, where it may be allowed from here."""
    terms: TaskTerms | None = None
    """Its text, budget, sandbox and rights; None where an older server does not say."""


class Choice(msgspec.Struct, frozen=True):
    """What was chosen: `agent` is None for the task's own; `allowed` is what the reader allows it on this computer."""

    server: str
    task: TaskChoice
    agent: AgentSettings | None = None
    allowed: tuple[HostRight, ...] = ()


class Offer(msgspec.Struct, frozen=True):
    """What a server offers: tasks, or a sentence on why none can be started there. Without `may_choose` the reader's
    token allows a task only as it stands."""

    tasks: tuple[TaskChoice, ...] = ()
    why: str = ""
    may_choose: bool = True


class NewSessionDialog(QDialog):
    """Asks for a server where there are several, for a task and, where the task's own agent is not wanted, for a model.

    `servers` are ids and names, `server` the one to begin with. What one offers is asked for by `offer_wanted`.
    """

    offer_wanted = Signal(str)
    """A server (its id): `show_offer` is waited for."""

    chosen = Signal(object)
    """(Choice)."""

    def __init__(self, servers: Sequence[tuple[str, str]], server: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("New session"))
        self.setMinimumWidth(within(parent, 600, 0).width())
        self._offer = Offer()
        self.server = ElidedBox(self)
        for known, name in servers:
            self.server.addItem(one_line(name, 40), known)
        self.server.setCurrentIndex(max(0, self.server.findData(server)))
        self.task = ElidedBox(self)
        self.about = TaskSheet(self)
        self.why = PlainLabel("", self, wrap=True)
        self.model = QComboBox(self)
        self.model.addItem(self.tr("As the task says"), "")
        self.model.addItem(self.tr("An OpenAI-compatible endpoint"), "openai")
        self.model.addItem(self.tr("A local model (transformers)"), "local")
        self.as_it_stands = PlainLabel(self.tr("Your token there starts tasks only as they stand: another model needs "
                                               "“admin”."), self, wrap=True)
        self.name = QLineEdit(self)
        self.url = QLineEdit(self, placeholderText="https://…/v1")
        self.key = QLineEdit(self, placeholderText="OPENAI_API_KEY")
        self.sends = PlainLabel("", self, wrap=True)
        self.text_actions = QCheckBox(self.tr("The model has no tool calls: actions as plain text"), self)
        self.sandbox = QComboBox(self)
        self.sandbox.addItem(self.tr("Docker containers"), "docker")
        self.sandbox.addItem("", "local")
        self.confirm = QCheckBox("", self)
        self._body = QWidget(self)
        self.sheet = RightsSheet(self._body)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText(self.tr("Start"))
        self._form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._lay_out()
        self._scrolled = Scrolled(self._body, self)
        column(self._scrolled, self.buttons, on=self, spacing=3 * theme.GRID, margin=4 * theme.GRID)
        self._connect()
        self._word(server == OWN)
        self._form.setRowVisible(self.server, self.server.count() > 1)

    def ask(self) -> None:
        """Want to know what the chosen server offers, and show nothing before."""
        server = self.server.currentData() or OWN
        self._word(server == OWN)
        self.confirm.setChecked(False)
        self.show_offer(server, Offer(why=self.tr("Asking for the tasks…")))
        self.offer_wanted.emit(server)

    def _word(self, here: bool) -> None:
        """Say where an agent without a sandbox would run."""
        self.sandbox.setItemText(1, self.tr("UNCONFINED on this computer") if here else
                                 self.tr("UNCONFINED on the server's computer"))
        self.confirm.setText(
            self.tr("I know that the agent and the task's evaluator can then read and change my own files") if here else
            self.tr("I know that the agent and the task's evaluator can then read and change files of the server's "
                    "computer"))

    def show_offer(self, server: str, offer: Offer) -> None:
        """Show what a server offers, if it is still the chosen one."""
        if server != (self.server.currentData() or OWN):
            return
        self._offer = offer
        self.task.clear()
        for choice in offer.tasks:
            self.task.addItem(f"{one_line(choice.title, 70)}  ({one_line(choice.task, 40)})", choice.task)
        self.task.setEnabled(bool(offer.tasks))
        if offer.tasks and self.focusWidget() is self.model and not self.model.currentIndex():
            self.task.setFocus(Qt.FocusReason.OtherFocusReason)  # it took no keys while the tasks were asked for
        self.why.setText(offer.why)
        if not offer.may_choose:
            self.model.setCurrentIndex(0)
        self._adapt_fields()

    def _lay_out(self) -> None:
        for text, widget in (
            (self.tr("Server"), self.server), (self.tr("Task"), self.task), ("", self.about), ("", self.why),
            (self.tr("Model"), self.model), ("", self.as_it_stands), (self.tr("Model name"), self.name),
            (self.tr("Address"), self.url), (self.tr("Variable with the key"), self.key), ("", self.sends),
            ("", self.text_actions), (self.tr("Sandbox"), self.sandbox), ("", self.confirm),
        ):
            self._form.addRow(PlainLabel(text, self, buddy=widget), widget)
        column(self._form, self.sheet, 1, on=self._body, spacing=3 * theme.GRID, margin=0)

    def _connect(self) -> None:
        self.server.currentIndexChanged.connect(self.ask)
        self.task.currentIndexChanged.connect(self._adapt_fields)
        self.sheet.toggled.connect(self._adapt_fields)
        self.model.currentIndexChanged.connect(self._adapt_fields)
        self.sandbox.currentIndexChanged.connect(self._adapt_fields)
        for line in (self.name, self.url, self.key):
            line.textChanged.connect(self._adapt_fields)
        self.confirm.toggled.connect(self._adapt_fields)
        self.buttons.accepted.connect(self._accept_choice)
        self.buttons.rejected.connect(self.reject)

    def _adapt_fields(self) -> None:
        offer, terms = self._offer, self._task.terms if self._task else None
        is_played = terms is not None and bool(terms.environment)
        if is_played:
            self.sandbox.setCurrentIndex(0)
        kind, sandbox = self.model.currentData(), self.sandbox.currentData()
        if terms is not None and self._task is not None:
            self.about.show_terms(terms, self._task.hosts, self._agent())
        for widget, on in (
            (self.about, terms is not None), (self.why, bool(offer.why)), (self.model, offer.may_choose),
            (self.as_it_stands, not offer.may_choose),
            (self.name, kind != ""), (self.url, kind == "openai"), (self.key, kind == "openai"),
            (self.sends, kind == "openai"), (self.text_actions, kind != ""),
            (self.sandbox, kind != "" and not is_played), (self.confirm, kind != "" and sandbox == "local"),
        ):
            self._form.setRowVisible(widget, on)
        ready = bool(self._task) and (not kind or bool(self.name.text().strip())) and self._says_what_is_sent()
        unconfined = bool(kind) and sandbox == "local" and not self.confirm.isChecked()
        self._show_rights()
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(
            ready and not unconfined and self.sheet.is_allowed)
        self._fit()

    def _fit(self) -> None:
        """As high as what is asked for now; the width stays, whatever sentence stands there."""
        self._scrolled.updateGeometry()
        self.resize(self.width(), self.sizeHint().height())
        hold_on_screen(self)

    @property
    def _task(self) -> TaskChoice | None:
        row = self.task.currentIndex()
        return self._offer.tasks[row] if 0 <= row < len(self._offer.tasks) else None

    def _show_rights(self) -> None:
        """With another model only what the task's hosts ask is left, and that in containers."""
        asks = self._task.asks if self._task else ()
        if self.model.currentData():
            closed = self.sandbox.currentData() == "docker"
            asks = tuple(right for right in asks if closed and right.kind in _OF_HOSTS)
        here = self.server.currentData() in (OWN, None)
        self.sheet.show_rights(asks, self._task.task if self._task else "", here,
                               here and bool(self._task and self._task.digest))
        self.sheet.setVisible(bool(asks))
        self.about.name_rights(not asks)

    def _says_what_is_sent(self) -> bool:
        """Say where the key goes; whether it can go there."""
        if self.model.currentData() != "openai":
            return True
        try:
            right = key_right(self._key, self.url.text().strip())
        except InvalidInput as error:
            self.sends.setText(sentence_of(error))
            return False
        self.sends.setText(right_words(right))
        return True

    @property
    def _key(self) -> str:
        return self.key.text().strip() or "OPENAI_API_KEY"

    def _accept_choice(self) -> None:
        if self._task is not None:
            server = self.server.currentData() or OWN
            self.chosen.emit(Choice(server, self._task, self._agent(), self.sheet.rights if server == OWN else ()))
            self.accept()

    def _agent(self) -> AgentSettings | None:
        kind = self.model.currentData()
        if not kind:
            return None
        model = ModelSettings(
            kind=kind, name=self.name.text().strip(), base_url=self.url.text().strip() if kind == "openai" else "",
            key_env=self._key if kind == "openai" else "",
            actions="text" if self.text_actions.isChecked() else "native")
        return AgentSettings(model=model, sandbox=self.sandbox.currentData(),
                             confirmed_unconfined=self.confirm.isChecked())
