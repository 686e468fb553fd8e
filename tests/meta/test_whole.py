"""A package that lacks what the program loads is not packed: the check names the module and what it misses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest

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


HEAD = f"import sys; sys.path.insert(0, {str(ROOT / 'packaging' / 'desktop')!r})\n"


def ran(script: str, **variables: str) -> str:
    """What a script prints that knows the modules of packaging/desktop."""
    done = subprocess.run([sys.executable, "-B", "-c", HEAD + script], capture_output=True, text=True, timeout=110,
                          check=False, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_qt_misses_nothing_of_the_data_that_packages_blank_and_would_say_so(tmp_path: Path) -> None:
    libraries = list((Path(PySide6.__file__).parent / "Qt" / "lib").glob("libicudata.so.*"))
    if not libraries:
        pytest.skip("this build of Qt has no data of ICU beside it")
    library = tmp_path / libraries[0].name
    for more, lacks in (((), ""), (("coll",), "Qt does not order Chinese words by their sound.")):
        shutil.copy(libraries[0], library)
        ran(f"import icu, pathlib; icu.BLANKED += {more}; icu.blank(pathlib.Path({str(library)!r}))")
        assert library.stat().st_size == libraries[0].stat().st_size
        assert ran("import whole; print(*whole.qt_lacks())", LD_PRELOAD=str(library)) == lacks
