"""The study of people plays every variant on a game of letters, goes on where it was cut, and tells intervals."""

from __future__ import annotations

from pathlib import Path

import pytest
from study import people
from support.letter_game import use_letter_game

pytest.importorskip("torch")
pytest.importorskip("transformers")


def test_each_variant_is_played_once_and_the_table_has_its_interval(tmp_path: Path, capsys, monkeypatch) -> None:
    use_letter_game()
    monkeypatch.setattr(people, "ADVISERS", {"imperfect": 0.3})  # the other plays no other way
    setting = people.Setting(kind="letters", learn=(0, 1, 2, 3), held=(0, 1), limit=2, updates=1, tasks=2, group=4)
    people.run(tmp_path, setting, 1, 60.0)
    lines = people.read(tmp_path / "results.jsonl")
    assert [(one["variant"], one["adviser"]) for one in lines] == [case[:2] for case in people.cases(1)]
    assert {one["sessions"] for one in lines} == {8} and all(len(one["sampled"]) == 2 for one in lines)
    table = "\n".join(people.table(tmp_path, "letters"))
    assert "| advice | imperfect | 1 |" in table and "| the start |" in table and " to " in table
    capsys.readouterr()
    people.run(tmp_path, setting, 1, 60.0)
    assert capsys.readouterr().out == "" and len(people.read(tmp_path / "results.jsonl")) == len(lines)
    people.run(tmp_path, setting, 2, 0.0)
    assert len(people.read(tmp_path / "results.jsonl")) == len(lines), "nothing is begun beyond the time"
