"""Drives Export and train: the export worker answers dry runs, previews and writes, one request at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.panel import Panel
from app.desk.session_key import OWN, id_of, is_local, key_of, server_of
from app.desk.worker import Worker, home_environment, log_of, read_answer
from app.desk.workplace import Workplace
from app.export.model import Format, Preview, Report, SessionChoices
from app.export.token_preview import PAGE
from app.export.training_controller import TrainingController
from app.export.view import ExportView
from app.kit.ask import yes_or_no
from app.kit.i18n import QT_TRANSLATE_NOOP

FIRST_FORMATS = (
    Format("trl", "TRL"), Format("trl-parquet", "TRL (Parquet)"), Format("chat", "Chat messages"),
    Format("slime", "slime"), Format("axolotl", "axolotl"), Format("llama-factory", "LLaMA-Factory"),
)
"""What is offered until the worker has told."""



class ExportController(QObject):
    """The worker is started with the first request and kept; a newer preview replaces one that waits.

    It reads one log: the sessions of one server are offered, that of the session which is looked at.
    """

    def __init__(self, place: Workplace, model: SessionChoices, view: ExportView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._worker: Worker | None = None
        self._number = 0
        self._waiting: dict[int, tuple[Callable[[Any], None], Callable[[str], None]]] = {}
        self._findings: dict[int, Callable[[int], None]] = {}
        self._shown_preview: tuple[str, int, int] | None = None
        self._server = server_of(place.sight.session)
        self._connect()
        view.choose.show_formats(FIRST_FORMATS, "trl")
        self._rows()
        self._chosen()

    def _connect(self) -> None:
        choose = self._view.choose
        choose.picked.connect(self._pick)
        choose.checked.connect(self._check)
        choose.written.connect(self._write)
        choose.cancelled.connect(self._cancel)
        choose.unmasked.toggled.connect(self._options_changed)
        choose.model.changed.connect(self._options_changed)
        self._view.preview.asked.connect(self._preview)
        self._view.currentChanged.connect(self._page)
        self._model.chosen_changed.connect(self._chosen)
        self._place.desks.rows_changed.connect(self._rows)
        self._place.sight.stepped.connect(self._on_stepped)

    # ---- what is chosen ---------------------------------------------------------------------------

    def _rows(self) -> None:
        self._model.show([row for row in self._place.desks.rows() if server_of(row.session) == self._server])

    def _on_stepped(self) -> None:
        """The sessions of another server are in another log, which another worker reads; a writing one goes on."""
        session = self._place.sight.session
        if session and server_of(session) != self._server and not self._waiting:
            self._server = server_of(session)
            if self._worker is not None:
                self._worker.kill()
                self._gone(0, "")
            self._shown_preview = None
            self._rows()
            self._chosen()

    def _say_what_lacks(self) -> None:
        """Of another computer's sessions only that can be exported which is here."""
        lacking = [s for s in self._model.chosen if (row := self._place.desks.of(s).row(s)) is not None
                   and not is_local(s) and not self._place.offline_copies.is_whole(s, row.seq)]
        if lacking:
            told = self.tr("%n chosen session(s) are not whole on this computer. Menu Session, “Store offline” "
                           "fetches what is missing.", None, len(lacking))
            self._place.notices.tell(told, "attention", lacking[0])

    def _pick(self, which: str) -> None:
        self._model.choose(which)

    def _chosen(self) -> None:
        chosen = self._model.chosen
        self._view.choose.show_chosen(len(chosen))
        self._view.preview.show_sessions([(s, self._model.title(s)) for s in chosen])
        self._page(self._view.currentIndex())

    def _options_changed(self, *_: object) -> None:
        self._shown_preview = None
        self._page(self._view.currentIndex())

    def _page(self, index: int) -> None:
        """The preview page asks by itself for what it shows first."""
        session = self._place.sight.session
        if index == 1 and not self._model.chosen and session:
            self._model.choose("none", session)
            return
        current = str(self._view.preview.sessions.currentData() or "")
        if index == 1 and current and (self._shown_preview or ("",))[0] != current:
            self._preview(current, 0, 0)

    @property
    def _ids(self) -> list[str]:
        """The ticked sessions as their server knows them."""
        return [id_of(session) for session in self._model.chosen]

    # ---- what is asked ----------------------------------------------------------------------------

    def _check(self) -> None:
        self._say_what_lacks()
        self._view.choose.show_busy(0.0)
        self._ask({"do": "dry_run", "sessions": self._ids}, self._checked, self._failed)

    def _checked(self, told: Any) -> None:
        self._view.choose.show_busy(None)
        self._view.choose.show_report(read_answer(Report, told))

    def _write(self, folder: str, *, allow_findings: bool = False) -> None:
        self._say_what_lacks()
        self._view.choose.show_busy(0.0)
        request: dict[str, Any] = {"do": "write", "sessions": self._ids, "folder": folder}
        if allow_findings:
            request["options"] = {**self._view.choose.options, "allow_findings": True}
        self._ask(request, partial(self._written, folder), self._failed, partial(self._look_at_findings, folder))

    def _look_at_findings(self, folder: str, places: int) -> None:
        """Something looks like a secret: the report shows what and where, then a person decides."""
        self._ask({"do": "dry_run", "sessions": self._ids}, partial(self._found, folder, places), self._failed)

    def _found(self, folder: str, places: int, told: Any) -> None:
        self._checked(told)
        self._place.scope.spawn(self._confirm(folder, places), name="export", on_error=self._place.notices.report)

    async def _confirm(self, folder: str, places: int) -> None:
        question = self.tr("%n place(s) look like secrets. Write the data set?", None, places)
        detail = self.tr("The report lists them. In the data set they are replaced by [redacted].")
        if await yes_or_no(self._view.window(), question, self.tr("Write"), detail=detail):
            self._write(folder, allow_findings=True)

    def _written(self, folder: str, told: Any) -> None:
        self._view.choose.show_busy(None)
        self._view.choose.show_report(read_answer(Report, told), folder)
        self._view.training.data.edit.setText(folder)
        self._place.notices.tell(self.tr("The data set was written to {folder}.").format(folder=folder), "done")

    def _preview(self, session: str, sample: int, start: int) -> None:
        self._shown_preview = (session, sample, start)
        self._view.preview.show_busy(True)
        self._ask({"do": "preview", "session": id_of(session), "sample": sample, "start": start, "count": PAGE},
                  partial(self._previewed, (session, sample, start)), self._view.preview.show_failure)

    def _previewed(self, asked: tuple[str, int, int], told: Any) -> None:
        if asked == self._shown_preview:
            self._view.preview.show_preview(asked[0], read_answer(Preview, told))

    def _failed(self, sentence: str) -> None:
        self._view.choose.show_busy(None)
        self._view.choose.show_failure(sentence)

    def _cancel(self) -> None:
        """Ends the worker: a write that was under way leaves no data set behind."""
        if self._worker is not None:
            self._worker.kill()
            self._gone(0, self.tr("It was cancelled."))

    # ---- the process ------------------------------------------------------------------------------

    def _ask(self, message: dict[str, Any], use: Callable[[Any], None], fail: Callable[[str], None],
             findings: Callable[[int], None] | None = None) -> None:
        """`findings(places)` takes a refusal because of what looks like a secret."""
        if self._worker is None:
            self._start()
        self._number += 1
        self._waiting[self._number] = (use, fail)
        self._findings = {self._number: findings} if findings is not None else {}
        choose = self._view.choose
        common = {"id": self._number, "format": choose.format.currentData() or "trl", "model": choose.model.path,
                  "options": choose.options}
        assert self._worker is not None
        self._worker.ask({**common, **message})

    def _start(self) -> None:
        log = log_path(self._place, self._server)
        arguments = ["-m", "core.export.worker", "--log", log]
        self._worker = Worker(arguments, self, environment=home_environment(self._place.home.path))
        self._worker.said.connect(self._said)
        self._worker.ended.connect(self._gone)
        self._worker.start()
        self._waiting[0] = (self._formats, lambda _: None)
        self._worker.ask({"id": 0, "do": "formats"})

    def _formats(self, told: Any) -> None:
        formats = read_answer(list[Format], told["formats"])
        self._view.choose.show_formats(formats, str(self._view.choose.format.currentData() or "trl"))

    def _said(self, told: dict[str, Any]) -> None:
        number = told.get("id")
        if not isinstance(number, int) or number not in self._waiting:
            return
        if "progress" in told:
            self._view.choose.show_busy(max(0.001, float(told["progress"])))
            return
        use, fail = self._waiting.pop(number)
        if "ok" not in told and number in self._findings and _code(told) == "findings_unseen":
            self._findings.pop(number)(int(told["error"].get("params", {}).get("places", 0)))
            return
        if "ok" not in told:
            fail(self._sentence(told.get("error")))
            return
        try:
            use(told["ok"])
        except (msgspec.ValidationError, KeyError) as error:
            fail(self.tr("The export process gave an answer that cannot be read: {why}").format(why=error))

    def _sentence(self, error: Any) -> str:
        code = error.get("code", "") if isinstance(error, dict) else ""
        if code == "train_extra_missing":
            return self.tr("Tokens and training need PyTorch and transformers, which are not installed here. "
                           "Install them with:  pip install 'tiphys[train]'")
        return str(error.get("sentence", error)) if isinstance(error, dict) else str(error)

    def _gone(self, code: int, words: str) -> None:
        if self._worker is not None:
            self._worker.deleteLater()
        self._worker = None
        waiting, self._waiting = self._waiting, {}
        for number, (_, fail) in waiting.items():
            if number:
                fail(words or self.tr("The export process ended with code {code}.").format(code=code))


def _code(told: dict[str, Any]) -> str:
    error = told.get("error")
    return str(error.get("code", "")) if isinstance(error, dict) else ""


def log_path(place: Workplace, server: str = OWN) -> str:
    """The database to export from: this computer's log of record, or the copy of another server's."""
    return str(log_of(place, key_of("any", server)))


def build(place: Workplace, parent: QWidget) -> ExportView:
    """The panel, wired."""
    model = SessionChoices(parent)
    view = ExportView(model, parent)
    ExportController(place, model, view)
    TrainingController(place, view.training)
    return view


PANEL = Panel("export", QT_TRANSLATE_NOOP("Panel", "Export and train"), build, {
    "live": ("right_below", 4), "small_live": ("right_below", 3), "review": ("right", 2),
    "small_review": ("left_below", 2), "compare": ("right_below", 4), "small_compare": ("left_below", 3)})
