"""Files opened in the real window: progress and cancel, remarks, and a file that grows shown as a live session."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from support import converted
from support.eventually import eventually
from support.wire import serving

from app.desk.settings import Settings
from app.imports import controller as imports
from app.imports.bar import ImportBar
from app.trajectory.bars import RemarksBar
from app.window.bootstrap import Desktop, parse
from core.aio import TaskScope
from core.protocol.operations import GiveVerdict

FOREIGN = Path(__file__).parents[2] / "core" / "formats" / "foreign"


@contextlib.asynccontextmanager
async def opened(server, *argv: str):
    """A window on the home of a server that runs."""
    home = server.settings.home
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        made.notes = []
        made.notices.posted.connect(lambda notice: made.notes.append((notice.kind, notice.sentence)))
        made.start(parse([*argv]), "")
        try:
            yield made
        finally:
            await made.close()


def drop(window, *paths) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(p)) for p in paths])
    window.dropEvent(QDropEvent(QPoint(9, 9).toPointF(), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                                Qt.KeyboardModifier.NoModifier))


def write(path: Path, lines) -> None:
    """Another process appends lines, one write each."""
    writer = f"import sys; f = open({str(path)!r}, 'ab', 0)\nfor line in sys.stdin.buffer: f.write(line)"
    subprocess.run([sys.executable, "-c", writer], input=b"".join(lines), check=True)


def runs(folder: Path, count: int) -> Path:
    folder.mkdir()
    told = [{"role": r, "content": f"{n} " + "word " * 500} for n in range(40) for r in ("user", "assistant")]
    for number in range(count):
        told[0]["content"] = f"Task {number}"
        (folder / f"{number:03}.json").write_text(json.dumps({"messages": told}))
    return folder


@pytest.mark.parametrize(("begun", "final"), [(6, "mask"), (3, "undecided")], ids=["a whole answer", "half an answer"])
async def test_a_file_that_grows_is_a_live_session_and_keeps_verdicts_on_whole_answers(tmp_path, monkeypatch, begun,
                                                                                       final):
    monkeypatch.setattr(imports, "WATCH_MS", 50)
    monkeypatch.setattr(imports, "QUIET_S", 4)
    path = tmp_path / "session.jsonl"
    lines = (FOREIGN / "claude.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:begun]))
    async with serving(tmp_path / "home") as server, opened(server) as made:
        drop(made.window, path)
        await eventually(lambda: ("done", "1 session(s) imported.") in made.notes)
        session = made.cursor.session
        await eventually(lambda: made.desks.of(session).trajectory(session).row.steps == 1)
        assert made.desks.of(session).row(session).state == "finished"
        made.outgoing.send(session, GiveVerdict(step=1, value="mask", reason="blind"))
        panel = made.window.docks["trajectory"].widget()
        rows = panel.list.model()
        before = rows.rowCount()
        half = len(lines[begun + 1]) // 2
        write(path, [lines[begun], lines[begun + 1][:half]])
        followed = ("info", "“session.jsonl” is being written: it is followed.")
        await eventually(lambda: followed in made.notes)
        await eventually(lambda: made.desks.of(session).row(session).state == "running")
        write(path, [lines[begun + 1][half:], *lines[begun + 2:]])
        await eventually(lambda: made.desks.of(session).trajectory(session).row.steps == 3)
        await eventually(lambda: rows.rowCount() >= before + 2)
        told = made.desks.of(session).trajectory(session)
        assert told.steps[0].outcome == final
        assert any("(blind)" in note.text for note in told.notes) is (final == "undecided"), "what fell is said"
        assert (told.row.tokens, told.row.errors) == (126, 1)
        await eventually(lambda: made.desks.of(session).row(session).state == "finished")
        assert made.desks.of(session).row(session).reason == "end_not_recorded"
        await eventually(lambda: not made.application.imports.is_following)
        looked = []
        made.application.imports._look.done.connect(looked.append)
        await eventually(lambda: len(looked) == 2)
        assert made.notes.count(followed) == 1, "once, and no more when its follower has ended"


async def test_an_import_shows_how_far_it_is_and_is_cancelled_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "PATIENCE_MS", 0)
    async with serving(tmp_path / "home") as server, opened(server) as made:
        bar = made.window.findChild(ImportBar)
        assert bar.isHidden()
        drop(made.window, runs(tmp_path / "runs", 400))
        await eventually(lambda: bar.isVisible() and " of 400)" in bar.text.text())
        await eventually(lambda: len(made.desks.rows()) > 0)
        assert made.window.isEnabled(), "everything else goes on"
        bar.cancel.setFocus()
        QTest.keyClick(bar.cancel, Qt.Key.Key_Space)
        await eventually(lambda: any(n.startswith("Cancelled: ") for _, n in made.notes))
        assert bar.isHidden()
        rows = made.desks.rows()
        assert 0 < len(rows) < 400
        assert {(r.steps, r.state) for r in rows} == {(40, "finished")}


async def test_remarks_failures_and_what_cannot_be_opened_are_told(tmp_path):
    path, other = tmp_path / "half.jsonl", tmp_path / "notes.txt"
    data = (FOREIGN / "codex.jsonl").read_bytes()
    path.write_bytes(data[:-40])
    other.write_text("hello")
    async with serving(tmp_path / "home") as server, opened(server, str(path), str(other)) as made:
        await eventually(lambda: ("done", "1 session(s) imported.") in made.notes)
        remarks = made.window.findChild(RemarksBar)
        await eventually(remarks.isVisible)
        assert remarks.label.text().startswith("ⓘ Line ") and "byte" in remarks.label.text()
        made.actions["view.remarks"].trigger()
        await eventually(lambda: remarks.text.edit.hasFocus() or remarks.text.isVisible())
        assert remarks.text.edit.toPlainText().startswith("Line ")
        head = made.place.sight.row.seq
        drop(made.window, path)
        drop(made.window, other)  # while that one is at work: it waits for its turn
        await eventually(lambda: made.notes.count(("done", "1 session(s) imported.")) == 2)
        assert made.place.sight.row.seq == head, "what was said once is not said again"
        assert any(k == "error" and "notes.txt" in n for k, n in made.notes)
        await eventually(lambda: sum("notes.txt" in n for _, n in made.notes) == 2)
        many = [tmp_path / f"{number}.txt" for number in range(imports.REMARKS + 4)]
        for one in many:
            one.write_text("hello")
        made.notes.clear()
        drop(made.window, *many)
        await eventually(lambda: made.notes and not made.application.imports._is_busy)
        assert [k for k, _ in made.notes] == ["error"] * imports.REMARKS, "not one for each of a hundred files"


async def test_a_folder_of_rubbish_is_told_by_suffix(tmp_path):
    folder = runs(tmp_path / "runs", 2)
    for name in ("a.md", "b.md", "c.png"):
        (folder / name).write_text("no session")
    async with serving(tmp_path / "home") as server, opened(server, str(folder)) as made:
        await eventually(lambda: ("done", "2 session(s) imported.") in made.notes)
        assert "Files read: 2; in no known format: 3 (2 .md, 1 .png)." in [words for _, words in made.notes]


async def test_verdicts_go_with_a_run_into_another_format_and_new_files_of_a_folder_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "WATCH_MS", 50)
    monkeypatch.setattr(imports, "QUIET_S", 4)
    folder, steps = tmp_path / "runs", converted.run_of(12)
    folder.mkdir()
    (folder / "a.json").write_text(converted.mini_swe_agent(steps))
    async with serving(tmp_path / "home") as server, opened(server) as made:
        drop(made.window, folder)
        await eventually(lambda: ("done", "1 session(s) imported.") in made.notes)
        first = made.cursor.session
        await eventually(lambda: made.desks.of(first).trajectory(first).row.steps == 12)
        made.outgoing.send(first, GiveVerdict(step=5, value="mask", reason="blind"))
        await eventually(lambda: made.desks.of(first).trajectory(first).steps[4].outcome == "mask")
        await eventually(lambda: server.hub.reader.execute(
            "SELECT count(*) FROM event WHERE kind = 'verdict_given'").fetchone()[0] == 1)
        (folder / "b.json").write_text(converted.atif(steps))
        await eventually(lambda: len(made.desks.rows()) == 2)
        (second,) = {r.session for r in made.desks.rows()} - {first}
        made.cursor.move(second)
        await eventually(lambda: made.desks.of(second).trajectory(second).row.steps == 12)
        steps = made.desks.of(second).trajectory(second).steps
        await eventually(lambda: [s.head.number for s in steps if s.outcome == "mask"] == [5])
        await eventually(lambda: not made.application.imports.is_following)
