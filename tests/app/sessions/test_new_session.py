"""A new session on the server of one's choice: the tasks that it offers, what a token allows, and that it is there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QMessageBox
from support.desktops import listed, window
from support.eventually import eventually
from support.parts import ROOT, Parts, stopped
from support.recipes import textcraft  # noqa: F401 - a fixture
from support.server_process import ServerProcess
from support.wire import account, admin_token, serving

from app.desk.session_key import OWN, id_of, key_of
from app.sessions.new_dialog import NewSessionDialog
from app.window.bootstrap import Desktop
from core.domain.events import SessionCreated, ThresholdsSet, decode_event
from core.domain.task import AgentSettings, EnvironmentSettings
from core.environments.registry import ENVIRONMENTS
from core.protocol.operations import CreateSession
from core.server.authority import Authority
from core.store import log, outbox
from core.store.endpoint import read_endpoint
from core.store.home import Home
from core.store.sqlite import connect

CTRL = Qt.KeyboardModifier.ControlModifier


def task(home: Path, name: str, title: str) -> None:
    folder = home / "tasks" / name
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(f"id = {json.dumps(name)}\ntitle = {json.dumps(title)}\ndescription = 'Do it.'\n",
                                      encoding="utf-8")


def crafting_task() -> str:
    """The rest of a task's file: an environment, and an agent that plays the right commands."""
    chosen = EnvironmentSettings(kind="textcraft")
    turns = "\n".join('[[turn]]\nthought = "go on"\n[[turn.calls]]\ntool = "act"\n'
                      f'arguments = {{command = "{command}"}}' for command in ENVIRONMENTS["textcraft"].plan(chosen))
    return f'[environment]\nkind = "textcraft"\n[agent.model]\nkind = "scripted"\nscript = {json.dumps(turns)}\n'


def tiphys(home: Path, *words: str) -> str:
    command = [sys.executable, "-m", "core.cli", "--home", str(home), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


async def ask_of_lab(made: Desktop, home: Home, name: str) -> NewSessionDialog:
    """Connect a server that runs there, and choose one of its tasks."""
    entry = made.place.servers.add(read_endpoint(home).url, home.admin_token.read_text(), "lab")
    await eventually(lambda: "lab: connected" in made.window.status.links_text)
    dialog = await ask(made)
    await choose(dialog, entry.id)
    await eventually(lambda: name in tasks(dialog))
    dialog.task.setCurrentIndex(dialog.task.findData(name))
    return dialog


async def ask(made: Desktop) -> NewSessionDialog:
    made.window.activateWindow()
    await eventually(made.window.isActiveWindow)
    QTest.keyClick(made.window, Qt.Key.Key_N, CTRL)
    await eventually(lambda: any(d.isVisible() for d in made.window.findChildren(NewSessionDialog)))
    return next(d for d in made.window.findChildren(NewSessionDialog) if d.isVisible())


def tasks(dialog: NewSessionDialog) -> set[str]:
    return {dialog.task.itemData(row) for row in range(dialog.task.count())}


def may_start(dialog: NewSessionDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


async def choose(dialog: NewSessionDialog, server: str) -> None:
    """With the keyboard, and until the server has answered or the reason why not is told."""
    dialog.server.setFocus()
    steps = dialog.server.findData(server) - dialog.server.currentIndex()
    for _ in range(abs(steps)):
        QTest.keyClick(dialog.server, Qt.Key.Key_Down if steps > 0 else Qt.Key.Key_Up)
    assert dialog.server.currentData() == server
    await eventually(lambda: "Asking" not in dialog.why.text())


def created(server: ServerProcess, session: str) -> list[object]:
    with contextlib.closing(connect(server.home.server_db, readonly=True)) as conn:
        return [decode_event(p.body).fact for p in log.read_all(conn, session)]


async def test_a_task_of_another_server_is_started_there(qapp, tmp_path):
    task(tmp_path / "lab", "lab-task", "Only the lab has it 只有实验室")
    task(tmp_path / "desk", "own-task", "Of this computer")
    with ServerProcess(tmp_path / "lab") as lab:
        async with window(tmp_path / "desk") as made:
            made.place.settings.set("attention.errors", 7)
            one = made.place.servers.add(lab.url, lab.token, "lab").id
            await eventually(lambda: "lab: connected" in made.window.status.links_text)
            dialog = await ask(made)
            assert dialog.server.currentData() == OWN and dialog.server.isVisibleTo(dialog)
            await eventually(lambda: "own-task" in tasks(dialog))
            assert "lab-task" not in tasks(dialog)
            await choose(dialog, one)
            assert "lab-task" in tasks(dialog) and "own-task" not in tasks(dialog)
            assert dialog.model.isVisibleTo(dialog) and "server" in dialog.sandbox.itemText(1)
            dialog.task.setFocus()
            QTest.keyClicks(dialog.task, "Only")
            assert dialog.task.currentData() == "lab-task" and may_start(dialog)
            assert dialog.about.isVisibleTo(dialog) and dialog.about.text.toPlainText() == "Do it."
            assert dialog.about.budget.text() == "4,000 step(s)", "nobody evaluates"
            assert "main" in dialog.about.sandbox.text() and "closed container" in dialog.about.rights.text()
            QTest.keyClick(dialog, Qt.Key.Key_Return)
            session = made.cursor.session
            assert session == key_of(id_of(session), one)
            await eventually(lambda: session in listed(made))
            assert "@ lab" in listed(made)[session] and "Only the lab has it" in listed(made)[session]
            await eventually(lambda: len(created(lab, id_of(session))) == 2)
            first, second = created(lab, id_of(session))
            assert isinstance(first, SessionCreated) and first.task.id == "lab-task"
            assert isinstance(second, ThresholdsSet) and second.thresholds.errors == 7
            assert not made.desks.local.commands(session), "nothing of it went to this computer's own server"

            dialog = await ask(made)
            assert dialog.server.currentData() == one, "the server of the session that is looked at comes first"
            dialog.reject()


async def test_what_a_token_does_not_allow_is_said_in_one_sentence(qapp, tmp_path):
    task(tmp_path / "lab", "lab-task", "Only the lab has it")
    with ServerProcess(tmp_path / "lab") as lab:
        async with window(tmp_path / "desk") as made:
            one = made.place.servers.add(lab.url, account(tmp_path / "lab", "wang", "view", "review"), "lab").id
            await eventually(lambda: "lab: connected" in made.window.status.links_text)
            dialog = await ask(made)
            await choose(dialog, one)
            await eventually(lambda: "guide" in dialog.why.text())
            assert dialog.why.text() == "Your token does not allow to start sessions on lab: that needs “guide”."
            assert not may_start(dialog) and not tasks(dialog)
            dialog.reject()

            made.place.servers.add(lab.url, account(tmp_path / "lab", "li", "view", "guide"), "lab")
            await eventually(lambda: made.servers.desk(one).client.status.name == "li")
            dialog = await ask(made)
            await choose(dialog, one)
            await eventually(lambda: "lab-task" in tasks(dialog))
            assert not dialog.model.isVisibleTo(dialog) and dialog.as_it_stands.isVisibleTo(dialog)
            assert may_start(dialog)
            dialog.task.setCurrentIndex(dialog.task.findData("lab-task"))
            QTest.keyClick(dialog, Qt.Key.Key_Return)
            await eventually(lambda: made.cursor.session in listed(made))


async def test_each_reason_why_a_server_offers_nothing_has_its_sentence(qapp, tmp_path, monkeypatch):
    task(tmp_path / "home", "a-task", "A task")
    (tmp_path / "home/tasks/broken").mkdir()
    (tmp_path / "home/tasks/broken/task.toml").write_text("id = ")
    async with serving(tmp_path / "home") as server, window(tmp_path / "desk") as made:
        away = made.place.servers.add("ws://127.0.0.1:9", "token", "farm").id
        monkeypatch.setattr("core.protocol.messages.CAPABILITIES", ("search",))
        one = made.place.servers.add(server.url, admin_token(tmp_path / "home"), "lab").id
        await eventually(lambda: "lab: connected" in made.window.status.links_text)
        dialog = await ask(made)
        await choose(dialog, one)
        assert dialog.why.text() == "lab has an older program, which does not tell its tasks."
        await choose(dialog, away)
        assert dialog.why.text() == "farm is not connected." and not may_start(dialog)
        await choose(dialog, OWN)
        await eventually(lambda: tasks(dialog) and not dialog.why.text())
        dialog.reject()
        monkeypatch.undo()
        made.place.servers.add(server.url, account(tmp_path / "home", "li", "guide"), "lab")
        await eventually(lambda: made.servers.desk(one).client.status.name == "li")
        dialog = await ask(made)
        await choose(dialog, one)
        await eventually(lambda: "a-task" in tasks(dialog))
        assert dialog.why.text() == "lab has 1 task(s) that it cannot read; its log says why." and may_start(dialog)
        made.place.servers.set_connected(one, False)
        await choose(dialog, away)
        await choose(dialog, one)
        assert dialog.why.text() == "lab is not connected." and not tasks(dialog)
        dialog.reject()


async def test_with_one_server_there_is_no_choice_of_servers(qapp, tmp_path):
    async with window(tmp_path / "desk") as made:
        dialog = await ask(made)
        assert not dialog.server.isVisibleTo(dialog)
        await eventually(lambda: tasks(dialog))
        assert may_start(dialog) and dialog.sandbox.itemText(1) == "UNCONFINED on this computer"
        dialog.reject()


FOREIGN = """
id = "foreign"
title = "A foreign task"
description = "Do it."
[[hosts]]
name = "web"
image = "their/image"
network = true
[evaluator]
script = "evaluate.py"
[agent.model]
kind = "openai"
name = "m"
base_url = "http://127.0.0.1:9/v1"
key_env = "SOME_TOKEN"
"""
ALL = ["their/image", "web", "SOME_TOKEN", "http://127.0.0.1:9/v1"]


def foreign(home: Path, text: str = FOREIGN) -> Path:
    folder = home / "tasks/foreign"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(text)
    (folder / "evaluate.py").write_text("")
    return folder / "task.toml"


async def choose_task(dialog: NewSessionDialog, task: str) -> None:
    await eventually(lambda: task in tasks(dialog))
    dialog.task.setCurrentIndex(dialog.task.findData(task))


async def test_a_foreign_task_names_what_it_asks_and_starts_with_a_persons_word_alone(qapp, tmp_path):
    file = foreign(tmp_path / "desk")
    async with window(tmp_path / "desk") as made:
        dialog = await ask(made)
        await choose_task(dialog, "foreign")
        sheet = dialog.sheet
        assert sheet.isVisibleTo(dialog) and all(word in sheet.lines.text() for word in ALL), sheet.lines.text()
        assert not may_start(dialog) and not sheet.allow.isChecked()
        QTest.keyClick(sheet.allow, Qt.Key.Key_Space)
        assert may_start(dialog)
        dialog.task.setCurrentIndex(dialog.task.findData("sum-numbers"))
        assert not sheet.isVisibleTo(dialog) and may_start(dialog), "what asks for nothing is not asked about"
        await choose_task(dialog, "foreign")
        assert not may_start(dialog), "a word for one task is none for the next look"

        dialog.model.setCurrentIndex(dialog.model.findData("openai"))
        dialog.name.setText("mine")
        assert sheet.isVisibleTo(dialog) and "web" in sheet.lines.text() and "SOME_TOKEN" not in sheet.lines.text()
        assert "OPENAI_API_KEY" in dialog.sends.text() and "https://api.openai.com/v1" in dialog.sends.text()
        QTest.keyClick(sheet.allow, Qt.Key.Key_Space)
        assert may_start(dialog)
        dialog.url.setText("http://user@host/v1")
        assert not may_start(dialog) and "user@host" in dialog.sends.text()
        dialog.model.setCurrentIndex(0)

        QTest.keyClick(sheet.allow, Qt.Key.Key_Space)
        file.write_text(FOREIGN + "# changed after the person looked\n")
        told: list[str] = []
        made.place.notices.posted.connect(lambda notice: told.append(notice.sentence))
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
        await eventually(lambda: any("foreign" in sentence and "changed" in sentence for sentence in told))
        assert not (tmp_path / "desk/allowed").exists(), "nothing is allowed that nobody saw"

        dialog = await ask(made)
        await choose_task(dialog, "foreign")
        QTest.keyClick(dialog.sheet.allow, Qt.Key.Key_Space)
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
        await eventually(lambda: bool(made.cursor.session))
        await eventually(lambda: len(made.desks.local.commands(made.cursor.session)) == 1)
        async with Authority(Home(tmp_path / "desk")) as authority:
            assert await authority.do("s", CreateSession(task="foreign")) == {"seq": 1}
        dialog = await ask(made)
        await choose_task(dialog, "foreign")
        assert not dialog.sheet.isVisibleTo(dialog) and may_start(dialog), "asked once"
        dialog.reject()


async def test_what_another_servers_operator_did_not_allow_is_named_and_not_started(qapp, tmp_path):
    foreign(tmp_path / "lab")
    with ServerProcess(tmp_path / "lab") as lab:
        async with window(tmp_path / "desk") as made:
            one = made.place.servers.add(lab.url, account(tmp_path / "lab", "li", "view", "guide"), "lab").id
            await eventually(lambda: "lab: connected" in made.window.status.links_text)
            dialog = await ask(made)
            await choose(dialog, one)
            await choose_task(dialog, "foreign")
            assert all(word in dialog.sheet.lines.text() for word in ALL)
            assert "tiphys allow task foreign" in dialog.sheet.remedy.text() and not may_start(dialog)
            assert not dialog.sheet.allow.isVisibleTo(dialog)
            dialog.reject()

            told: list[str] = []
            made.place.notices.posted.connect(lambda notice: told.append(notice.sentence))
            made.place.sender.send(key_of("s", one), CreateSession(task="foreign"))
            await eventually(lambda: any(all(word in sentence for word in ALL) for sentence in told))
            tiphys(tmp_path / "lab", "allow", "task", "foreign")
            dialog = await ask(made)
            await choose(dialog, one)
            await choose_task(dialog, "foreign")
            assert may_start(dialog) and not dialog.sheet.isVisibleTo(dialog)
            dialog.reject()


async def test_an_agent_of_another_server_works_and_is_watched_and_searched_from_here(qapp, tmp_path):
    """The whole way: a real server starts a real runner for what was chosen in this window."""
    shutil.copytree(ROOT / "resources/tasks/sum-numbers", tmp_path / "lab/tasks/lab-sums")
    file = tmp_path / "lab/tasks/lab-sums/task.toml"
    text = file.read_text().replace('id = "sum-numbers"', 'id = "lab-sums"').replace(
        "[agent.model]", '[agent]\nsandbox = "local"\n\n[agent.model]')
    file.write_text(text)
    lab = Parts(tmp_path / "lab")
    tiphys(tmp_path / "lab", "allow", "task", "lab-sums")
    lab.start_server()
    with stopped(lab, "none"):
        async with window(tmp_path / "desk") as made:
            dialog = await ask_of_lab(made, Home(tmp_path / "lab"), "lab-sums")
            QTest.keyClick(dialog, Qt.Key.Key_Return)
            session = made.cursor.session
            desk = made.desks.of(session)
            await eventually(lambda: (row := desk.row(session)) is not None and row.state == "finished", 60)
            await eventually(lambda: len(desk.trajectory(session).steps) == desk.row(session).steps > 0)
            assert made.desks.of(session).row(session).score == 100
            find = made.window.docks["find"].widget()
            find.box.insert("numbers.txt")
            await eventually(lambda: any(hit.session == session and hit.where == "action"
                                         for hit, _ in find.list.model().rows))


async def test_a_task_of_an_environment_is_played_from_the_window_and_by_the_command(
        qapp, tmp_path, textcraft):  # noqa: F811
    task(tmp_path / "lab", "craft", "Craft planks")
    with (tmp_path / "lab/tasks/craft/task.toml").open("a", encoding="utf-8") as file:
        file.write(crafting_task())
    lab = Parts(tmp_path / "lab", TIPHYS_SCRIPT_PACE="0")
    lab.env["PYTHONPATH"] += f"{os.pathsep}{textcraft}"
    ended = lab.tiphys("run", "craft")[-1]
    assert (ended["state"], ended["score"]) == ("finished", 100.0), ended
    lab.start_server()
    with stopped(lab, "none"):
        async with window(tmp_path / "desk") as made:
            dialog = await ask_of_lab(made, Home(tmp_path / "lab"), "craft")
            assert dialog.about.sandbox.text() == "none needed: it is played in textcraft 0" and may_start(dialog)
            assert dialog.about.budget.text() == "30 step(s)", "the environment's usual limit"
            dialog.model.setCurrentIndex(dialog.model.findData("openai"))
            assert not dialog.sandbox.isVisibleTo(dialog), "nothing to choose: it needs none"
            dialog.model.setCurrentIndex(0)
            QTest.keyClick(dialog, Qt.Key.Key_Return)
            session, desk = made.cursor.session, made.desks.of(made.cursor.session)
            await eventually(lambda: (row := desk.row(session)) is not None and row.state == "finished", 60)
            assert desk.row(session).score == 100.0 and desk.row(session).limits.steps == 30


async def test_without_an_engine_the_demonstration_asks_whether_it_may_do_without_a_sandbox(
        qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nowhere.sock")

    def questions() -> list[QMessageBox]:
        return [box for box in made.window.findChildren(QMessageBox) if box.isVisible()]

    def begun() -> list[AgentSettings]:
        with contextlib.closing(connect(tmp_path / "desk" / "replicas" / "local.db")) as conn:
            return [one.op.agent for one in outbox.recent(conn) if isinstance(one.op, CreateSession)]

    async with window(tmp_path / "desk", "--demonstration") as made:
        for press in ("Cancel", "&Without a sandbox"):
            await eventually(questions)
            [box] = questions()
            assert "without a sandbox" in box.text() and "Docker" in box.informativeText()
            assert box.defaultButton() is box.button(QMessageBox.StandardButton.Cancel), "Enter starts nothing"
            next(button for button in box.buttons() if button.text() == press).click()
            await eventually(lambda: not questions())
            if press == "Cancel":
                assert not made.cursor.session and not begun()
                made.actions["file.demonstration"].trigger()
        await eventually(lambda: made.cursor.session and begun())
    [agent] = begun()
    assert (agent.sandbox, agent.confirmed_unconfined, agent.model.kind) == ("local", True, "scripted")
