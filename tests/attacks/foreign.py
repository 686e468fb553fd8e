"""Run every test that keeps a tally of what is foreign, and print the table of docs/reliability.md.

    python tests/attacks/foreign.py                              (`make foreign`)
    python tests/attacks/foreign.py --into docs/reliability.md   puts it between the two marks of the page and its twin

Ends with status 1 where a test failed or harm was done.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- made by tests/attacks/foreign.py -->", "<!-- the end of what it made -->"
sys.path.insert(0, str(ROOT / "tests"))

from support.chinese_tables import in_chinese, twin, words_of  # noqa: E402
from support.tally import VARIABLE  # noqa: E402

WORDS = words_of(Path(__file__).with_suffix(".zh.txt"))

def tests() -> list[str]:
    """The test files that keep a tally."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")
                  if "support.tally" in path.read_text(encoding="utf-8"))


def run(rows: Path) -> int:
    """Run them; pytest's status."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", VARIABLE: str(rows)}
    return subprocess.run([sys.executable, "-m", "pytest", "-q", *tests()], cwd=ROOT, env=env, check=False).returncode


def table(rows: Path) -> tuple[str, int]:
    """The Markdown table, and all harm."""
    added: dict[str, tuple[int, int, str]] = {}
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tried, harm, seed = added.get(row["subject"], (0, 0, ""))
        added[row["subject"]] = (tried + row["tried"], harm + row["harm"], row["seed"] or seed)
    lines = ["| what was tried | times | harm | seed |", "|---|---|---|---|"]
    lines += [f"| {subject} | {tried:,} | {harm} | {seed or '–'} |"
              for subject, (tried, harm, seed) in sorted(added.items())]
    return "\n".join(lines), sum(harm for _, harm, _ in added.values())


def put(page: Path, text: str) -> None:
    """Put the table between the page's marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run, print, and put the table where asked."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        rows.touch()
        status = run(rows)
        text, harm = table(rows)
    text = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n\n{text}"
    sys.stdout.write(f"\n{text}\n")
    if arguments[:1] == ["--into"]:
        put(Path(arguments[1]), text)
        put(twin(Path(arguments[1])), in_chinese(text, WORDS))
    return int(bool(status or harm))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
