"""The whole way without a display: session, guidance, verdicts, exports, training, screenshots of the window."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import msgspec

from core import program
from core.cli.demo_session import start_session, stop_session
from core.cli.export import write_archive
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
from core.llm.scripted import PACE
from core.llm.smollm2 import LAYERS, smollm2_dir
from core.protocol.operations import Guide
from core.store.home import Home
from core.tasks.demo import guidance_due
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


PACE_S = 0.3
"""Nobody watches: a fraction of the script's own pause before each answer, which still leaves time for the guidance."""


def run_headless(home: Home, unconfined: bool, train_steps: int, layers: int, as_json: bool) -> int:
    """Go the whole way; progress goes to stderr, the places of the results to stdout. Each result is looked at:
    raises Unavailable (demo_failed) where one is not what it has to be."""
    require_extra("torch", "transformers", "gguf")
    os.environ |= {"TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error"}  # our stages tell the progress
    os.environ.setdefault(PACE, str(PACE_S))
    started = monotonic()
    with ThreadPoolExecutor(1, "model") as beside:
        model = beside.submit(smollm2_dir, home.path / "cache", layers)  # the agent mostly waits meanwhile
        with served(home):
            session = _session(home, unconfined)
            folder = home.path / "demo" / session
            folder.mkdir(parents=True)
            shots = _screenshots(home, session, folder / "screenshots")
        with _stage("The small language model SmolLM2 is unpacked"):
            made = str(model.result())
    results = _results(home, session, folder, made, train_steps, layers)
    results.screenshots, results.seconds = shots, round(monotonic() - started, 1)
    emit(results) if as_json else _print(results)
    return 0


def _session(home: Home, unconfined: bool) -> str:
    """The session from start to end, advised on the way and judged by the rules; gives its id."""
    with _stage("A scripted agent works on a task, and soon makes a mistake: it reads the test data"):
        session = start_session(home, unconfined)
        try:
            ended = watch_to_end(home, session, _guiding(home, session), SESSION_LIMIT_S)
        finally:
            stop_session(home, session)
        _check(ended.row.state == "finished", f"The session ended as {ended.row.state} ({ended.row.reason})")
        scores = [score.total or 0.0 for score in ended.scores]
        _check(bool(ended.guidance) and scores[-1] > scores[0], "The guidance did not better the score")
        note(f"  the guidance brought it from a score of {scores[0]} to {scores[-1]}")
    with _stage("Rules judge the steps"):
        propose_by_rules(home, session)
        masked = [step.head.number for step in _judged(home, session).steps if step.outcome in ("mask", "partly")]
        _check(bool(masked), "The rules masked no step of the session")
        note(f"  masked, so that they are not learnt: steps {', '.join(map(str, masked))}")
    return session


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Unavailable("demo_failed", f"{otherwise}.")


def _judged(home: Home, session: str) -> Trajectory:
    with reading(home) as conn:
        return trajectory(conn, session)


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


def _results(home: Home, session: str, folder: Path, model: str, train_steps: int, layers: int) -> DemoResults:
    with _stage("Training data is written, as token ids with their mask and as chat messages"):
        options = ExportOptions(balance="none", unjudged="keep")
        report = export(home.server_db, [session], "trl", folder / "samples", model, options)
        chat = export(home.server_db, [session], "chat", folder / "chat", model, options)
        archive = write_archive(home, session, folder / "session.tiphys")
        refused = sum(len(s.refused) for s in report.sessions)
        _check(report.samples == chat.samples and 0 < report.trained < report.tokens and not refused,
               f"Of {report.samples} samples {refused} were refused, and {report.trained} tokens are trained")
        note(f"  {counted(report.samples, 'sample')}, {report.trained:,} of {counted(report.tokens, 'token')} are "
             "trained")
    part = "SmolLM2 (a minute or two)" if layers == LAYERS else f"the first {layers} of SmolLM2's {LAYERS} layers"
    with _stage(f"Training: {counted(train_steps, 'update')} of {part}"):
        weights = _train(folder / "samples", model, folder / "training", train_steps)
        _check(_first_weights(model) != _first_weights(weights), "The training changed no weight")
    judged = _judged(home, session)
    return DemoResults(session=session, log=str(home.server_db), archive=str(archive), samples=str(folder / "samples"),
                       chat=str(folder / "chat"), weights=weights, screenshots=(), steps=len(judged.steps),
                       score=judged.row.score, seconds=0.0,
                       masked=sum(e.outcome in ("mask", "partly") for e in judged.steps))


def _first_weights(model: str) -> bytes:
    """A matrix of a model's first layer. A file of safetensors begins with its header, and that with its length."""
    with (Path(model) / "model.safetensors").open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        first, last = msgspec.json.decode(file.read(size))["model.layers.0.mlp.up_proj.weight"]["data_offsets"]
        file.seek(8 + size + first)
        return file.read(last - first)


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
    with _stage("The desktop opens the session, out of sight, and its window is photographed"):
        return _photographed(home, session, out)


def _photographed(home: Home, session: str, out: Path) -> tuple[str, ...]:
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
    shots = tuple(str(p) for p in sorted(out.glob("*.png")))
    _check(bool(shots), "The window left no picture")
    return shots


@contextmanager
def _stage(title: str) -> Iterator[None]:
    note(f"{title} …")
    started = monotonic()
    yield
    note(f"  done in {monotonic() - started:.1f} s")


def _print(results: DemoResults) -> None:
    say(f"\nDone in {results.seconds:.0f} s: {counted(results.steps, 'step')}, {results.masked} of them masked, score "
        f"{results.score}. Its results:")
    for name, place in (("log of all sessions", results.log), ("this session as a file", results.archive),
                        ("samples (ids and mask)", results.samples), ("chat messages", results.chat),
                        ("trained weights", results.weights),
                        *(("screenshot", shot) for shot in results.screenshots)):
        say(f"  {name:<24}{place}")
    tiphys = shlex.join(program.launcher())
    say(f"Read the session here: {tiphys} show {results.session}\n"
        f"In the desktop, where there is a display: {tiphys} open --session {results.session}")
