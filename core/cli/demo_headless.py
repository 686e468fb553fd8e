"""The whole way without a display: session, guidance, verdicts, exports, training, screenshots of the window."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import msgspec

from core import program
from core.cli.demo_session import start_session, stop_session
from core.cli.export import default_model, write_archive
from core.cli.log_access import do, reading, trajectory
from core.cli.output import emit, note, say
from core.cli.private_server import served
from core.cli.propose_verdicts import propose_by_rules
from core.cli.watch import event_line, watch_to_end
from core.domain.errors import Unavailable
from core.domain.events import Event
from core.domain.ids import new_id
from core.domain.plural import counted
from core.domain.trajectory import Trajectory
from core.export.options import ExportOptions
from core.export.run import export
from core.llm.extra import require_extra
from core.protocol.operations import Guide
from core.store.home import Home
from core.tasks.demo import guidance_due
from core.training.thin import thin
from core.workers.training import Metric, TrainFailure, read_reports

SESSION_LIMIT_S = 600.0
"""The demonstration's session takes under five minutes; beyond this something is wrong."""

WINDOW_S = 300
"""The window's pictures take ten seconds."""


class DemoResults(msgspec.Struct, kw_only=True):
    """Where the results are; what `tiphys demo --headless --json` prints."""

    session: str
    log: str
    archive: str
    samples: str
    chat: str
    weights: str
    screenshots: tuple[str, ...]
    steps: int
    score: float | None
    masked: int
    seconds: float


THIN_LAYERS = 2
"""Of SmolLM2's 30 layers, with `--quick`: a step over 8,000 tokens takes seconds, all layers take a minute or two."""


def run_headless(home: Home, unconfined: bool, train_steps: int, quick: bool, as_json: bool) -> int:
    """Go the whole way; progress goes to stderr, the places of the results to stdout."""
    require_extra("torch", "transformers")
    os.environ |= {"TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error"}  # our stages tell the progress
    started = monotonic()
    with served(home):
        with _stage("The session: a scripted agent works in a sandbox"):
            session = start_session(home, unconfined)
            try:
                ended = watch_to_end(home, session, _guiding(home, session), SESSION_LIMIT_S)
            finally:
                stop_session(home, session)
        if ended.row.state != "finished":
            raise Unavailable("demo_failed", f"The session ended as {ended.row.state} ({ended.row.reason}).")
        folder = home.path / "demo" / session
        folder.mkdir(parents=True)
        with _stage("The rules judge the steps"):
            propose_by_rules(home, session)
        with _stage("Screenshots of the window"):
            shots = _screenshots(home, session, folder / "screenshots")
    results = _results(home, session, folder, train_steps, shots, quick)
    results.seconds = round(monotonic() - started, 1)
    emit(results) if as_json else _print(results)
    return 0


def _guiding(home: Home, session: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Prints the events and, once the mistake is visible, sends the guidance as a person would."""
    sent: list[str] = []

    def on_event(trajectory: Trajectory, event: Event) -> None:
        if line := event_line(trajectory, event):
            note(line)
        text = None if sent else guidance_due(trajectory)
        if text:
            sent.append(text)
            note(f"  ★ guidance: {text}")
            op = Guide(guidance=new_id(), text=text)
            do(session, op, home)

    return on_event


def _results(
    home: Home, session: str, folder: Path, train_steps: int, shots: tuple[str, ...], quick: bool
) -> DemoResults:
    with _stage("The model for tokens and training"):
        model = _model(home, quick)
    options = ExportOptions(balance="none", unjudged="keep")
    with _stage("Training data: token ids with their mask, and chat messages"):
        report = export(home.server_db, [session], "trl", folder / "samples", model, options)
        export(home.server_db, [session], "chat", folder / "chat", model, options)
        archive = write_archive(home, session, folder / "session.tiphys")
    refused = sum(len(s.refused) for s in report.sessions)
    note(f"  {counted(report.samples, 'sample')}, {report.trained:,} of {counted(report.tokens, 'token')} are trained"
         + (f"; {refused} refused" if refused else ""))
    of = f"the model's first {THIN_LAYERS} layers, to be quick" if quick else "SmolLM2, on a processor minutes each"
    with _stage(f"Training, {train_steps} update{'s' * (train_steps > 1)} of {of}"):
        weights = _train(folder / "samples", model, folder / "training", train_steps)
    with reading(home) as conn:
        finished = trajectory(conn, session)
    return DemoResults(session=session, log=str(home.server_db), archive=str(archive), samples=str(folder / "samples"),
                  chat=str(folder / "chat"), weights=weights, screenshots=shots, steps=len(finished.steps),
                  score=finished.row.score, seconds=0.0,
                  masked=sum(e.outcome in ("mask", "partly") for e in finished.steps))


def _model(home: Home, quick: bool) -> str:
    found = Path(default_model(home))
    return str(thin(found, found.with_name(f"{found.name}-{THIN_LAYERS}-layers"), THIN_LAYERS) if quick else found)


def _train(data: Path, model: str, out: Path, steps: int) -> str:
    """Train as a person would: a process of its own, its metrics followed line by line."""
    command = program.command("tiphys", "train", str(data), "--model", model, "--out", str(out), "--json",
                              "--set", f"max_steps={steps}", "--set", "batch=1", "--set", "epochs=100",
                              "--set", "learning_rate=1e-4")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        end = read_reports(child.stdout or (), _note_loss)
    if isinstance(end, TrainFailure):
        raise end.error.error
    if end is None or not end.done:
        raise Unavailable("training_failed", "The training ended early.")
    return end.folder


def _note_loss(metric: Metric) -> None:
    if metric.loss is not None:
        note(f"  step {metric.step} of {metric.steps}, loss {metric.loss:.3f}")


def _screenshots(home: Home, session: str, out: Path) -> tuple[str, ...]:
    """Have the desktop, a process of its own, show the session and save what its window shows."""
    out.mkdir(parents=True)
    command = program.command("screenshots", "--home", str(home.path), "--session", session, "--out", str(out))
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WINDOW_S, check=False)
    except subprocess.TimeoutExpired:  # a very busy machine: the rest of the way needs no picture
        note(f"  the window was not ready within {WINDOW_S} s; going on without its pictures")
        return ()
    if done.returncode:
        # Qt's offscreen platform says of every dialog that it cannot hint at sizes
        words = [line for line in done.stderr.strip().splitlines() if "propagateSizeHints" not in line]
        raise Unavailable("no_screenshots", f"The window could not be shown: {words[-1] if words else 'no word'} "
                          f"(exit status {done.returncode}).")
    return tuple(str(p) for p in sorted(out.glob("*.png")))


@contextmanager
def _stage(title: str) -> Iterator[None]:
    note(f"{title} …")
    started = monotonic()
    yield
    note(f"  done in {monotonic() - started:.1f} s")


def _print(results: DemoResults) -> None:
    say(f"\n{counted(results.steps, 'step')}, {results.masked} masked, score {results.score}, {results.seconds:.0f} s. "
        "Results:")
    for name, place in (("log", results.log), ("archive", results.archive),
                        ("samples (ids and mask)", results.samples), ("chat messages", results.chat),
                        ("trained weights", results.weights),
                        *(("screenshot", shot) for shot in results.screenshots)):
        say(f"  {name:<24}{place}")
    say(f"Look at it: tiphys show {results.session}; in the desktop: tiphys open --session {results.session}")
