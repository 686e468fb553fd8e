"""Ten questions about five real long runs, each answered by keys in the real window; key presses and seconds.

    python tests/benchmarks/run.py questions            one JSON line a run, then the table of docs/questions.md
    python tests/benchmarks/run.py questions --data FOLDER

The window is the product's own over its private server, offscreen; keys are sent to whatever has the focus. Seconds run
from the first key until the panel that answers shows the answer: the program's, without the reader's. FOLDER (or
TIPHYS_TEST_DATA) holds the runs that RUNS names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.desk.settings import Settings
from app.desk.step_words import verdict_state
from app.outline.model import LineTextRole
from app.trajectory.model import RowTextRole
from app.window.bootstrap import Desktop, parse
from app.window.entry import make_application
from core.aio import TaskScope
from core.domain.session import SessionRow
from core.domain.steps import ERROR
from core.store.home import Home

Key = Qt.Key
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier
PATIENCE_S = 20.0
REASON = "claims what it did not check"

RUNS = {
    "InnovatorBench": ("innovatorbench/sample_react_node.json", 69),
    "OpenHands": ("openhands-output-jsonl/resolver_mock_output.jsonl", 22),
    "SWE-agent": ("swe-agent/crypto__BabyEncryption.traj", 16),
    "Inspect": ("inspect/vivaria_small.eval", 14),
    "Claude Code": ("claude-code/ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl", 10),
}
"""Each run's file, and the steps of the session in it that is asked about."""

QUESTIONS = (
    "Where did it first go wrong?", "What did it know at the step in the middle?", "What was asked?",
    "Which file changed most?", "What was handed in?", "What did the subagent do?", "What changed since I left?",
    "Where is the undecided rest?", "Why was it masked?", "How did two runs part?")


class Reader:
    """Presses keys in a desktop's window, and counts them."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop, self.place = desktop, desktop.place
        self.presses = 0

    def press(self, key: Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        """One key, where the focus is."""
        self.presses += 1
        QTest.keyClick(QApplication.focusWidget() or self.desktop.window, key, modifiers)

    def type(self, text: str) -> None:
        """A text, letter by letter."""
        self.presses += len(text)
        QTest.keyClicks(QApplication.focusWidget() or self.desktop.window, text)

    def panel(self, name: str):  # the panels' own widgets; each question knows what it reads
        """A panel of the window."""
        return self.desktop.window.docks[name].widget()

    async def until(self, seen: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
        """Wait until something is so; whether it came."""
        end = time.monotonic() + seconds
        while not seen():
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.005)
        return True

    async def press_until(self, key: Key, seen: Callable[[], bool], most: int = 60) -> bool:
        """The same key again and again; whether what is sought came."""
        for _ in range(most):
            if seen():
                return True
            self.press(key)
            await asyncio.sleep(0)
        return seen()

    @property
    def step_text(self) -> str:
        """What the Step panel shows."""
        return self.panel("step").text.text


Ask = Callable[[Reader], Awaitable[str]]


async def first_error(r: Reader) -> str:
    """Home, E."""
    r.press(Key.Key_Home)
    r.press(Key.Key_E)
    trajectory = r.place.sight.trajectory
    if not any(flags & ERROR for flags in trajectory.steps.flags):
        return "no step failed"
    await r.until(lambda: r.place.sight.step and "✗" in r.step_text)
    head = next(e.head for e in trajectory.steps if e.head.number == r.place.sight.step)
    return f"step {head.number}: {head.title[:60]}" + (f" ({head.status})" if head.status != "finished" else "")


async def knew(r: Reader) -> str:
    """/ #N Enter Esc C."""
    middle = max(1, len(r.place.sight.trajectory.steps) // 2)
    r.type("/")
    r.type(f"#{middle}")
    r.press(Key.Key_Return)
    r.press(Key.Key_Escape)
    r.press(Key.Key_C)
    eye = r.panel("step").eye
    await r.until(lambda: eye.table.model().rowCount() > 0)
    rows = sum(not line.is_border for line in eye.table.model().lines)
    answer = f"step {r.place.sight.step}: {rows} rows of context"
    r.place.actions["view.eye"].setChecked(False)
    return answer


async def task(r: Reader) -> str:
    """0."""
    r.type("0")
    await r.until(lambda: r.panel("step").title.text() == "Task" and r.step_text)
    return " ".join(r.step_text.split())[:60]


async def most_changed(r: Reader) -> str:
    """F, as the list of files is as of the step and the last row may be none; Ctrl+Shift+M."""
    if not r.place.sight.trajectory.files:
        return "no file changed"
    r.press(Key.Key_F)
    r.press(Key.Key_M, CTRL | SHIFT)
    files = r.panel("files").list.model()
    await r.until(lambda: files.rows and files.rows[0].changes)
    top = files.rows[0]
    r.place.settings.set("files.most_first", False)
    return f"{top.name} ({len(top.changes)} changes)"


async def handed_in(r: Reader) -> str:
    """H."""
    r.type("H".lower())
    if not r.place.sight.trajectory.submissions:
        return "nothing was handed in"
    await r.until(lambda: r.panel("step").title.text().startswith("Handed in") and r.step_text)
    return f"{r.panel('step').title.text()}: {len(r.step_text):,} characters"


async def subagent(r: Reader) -> str:
    """O, Down to its line, Enter."""
    outline = r.panel("outline").list
    model = outline.model()
    if not any(model.line(row).kind == "subagent" for row in range(model.rowCount())):
        return "no subagent"
    r.type("o")
    await r.press_until(Key.Key_Down, lambda: model.line(outline.currentIndex().row()).kind == "subagent")
    words = model.data(outline.currentIndex(), LineTextRole)
    r.press(Key.Key_Return)
    await r.until(lambda: r.place.sight.row and r.place.sight.row.caller and r.step_text)
    return f"{words.right} steps, ✗ {words.failed}: {words.words[:40]}"


async def news(r: Reader) -> str:
    """W."""
    digest = r.panel("trajectory").digest
    if digest.isHidden():
        return "nothing came meanwhile"
    before = r.place.sight.step
    r.type("w")
    await r.until(lambda: r.place.sight.step != before and r.step_text)
    return f"{digest.label.text()} → step {r.place.sight.step}"


async def undecided(r: Reader) -> str:
    """Home, X."""
    r.press(Key.Key_Home)
    r.type("x")

    def is_undecided() -> bool:
        trajectory, step = r.place.sight.trajectory, r.place.sight.step
        at = trajectory.index_of(step) if step else None
        if at is None:
            return False
        held = trajectory.steps.opinions.get(at)
        return held is None or verdict_state(held.verdicts.values(), 1) not in ("keep", "mask")
    await r.until(lambda: is_undecided() and r.step_text)
    return f"step {r.place.sight.step}"


async def masked(r: Reader) -> str:
    """O, Down to its line, Enter."""
    outline = r.panel("outline").list
    model = outline.model()
    r.type("o")
    await r.press_until(Key.Key_Down, lambda: model.line(outline.currentIndex().row()).kind == "masked")
    r.press(Key.Key_Return)
    steps = r.panel("trajectory").list
    await r.until(lambda: steps.currentIndex().isValid() and steps.currentIndex().data(RowTextRole).state == "mask"
                  and r.step_text)
    return f"step {r.place.sight.step}: {steps.currentIndex().data(RowTextRole).word}"


async def parted(r: Reader) -> str:
    """Y."""
    row = r.place.sight.row
    if not any(one.task == row.task and one.session != row.session for one in r.place.desks.rows()):
        return "no second run of the task"
    view = r.panel("compare")
    r.type("y")
    await r.until(lambda: view.isVisible() and view.summary.text() and r.place.sight.step and r.step_text)
    answer = f"{view.summary.text()} → step {r.place.sight.step}"
    r.desktop.window.lay_out("read")
    return answer


ASK: tuple[Ask, ...] = (first_error, knew, task, most_changed, handed_in, subagent, news, undecided, masked, parted)


@asynccontextmanager
async def opened(folder: Path, *files: Path) -> AsyncIterator[Reader]:
    """The product's window over a home of its own, with these files imported."""
    home = Home(folder)
    async with TaskScope("questions") as scope:
        desktop = Desktop(home, Settings(home.settings), scope)
        desktop.window.resize(1440, 900)
        desktop.start(parse([str(file) for file in files]), "")
        try:
            yield Reader(desktop)
        finally:
            await desktop.close()


def is_whole(reader: Reader, steps: int) -> SessionRow | None:
    """The session of so many steps, once it is here."""
    return next((row for row in reader.place.desks.rows() if row.steps == steps and not row.caller), None)


async def prepare(r: Reader, row: SessionRow) -> None:
    """Open the run in Read, and judge two steps as a reader would: the first is kept, the second masked."""
    r.place.cursor.move(row.session, 1)
    await r.until(lambda: r.place.sight.trajectory.row.steps == row.steps and r.step_text)
    r.desktop.window.lay_out("read")
    r.desktop.window.activateWindow()
    await r.until(r.desktop.window.isActiveWindow)
    r.place.cursor.focus_list()
    r.type("k")
    r.place.cursor.to_step(2)
    r.panel("review").bar.reason.lineEdit().setText(REASON)
    r.type("m")
    trajectory = r.place.sight.trajectory
    await r.until(lambda: {0, 1} <= set(trajectory.steps.opinions) and all(
        any(v.author.kind == "person" for v in trajectory.steps.opinions[at].verdicts.values()) for at in (0, 1)))
    await asyncio.sleep(0.5)  # what is drawn a little after, such as the outline


async def ask_all(name: str, file: Path, steps: int, folder: Path) -> dict[str, object]:
    """All questions of one run."""
    files, grows = [file], file.name.startswith("ccviewer")
    if grows:  # its file grew while the reader was away
        part = folder / file.name
        lines = file.read_bytes().splitlines(keepends=True)
        part.write_bytes(b"".join(lines[: round(0.7 * len(lines))]))
        files = [part]
    rows: list[tuple[int, float, str]] = []
    async with opened(folder / "home", *files) as reader:
        if grows:
            await reader.until(lambda: reader.place.sight.row and not reader.place.sight.row.caller)
            await asyncio.sleep(2)
            left = next(row for row in reader.place.desks.rows() if not row.caller)
            reader.place.cursor.move(left.session, None)
            await reader.until(lambda: reader.place.sight.trajectory.row.steps == left.steps)
            reader.place.watermarks.mark(left.session, left.steps)
            reader.place.cursor.move("")
            files[0].write_bytes(file.read_bytes())
            await reader.desktop.application.import_files([str(files[0])])
        await reader.until(lambda: is_whole(reader, steps))
        row = is_whole(reader, steps)
        if row is None:
            return {"run": name, "error": f"no session of {steps} steps came"}
        await asyncio.sleep(2)
        if grows:
            reader.place.watermarks.arrive(row.session)
            reader.place.cursor.move(row.session, None)
            await reader.until(lambda: reader.place.sight.trajectory.row.steps == steps)
            reader.desktop.window.lay_out("read")
            rows_before = await one(reader, news)
        await prepare(reader, row)
        for number, ask in enumerate(ASK):
            if grows and ask is news:
                rows.append(rows_before)
                continue
            reader.place.cursor.move(row.session, 1)
            reader.place.cursor.focus_list()
            await asyncio.sleep(0.3)
            rows.append(await one(reader, ask))
            assert len(rows) == number + 1
    return {"run": name, "steps": steps, "answers": [
        {"question": question, "presses": presses, "seconds": round(seconds, 2), "answer": answer}
        for question, (presses, seconds, answer) in zip(QUESTIONS, rows, strict=True)]}


async def one(reader: Reader, ask: Ask) -> tuple[int, float, str]:
    """Presses, seconds and the answer of one question."""
    reader.presses, began = 0, time.perf_counter()
    answer = await ask(reader)
    return reader.presses, time.perf_counter() - began, answer


def table(runs: list[dict[str, object]]) -> str:
    """Presses and seconds of each question in each run, as a table of Markdown."""
    lines = ["| question | " + " | ".join(f"{run['run']} ({run['steps']})" for run in runs) + " |",
             "|---|" + "---|" * len(runs)]
    for number, question in enumerate(QUESTIONS):
        cells = []
        for run in runs:
            one = run["answers"][number]  # type: ignore[index]
            cells.append(f"{one['presses']} · {one['seconds']:.2f} s · {one['answer'].replace('|', '/')}"
                         if one["presses"] else one["answer"])
        lines.append(f"| {question} | " + " | ".join(cells) + " |")
    presses = [one["presses"] for run in runs for one in run["answers"] if one["presses"]]  # type: ignore[attr-defined]
    seconds = [one["seconds"] for run in runs for one in run["answers"] if one["presses"]]  # type: ignore[attr-defined]
    lines += ["", f"Median {statistics.median(presses):g} key presses and {statistics.median(seconds):.2f} s; "
              f"most {max(presses)} and {max(seconds):.2f} s."]
    return "\n".join(lines)


def main() -> int:
    """Ask, print; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TIPHYS_TEST_DATA", "tests/data")))
    parser.add_argument("--runs", nargs="*", default=list(RUNS))
    asked = parser.parse_args()
    done: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        app = make_application(Settings(Path(folder) / "s.toml"), "en")
        for name in asked.runs:
            file, steps = RUNS[name]
            (Path(folder) / name).mkdir()
            with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
                found = runner.run(ask_all(name, asked.data / file, steps, Path(folder) / name))
            print(json.dumps(found, ensure_ascii=False), flush=True)
            if "answers" in found:
                done.append(found)
    print(table(done)) if done else None
    return 0 if len(done) == len(asked.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
