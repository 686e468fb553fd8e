"""What a desktop wants of a program beside the program: menu entry, icons, file types, man page, completions, terms."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bill
import licences
from version import version

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SIZES = (48, 128)
SHELLS = {"bash": "bash-completion/completions/tiphys", "zsh": "zsh/site-functions/_tiphys",
          "fish": "fish/vendor_completions.d/tiphys.fish"}


def lay(tree: Path) -> None:
    """Put it all below tree/share. The program, and what it is made of, is asked for what it knows of itself."""
    share, python = tree / "share", tree / "lib" / "tiphys" / "bin" / "python3"
    entry = (ROOT / "resources" / "tiphys.desktop").read_text(encoding="utf-8")
    _write(share / "applications" / "tiphys.desktop", entry.replace("@program@", "tiphys"))
    _write(share / "metainfo" / "tiphys.metainfo.xml",
           (HERE / "tiphys.metainfo.xml").read_text(encoding="utf-8").replace("@version@", version()))
    _write(share / "mime" / "packages" / "tiphys.xml",
           (ROOT / "resources" / "tiphys-mime.xml").read_text(encoding="utf-8"))
    _icons(python, share / "icons" / "hicolor")
    page = share / "man" / "man1" / "tiphys.1.gz"
    page.parent.mkdir(parents=True)
    page.write_bytes(gzip.compress(_ask(python, HERE / "man_page.py", version()), mtime=0))
    for shell, place in SHELLS.items():
        _write(share / place, _ask(python, HERE / "completion.py", shell).decode())
    papers = share / "doc" / "tiphys"
    licences.lay(tree, papers)
    subprocess.run([sys.executable, "-B", str(ROOT / "packaging" / "site" / "build.py"), str(papers / "manual")],
                   check=True)
    bill.lay(python, papers)
    (papers / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))


def _icons(python: Path, folder: Path) -> None:
    drawing = folder / "scalable" / "apps" / "tiphys.svg"
    drawing.parent.mkdir(parents=True)
    shutil.copy(ROOT / "resources" / "tiphys.svg", drawing)
    for size in SIZES:
        target = folder / f"{size}x{size}" / "apps" / "tiphys.png"
        target.parent.mkdir(parents=True)
        _ask(python, HERE / "icon.py", str(drawing), str(size), str(target))


def _ask(python: Path, script: Path, *arguments: str) -> bytes:
    # a home of its own: asking the program must not touch the builder's
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen", "HOME": "/nonexistent"}
    return subprocess.run([str(python), "-I", "-B", str(script), *arguments], check=True, stdout=subprocess.PIPE,
                          env=environment).stdout


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
