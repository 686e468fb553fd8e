"""New sessions, on this computer's own server or on another one: what each offers, and the start of what was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Qt

from app.desk import command_line as commands
from app.desk.frame import Frame
from app.desk.notices import sentence_of
from app.desk.session_key import OWN, key_of
from app.desk.workplace import Workplace
from app.kit.ask import yes_or_no
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.sessions.new_dialog import Choice, NewSessionDialog, Offer, TaskChoice
from app.sessions.thresholds_dialog import from_settings
from core.domain.attention import Thresholds
from core.domain.errors import ReportableError
from core.domain.ids import is_id, new_id
from core.domain.task import AgentSettings
from core.protocol.messages import Tasks
from core.protocol.operations import CreateSession, SetThresholds

DEMONSTRATION = "review-labels"
"""The task that comes with the program, with an agent that needs no model (`core/tasks/demo.py`)."""


class NewSessionController(QObject):
    """Opens the dialog, asks the servers, and starts the session. `serve` makes this computer's own server run."""

    def __init__(self, place: Workplace, window: Frame, serve: Callable[[], None]) -> None:
        super().__init__(window.widget)
        self._place, self._window, self._serve = place, window, serve
        self._asking: asyncio.Task[None] | None = None
        self._dialog: NewSessionDialog | None = None
        place.actions["file.new_session"].triggered.connect(self._open_dialog)
        place.actions["file.demonstration"].triggered.connect(self._start_demonstration)

    def _open_dialog(self) -> None:
        """Begin with the server of the session that is looked at: what is started is mostly more of the same."""
        here = self._place.sight.desk
        names = [(desk.server, self._place.servers.name_of(desk.server)) for desk in self._place.desks.all]
        server = here.server if here.link.state == "online" else OWN
        dialog = self._dialog = NewSessionDialog(names, server, self._window.widget)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.offer_wanted.connect(self._ask_offer)
        dialog.chosen.connect(self._create_session)
        dialog.finished.connect(self._on_closed)
        dialog.ask()
        dialog.open()

    def _start_demonstration(self, *_: object) -> None:
        """The scripted agent of the demonstration, on this computer, as `tiphys demo` starts it."""
        self._place.scope.spawn(self._demonstrate(), name="demonstration")

    async def _demonstrate(self) -> None:
        """Without an engine for sandboxes the reader is asked whether the agent may do without one."""
        try:
            found, _ = await commands.run(self._place.home, "demo", "--check")
        except ReportableError as error:
            if error.code != "no_docker":
                raise
            question = self.tr("Let the scripted agent of the demonstration work on this computer without a sandbox?")
            if not await yes_or_no(self._window.widget, question, self.tr("&Without a sandbox"),
                                   detail=sentence_of(error), careful=True):
                return
            found, _ = await commands.run(self._place.home, "demo", "--check", "--unconfined")
        agent = msgspec.convert(found[0]["agent"], AgentSettings)
        self._start(Choice(OWN, TaskChoice(DEMONSTRATION, ""), agent))

    def _create_session(self, choice: Choice) -> None:
        words = _words(choice)
        if words:
            self._place.scope.spawn(self._allow_and_start(choice, words), name="allow a task")
        else:
            self._start(choice)

    async def _allow_and_start(self, choice: Choice, words: list[tuple[str, ...]]) -> None:
        """Remember the reader's word on this computer first: its server believes no other."""
        try:
            for word in words:
                await commands.run(self._place.home, "allow", *word)
        except ReportableError as error:
            self._place.notices.report(error)
        else:
            self._start(choice)

    def _start(self, choice: Choice) -> None:
        if choice.server == OWN:
            self._serve()
        session = key_of(new_id(), choice.server)
        self._place.sender.send(session, CreateSession(task=choice.task.task, agent=choice.agent or AgentSettings()))
        usual = from_settings(self._place.settings)
        if usual != Thresholds():
            self._place.sender.send(session, SetThresholds(thresholds=usual))
        self._place.cursor.move(session)

    # ---- what the servers offer ------------------------------------------------------------------

    def _ask_offer(self, server: str) -> None:
        self._forget()
        self._asking = self._place.scope.spawn(self._fetch_offer(server), name="list tasks")

    def _on_closed(self, *_: object) -> None:
        self._forget()
        self._dialog = None

    def _forget(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def _fetch_offer(self, server: str) -> None:
        try:
            offer = await (self._own() if server == OWN else self._of(server))
        except ReportableError as error:
            offer = Offer(why=self._why(error, self._name(server)))
        if self._dialog is not None:
            self._dialog.show_offer(server, offer)

    async def _own(self) -> Offer:
        found, complaints = await commands.run(self._place.home, "tasks")
        for complaint in complaints:
            self._place.notices.tell(complaint, "attention")
        none = self.tr("There is no task yet. Put a folder with a task.toml into {folder}.")
        why = "" if found else none.format(folder=self._place.home.tasks)
        return Offer(tuple(msgspec.convert(line, TaskChoice) for line in found), why)

    async def _of(self, server: str) -> Offer:
        desk = next((one for one in self._place.desks.all if one.server == server), None)
        if desk is None or desk.client is None:
            return Offer(why=self.tr("{server} is not connected.").format(server=self._name(server)))
        catalogue = await desk.client.tasks()
        why = ""
        if catalogue.unreadable:
            why = self.tr("{server} has %Ln task(s) that it cannot read; its log says why.", None,
                          plural(catalogue.unreadable))
        elif not catalogue.tasks:
            why = self.tr("{server} has no task yet.")
        may_choose = desk.client is not None and "admin" in desk.client.status.scopes
        return Offer(_choices(catalogue), why.format(server=self._name(server)), may_choose)

    def _why(self, error: ReportableError, server: str) -> str:
        sentence = {
            "server_away": self.tr("{server} is not connected."),
            "server_too_old": self.tr("{server} has an older program, which does not tell its tasks."),
            "missing_scope": self.tr("Your token does not allow to start sessions on {server}: that needs “guide”."),
            "no_answer": self.tr("{server} does not answer."),
        }.get(error.code, "")
        return sentence.format(server=server) or one_line(sentence_of(error), 300)

    def _name(self, server: str) -> str:
        return one_line(self._place.servers.name_of(server), 40)


def _words(choice: Choice) -> list[tuple[str, ...]]:
    """What `tiphys allow` is called with for a choice on this computer: the task's rights, the key that was named."""
    if choice.server != OWN:
        return []
    words = []
    if choice.allowed:
        kinds = [word for right in choice.allowed for word in ("--kind", right.kind)]
        words.append(("task", choice.task.task, "--digest", choice.task.digest, *kinds))
    if choice.agent is not None and choice.agent.model.key_env:
        words.append(("key", f"{choice.agent.model.key_env}={choice.agent.model.base_url}"))
    return words


def _choices(catalogue: Tasks) -> tuple[TaskChoice, ...]:
    """What a server tells, without what no honest one says."""
    return tuple(TaskChoice(task.task, task.title or task.task, task.hosts, task.asks, terms=task.terms)
                 for task in catalogue.tasks[:1_000] if is_id(task.task))
