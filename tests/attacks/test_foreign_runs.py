"""Folders of learning runs and of drafts that somebody else made (threats 10, 13)."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.tally import tally

from app.desk.run_files import RunNews, is_run, look, sheets_of, write_session
from core.domain.errors import InvalidInput, Unavailable
from core.store.drafts import DraftRecords
from core.store.home import Home

DEEP = b"[" * 100_000
NAMES = ("../out", "/tmp/out", "a/../../out", "..", "", "a\0b", "x" * 300, "C:\\out", "a/b")
NUMBERS = ("1e300", "-1e300", "1e400", "9" * 400, str(2**31), "-1", "null", "NaN", '"1"', "[]", "{}", "true")


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_names_no_file_outside(tmp_path: Path, name: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    before = sorted(tmp_path.rglob("*.tiphys"))
    with pytest.raises(InvalidInput, match="cannot name a session"):
        write_session(tmp_path / "run", name, place)
    assert sorted(tmp_path.rglob("*.tiphys")) == before


def test_a_log_that_computes_its_sessions_is_not_read(tmp_path: Path) -> None:
    base = Home(tmp_path / "home").server_db
    with closing(sqlite3.connect(base)) as conn:
        conn.execute("CREATE VIEW session AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
                     "SELECT 's' AS id, x AS head, x AS row FROM c ORDER BY x DESC")
    with pytest.raises(Unavailable, match="The run cannot be read"):
        write_session(tmp_path, "s", tmp_path)


def test_a_folder_of_pipes_and_strange_names_is_no_run_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.json")
    assert not is_run(tmp_path)
    (tmp_path / "run.json").unlink()
    (tmp_path / "run.json").write_bytes(b'{"kind": "rl", "loss": "x", "model": "m", "more": ' + DEEP)
    assert not is_run(tmp_path)
    (tmp_path / "groups").mkdir()
    for name in ("²", "٣", "9" * 200, "-1", "1e3"):
        (tmp_path / "groups" / f"{name}.json").write_text("[]")
    (tmp_path / "metrics.jsonl").write_bytes(b'{"update": 1, "updates": 1, "more": ' + DEEP + b"\n")
    found = look(tmp_path, RunNews())
    assert (found.newest, found.unread, found.metrics) == (0, 1, ())
    (tmp_path / "drafts.jsonl").write_bytes(b'{"number": 1, "id": "a", "more": ' + DEEP + b"\n")
    with pytest.raises(InvalidInput):
        DraftRecords(tmp_path).all()


def test_numbers_that_no_chart_and_no_list_can_hold_are_refused(tmp_path: Path) -> None:
    (tmp_path / "groups").mkdir()
    taken = []
    for number in NUMBERS:
        for field in ("number", "tokens", "advantage", "entropy", "log_prob"):
            fields = {"number": 1, field: "@"}
            text = json.dumps([{"update": 1, "group": "g", "sessions": [{"session": "s", "steps": [fields]}]}])
            (tmp_path / "groups" / "00001.json").write_text(text.replace('"@"', number))
            try:
                [step] = sheets_of(tmp_path, 1)[0].sessions[0].steps
            except InvalidInput:
                continue
            if not abs(getattr(step, field)) < 1e16:
                taken.append((field, number))
        (tmp_path / "metrics.jsonl").write_text(f'{{"update": 1, "updates": 1, "loss": {number}}}\n'
                                                f'{{"update": {number}, "updates": 1}}\n')
        read = look(tmp_path, RunNews()).metrics
        taken += [("metric", number) for one in read if one.update >= 2**31 or abs(one.loss or 0) > 1e30]
    tally("numbers in sheets of a foreign run", len(NUMBERS) * 7, taken)
    assert not taken
