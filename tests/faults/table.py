"""Markdown tables of what runs found: fault, times tried, harm; and the same faults without each rule.

    python tests/faults/run.py --results tests/faults/results/TODAY.jsonl …
    python tests/faults/table.py tests/faults/results/*.jsonl            prints them
    python tests/faults/table.py --into docs/reliability.md FILES        puts them between the marks of it and its twin

A run's harm cannot be laid at one fault's door, so every fault answers for all harm of the runs in which it was tried.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.chinese_tables import in_chinese, twin, words_of

HARMS = ("lost", "repeated", "disordered", "other")
BEGIN, END = "<!-- made by tests/faults/table.py -->", "<!-- the end of what it made -->"
AIMED = ("Aimed faults, with all rules and without one; deaths at boundaries stop there after the second that did harm "
         "(with all rules they are the run above):")
WORDS = words_of(Path(__file__).with_suffix(".zh.txt"))
Run = dict[str, Any]


def read(paths: Iterable[Path]) -> list[Run]:
    """The runs of some files of results, oldest first."""
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]
    return sorted((json.loads(line) for line in lines), key=lambda run: str(run["at"]))


def faults_table(runs: Sequence[Run]) -> str:
    """Every fault that was tried on the program as it is."""
    whole = [run for run in runs if not run["without"]]
    tried: Counter[str] = Counter()
    harm: dict[str, Counter[str]] = {}
    for run in whole:
        for fault, times in _faults(run).items():
            tried[fault] += times
            harm.setdefault(fault, Counter()).update({h: run[h] for h in HARMS})
    lines = [_row("fault", "times tried", "lost", "repeated", "out of order", "other"), _row(*"------")]
    lines += [_row(f, f"{n:,}", *(harm[f][h] for h in HARMS)) for f, n in sorted(tried.items())]
    total = Counter({h: sum(run[h] for run in whole) for h in HARMS})
    lines.append(_row(f"**all {sum(tried.values()):,}**", f"**{sum(r['kills'] for r in whole):,} of them kills**",
                      *(f"**{total[h]}**" for h in HARMS)))
    seeds = ", ".join(sorted({str(run["seed"]) for run in whole if "seed" in run}, key=int))
    return "\n".join([*lines, "", f"Seeds: {seeds}; deaths at boundaries are enumerated and have none."])


def runs_table(runs: Sequence[Run]) -> str:
    """Each run on the program as it is, but for the aimed ones."""
    lines = [_row("run", "at (UTC)", "seed", "seconds", "kills", "messages", "seen by the model", "steps", "lost",
                  "repeated", "out of order", "other", "at rest after (s)"), _row(*"-" * 13)]
    whole = [run for run in runs if not run["without"] and run["run"] != "aimed"]
    return "\n".join([*lines, *map(_run_row, whole)])


def _run_row(run: Run) -> str:
    sent = run.get("messages", 8 * run["kills"])
    return _row(run["run"], str(run["at"])[:16], run.get("seed", ""), round(run["seconds"]), f"{run['kills']:,}",
                f"{sent:,}", _number(run.get("seen_by_the_model")), _number(run.get("steps")),
                *(run[h] for h in HARMS), run.get("settled_s", ""))


def rules_table(runs: Sequence[Run]) -> str:
    """The aimed runs: with all rules, then without each that stands against that fault."""
    lines = [_row("faults", "without", "kills", "messages", "lost", "repeated", "out of order", "other", "at rest"),
             _row(*"-" * 9)]
    for run in runs:
        if run["run"] == "aimed":
            rest = "yes" if "settled_s" in run else "no"
            lines.append(_row(", ".join(run["aimed"]), run["without"] or "– (all rules)", run["kills"],
                              run["messages"], *(run[h] for h in HARMS), rest))
    return "\n".join(lines)


def tables(runs: Sequence[Run]) -> str:
    """All three."""
    return f"{faults_table(runs)}\n\n{runs_table(runs)}\n\n{AIMED}\n\n{rules_table(runs)}"


def put_into(text: str, made: str) -> str:
    """The page with what was made between its marks. Raises ValueError where it has none."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"there is no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def _faults(run: Run) -> dict[str, int]:
    if "faults" in run:
        return dict(run["faults"])
    parties = run.get("boundaries") or {run["aimed"][0].split()[0]: run["kills"]}
    return {f"{party} dies at a boundary": times for party, times in parties.items()}


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main(argv: Sequence[str]) -> int:
    """Print the tables, or put them into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--into", type=Path)
    told = parser.parse_args(argv)
    made = tables(read(told.files))
    if told.into:
        for page, text in ((told.into, made), (twin(told.into), in_chinese(made, WORDS))):
            page.write_text(put_into(page.read_text(encoding="utf-8"), text), encoding="utf-8")
    else:
        print(made)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
