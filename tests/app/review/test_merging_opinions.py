"""File › Merge: the archive that another annotator sent, by the real command, into the sessions that are here."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QWidget
from support.logs import Maker
from support.panels import workplace

from app.review.merging import MergingController
from core.domain.events import VerdictGiven, encode_event, make_event
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.formats import archive
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import connect

WU = Author(kind="person", name="wu")


async def connected() -> None:
    """The log is free: no server runs."""


def test_an_archives_opinions_are_merged_and_what_is_no_archive_is_named(qtbot, tmp_path: Path) -> None:
    home, sent, talk = Home(tmp_path / "home"), tmp_path / "sent.tiphys", tmp_path / "talk.json"
    talk.write_text('{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}')
    subprocess.run([sys.executable, "-m", "core.cli", "--home", str(home.path), "import", str(talk)], check=True,
                   capture_output=True)
    with contextlib.closing(connect(home.server_db, readonly=True)) as conn:
        (row,) = log.rows(conn)
        bodies = [placed.body for placed in log.read_all(conn, row.session)]
        verdict = encode_event(make_event(VerdictGiven(step=1, value="mask", reason="short"), WU))
        archive.write(sent, row.session, "t", [*bodies, verdict], lambda name: blobs.get(conn, name))
    heard = []
    with workplace(tmp_path / "home", Maker(5)) as (place, _):
        window = QWidget()
        qtbot.addWidget(window)
        place.notices.posted.connect(heard.append)
        merging = MergingController(place, window, connected)
        asyncio.run(merging.merge([str(tmp_path / "nothing.tiphys"), str(sent), str(sent)]))
    with contextlib.closing(connect(home.server_db, readonly=True)) as conn:
        told = fold(row.session, log.read_all(conn, row.session))
    assert told.step(1).verdicts[WU.key].reason == "short"
    assert [(notice.kind, notice.session) for notice in heard] == [
        ("error", ""), ("done", row.session), ("done", row.session)]
    assert ["1" in heard[1].sentence, "0" in heard[2].sentence] == [True, True]
