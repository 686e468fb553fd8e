"""Every widget of the real window, shown a session whose every text is an attack: nothing is rendered or hidden.

Threats 1 and 2. Traps tell whether a file was opened or an address was called; a positive control proves that they do.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import os
import select
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

import msgspec
import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import QAction, QPainter, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QToolTip,
    QWidget,
)
from support.hostile import HIDDEN, MARKUP
from support.logs import AGENT, PERSON, RULE, SERVER, Maker, fill

from core.domain.events import (
    AttentionRaised,
    FileChanged,
    NoteAdded,
    ScoreGiven,
    SearchMade,
    SearchResult,
    SessionStateChanged,
    SnapshotTaken,
    StepAdded,
    SummaryAdded,
    TagSet,
    TerminalOutput,
    VerdictGiven,
)
from core.domain.step import Action, ActionError, Observation, Output, StepBody
from core.domain.verdict import Author

INVISIBLE = {
    chr(c)
    for c in (
        *range(0x20),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        0x200B,
        0x200E,
        0x200F,
        0xFEFF,
        0x2028,
        0x2029,
        0x61C,
    )
} - {"\n", "\t"}


class Traps:
    """A picture, a folder and an address that notice whoever opens them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.picture = folder / "trap.png"
        self.picture.write_bytes(
            bytes.fromhex(
                "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
            )
        )
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self.web = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._watch = self._inotify(folder)

    @staticmethod
    def _inotify(folder: Path) -> int:
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(watch, os.fsencode(folder), 0x1 | 0x20) >= 0  # IN_ACCESS, IN_OPEN
        return watch

    def sprung(self) -> list[str]:
        """What was touched since the last call."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while os.read(self._watch, 65536):
                found.append("file")
        while select.select([self._server], [], [], 0)[0]:
            self._server.accept()[0].close()
            found.append("socket")
        return found

    def close(self) -> None:
        os.close(self._watch)
        self._server.close()

    def texts(self) -> list[str]:
        return [t.replace("{file}", str(self.picture)).replace("{web}", self.web) for t in (*MARKUP, *HIDDEN)]


class Hostile(Maker):
    """A session in which every text that an agent, a container or another annotator can choose is from the corpus."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self._next = itertools.cycle(texts)
        super().__init__(11, title=texts[0] + texts[-1] + texts[-6])

    def text(self, words: int) -> str:
        return next(self._next) if hasattr(self, "_next") else ""

    def _body(self, tool: str, fails: bool) -> StepBody:
        text, more = self.text(1), self.text(1)
        action = Action(
            call_id=text,
            tool=text,
            family="command",
            arguments={"command": text, more: more, "computer_ip": text},
            malformed=more if fails else "",
        )
        output = "\n".join(self.texts) if self.step == 1 else text
        seen = Observation(
            call_id=text,
            status="failed" if fails else "finished",
            exit_code=1,
            data={text: more},
            error=ActionError(kind=text, message=more),
            output=Output(text=output, total_chars=len(output), terminal=text),
            started_at=self.at,
            ended_at=self.at,
        )
        return StepBody(
            number=self.step, thought=more, actions=(action,), observations=(seen,), model=text, finish_reason=more
        )

    def _side_effects(self, body: StepBody) -> None:
        text = self.text(1)
        for terminal in ("main", text[:60]):
            data = (text + "\r\n").encode("utf-8", "replace")
            offset = self._offset if terminal == "main" else 0
            self.say(
                TerminalOutput(
                    host="main" if terminal == "main" else text[:60],
                    terminal=terminal,
                    offset=offset,
                    size=len(data),
                    data=data,
                )
            )
        self._offset += len((text + "\r\n").encode("utf-8", "replace"))
        name = self.keep(text.encode("utf-8", "replace"))
        self.say(FileChanged(host="main", path=text, before="", after=name, size=9, step=self.step))
        self.say(
            FileChanged(
                host="main", path="a.html", before=self._files.get("a.html", ""), after=name, size=9, step=self.step
            )
        )
        self._files["a.html"] = name
        found = SearchResult(title=text, link=text, snippet=text, position=1)
        self.say(SearchMade(query=text, engine=text, step=self.step, results=(found, found)))


def hostile_session(texts: list[str]) -> Hostile:
    maker = Hostile(texts)
    for number, text in enumerate(texts, 1):
        if number % 7 == 1:
            maker.guide(text)
        maker.add_step(fails=number % 3 == 0)
        maker.say(VerdictGiven(step=number, value="mask", reason=text), Author(kind="judge", name=text, version=text))
        maker.say(VerdictGiven(step=number, value="keep", reason=text), Author(kind="person", name=text))
        maker.say(NoteAdded(step=number, text=text), PERSON)
        maker.say(TagSet(step=number, tag=text[:40]), RULE)
    maker.say(SummaryAdded(id="sum", first=1, last=3, text="\n".join(texts)))
    maker.say(ScoreGiven(ordinal=1, step=2, total=5.0, parts={texts[0]: 1.0}, message=texts[1]), SERVER)
    maker.say(AttentionRaised(kind="loop", evidence=texts[0], step=2), AGENT)
    maker.say(SnapshotTaken(step=2, images={texts[0]: texts[1]}))
    maker.guide(texts[3])
    maker.say(SessionStateChanged(state="running", reason=texts[2], detail=texts[0]))
    return maker


# ---- what may be seen


DRAWN = ("DisplayRole", "AccessibleTextRole")
"""Roles whose text is drawn or read aloud as it is; the others are shown by Qt, which takes tags for markup."""


def strings(model: QAbstractItemModel | None, parent: QModelIndex, depth: int = 0) -> Iterator[tuple[str, str]]:
    """(role, text) of every cell that a view could show."""
    if model is None or depth > 2:
        return
    columns = 1 if isinstance(model, QAbstractListModel) else min(model.columnCount(parent), 8)
    for row, column in itertools.product(range(min(model.rowCount(parent), 150)), range(columns)):
        index = model.index(row, column, parent)
        for role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.StatusTipRole,
            Qt.ItemDataRole.WhatsThisRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            told = index.data(role)
            if isinstance(told, str):
                yield role.name, told
        if column == 0:
            yield from strings(model, index, depth + 1)


def tips(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.statusTip(), widget.whatsThis())
    for action in widget.actions():
        yield from (action.toolTip(), action.statusTip(), action.whatsThis())
    if isinstance(widget, QTabBar):
        yield from (widget.tabToolTip(i) for i in range(widget.count()))
    if isinstance(widget, QAbstractItemView):
        yield from (text for role, text in strings(widget.model(), QModelIndex()) if role not in DRAWN)


def shown(widget: QWidget) -> Iterator[str]:
    """The texts that a widget shows of its own."""
    yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    if isinstance(widget, QLineEdit):
        yield from (widget.text(), widget.placeholderText())
    if isinstance(widget, QPlainTextEdit):
        yield from (widget.toPlainText(), widget.placeholderText())
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(i) for i in range(widget.count()))
    if isinstance(widget, QTabBar):
        yield from (widget.tabText(i) for i in range(widget.count()))
    if isinstance(widget, QMenu):
        yield from (a.text() for a in widget.actions() if isinstance(a, QAction))
    if isinstance(widget, QAbstractItemView):
        yield from (text for role, text in strings(widget.model(), QModelIndex()) if role in DRAWN)


def rendered(document: QTextDocument) -> list[str]:
    """Images, anchors, tables and lists in a document."""
    found = ["frame"] * len(document.rootFrame().childFrames())
    block = document.begin()
    while block.isValid():
        found += ["list"] if block.textList() else []
        fragments = block.begin()
        while not fragments.atEnd():
            told = fragments.fragment().charFormat()
            found += ["image"] if told.isImageFormat() else []
            found += ["anchor"] if told.isAnchor() else []
            fragments += 1
        block = block.next()
    return found


class Inspector:
    """Looks at every widget there is; keeps what is wrong, and every tooltip that it met."""

    def __init__(self) -> None:
        self.wrong: set[str] = set()
        self.tips: set[str] = set()
        self.texts: set[str] = set()
        self.kinds: set[str] = set()

    def look(self) -> None:
        for widget in QApplication.allWidgets():
            name = f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}"
            if type(widget).__name__ == "QTipLabel":
                continue
            self.kinds.add(type(widget).__name__)
            if isinstance(widget, QLabel) and widget.text() and widget.textFormat() != Qt.TextFormat.PlainText:
                self.wrong.add(f"{name}: a label that guesses: {widget.text()[:60]!r}")
            if isinstance(widget, QTextEdit):
                self.wrong.add(f"{name}: a rich text view")
            if isinstance(widget, QPlainTextEdit) and (found := rendered(widget.document())):
                self.wrong.add(f"{name}: {found[:3]}")
            for text in shown(widget):
                self.texts.add(text)
                if hidden := INVISIBLE & set(text):
                    self.wrong.add(f"{name}: hidden {sorted(map(ascii, hidden))} in {text[:60]!a}")
            for tip in tips(widget):
                self._tip(name, tip)

    def _tip(self, name: str, tip: str) -> None:
        if tip in self.tips:
            return
        self.tips.add(tip)
        if INVISIBLE & set(tip):
            self.wrong.add(f"{name}: hidden characters in the tooltip {tip[:60]!a}")
        if "<" in tip:  # Qt takes for rich text whatever looks like a tag
            inside = tip.removeprefix("<qt>").removesuffix("</qt>").replace("<br>", "")
            if "<" in inside or not tip.startswith("<qt>"):
                self.wrong.add(f"{name}: the tooltip {tip[:80]!r} is rendered")


async def settle(rounds: int = 4) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0.004)


@pytest.fixture
def traps(tmp_path: Path, qapp: QApplication) -> Iterator[Traps]:
    if not sys.platform.startswith("linux"):
        pytest.skip("inotify tells who opens a file")
    made = Traps(tmp_path / "traps")
    yield made
    made.close()


def test_the_traps_spring(traps: Traps) -> None:
    document = QTextDocument()
    document.setHtml(f"<img src='{traps.picture}'>")
    document.documentLayout().documentSize()
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", int(traps.web.rsplit(":", 1)[1])), timeout=2).close()
    assert set(traps.sprung()) == {"file", "socket"} and traps.sprung() == []
    assert "image" in rendered(document)


def test_the_whole_window_renders_nothing_and_touches_nothing(
    tmp_path: Path, qapp: QApplication, traps: Traps, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qasync import QEventLoop

    drawn: set[str] = set()
    draw = QPainter.drawText

    def spy(painter: QPainter, *given: object) -> object:
        drawn.update(text for text in given if isinstance(text, str))
        return draw(painter, *given)

    monkeypatch.setattr(QPainter, "drawText", spy)

    with asyncio.Runner(loop_factory=lambda: QEventLoop(qapp)) as runner:
        inspector = runner.run(asyncio.wait_for(walk(tmp_path, traps), 100))
    wrong = sorted({ascii(w.partition(": ")[0] + ": " + w.partition(": ")[2][:60]) for w in inspector.wrong})
    assert not wrong, "\n".join(wrong[:60])
    assert [ascii(text[:80]) for text in sorted(drawn) if INVISIBLE & set(text)] == []
    assert any("<b>bold</b>" in text for text in drawn), "the delegates have drawn what was planted"
    assert traps.sprung() == []
    everything = "\n".join(inspector.texts)
    missing = [p for p in traps.texts()[:20] if p[:24] not in everything]
    assert missing == [], "the walk has seen what was planted"
    assert {"PlainLabel", "LongText", "QPlainTextEdit"} <= inspector.kinds and len(inspector.tips) > 10


async def walk(folder: Path, traps: Traps) -> Inspector:
    """Open the window on the hostile session, visit every step, dialog and notice, and look each time."""
    from app.desk.settings import Settings
    from app.kit.ask import yes_or_no
    from app.sessions.new_dialog import NewSessionDialog, Offer, TaskChoice
    from app.window.bootstrap import Desktop
    from core.aio import TaskScope
    from core.client.replica import Replica
    from core.domain.errors import InvalidInput
    from core.store.home import Home

    texts = traps.texts()
    home, maker = Home(folder / "home"), hostile_session(texts)
    replica = Replica(home.replicas / "local.db")
    replica._writer.do_blocking(lambda conn: fill(conn, "s1", maker.bodies, maker.blobs))
    replica.close()
    inspector = Inspector()
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        made.window.resize(1500, 950)
        made.window.show()
        try:
            for dock in made.window.docks.values():
                dock.show()
            for number in range(1, len(texts) + 1):
                made.cursor.move("s1", number)
                await settle()
                if number % 6 == 1:
                    made.actions["view.eye"].setChecked(number % 12 == 1)
                    await settle()
                    inspector.look()
                    made.window.grab()
            made.cursor.follow()
            for kind, ref in (("summary", "sum"), ("guidance", next(iter(made.desks.local.trajectory("s1").guidance)))):
                made.cursor.open_aside(kind, ref)
                await settle()
                inspector.look()
            for text in texts[::5]:
                made.notices.tell(text, "error", "s1")
                made.notices.report(InvalidInput("not_a_file", text, path=text))
                await settle(1)
                inspector.look()
            question = scope.spawn(yes_or_no(made.window, texts[0], "Yes", detail=texts[1]), name="question")
            dialog = NewSessionDialog([("", texts[0]), ("lab", texts[1])], "", made.window)
            dialog.show_offer("", Offer(tuple(TaskChoice(task=t, title=t, hosts=(t,)) for t in texts), texts[2]))
            dialog.open()
            await settle()
            inspector.look()
            made.window.grab()
            dialog.reject()
            question.cancel()
            for tip in sorted(inspector.tips)[:200]:
                QToolTip.showText(QPoint(10, 10), tip)
                await settle(1)
            QToolTip.hideText()
        finally:
            await made.close()
    return inspector


def test_bodies_that_are_none_are_said_to_be_unreadable(tmp_path: Path, qapp: QApplication) -> None:
    """A log may name a payload that is no step and no message: the panel says so."""
    from support.panels import workplace

    from app.step import panel as controller

    maker = Maker(2)
    maker.add_step()
    fact = maker.add_step()
    bad = maker.keep(b"\x80\x04\x95 no body")
    del maker.bodies[-1]
    maker.say(msgspec.structs.replace(fact, body=bad))
    assert isinstance(fact, StepAdded)
    with workplace(tmp_path, maker) as (place, _):
        host = QWidget()
        panel = controller.build(place, host)
        place.cursor.move("s1", 2)
        QApplication.processEvents()
        assert "cannot be read" in panel.text.text
        host.deleteLater()
