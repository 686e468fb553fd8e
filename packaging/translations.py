"""Catalogues of the desktop's languages: update them from the source, compile them, or check that nothing is stale.

    python packaging/translations.py            update resources/i18n/*.ts and compile *.qm
    python packaging/translations.py --check    fail when one is stale, unfinished, or lost a placeholder (for CI)
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "i18n"
LANGUAGES = ("en", "zh_CN")
_PLACES = re.compile(r"\{[^{}]*\}|%L?[n\d]")


def main(arguments: list[str]) -> int:
    """Update or check; returns the exit status."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    if not arguments:
        for language in LANGUAGES:
            update(FOLDER, language)
        problems = [p for language in LANGUAGES for p in unfinished(FOLDER / f"tiphys_{language}.ts")]
    else:
        problems = check()
    for problem in problems:
        sys.stdout.write(problem + "\n")
    sys.stdout.write("translations: " + (f"{len(problems)} problem(s)\n" if problems else "complete\n"))
    return 1 if problems else 0


def update(folder: Path, language: str) -> None:
    """Take the sentences of the source into a catalogue and compile it."""
    catalogue = folder / f"tiphys_{language}.ts"
    sources = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "app").rglob("*.py"))
    plural_only = ["-pluralonly"] if language == "en" else []
    _run("pyside6-lupdate", *sources, "-ts", str(catalogue), "-locations", "none", "-no-obsolete", "-silent",
         "-target-language", language, *plural_only)
    _run("pyside6-lrelease", "-silent", str(catalogue), "-qm", str(catalogue.with_suffix(".qm")))


def check() -> list[str]:
    """What is wrong with the catalogues: stale, unfinished, or with other placeholders than the source."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for language in LANGUAGES:
            ours = FOLDER / f"tiphys_{language}.ts"
            fresh = Path(shutil.copy(ours, scratch))
            update(Path(scratch), language)
            if messages(fresh) != messages(ours):
                problems.append(f"{ours.name}: stale, run packaging/translations.py")
            if fresh.with_suffix(".qm").read_bytes() != ours.with_suffix(".qm").read_bytes():
                problems.append(f"{ours.with_suffix('.qm').name}: stale, run packaging/translations.py")
            problems += unfinished(ours)
    return problems


def messages(catalogue: Path) -> list[tuple[str, str, tuple[str, ...], bool]]:
    """(context, source, translations, finished) of a catalogue, in its order."""
    found = []
    for context in ET.parse(catalogue).getroot().iter("context"):
        name = context.findtext("name", "")
        for message in context.iter("message"):
            target = message.find("translation")
            forms = [f.text or "" for f in target.iter("numerusform")] if target is not None else []
            texts = tuple(forms) if forms else ((target.text or "") if target is not None else "",)
            finished = target is not None and target.get("type") is None
            found.append((name, message.findtext("source", ""), texts, finished))
    return found


def unfinished(catalogue: Path) -> list[str]:
    """Sentences without a translation, or whose placeholders differ from the source's."""
    problems = []
    for context, source, forms, finished in messages(catalogue):
        where = f"{catalogue.name}: {context}: {source[:60]!r}"
        if not finished or not all(forms):
            problems.append(f"{where} is not translated")
            continue
        wanted = set(_PLACES.findall(source))
        for form in forms:
            extra = set(_PLACES.findall(form)) ^ wanted
            if extra - ({"%Ln"} if len(forms) > 1 else set()):
                problems.append(f"{where} has other placeholders: {', '.join(sorted(extra))}")
    return problems


def _run(program: str, *arguments: str) -> None:
    """Run a Qt tool of this Python's environment in the repository's root."""
    beside = Path(sys.executable).parent / program
    command = [str(beside) if beside.exists() else program, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        raise SystemExit(f"{program} failed")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
