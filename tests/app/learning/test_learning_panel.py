"""The Learning panel: a run's files are followed, its groups stand side by side, Enter opens a session at its step."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import fill
from support.panels import told_session, workplace
from support.watchdog import HELD, Watchdog
from support.window import shown_window

from app.desk.notices import sentence_of
from app.desk.run_files import PIECE, RunNews, is_run, look, write_session
from app.kit.entries import TwoLinesRole
from app.learning.panel import build
from app.learning.samples import changes, samples
from core.domain.errors import InvalidInput, NotFound
from core.formats import registry
from core.formats.source import Source
from core.store.home import Home
from core.store.writer import Writer
from core.workers.reinforcement import GroupSheet, RlMetric, SessionSheet, StepSheet


def session(name: str, reward: float, *texts: str, advantage: float = 0.0, wrong: tuple[int, ...] = (), tokens: int = 5
            ) -> SessionSheet:
    steps = [StepSheet(number=n, text=text, tokens=tokens, advantage=advantage, entropy=0.2, log_prob=-0.1,
                       is_error=n in wrong) for n, text in enumerate(texts, 1)]
    return SessionSheet(session=name, reward=reward, advantage=advantage, steps=steps)


def group(update: int, *members: SessionSheet, name: str = "g", dropped: bool = False) -> GroupSheet:
    return GroupSheet(update=update, group=f"u{update}.{name}", task=f"Find the {name}", dropped=dropped,
                      sessions=list(members))


def usual(update: int) -> GroupSheet:
    return group(update, session("s1", 1.0, "go left", "take key", advantage=0.7),
                 session("s2", 0.0, "go right", "wait", "go on", advantage=-0.7))


def metric(update: int, **more) -> RlMetric:
    return RlMetric(update=update, updates=9, reward=0.1 * update, solved=0.05 * update, kl=0.01, entropy=0.5,
                    length=20.0, clipped=0.02, staleness=0.5, **more)


def made_run(folder: Path) -> Path:
    """The folder of a run after two updates, whose home holds the session s1."""
    (folder / "groups").mkdir(parents=True)
    (folder / "run.json").write_text('{"kind": "letters", "loss": "grpo", "model": "m", "tasks": 4}')
    home, maker = Home(folder / "home"), told_session()
    home.path.mkdir(parents=True, exist_ok=True)
    writer = Writer(home.server_db)
    writer.do_blocking(lambda conn: fill(conn, "s1", maker.bodies, maker.blobs))
    writer.close()
    (folder / "metrics.jsonl").write_bytes(b"")
    for number in (1, 2):
        add_update(folder, number, usual(number), group(number, session("s3", 1.0, "x"), name="z", dropped=True))
    return folder


def add_update(folder: Path, number: int, *groups: GroupSheet) -> None:
    (folder / "groups" / f"{number:05d}.json").write_bytes(msgspec.json.encode(groups))
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(metric(number)) + b"\n")


def listed(view) -> list:
    return [view.model().index(row, 0).data(TwoLinesRole) for row in range(view.model().rowCount())]


def test_a_run_is_shown_and_followed_while_it_is_written(qtbot, tmp_path):
    folder = made_run(tmp_path / "run")
    with workplace(tmp_path / "own") as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(800, 800)
        panel.show()
        assert panel.empty.isVisible() and "tiphys rl" in panel.empty.label.text()
        place.runs.open(folder)
        qtbot.waitUntil(lambda: place.runs.update == 2)
        assert panel.name.text() == "run"
        assert panel.about.text().startswith("letters · grpo · update 2 of 9 · last heard")
        assert [panel.curves.value(key) for key in ("reward", "kl", "entropy", "length", "clipped", "staleness")] == [
            "0.2", "0.01", "0.5", "20", "0.02", "0.5"]
        assert [(one.title, one.right, one.sign) for one in listed(panel.tasks)] == [
            ("Find the g", "1/2", ""), ("Find the z", "1/1", "=")]
        assert [m.session for m in panel.table.model().members] == ["s1", "s2"], "the best stands first"
        assert panel.words.toPlainText() == "go left" and "advantage +0.70" in panel.facts.text()
        add_update(folder, 3, usual(3))
        qtbot.waitUntil(lambda: place.runs.update == 3)
        assert panel.update_name.text() == "Update 3" and not place.actions["run.next"].isEnabled()
        place.actions["run.previous"].trigger()
        qtbot.waitUntil(lambda: place.runs.update == 2)
        add_update(folder, 4, usual(4))
        qtbot.waitUntil(lambda: place.runs.news.newest == 4)
        assert place.runs.update == 2, "who looks at an update is not taken away from it"
        place.actions["run.newest"].trigger()
        qtbot.waitUntil(lambda: place.runs.update == 4)


def test_enter_opens_the_session_at_the_step_and_its_advantages_are_told(qtbot, tmp_path):
    folder = made_run(tmp_path / "run")
    with shown_window(tmp_path / "own", told_session()) as (window, place):
        place.runs.open(folder)
        qtbot.waitUntil(lambda: place.runs.update == 2)
        panel = window.docks["learning"].widget()
        assert not panel.visibleRegion().isEmpty() and window.layouts.current == "export"
        panel.table.setCurrentIndex(panel.table.model().place("s1", 2))
        panel.table.setFocus()
        QTest.keyClick(panel.table, Qt.Key.Key_Return)
        assert (place.sight.session, place.sight.step) == ("s1", 2)
        qtbot.waitUntil(lambda: not window.docks["trajectory"].widget().visibleRegion().isEmpty())
        rows = window.docks["trajectory"].widget().list.model()
        words = [rows.painted(row)[0].word for row in range(rows.rowCount())]
        assert sum("+0.70" in word for word in words) == 2, "the two steps that the group holds"
        assert "advantage +0.70" in window.docks["step"].widget().about.text()


def test_a_session_that_is_not_here_yet_is_written_as_a_file_to_open(qtbot, tmp_path):
    folder = made_run(tmp_path / "run")
    with workplace(tmp_path / "own") as (place, _):
        place.runs.open(folder)
        opened = []
        place.runs.session_opened.connect(lambda: opened.append(place.cursor.session))
        with qtbot.waitSignal(place.runs.session_made) as made:
            place.runs.open_session("s1", 2)
        place.cursor.move("other")
        assert not opened, "the list is not shown before the session is there"
        place.cursor.move("s1", 2)
        assert opened == ["s1"]
        file, step = made.args
        [found] = registry.read(Source(Path(file)))
        assert step == 2 and found.session == "s1"
        told = []
        place.notices.posted.connect(told.append)
        place.runs.open_session("s7", 1)
        qtbot.waitUntil(lambda: bool(told))
        assert "does not know this session" in told[0].sentence


def test_a_long_run_with_large_groups_never_holds_the_window(qtbot, tmp_path):
    folder = made_run(tmp_path / "run")
    (folder / "metrics.jsonl").write_bytes(b"".join(msgspec.json.encode(metric(n)) + b"\n" for n in range(1, 3_000)))
    text = " ".join(f"word{n}" for n in range(60))
    large = [group(2_999, *(session(f"{g}-{m}", m % 2, *(f"{text} {m} {n}" for n in range(30)), advantage=0.3)
                            for m in range(16)), name=str(g)) for g in range(16)]
    with workplace(tmp_path / "own") as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(900, 900)
        panel.show()
        place.runs.open(folder)
        qtbot.waitUntil(lambda: place.runs.update == 2 and len(place.runs.news.metrics) == 2_999)
        with Watchdog() as dog:
            add_update(folder, 2_999, *large)
            qtbot.waitUntil(lambda: place.runs.update == 2_999)
            qtbot.waitUntil(lambda: panel.table.model().rowCount() == 30)
            panel.repaint()
        assert dog.longest < HELD


def test_metrics_that_were_cut_or_broken_are_read_anew(tmp_path):
    folder = made_run(tmp_path / "run")
    news = look(folder, RunNews())
    assert [m.update for m in news.metrics] == [1, 2] and news.newest == 2 and not news.is_over
    lines = (folder / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    part = folder / "metrics.jsonl.part"
    part.write_bytes(lines[0])
    part.replace(folder / "metrics.jsonl")
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b"{half\n" + lines[1] + b'{"update": 3')
    (folder / "model").mkdir()
    again = look(folder, news)
    assert [m.update for m in again.metrics] == [1, 2] and again.unread == 1 and again.is_over


def test_a_line_that_is_too_long_is_passed_over_and_the_run_followed_further(tmp_path):
    folder = made_run(tmp_path / "run")
    line = (folder / "metrics.jsonl").read_bytes().splitlines(keepends=True)[0]
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"update": 3, "x": "' + b"x" * (5 * PIECE // 2) + b'"}\n' + line)
    news = look(folder, RunNews())
    while news.has_more:
        news = look(folder, news)
    assert [m.update for m in news.metrics] == [1, 2, 1] and news.unread == 1
    assert news.offset == (folder / "metrics.jsonl").stat().st_size


def test_a_folder_of_no_run_is_none_and_says_so(tmp_path):
    (tmp_path / "run.json").write_text('{"name": "other program"}')
    assert not is_run(tmp_path) and not is_run(tmp_path / "nowhere")
    with workplace(tmp_path / "own") as (place, _), pytest.raises(InvalidInput) as refused:
        place.runs.open(tmp_path)
    assert sentence_of(refused.value).endswith("is not the folder of a learning run.")
    with pytest.raises(NotFound, match="There is no file"):
        write_session(tmp_path, "s1", tmp_path)


def test_what_is_worth_a_look():
    before = [group(1, *(session(f"b{n}", n % 2, "go left", "look about", "take key") for n in range(6)))]
    now = [group(2, session("quick", 1.0, "done"), session("failing", 1.0, "a b", "c d", "e f", wrong=(2, 3)),
                 session("long", 0.0, *("one two three four five six seven", "eight nine ten eleven"), tokens=40),
                 session("same", 0.5, *("press the red button now",) * 6),
                 session("plain", 0.0, "go left", "take key"))]
    found = {sample.session: sample for sample in samples(now, before)}
    assert {name: sample.reason for name, sample in found.items()} == {
        "quick": "quick", "failing": "failing", "same": "repeats", "long": "longer"}
    assert (found["failing"].step, found["failing"].value, found["failing"].usual) == (2, 2, 3)
    assert found["same"].step == 2 and found["quick"].usual == 3
    assert samples(before, before)[0].reason == "quick" and len(samples(before, before)) == 1
    assert samples([], before) == []


def test_a_sudden_change_of_a_metric_is_told():
    steady = [metric(n) for n in range(1, 6)]
    assert changes(steady, 5) == []
    short = msgspec.structs.replace(metric(6), length=9.0, entropy=0.6)
    [change] = changes([*steady, short], 6)
    assert (change.key, change.now, change.before) == ("length", 9.0, 20.0)
    wrong = [metric(n, errors=0.4) for n in range(1, 6)]
    assert changes([*wrong, metric(6, errors=0.1)], 6) == [], "that fewer actions fail is the aim"
    assert [c.key for c in changes([*wrong, metric(6, errors=0.9)], 6)] == ["errors"]
    assert changes([metric(1), msgspec.structs.replace(metric(2), length=99.0)], 2) == [], "too few to say"
