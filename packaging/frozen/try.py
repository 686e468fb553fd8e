"""Starts every part of a frozen program and lets it do something: python packaging/frozen/try.py EXECUTABLE

A session of a scripted agent (server, runner, sandbox without confinement, evaluator), an import, rules, an export,
a search, and pictures of every panel of the window, which starts the window's own workers.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKERS = {"pictures": (), "export": ("--log", "{log}"), "rules": ("--log", "{log}", "--rules", "{home}"),
           "search": ("{log}", "{home}/search.db"), "find": ("--copy", "here", "{log}", "{home}/find.db")}
"""Those that answer lines, and what they are started with; with no line to answer they end."""

FOREIGN = ROOT / "tests" / "core" / "formats" / "foreign" / "claude.jsonl"


class Frozen:
    """An executable with a home of its own."""

    def __init__(self, program: Path, home: Path) -> None:
        self._program = str(program.resolve())
        self._environment = {"HOME": str(home), "TIPHYS_HOME": str(home / "data"), "QT_QPA_PLATFORM": "offscreen",
                             "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def run(self, *words: str, asked: str = "") -> str:
        """What it prints. Raises SystemExit where it fails or shows a traceback."""
        done = subprocess.run([self._program, *words], input=asked, capture_output=True, text=True, check=False,
                              env=self._environment, cwd=self._environment["HOME"], timeout=300)
        if done.returncode or "Traceback" in done.stderr:
            raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        last = done.stdout.strip().rpartition("\n")[2]
        sys.stdout.write(f"{' '.join(words)[:100]}: {last[:100] or 'ok'}\n")
        return done.stdout


def panels() -> int:
    """How many panels the sources have."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "app").glob("*/__init__.py"))
    return sum(re.search(r"^PANEL\s*=", text, re.M) is not None for text in texts)


def main(program: Path) -> None:
    """Try all of it; raises SystemExit with what went wrong."""
    with tempfile.TemporaryDirectory(prefix="tiphys-frozen-") as folder:
        frozen = Frozen(program, Path(folder))
        frozen.run("--version")
        frozen.run("--part", "qt-version")
        frozen.run("run", "sum-numbers", "--unconfined", "--wait", "--json")
        session = json.loads(frozen.run("import", "--json", str(FOREIGN)).splitlines()[0])["session"]
        frozen.run("judge", session, "--rules-only", "--json")
        frozen.run("export", session, "--to", "chat", "--unjudged", "keep", "--out", f"{folder}/out", "--json")
        frozen.run("search", "the", "--json")
        for worker, words in WORKERS.items():
            frozen.run("--part", worker, *(w.format(log=f"{folder}/data/server.db", home=folder) for w in words))
        frozen.run("--part", "screenshots", "--home", f"{folder}/data", "--session", session, "--panels", "--out",
                   f"{folder}/pictures")
        found = list(Path(folder, "pictures").glob("panel-*.png"))
        if len(found) < panels():
            raise SystemExit(f"Only {len(found)} of {panels()} panels opened.")
    sys.stdout.write(f"Every part starts, {len(found)} panels open.\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
