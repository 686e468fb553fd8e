"""A package that lacks what the program loads is not packed: the check names the module and what it misses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LACKING = """
import sys
sys.path.insert(0, {folder!r})
for name in ("pyqtgraph", "torch"):
    sys.modules[name] = None
import whole
print("\\n".join(whole.missing(["torch"])))
"""


def test_what_was_trimmed_away_is_named_and_what_training_alone_needs_is_not() -> None:
    done = subprocess.run([sys.executable, "-B", "-c", LACKING.format(folder=str(ROOT / "packaging" / "desktop"))],
                          cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    named = {line.partition(":")[0] for line in done.stdout.splitlines()}
    assert {"app.charts.canvas", "app.export.loss_chart"} <= named
    assert not [name for name in named if name.startswith(("core.training", "core.llm"))], named


def test_the_package_is_checked_while_it_is_built() -> None:
    source = (ROOT / "packaging" / "desktop" / "tree.py").read_text()
    assert "    prove(program" in source and "whole.py" in source
