"""What was sent while the desktop was offline by choice and is refused later: told in a notice, its text kept."""

from __future__ import annotations

import contextlib

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton
from support.desktops import listed, window
from support.eventually import eventually
from support.logs import Maker
from support.server_process import ServerProcess

from app.desk.refusal import Refusal, words_of
from app.desk.session_key import key_of
from app.guidance.model import GuidanceRole
from app.window.toasts import Toasts
from core.domain.errors import Denied
from core.domain.events import SessionStateChanged
from core.protocol.operations import AddNote, ChangeGuidance, ClearAttention, GiveVerdict, Guide, TellTime
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import transaction

TEXT = "Look at the loader <b>once more</b>"


def working() -> Maker:
    maker = Maker(1, "Lab work")
    maker.say(SessionStateChanged(state="running"))
    for _ in range(3):
        maker.add_step("run_command", fails=False)
    return maker


def end(server: ServerProcess, maker: Maker) -> None:
    """The session ends at the server, while nobody here is connected."""
    count = len(maker.bodies)
    maker.finish()
    server.kill()
    with contextlib.closing(open_log(server.home.server_db)) as conn, transaction(conn):
        log.append(conn, "s", maker.bodies[count:])
    server.start()


def fates(made) -> list[tuple[str, str]]:
    model = made.window.docks["guidance"].widget().list.model()
    lines = [model.index(r, 0).data(GuidanceRole) for r in range(model.rowCount())]
    return [(line.text, line.fate) for line in lines]


@pytest.mark.parametrize("restarted", [False, True])
async def test_guidance_refused_after_an_offline_time_makes_a_notice_and_keeps_its_text(qapp, tmp_path, restarted):
    maker = working()
    with ServerProcess(tmp_path / "lab", s=maker) as lab:
        async with window(tmp_path / "desk") as made:
            entry = made.place.servers.add(lab.url, lab.token)
            key = key_of("s", entry.id)
            await eventually(lambda: listed(made))
            made.cursor.move(key)
            await eventually(lambda: made.desks.of(key).trajectory(key).row.steps == 3)
            made.place.servers.set_connected(entry.id, False)
            panel = made.window.docks["guidance"].widget()
            await eventually(panel.box.isEnabled)
            panel.box.setFocus()
            QTest.keyClicks(panel.box, TEXT)
            QTest.keyClick(panel.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            await eventually(lambda: fates(made) == [(TEXT, "on this computer, waits for the server")])
            end(lab, maker)
            if not restarted:
                await reconnected(made, key)
        if restarted:
            async with window(tmp_path / "desk") as made:
                await reconnected(made, key)


async def reconnected(made, key: str) -> None:
    """Connect again; the notice is there, its button opens the session, and the text stands in the list."""
    notices = []
    made.notices.posted.connect(notices.append)
    made.cursor.move("")
    made.place.servers.set_connected(made.place.servers.all[0].id, True)
    await eventually(lambda: notices)
    assert notices[0].sentence == (f"Your guidance “{TEXT}” was not taken: This session has ended: no agent will read "
                                "this. It stands under Guidance, to be used again.")
    assert (notices[0].kind, notices[0].session) == ("error", key)
    toasts = made.window.findChild(Toasts)
    assert toasts.isVisible() and not made.window.findChildren(QMessageBox), "a notice, never a box in the way"
    button = toasts.findChild(QPushButton)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert made.cursor.session == key
    await eventually(lambda: fates(made) and fates(made)[0][0] == TEXT and "refused" in fates(made)[0][1])
    assert len(notices) == 1


@pytest.mark.parametrize(("op", "words"), [
    (Guide(guidance="g", text="Stop"), "Your guidance “Stop” was not taken: {} It stands under Guidance, to be used "
                                       "again."),
    (ChangeGuidance(guidance="g", text="Go"), "Your change to “Go” was not taken: {} It stands under Guidance, to be "
                                              "used again."),
    (ChangeGuidance(guidance="g", text=None), "{}"),
    (AddNote(step=4, text="odd"), "Your remark “odd” on step 4 was not taken: {}"),
    (GiveVerdict(step=4, value="mask"), "Your word on step 4 was not taken: {}"),
    (ClearAttention(kind="loop"), "{}"), (TellTime(seconds={1: 2.0}), "")])
def test_each_refusal_says_what_was_not_taken(op, words):
    error = Denied("missing_scope", "No.")
    assert words_of(Refusal("s", op, error)) == words.format("Your token does not allow this.")
