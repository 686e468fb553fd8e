"""A whole study by one command: teach, record, judge, export, train, roll out, count; prints the tables as Markdown.

    make study                    the study of docs/study.md, under three hours of two cores
    make study DESIGN=smollm2     the same with SmolLM2-135M on short tasks
    python -m study.run quick     the way alone, in small: its figures mean nothing

What is finished stands in OUT/results.jsonl and is not done again, so an interrupted study goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from study.book import Book
from study.design import DESIGNS, designs, read_design
from study.record import RESOURCES
from study.results import table, write_both
from study.units import Study

from core.store.lock import FileLock

PAUSE_S = 3.0


def work(study: Study, locks: Path) -> None:
    """Do what is not done and nobody else is at, until nothing is left. Others may do the same beside."""
    locks.mkdir(parents=True, exist_ok=True)
    parent = os.getppid()
    while left := study.left():
        if not any(_done(study, unit, locks) for unit in left):
            time.sleep(PAUSE_S)
        if os.getppid() != parent:
            return  # whoever started this one is gone
        study.book.read()


def _done(study: Study, unit: str, locks: Path) -> bool:
    """Do a unit, where it can be begun and nobody else has."""
    lock = FileLock(locks / study.lock(unit))
    if not study.is_ready(unit) or not lock.take():
        return False
    try:
        study.book.read()
        if not study.book.has(unit):
            sys.stderr.write(f"{time.strftime('%H:%M:%S')} {unit}\n")
            study.do(unit)
    finally:
        lock.release()
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run, go on, or (`--table`) only print what is there."""
    parser = argparse.ArgumentParser(prog="python -m study.run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", choices=designs(), nargs="?", default="small")
    parser.add_argument("--out", type=Path, default=None, help="build/study/DESIGN")
    parser.add_argument("--workers", type=int, default=1, help="Processes that share the work.")
    parser.add_argument("--shares", action="store_true", help=argparse.SUPPRESS)  # started by another one
    parser.add_argument("--table", action="store_true", help="Only print the tables of what is done.")
    parser.add_argument("--write", type=Path, metavar="PAGE",
                        help="Put the tables into docs/study.md and its Chinese twin, too.")
    args = parser.parse_args(argv)
    for name, value in (("HF_HUB_OFFLINE", "1"), ("TRANSFORMERS_VERBOSITY", "error"), ("TQDM_DISABLE", "1")):
        os.environ.setdefault(name, value)
    os.environ["TIPHYS_RESOURCES"] = str(RESOURCES)  # the agent's prompts, short ones
    design, digest = read_design(DESIGNS / f"{args.design}.toml")
    out = args.out or Path("build/study") / args.design
    book = Book(out / "results.jsonl", digest)
    study = Study(out, design, digest, book)
    if not args.table:
        if not args.shares:
            book.mend()
        _with_others(study, args.design, out, args.workers)
    text = table(book, design, digest, len(study.units))
    sys.stdout.write(text)
    if args.write:
        write_both(args.write, args.design, text)
    return 0


def _with_others(study: Study, design: str, out: Path, workers: int) -> None:
    """Work with so many processes. Raises RuntimeError where one of the others broke."""
    words = [sys.executable, "-m", "study.run", design, "--out", str(out), "--shares"]
    others = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(workers - 1)]
    try:
        work(study, out / "locks")
    except BaseException:
        for other in others:
            other.terminate()
        raise
    ends = [other.wait() for other in others]
    if any(ends):
        raise RuntimeError("Another process of this study broke; what it tells stands above.")


if __name__ == "__main__":
    sys.exit(main())
