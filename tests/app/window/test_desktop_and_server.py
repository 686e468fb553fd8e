"""The real window against a real server: it shows, guides, goes stale, keeps working, and sends later, once."""

from __future__ import annotations

import contextlib
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox
from support.eventually import eventually
from support.logs import Maker, fill
from support.wire import serving

from app.desk.session_key import key_of, server_of_url
from app.desk.settings import Settings
from app.kit.safe_text import PlainLabel
from app.window.bootstrap import Desktop, parse
from core.aio import TaskScope
from core.client.replica import Replica
from core.domain.events import GuidanceQueued, SessionStateChanged, decode_event
from core.protocol.operations import Guide
from core.store import log
from core.store.home import Home
from core.store.sqlite import connect, transaction


@contextlib.asynccontextmanager
async def desktop(folder: Path, *argv: str, server=None):
    home = Home(folder)
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        token = server.settings.home.admin_token.read_text() if server else ""
        made.connection.serve_here = lambda: None
        made.start(parse([*(["--server", server.url] if server else []), *argv]), token)
        try:
            yield made
        finally:
            await made.close()


def named(session: str, server) -> str:
    """A server's session as the window knows it."""
    return key_of(session, server_of_url(server.url))


def working(steps: int = 3) -> Maker:
    maker = Maker(4)
    maker.say(SessionStateChanged(state="running"))
    for _ in range(steps):
        maker.add_step()
    return maker


def put(home: Home, session: str, maker: Maker) -> None:
    conn = connect(home.server_db)
    with transaction(conn):
        fill(conn, session, maker.bodies, maker.blobs)
    conn.close()


def logged_guidance(home: Home, session: str) -> list[str]:
    conn = connect(home.server_db, readonly=True)
    facts = [decode_event(p.body).fact for p in log.read_all(conn, session)]
    conn.close()
    return [f.text for f in facts if isinstance(f, GuidanceQueued)]


async def test_a_session_appears_with_its_steps_bodies_and_context(tmp_path):
    async with serving(tmp_path / "server") as server:
        put(server.settings.home, "s1", working())
        async with desktop(tmp_path / "desk", "--session", "s1", "--step", "2", server=server) as made:
            window = made.window
            await eventually(lambda: made.place.sight.trajectory.row.steps == 3)
            step = window.docks["step"].widget()
            await eventually(lambda: "Observation" in step.text.text)
            assert step.title.text() == "Step 2"
            made.actions["view.eye"].setChecked(True)
            await eventually(lambda: step.eye.text.text)
            assert "connected" in window.status.links_text
            assert window.status.place.text() == "at step 2 of 3"


async def test_guidance_typed_without_a_server_is_sent_later_once(tmp_path):
    async with serving(tmp_path / "server") as server:
        put(server.settings.home, "s1", working())
        async with desktop(tmp_path / "desk", "--session", "s1", server=server) as made:
            await eventually(lambda: made.desks.of(named("s1", server)).trajectory(named("s1", server)).row.steps == 3)
    async with desktop(tmp_path / "desk2"):
        pass
    folder = tmp_path / "desk"
    home = Home(folder)
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        made.connection.serve_here = lambda: None
        made.start(parse([]), "")
        assert made.cursor.session == named("s1", server)
        assert made.place.sight.trajectory.row.steps == 3, "the copy serves without a server"
        await eventually(lambda: "stale since" in made.window.status.links_text)
        guidance = made.window.docks["guidance"].widget()
        guidance.box.setPlainText("use the training split")
        QTest.keyClick(guidance.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await eventually(lambda: not guidance.box.toPlainText())
        assert made.window.status.waiting.text() == "1 waiting to be delivered"
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        async with serving(tmp_path / "server", port=port) as again:
            made.place.sight.desk.client.hurry()
            await eventually(lambda: logged_guidance(again.settings.home, "s1") == ["use the training split"])
            await eventually(lambda: not made.window.status.waiting.text())
            await eventually(lambda: "on the server" in guidance.list.model().rows[0].fate)
        await made.close()
    assert logged_guidance(server.settings.home, "s1") == ["use the training split"]


async def test_what_is_typed_or_sent_at_the_last_moment_is_on_disk(tmp_path):
    async with serving(tmp_path / "server") as server:
        put(server.settings.home, "s1", working())
        put(server.settings.home, "s2", working())
        async with desktop(tmp_path / "desk", "--session", "s1", server=server) as made:
            await eventually(lambda: made.desks.of(named("s1", server)).trajectory(named("s1", server)).row.steps == 3)
            await eventually(lambda: made.desks.of(named("s2", server)).row(named("s2", server)))
            guidance = made.window.docks["guidance"].widget()
            guidance.box.setPlainText("sent with the last key")
            QTest.keyClick(guidance.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            made.cursor.move(named("s2", server))
            guidance.box.setPlainText("half a thought")
            path = made.place.sight.desk.replica.path
    replica = Replica(path)
    assert [q.op.text for q in replica.commands("s1")] == ["sent with the last key"]
    assert replica.draft("s2") == "half a thought"
    assert replica.draft("s1") == ""
    replica.close()


async def test_a_refusal_becomes_a_notice_in_words(tmp_path):
    finished = working()
    finished.finish()
    async with serving(tmp_path / "server") as server:
        put(server.settings.home, "s1", finished)
        async with desktop(tmp_path / "desk", "--session", "s1", server=server) as made:
            notices = []
            made.notices.posted.connect(notices.append)
            made.outgoing.send(named("s1", server), Guide(guidance="g1", text="too late"))
            await eventually(lambda: notices)
            assert notices[0].kind == "error"


async def test_a_question_is_opened_and_the_loop_goes_on(tmp_path):
    async with serving(tmp_path / "server") as server:
        put(server.settings.home, "s1", working())
        async with desktop(tmp_path / "desk", "--session", "s1", server=server) as made:
            await eventually(lambda: made.actions["session.stop"].isEnabled())
            made.actions["session.stop"].trigger()
            await eventually(lambda: made.window.findChildren(QMessageBox))
            box = made.window.findChildren(QMessageBox)[0]
            box.reject()
            await eventually(lambda: not made.window.findChildren(QMessageBox))
            assert not made.desks.waiting()
            made.place.settings.set("sessions.ask", False)
            made.actions["session.pause"].trigger()
            commands = made.desks.of(key := named("s1", server)).commands
            await eventually(lambda: any(q.op.control == "pause" for q in commands(key)))


async def test_the_window_comes_back_as_it_was_and_shows_only_plain_labels(tmp_path):
    async with desktop(tmp_path / "desk") as made:
        window = made.window
        window.docks["files"].close()
        window.docks["step"].setFloating(True)
        foreign = [w for w in window.findChildren(QLabel) if not isinstance(w, PlainLabel) and w.text()]
        assert [f"{type(w.parent()).__name__}: {w.text()}" for w in foreign] == []
        for key, dock in window.docks.items():
            assert dock.windowTitle(), key
            assert dock.widget() is not None
    async with desktop(tmp_path / "desk") as made:
        assert made.window.docks["files"].isHidden()
        assert made.window.docks["step"].isFloating()
        made.window.lay_out("read")
        made.window.lay_out("live")
        assert not made.window.docks["files"].isHidden()
        assert not made.window.docks["step"].isFloating()


async def test_everything_that_takes_the_focus_has_a_name(tmp_path):
    from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit, QToolButton

    async with desktop(tmp_path / "desk") as made:
        nameless = []
        for kind in (QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit, QToolButton):
            for widget in made.window.findChildren(kind):
                inner = isinstance(widget.parent(), QComboBox | QLineEdit) or "qt_" in widget.objectName()
                popup = "QComboBox" in type(widget.parent()).__name__ or widget.window() is not made.window
                if inner or popup or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
                    continue
                name = widget.accessibleName() or (widget.text() if isinstance(widget, QToolButton) else "")
                if not name and not isinstance(widget.parent(), QPlainTextEdit):
                    nameless.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
        assert nameless == []


async def test_the_private_server_is_started_and_comes_back_when_it_is_killed(tmp_path):
    import json
    import os
    import signal

    home = Home(tmp_path / "desk")
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        made.start(parse([]), "")
        await eventually(lambda: made.place.sight.desk.link.state == "online", 30)
        first = json.loads(home.endpoint.read_bytes())["pid"]
        os.kill(first, signal.SIGKILL)
        made.connection._child.wait()
        await eventually(lambda: "stale since" in made.window.status.links_text)
        await eventually(lambda: made.place.sight.desk.link.state == "online", 30)
        child = made.connection._child
        assert json.loads(home.endpoint.read_bytes())["pid"] == child.pid != first
        await made.close()
        os.waitpid(child.pid, 0)  # noqa: ASYNC222 - it was told to end


async def test_a_file_named_on_the_command_line_is_imported_and_shown(tmp_path):
    import os
    import signal

    from core.formats import archive

    maker = working(5)
    file = tmp_path / "saved.tiphys"
    archive.write(file, "saved-1", "Saved", maker.bodies, maker.blobs.__getitem__)
    home = Home(tmp_path / "desk")
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        notices = []
        made.notices.posted.connect(notices.append)
        made.start(parse([str(file), str(tmp_path / "absent.json")]), "")
        await eventually(lambda: made.cursor.session and made.place.sight.trajectory.row.steps == 5, 40)
        await eventually(lambda: any(n.kind == "done" for n in notices))
        assert any(n.kind == "error" and "absent" in n.sentence for n in notices)
        child = made.connection._child
        await made.close()
        if child is not None:  # the desktop has left it alone: a session is running, as far as it knows
            os.kill(child.pid, signal.SIGTERM)
            os.waitpid(child.pid, 0)  # noqa: ASYNC222 - it was told to end
