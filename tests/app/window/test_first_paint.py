"""Until the window is painted only what it paints is loaded."""

import os
import subprocess
import sys

START = """
import sys
from app.window import bootstrap, entry
from PySide6.QtCore import QTimer
from app.window.first_paint import FirstPaint

def told():
    late = [name for name in ("numpy", "pyqtgraph", "pyte", "websockets", "cryptography") if name in sys.modules]
    print("late:", *late, flush=True)
    desktop[0].quit.set()

class Watched(bootstrap.Desktop):
    def start(self, *arguments):
        desktop.append(self)
        watch.append(FirstPaint(self.window))
        watch[0].came.connect(told)
        super().start(*arguments)

desktop, watch = [], []
bootstrap.Desktop = Watched
sys.exit(entry.main(["--home", sys.argv[1]]))
"""


def test_no_window_waits_for_curves_terminals_or_connections(tmp_path):
    done = subprocess.run([sys.executable, "-c", START, str(tmp_path)], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, check=False)
    assert done.stdout.splitlines() == ["late:"], done.stderr
