"""From the command to the painted window: processor time, what it went into, and the clock, beside bare Qt.

Each start is a process of its own with a home that was used before. `cpu_ms` is the process' own time, user and
system, from its first instruction to the end of the window's first paint; `bare` is CPython that imports QtWidgets and
paints an empty window, in turn with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rig
import view_rig as view

ROUNDS = 5

PRODUCT = """
import sys, time
import app.window.entry as entry
imported = time.process_time()
import json, os
from PySide6.QtCore import QEvent, QObject, QTimer
from app.window.window import Window

class FirstPaint(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.UpdateRequest:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, tell)
        return False

def tell():
    print(json.dumps({"cpu_ms": time.process_time() * 1000, "imports_cpu_ms": imported * 1000,
                      "at": time.time(), "modules": len(sys.modules)}), flush=True)
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


def start(program: str, home: Path) -> dict[str, float]:
    """What a process told of its own start; `wall_ms` since it was asked for."""
    began = time.time()
    done = subprocess.run([sys.executable, "-c", program, str(home)], capture_output=True, text=True, check=False,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": ""})
    if not done.stdout.strip():
        raise SystemExit(done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    return {**told, "wall_ms": (told["at"] - began) * 1000}


def main() -> None:
    """Start it some times."""
    with tempfile.TemporaryDirectory(prefix="tiphys-bench-") as folder:
        home = Path(folder)
        start(PRODUCT, home)
        pairs = [(start(PRODUCT, home), start(BARE, home)) for _ in range(ROUNDS)]
    of = {name: view.median([one[name] for one, _ in pairs])
          for name in ("cpu_ms", "imports_cpu_ms", "wall_ms", "modules")}
    rig.told("shown", **of, bare_cpu_ms=view.median([bare["cpu_ms"] for _, bare in pairs]),
             bare_wall_ms=view.median([bare["wall_ms"] for _, bare in pairs]),
             ratio=round(of["cpu_ms"] / view.median([bare["cpu_ms"] for _, bare in pairs]), 2), **view.machine())


if __name__ == "__main__":
    main()
