"""Wires the eye: contexts as of the step, messages on demand, copies to take away, and where a text was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.desk.bodies import Bodies
from app.desk.callers import number_of
from app.desk.fetches import Fetch
from app.desk.session_key import id_of
from app.desk.worker import log_of
from app.desk.workplace import Workplace
from app.kit.background import BackgroundWork
from app.kit.i18n import plural
from app.kit.long_text import Part
from app.kit.timers import single_shot
from app.step.context import ContextModel
from app.step.context_search import Presence, StepsInLog, find_in_contexts, left_in_log
from app.step.eye_view import EyeView
from app.step.message_looks import MessageLook, looks_in_log
from app.step.message_parts import parts_of_message
from app.step.request_text import as_curl, as_json, request_of
from core.domain.context import MessageRef
from core.domain.errors import InvalidInput
from core.domain.events import SummaryAdded
from core.domain.message import decode_message
from core.domain.steps import ERROR, Steps
from core.domain.task import ModelSettings
from core.domain.trajectory import StepEntry, Trajectory
from core.formats.tools import table_of

QUIET_MS = 250


class EyeController(QObject):
    """Shows contexts; the step panel says which."""

    def __init__(self, place: Workplace, model: ContextModel, eye: EyeView) -> None:
        super().__init__(eye)
        self._place, self._model, self._eye = place, model, eye
        self._trajectory: Trajectory | None = None
        self._at = -1
        self._tools = ""
        self._message: Fetch | None = None
        self._chosen, self._chosen_name = b"", ""
        self._copy: Bodies | None = None
        self._fetched: Bodies | None = None
        self._presence = Presence()
        self._searched: tuple[str, int, str] = ("", 0, "")
        self._search, self._gone, self._looks = (BackgroundWork(self) for _ in range(3))
        self._timer = single_shot(self, QUIET_MS, self._find)
        self._connect()

    def _connect(self) -> None:
        actions, eye = self._place.actions, self._eye
        eye.offer([actions["view.copy_json"], actions["view.copy_curl"]])
        actions["view.raw"].toggled.connect(self._on_raw)
        self._is_raw = actions["view.raw"].isChecked()
        actions["view.copy_json"].triggered.connect(partial(self._gather_copy, "json"))
        actions["view.copy_curl"].triggered.connect(partial(self._gather_copy, "curl"))
        eye.opened.connect(self._open_message)
        eye.gone_asked.connect(self._find_gone)
        eye.presence.asked.connect(self._on_asked)
        eye.presence.picked.connect(self._place.cursor.to_step)
        self._search.done.connect(self._on_found)
        self._looks.done.connect(self._take_looks)
        self._gone.done.connect(self._model.show_gone)
        self._gone.done.connect(self._on_gone)

    # ---- what is shown ---------------------------------------------------------------------------

    def show_step(self, trajectory: Trajectory, entry: StepEntry | None) -> None:
        """The context of a step beside that of the step before; None: of no step."""
        index = trajectory.index_of(entry.head.number) if entry is not None else None
        at = index if index is not None else -1
        contexts = trajectory.contexts
        number = number_of(self._place.sight.desk, trajectory.session, entry.head.number) if entry is not None else ""
        self._show(trajectory, at, lambda: (contexts.at(at - 1) if at > 0 else [], contexts.at(at)),
                   self.tr("Entered for {step}").format(step=number))
        self._tools = entry.tools if entry is not None else ""

    def show_summary(self, trajectory: Trajectory, summary: SummaryAdded) -> None:
        """The context in which a summary was written, beside that of the step before."""
        at = trajectory.steps_before(summary) - 1
        self._show(trajectory, at, lambda: (trajectory.contexts.at(at), trajectory.summary_context(summary)),
                   self.tr("Entered for the summary"))
        self._tools = trajectory.steps[at].tools if at >= 0 else ""

    def forget(self) -> None:
        """Something else is shown: no answer is wanted any more."""
        for fetch in (self._message, self._copy):
            if fetch is not None:
                fetch.cancel()

    def _show(self, trajectory: Trajectory, at: int, read: Callable[[], tuple[list[MessageRef], list[MessageRef]]],
              entered: str) -> None:
        """`read` gives the context before and this one; where the log tells none that can be, the eye says so."""
        self._trajectory, self._at = trajectory, at
        created = trajectory.created
        limit = (created.agent.context_tokens  # what others summarise at, their logs do not tell
                 if created is not None and (created.origin, created.agent.kind) == ("live", "own") else 0)
        try:
            self._model.show(*read(), limit, entered)
        except InvalidInput as error:
            self._model.show([], [])
            self._eye.show_context()
            sentence = self.tr("This context cannot be read: {why}").format(why=error)
            self._eye.text.show_parts([Part(text=sentence, meaning="error")])
            return
        self._eye.show_context()
        self._find_looks(trajectory)
        if self._model.shown == "gone":
            self._find_gone()
        if self._eye.presence.box.text().strip():
            self._find()

    def _find_looks(self, trajectory: Trajectory) -> None:
        """Read what the messages say first, and which steps brought them, beside the window."""
        table = table_of(trajectory.created.program if trajectory.created is not None else "")
        self._looks.start(looks_in_log, self._steps(trajectory, self._at + 1), self._model.all_refs, table)

    def _take_looks(self, looks: dict[str, MessageLook]) -> None:
        steps = self._trajectory.steps if self._trajectory is not None else Steps()
        failed = (at for at, flags in enumerate(steps.flags) if flags & ERROR)
        self._model.show_looks(looks, frozenset(steps.numbers[at] for at in failed))
        self._eye.show_again()
        self._draw_again()

    def _on_gone(self) -> None:
        self._eye.show_context()
        if self._trajectory is not None:
            self._find_looks(self._trajectory)

    def _steps(self, trajectory: Trajectory, stop: int | None = None) -> StepsInLog:
        """What a thread needs to read the contexts of the steps, up to one."""
        steps, session = trajectory.steps, trajectory.session
        return StepsInLog(log_of(self._place, session), id_of(session), tuple(steps.numbers[:stop]),
                     tuple(steps.seqs[:stop]))

    def _find_gone(self) -> None:
        if self._trajectory is not None:
            self._gone.start(left_in_log, self._steps(self._trajectory, self._at + 1))

    def _open_message(self, hash: str) -> None:
        if self._message is not None:
            self._message.cancel()
        self._chosen, self._chosen_name = b"", hash
        self._eye.text.placeholder(self.tr("Fetching this message from the server…"))
        self._message = self._place.sight.holder(hash).body(hash, self._take_message)

    def _take_message(self, data: bytes) -> None:
        self._chosen = data
        try:
            name = self._model.name_of(self._chosen_name)
            self._eye.text.show_parts(parts_of_message(decode_message(data), name=name, raw=self._is_raw))
        except InvalidInput as error:
            self._eye.text.show_parts([Part(text=str(error), meaning="error")])

    def _on_raw(self, on: bool) -> None:
        self._is_raw = on
        self._draw_again()

    def _draw_again(self) -> None:
        if self._chosen:
            self._take_message(self._chosen)

    # ---- copies ----------------------------------------------------------------------------------

    def _gather_copy(self, kind: str, *_: object) -> None:
        """Fetch what is missing first; going elsewhere meanwhile cancels."""
        self._place.actions["view.eye"].setChecked(True)
        if self._copy is not None:
            self._copy.cancel()
        refs = self._model.refs
        if not refs:
            self._place.notices.tell(self.tr("There is no context here to copy: choose a step first."), "info")
            return

        def use(held: dict[str, bytes]) -> None:
            self._put(kind, [held[ref.hash] for ref in refs], held.get(self._tools, b""))

        self._copy = Bodies(self._place.sight, [*(ref.hash for ref in refs), self._tools], use, self._show_fetched)

    def _show_fetched(self, here: int, wanted: int) -> None:
        self._eye.summary.setText(self.tr("Fetched {n} of {all} messages to copy them…").format(n=here, all=wanted))

    def _put(self, kind: str, bodies: list[bytes], tools: bytes) -> None:
        self._eye.summary.setText(self._model.summary())
        created = self._trajectory.created if self._trajectory is not None else None
        model = created.agent.model if created is not None else ModelSettings()
        try:
            request = request_of([decode_message(body) for body in bodies], tools, model)
        except InvalidInput as error:
            self._place.notices.report(error)
            return
        if kind == "json":
            text, sentence = as_json(request), self.tr("Copied: the context as JSON.")
        else:
            text, removed = as_curl(request, model)
            sentence = self.tr("Copied: a curl request. It reads the key from OPENAI_API_KEY.")
            sentence += " " + self.tr("%Ln secret(s) were taken out.", None, plural(removed)) if removed else ""
        QGuiApplication.clipboard().setText(text)
        self._place.notices.tell(sentence, "done")

    # ---- is a text still in the context? ---------------------------------------------------------

    def _on_asked(self, text: str) -> None:
        if text:
            self._eye.presence.searching()
            self._timer.start()
        else:
            self._timer.stop()
            self._search.drop()
            self._take(Presence())

    def _find(self) -> None:
        """Look, unless the answer for these very steps is known."""
        text = self._eye.presence.box.text().strip()
        trajectory = self._trajectory
        if trajectory is None or not text:
            return
        wanted = (trajectory.session, len(trajectory.steps), text)
        if wanted == self._searched:
            self._take(self._presence)
            return
        self._searched = wanted
        self._search.start(find_in_contexts, self._steps(trajectory), text)

    def _on_found(self, presence: Presence) -> None:
        if presence.missing and self._fetched is None:
            self._fetched = Bodies(self._place.sight, presence.missing, self._have_all, self._show_missing)
        if self._fetched is None or not self._fetched.is_open:
            self._take(presence)

    def _have_all(self, held: dict[str, bytes]) -> None:
        self._fetched = None
        self._searched = ("", 0, "")
        self._timer.start()

    def _show_missing(self, here: int, wanted: int) -> None:
        self._eye.presence.fetching(wanted - here)

    def _take(self, presence: Presence) -> None:
        self._presence = presence
        self._model.mark_holding(presence.hashes)
        trajectory = self._trajectory
        number = trajectory.steps[self._at].head.number if trajectory is not None and self._at >= 0 else 0
        last = trajectory.steps[-1].head.number if trajectory is not None and trajectory.steps else 1
        self._eye.presence.show_presence(presence, number, last)
        if presence.text and presence.holds(number):
            self._eye.show_context()
        else:
            self._eye.show_again()
