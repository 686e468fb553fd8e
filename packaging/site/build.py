"""Builds the manual from docs/ and the pages at the top: the site dist/site, which is read without a network.

    python packaging/site/build.py [OUT]

A link to a page leads to that page in the site; a link to any other file of the project becomes the file's name, as a
reader of the site has no checkout. A link or anchor that leads nowhere ends the build (`strict`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SOURCE, TOOLS = ROOT / "build" / "site" / "source", ROOT / "build" / "site" / "tools"
TOP = {"README.md": "index.md", "SECURITY.md": "SECURITY.md", "SECURITY.zh.md": "SECURITY.zh.md",
       "ARCHITECTURE.md": "ARCHITECTURE.md", "DECISIONS.md": "DECISIONS.md", "CHANGELOG.md": "CHANGELOG.md"}
"""Pages at the top of the project, and what they are called in the site."""

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def main(out: str = "") -> int:
    """Lay the source and have it built, into dist/site or another folder; returns the exit status."""
    lay()
    times = os.environ.get("SOURCE_DATE_EPOCH") or _run("git", "log", "-1", "--format=%ct").strip()
    return subprocess.run([tool(), "build", "--config-file", HERE / "mkdocs.yml",
                           "--site-dir", Path(out or ROOT / "dist" / "site").absolute()],
                          env={**os.environ, "SOURCE_DATE_EPOCH": times, "NO_MKDOCS_2_WARNING": "1"}).returncode


def tool() -> Path:
    """mkdocs, installed from its own list of hashes where it is not there yet."""
    program = TOOLS / "bin" / "mkdocs"
    if not program.exists():
        _run(sys.executable, "-m", "venv", str(TOOLS))
        _run(str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--require-hashes", "-r", str(ROOT / "packaging" / "locks" / "site.txt"))
    return program


def lay() -> None:
    """Put pages and pictures where the site takes them from."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE, ignore=shutil.ignore_patterns("*.md"))
    shutil.copy(HERE / "site.css", SOURCE)
    # What lets the search run from a folder; mkdocs-material would load it from a network.
    shutil.copytree(HERE / "iframe-worker", SOURCE / "iframe-worker")
    for page in sorted((ROOT / "docs").glob("*.md")):
        (SOURCE / page.name).write_text(linked(page))
    for name, page in TOP.items():
        if (ROOT / name).exists():
            (SOURCE / page).write_text(linked(ROOT / name))


def linked(page: Path) -> str:
    """A page with links that lead somewhere in the site."""
    return _LINK.sub(lambda found: _link(page, *found.groups()), page.read_text())


def _link(page: Path, picture: str, text: str, target: str) -> str:
    path, sign, anchor = target.partition("#")
    if not path or "://" in path:
        return f"{picture}[{text}]({target})"
    file = (page.parent / path).resolve()
    if file.name.endswith(".zh.md"):
        if not page.name.endswith(".zh.md"):  # the site's own switch of languages leads there
            return text
        file = file.with_name(file.name.replace(".zh.md", ".md"))  # in the site a page links its own language so
    if file.parent == ROOT and file.name in TOP:
        return f"{picture}[{text}]({TOP[file.name]}{sign}{anchor})"
    if ROOT / "docs" in file.parents and file.exists():
        return f"{picture}[{text}]({file.relative_to(ROOT / 'docs')}{sign}{anchor})"
    name = f"`{file.relative_to(ROOT)}`"
    return name if text in (file.name, path) else f"{text} ({name})"


def _run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
