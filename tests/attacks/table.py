"""Run the tests of every threat of SECURITY.md and print what came of it: tests, generated inputs, what got through.

    python tests/attacks/table.py        (`make attacks`; needs what the test command needs)

An attack that got through is a test that failed. Ends with status 1 where one did.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def threats() -> list[tuple[str, list[str]]]:
    """Each row of the page: the threat and its test files."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    return [(f"{row[1].strip()} {row[2].strip()}", re.findall(r"`([a-z_/]+\.py)", row[4])) for row in rows]


def run(files: list[str], report: Path) -> str:
    """Run them; what pytest printed."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    argv = [sys.executable, "-m", "pytest", "-q", "--hypothesis-show-statistics", f"--junitxml={report}",
            "-o", "junit_family=xunit1", *(f"tests/{name}" for name in files)]
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False).stdout


def outcomes(report: Path) -> dict[str, Counter[str]]:
    """File → how many tests were tried, failed and skipped."""
    told: dict[str, Counter[str]] = {}
    for case in ET.parse(report).iter("testcase"):
        counts = told.setdefault(str(case.get("file")).removeprefix("tests/"), Counter())
        kinds = {child.tag for child in case}
        counts["skipped" if "skipped" in kinds else "failed" if kinds & {"failure", "error"} else "passed"] += 1
    return told


def generated(printed: str) -> Counter[str]:
    """File → inputs that hypothesis made for it."""
    made: Counter[str] = Counter()
    file = ""
    for line in printed.splitlines():
        if found := re.match(r"tests/(\S+?\.py)::", line):
            file = found[1]
        elif found := re.search(r"(\d+) passing(?: examples)?, (\d+) failing", line):
            made[file] += int(found[1]) + int(found[2])
    return made


def main() -> int:
    """Print the table."""
    rows = threats()
    files = sorted({name for _, names in rows for name in names})
    with tempfile.TemporaryDirectory() as folder:
        printed = run(files, Path(folder) / "report.xml")
        told, made = outcomes(Path(folder) / "report.xml"), generated(printed)
    sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n\n| threat | tests | generated inputs | skipped | "
                     "got through |\n|---|---|---|---|---|\n")
    for threat, names in rows:
        counts = sum((told.get(name, Counter()) for name in names), Counter())
        sys.stdout.write(f"| {threat} | {counts['passed'] + counts['failed']} | {sum(made[n] for n in names):,} | "
                         f"{counts['skipped']} | {counts['failed']} |\n")
    failed = sum(counts["failed"] for counts in told.values())
    passed = sum(counts["passed"] for counts in told.values())
    sys.stdout.write(f"\nEach file once: {passed} tests passed, {failed} failed, {sum(made.values()):,} inputs made.\n")
    if failed or not told:
        sys.stdout.write(printed[-5000:])
    return int(bool(failed) or not told)


if __name__ == "__main__":
    sys.exit(main())
