"""Drives Export and train: the export worker answers dry runs, previews and writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.session_key import OWN, id_of, is_local, key_of, server_of
from app.desk.worker import home_environment, log_of
from app.desk.worker_calls import WorkerCalls
from app.desk.workplace import Workplace
from app.export.model import SessionChoices
from app.export.sample_view import PAGE
from app.export.training_controller import TrainingController
from app.export.view import ExportView
from app.kit.ask import yes_or_no
from app.kit.i18n import plural
from core import program
from core.store import training_environment
from core.workers.export import DatasetChoice, DryRun, Preview, Report, ShowSample, WriteDataset
from core.workers.messages import A, Problem, WorkerRequest


class ExportController(QObject):
    """The worker is started with the first request and goes on; a newer preview replaces one that waits.

    It reads one log: the sessions of one server are offered, that of the session which is looked at.
    """

    def __init__(self, place: Workplace, model: SessionChoices, view: ExportView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._calls = WorkerCalls(self._command, self, environment=home_environment(place.home.path))
        self._shown_preview: tuple[str, int, int] | None = None
        self._server = server_of(place.sight.session)
        self._connect()
        self._show_rows()
        self._on_chosen()

    def _connect(self) -> None:
        choose = self._view.choose
        choose.picked.connect(self._pick_sessions)
        choose.checked.connect(self._check_dataset)
        choose.written.connect(self._write_dataset)
        choose.cancelled.connect(self._cancel_work)
        choose.unmasked.toggled.connect(self._on_option)
        choose.preset.activated.connect(self._on_option)
        choose.unjudged.activated.connect(self._on_option)
        choose.taken_over.activated.connect(self._on_option)
        choose.thoughts.activated.connect(self._on_option)
        choose.model.changed.connect(self._on_option)
        self._view.preview.asked.connect(self._preview_sample)
        self._view.currentChanged.connect(self._on_page)
        self._model.chosen_changed.connect(self._on_chosen)
        self._place.desks.rows_changed.connect(self._show_rows)
        self._place.sight.stepped.connect(self._on_stepped)

    # ---- what is chosen ---------------------------------------------------------------------------

    def _show_rows(self) -> None:
        self._model.show([row for row in self._place.desks.rows() if server_of(row.session) == self._server])

    def _on_stepped(self) -> None:
        """The sessions of another server are in another log, which another worker reads; a writing one goes on."""
        session = self._place.sight.session
        if session and server_of(session) != self._server and not self._calls.are_waiting:
            self._server = server_of(session)
            self._calls.end()
            self._shown_preview = None
            self._show_rows()
            self._on_chosen()

    def _warn_of_gaps(self) -> None:
        """Of another computer's sessions only that can be exported which is here."""
        lacking = [s for s in self._model.chosen if (row := self._place.desks.of(s).row(s)) is not None
                   and not is_local(s) and not self._place.offline_copies.is_whole(s, row.seq)]
        if lacking:
            gap = self.tr("%Ln chosen session(s) are not whole on this computer. Menu Session, “Store offline” "
                          "fetches what is missing.", None, plural(len(lacking)))
            self._place.notices.tell(gap, "attention", lacking[0])

    def _pick_sessions(self, which: str) -> None:
        self._model.choose(which)

    def _on_chosen(self) -> None:
        chosen = self._model.chosen
        self._view.choose.show_chosen(len(chosen))
        self._view.preview.show_sessions([(s, self._model.title(s)) for s in chosen])
        self._on_page(self._view.currentIndex())

    def _on_option(self, *_: object) -> None:
        self._shown_preview = None
        self._on_page(self._view.currentIndex())

    def _on_page(self, index: int) -> None:
        """The preview page asks by itself for what it shows first."""
        session = self._place.sight.session
        if index == 1 and not self._model.chosen and session:
            self._model.choose("none", session)
            return
        current = str(self._view.preview.sessions.currentData() or "")
        if index == 1 and current and (self._shown_preview or ("",))[0] != current:
            self._preview_sample(current, 0, 0)

    def _choice(self, **options: bool) -> DatasetChoice:
        """The ticked sessions as their server knows them, and how they are written."""
        choose = self._view.choose
        return DatasetChoice(sessions=[id_of(session) for session in self._model.chosen], model=choose.model.path,
                             format=str(choose.format.currentData()), options={**choose.options, **options})

    # ---- what is asked ----------------------------------------------------------------------------

    def _check_dataset(self) -> None:
        if any(map(self._place.queues.is_blind, self._model.chosen)):
            self._view.choose.report.show_failure(self._blind_words())
            return
        self._warn_of_gaps()
        self._dry_run(self._show_report)

    def _dry_run(self, use: Callable[[Report], None]) -> None:
        self._ask(DryRun(dataset=self._choice()), use, self._on_failed)

    def _show_report(self, report: Report) -> None:
        self._view.choose.show_busy(None)
        self._view.choose.report.show_report(report)

    def _write_dataset(self, folder: str, **options: bool) -> None:
        self._warn_of_gaps()
        self._ask(WriteDataset(folder=folder, dataset=self._choice(**options)), partial(self._on_written, folder),
                  partial(self._on_unwritten, folder))

    def _on_unwritten(self, folder: str, problem: Problem) -> None:
        """Where something looks like a secret the report shows what and where, then a person decides."""
        if problem.code == "findings_unseen":
            self._dry_run(partial(self._on_findings, folder, int(problem.params.get("places", 0))))
        else:
            self._on_failed(problem)

    def _on_findings(self, folder: str, places: int, report: Report) -> None:
        self._show_report(report)
        self._place.scope.spawn(self._confirm(folder, places), name="export")

    async def _confirm(self, folder: str, places: int) -> None:
        question = self.tr("%Ln place(s) look like secrets. Write the data set?", None, plural(places))
        detail = self.tr("The report lists them. In the data set they are replaced by [redacted].")
        if await yes_or_no(self._view.window(), question, self.tr("Write"), detail=detail):
            self._write_dataset(folder, allow_findings=True)

    def _on_written(self, folder: str, report: Report) -> None:
        self._view.choose.show_busy(None)
        self._view.choose.report.show_report(report, folder)
        self._view.training.data.edit.setText(folder)
        self._place.notices.tell(self.tr("The data set was written to {folder}.").format(folder=folder), "done")

    def _preview_sample(self, session: str, sample: int, start: int) -> None:
        self._shown_preview = asked = (session, sample, start)
        if self._place.queues.is_blind(session):
            self._view.preview.show_failure(self._blind_words())
            return
        self._view.preview.show_busy(True)
        choose = self._view.choose
        request = ShowSample(session=id_of(session), sample=sample, start=start, count=PAGE, model=choose.model.path,
                             options=choose.options)
        self._calls.ask(request, partial(self._on_preview, asked),
                        lambda problem: self._view.preview.show_failure(self._sentence(problem)))

    def _on_preview(self, asked: tuple[str, int, int], preview: Preview) -> None:
        if asked == self._shown_preview:
            self._view.preview.show_preview(asked[0], preview)

    def _on_failed(self, problem: Problem) -> None:
        self._view.choose.show_busy(None)
        self._view.choose.report.show_failure(self._sentence(problem))

    def _cancel_work(self) -> None:
        """Ends the worker: a write that was under way leaves no data set behind."""
        self._calls.end(self.tr("It was cancelled."))

    # ---- the process ------------------------------------------------------------------------------

    def _command(self) -> list[str]:
        return program.command("export", "--log", log_path(self._place, self._server),
                               python=training_environment.python(self._place.home))

    def _ask(self, request: WorkerRequest[A], use: Callable[[A], None], fail: Callable[[Problem], None]) -> None:
        self._view.choose.show_busy(0.0)
        self._calls.ask(request, use, fail, lambda share: self._view.choose.show_busy(max(0.001, share)))

    def _blind_words(self) -> str:
        return self.tr("Blind: what others masked would show here.")

    def _sentence(self, problem: Problem) -> str:
        if problem.code == "train_extra_missing":
            return self.tr("Tokens and training need PyTorch and transformers, which are not installed here. "
                           "Install them with:  tiphys train-setup")
        if problem.code == "steps_unjudged":
            where = self.tr("%Ln session(s)", "", plural(_count(problem, "sessions")))
            sentence = self.tr("Nobody judged %Ln step(s) in {sessions}. Judge them, or choose under “Not judged” what "
                               "becomes of such steps. “Check” counts them.", "", plural(_count(problem, "steps")))
            return sentence.format(sessions=where)
        return self._calls.explain(problem)


def _count(problem: Problem, name: str) -> int:
    return plural(int(problem.params.get(name, 0)))


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
