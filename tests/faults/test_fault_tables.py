"""The page's tables are what the command makes of the recorded runs, and no harm hides in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults import table
from faults.mutants import MUTANTS
from support.chinese_tables import in_chinese

ROOT = Path(__file__).parents[2]
RESULTS = sorted((Path(__file__).parent / "results").glob("*.jsonl"))
RUN = {"run": "random", "at": "2026-01-01T00:00", "seed": 4, "without": "", "seconds": 1.0, "kills": 3, "messages": 9,
       "faults": {"reset": 2, "kill client": 3}, "lost": 0, "repeated": 0, "disordered": 0, "other": 0}


def test_the_page_shows_the_recorded_runs() -> None:
    made = table.tables(table.read(RESULTS))
    for name, text in (("reliability.md", made), ("reliability.zh.md", in_chinese(made, table.WORDS))):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert table.put_into(page, text) == page, "python tests/faults/table.py --into …"


def test_the_recorded_runs_kept_every_promise_and_broke_one_without_each_rule() -> None:
    runs = table.read(RESULTS)
    harm = {run["without"]: sum(run[h] for h in table.HARMS) for run in runs if run["without"]}
    assert set(harm) <= set(MUTANTS) and all(harm.values())
    assert all(sum(run[h] for h in table.HARMS) == 0 for run in runs if not run["without"])


def test_every_fault_answers_for_the_harm_of_its_runs() -> None:
    bad = {**RUN, "faults": {"reset": 1}, "lost": 2, "seed": 5}
    told = table.faults_table([RUN, bad])
    assert "| kill client | 3 | 0 | 0 | 0 | 0 |" in told and "| reset | 3 | 2 | 0 | 0 | 0 |" in told
    assert "**2**" in told and "Seeds: 4, 5;" in told


def test_a_page_without_marks_is_left_alone() -> None:
    with pytest.raises(ValueError, match="there is no"):
        table.put_into("# A page\n", "x")
