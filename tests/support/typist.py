"""A person at the real window, offscreen: reads one command per line, acts by key and mouse, answers one line.

    steps N          wait until the list shows N steps          → steps M
    guide TEXT       type into the box, press Ctrl+Enter        → sent (the box is empty: it is in the outbox)
    mask N           go to step N and press M                   → masked
    fate             the states of all guidance that is shown   → fate queued,delivered
    type TEXT        type into the guidance box and wait until it is on the disk → typed TEXT
    edit TEXT        change the first message that waits: type behind it        → edited TEXT
    leave            press Escape in the box          → box TEXT
    box              what stands in the guidance box  → box TEXT
    queue N          wait until N messages are shown  → queue N
    link             the state of the connection                → link online
    take             press Ctrl+Alt+T, wait until the session can be acted in   → yours
    act NAME=VALUE…  fill the chosen tool's fields in (VALUE up to the next tab), press Carry out → asked
    back             press Ctrl+Alt+B                           → back
    picture FILE     a picture of the window                    → picture FILE
    quit             close the window                           → bye

Started by the tests as `python typist.py HOME SESSION`; killed by them too.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox
from qasync import QEventLoop

from app.desk.settings import Settings
from app.guidance.view import GuidanceView
from app.takeover.view import TakeoverView
from app.window.bootstrap import Desktop, parse
from app.window.entry import make_application
from core import logs
from core.aio import TaskScope
from core.store.home import Home

_CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class Typist:
    """Carries the commands out on one desktop."""

    def __init__(self, desktop: Desktop, session: str) -> None:
        self.desktop, self.session = desktop, session

    async def obey(self, line: str) -> str:
        """Do one command; the answer."""
        verb, _, rest = line.strip().partition(" ")
        match verb:
            case "steps":
                await self._until(lambda: self._steps() >= int(rest))
                return f"steps {self._steps()}"
            case "guide":
                return await self._guide(rest)
            case "mask":
                return await self._mask(int(rest))
            case "fate":
                return "fate " + ",".join(g.state for g in self._trajectory().guidance.values())
            case "type" | "edit":
                return await self._type(rest, edit=verb == "edit")
            case "box":
                return f"box {self._panel.box.toPlainText()}"
            case "leave":
                QTest.keyClick(self._panel.box, Qt.Key.Key_Escape)
                return f"box {self._panel.box.toPlainText()}"
            case "queue":
                await self._until(lambda: self._panel.list.model().rowCount() >= int(rest))
                return f"queue {self._panel.list.model().rowCount()}"
            case "take":
                return await self._take_over()
            case "act":
                return await self._act(dict(pair.split("=", 1) for pair in rest.split("\t")))
            case "back":
                QTest.keyClick(self.desktop.window, Qt.Key.Key_B, _CTRL_ALT)
                return "back"
            case "picture":
                self.desktop.window.grab().save(rest)
                return f"picture {rest}"
            case "link":
                return f"link {self.desktop.place.sight.desk.link.state}"
        return f"unknown {verb}"

    @property
    def _panel(self) -> GuidanceView:
        panel = self.desktop.window.findChild(GuidanceView)
        assert panel is not None
        return panel

    async def _type(self, text: str, *, edit: bool) -> str:
        panel, desks = self._panel, self.desktop.desks
        if edit:
            panel.list.setCurrentIndex(panel.list.model().index(0, 0))
            self.desktop.actions["guide.edit"].trigger()
        await self._until(panel.box.isEnabled)
        panel.box.setFocus()
        panel.box.moveCursor(QTextCursor.MoveOperation.End)
        panel.box.insertPlainText(text) if not text.isascii() else QTest.keyClicks(panel.box, text)
        typed = panel.box.toPlainText()
        draft = f"{self.session}#edit" if edit else self.session
        await self._until(lambda: desks.of(draft).draft(draft).endswith(typed))
        return f"{'edited' if edit else 'typed'} {typed}"

    async def _guide(self, text: str) -> str:
        panel = self._panel
        panel.box.setFocus()
        QTest.keyClicks(panel.box, text)
        QTest.keyClick(panel.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await self._until(lambda: not panel.box.toPlainText())
        return "sent"

    @property
    def _takeover(self) -> TakeoverView:
        view = self.desktop.window.findChild(TakeoverView)
        assert view is not None
        return view

    async def _take_over(self) -> str:
        await self._until(self.desktop.actions["session.take_over"].isEnabled)
        self.desktop.window.activateWindow()
        await self._until(self.desktop.window.isActiveWindow)
        QTest.keyClick(self.desktop.window, Qt.Key.Key_T, _CTRL_ALT)
        view = self._takeover
        await self._until(lambda: view.tool.currentData() is not None and view.carry_out.isEnabled())
        return "yours"

    async def _act(self, given: dict[str, str]) -> str:
        view = self._takeover
        await self._until(view.carry_out.isEnabled)
        if tool := given.pop("tool", ""):
            view.tool.setCurrentIndex(view.tool.findData(tool))
        for name, value in given.items():
            field = view.form.fields[name]
            field.setFocus()
            if isinstance(field, QComboBox):
                field.setCurrentIndex(field.findData(value))
            else:
                QTest.keyClicks(field, value)
        texts = [name for name in given if not isinstance(view.form.fields[name], QComboBox)]
        view.carry_out.click()
        await self._until(lambda: not any(view.form.given().get(name) for name in texts) or view.problem.isVisible())
        return view.problem.text() or "asked"

    async def _mask(self, number: int) -> str:
        self.desktop.cursor.move(self.session, number)
        self.desktop.window.lay_out("read")
        await asyncio.sleep(0.1)
        QTest.keyClick(self.desktop.window, Qt.Key.Key_M)
        await self._until(lambda: self._trajectory().step(number).outcome == "mask")
        return "masked"

    def _trajectory(self):
        return self.desktop.desks.of(self.session).trajectory(self.session)

    def _steps(self) -> int:
        return len(self._trajectory().steps)

    @staticmethod
    async def _until(condition: Callable[[], bool]) -> None:
        while not condition():
            await asyncio.sleep(0.02)


async def sit(home: Home, settings: Settings, session: str) -> None:
    """Open the window and obey until told to quit."""
    async with TaskScope("typist") as scope:
        desktop = Desktop(home, settings, scope)
        desktop.start(parse(["--session", session]), "")
        desktop.window.filling.fill()  # keys of a test reach widgets without going through the window
        typist = Typist(desktop, session)
        while (line := await asyncio.to_thread(sys.stdin.readline)) and line.strip() != "quit":
            print(await typist.obey(line), flush=True)  # noqa: T201
        await desktop.close()
    print("bye", flush=True)  # noqa: T201


def main() -> int:
    """Run the desktop under a typist."""
    home = Home(Path(sys.argv[1]))
    logs.set_up("desktop", home.logs)
    settings = Settings(home.settings)
    app: QApplication = make_application(settings, "en")
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(sit(home, settings, sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
