"""Messages of the computer's desktop over a real bus: a click on an older one opens its own step, not the newest."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.logs import SERVER, Maker
from support.panels import workplace

from app.attention.panel import AttentionController, build
from core.domain.events import AttentionCleared, AttentionRaised
from core.store import log

SERVICE = Path(__file__).parents[2] / "support" / "desktop_service.py"
pytestmark = pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="there is no dbus-daemon here")


@contextlib.contextmanager
def desktop_service(monkeypatch) -> Iterator[subprocess.Popen[str]]:
    """A bus of our own with a message service on it."""
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.stdout.readline().strip())
    service = subprocess.Popen([sys.executable, str(SERVICE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    assert service.stdout.readline() == "ready\n"
    try:
        yield service
    finally:
        for process in (service, bus):
            process.terminate()
            process.communicate()


def test_a_click_on_an_older_message_opens_its_own_step(qtbot, tmp_path, monkeypatch):
    maker = Maker(5, "Sailing <b>far</b>")
    maker.add_step()
    with desktop_service(monkeypatch) as service, workplace(tmp_path, maker, Maker(6)) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        notifications = panel.findChild(AttentionController).notifications
        qtbot.waitUntil(lambda: notifications.is_available)
        shown = []

        def say(*facts):
            start = len(maker.bodies)
            for fact in facts:
                maker.add_step() if isinstance(fact, int) else maker.say(fact, SERVER)
            head = replica._writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[start:]))
            place.desks.local._on_events("s1", start + 1, head)

        for step in (2, 4):  # the same kind in the same session, twice
            before = notifications._service._abouts.copy()
            say(1, AttentionRaised(kind="loop", step=step, evidence="ls ×9"), 1)
            qtbot.waitUntil(lambda b=before: notifications._service._abouts.keys() != b.keys())
            shown.append(json.loads(service.stdout.readline()))
            say(AttentionCleared(kind="loop"))
            qtbot.waitUntil(lambda: place.desks.local.row("s1").attention == ())
            place.desks.rows_changed.emit()
        assert shown == [["Tiphys", "Sailing <b>far</b>", "repeats itself"]] * 2
        for number, step in ((1, 2), (2, 4)):
            place.cursor.move("s2")
            service.stdin.write(f"{number}\n")
            service.stdin.flush()
            qtbot.waitUntil(lambda s=step: (place.cursor.session, place.cursor.step) == ("s1", s))
        place.cursor.move("s2")
        service.stdin.write("99\n1\n")
        service.stdin.flush()
        qtbot.wait(200)
        assert place.cursor.session == "s2", "other programs' messages, and one that was opened, are not ours"
