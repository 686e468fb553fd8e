"""From the command to the painted window: processor time, what it went into, and the clock, beside bare Qt.

    run.py shown [--rounds 5] [--beside FOLDER]     FOLDER: another checkout of the program, started in turn with this

Each start is a process of its own with a home that was used before: one without a session, which shows the start page,
and one that opens a session of ten steps. `cpu_ms` is the process' own time, user and system, from its first
instruction to the end of the window's first paint; `bare` is CPython that imports QtWidgets and paints an empty window,
in turn with it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rig
import view_rig as view
from support.logs import fill
from support.panels import told_session

from core.client.replica import Replica
from core.store.home import Home

PRODUCT = """
import sys, time
import app.window.entry as entry
imported = time.process_time()
import json, os
from PySide6.QtCore import QEvent, QObject
from app.window.window import Window

class FirstPaint(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.UpdateRequest:
            watched.removeEventFilter(self)
            watched.event(event)
            tell(watched)
        return False

def tell(window):
    print(json.dumps({"cpu_ms": time.process_time() * 1000, "imports_cpu_ms": imported * 1000,
                      "at": time.time(), "modules": len(sys.modules)}), flush=True)
    window.save_state()
    os._exit(0)

watch, made = FirstPaint(), Window.__init__
def make(self, *arguments):
    made(self, *arguments)
    self.installEventFilter(watch)
Window.__init__ = make
entry.main(["--home", sys.argv[1]])
"""

BARE = """
import json, os, time
from PySide6.QtWidgets import QApplication, QMainWindow
made = QApplication([])
window = QMainWindow()
window.resize(1200, 800)
window.show()
made.processEvents()
print(json.dumps({"cpu_ms": time.process_time() * 1000, "at": time.time()}), flush=True)
os._exit(0)
"""


NAMES = ("cpu_ms", "imports_cpu_ms", "wall_ms", "modules")


def start(program: str, home: Path, tree: str = "") -> dict[str, float]:
    """What a process told of its own start; `wall_ms` since it was asked for. `tree`: another checkout to start."""
    began, path = time.time(), os.environ.get("PYTHONPATH", "")
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, (tree, path)))}
    done = subprocess.run([sys.executable, "-c", program, str(home)], capture_output=True, text=True, check=False,
                          cwd=tree or None,
                          env={**os.environ, **paths, "QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": ""})
    if not done.stdout.strip():
        raise SystemExit(done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    return {**told, "wall_ms": (told["at"] - began) * 1000}


def home_with_a_session(folder: Path) -> Path:
    """A home whose replica of this computer's server holds a session."""
    replica, maker = Replica(Home(folder).replicas / "local.db"), told_session()
    replica._writer.do_blocking(lambda conn: fill(conn, "s1", maker.bodies, maker.blobs))
    replica.close()
    return folder


def main() -> None:
    """Start it some times, with each home."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", default="", metavar="FOLDER")
    asked = parser.parse_args()
    trees = ["", *([str(Path(asked.beside).resolve())] if asked.beside else [])]
    with tempfile.TemporaryDirectory(prefix="tiphys-bench-") as folder:
        homes = {"start page": Path(folder, "empty"), "session": home_with_a_session(Path(folder, "one"))}
        for shows, home in homes.items():
            for tree in trees * 2:
                start(PRODUCT, home, tree)
            rounds = [([start(PRODUCT, home, tree) for tree in trees], start(BARE, home)) for _ in range(asked.rounds)]
            bare = {f"bare_{name}": view.median([one[name] for _, one in rounds]) for name in ("cpu_ms", "wall_ms")}
            for at, tree in enumerate(trees):
                of = {name: view.median([one[at][name] for one, _ in rounds]) for name in NAMES}
                rig.told("shown", shows=shows, tree=tree or "this", **of, **bare,
                         ratio=round(of["cpu_ms"] / bare["bare_cpu_ms"], 2), **view.machine())


if __name__ == "__main__":
    main()
