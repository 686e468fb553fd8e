"""The study of people plays every variant on a game of letters, goes on where it was cut, and tells intervals."""

from __future__ import annotations

from pathlib import Path

import pytest
from study import people, people_design
from study.people_table import chosen_rates, table
from support.letter_game import use_letter_game

from core.store.lock import FileLock

pytest.importorskip("torch")
pytest.importorskip("transformers")


def _setting(rates: tuple[float, ...]) -> people_design.Setting:
    return people_design.Setting(
        title="Letters", kind="letters", learn=people_design.Items(first=0, count=4),
        held=people_design.Items(first=0, count=2), limit=2, updates=1, tasks=2, group=4, test_group=1, seeds=(1,),
        tune_seed=0, tuned_on=1, rates=rates)


def test_each_variant_is_played_once_and_the_table_has_its_interval(tmp_path: Path, capsys, monkeypatch) -> None:
    use_letter_game()
    monkeypatch.setattr(people_design, "ADVISERS", {"imperfect": 0.3})  # the other plays no other way
    setting = _setting((1e-3,))
    study = people.Study(tmp_path, setting, "a design")
    study.run(0.0)
    assert study.found() == [], "nothing is begun beyond the time"
    study.run(60.0)
    found = study.found()
    assert [one.case for one in found] == [people.msgspec.structs.replace(case, rate=1e-3)
                                           for case in people_design.cases(setting)]
    assert {one.sessions for one in found} == {8} and all(len(one.sampled) == 2 for one in found)
    lines = "\n".join(table(setting, found))
    assert "| advice | imperfect | 0.001 | 1 |" in lines and "| the start |" in lines and " to " in lines
    results = tmp_path / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-20])  # killed as it wrote its last line
    capsys.readouterr()
    study.run(60.0)
    assert capsys.readouterr().out.count("processor time") == 1 and len(study.found()) == len(found)
    assert people.Study(tmp_path, setting, "another").found() == []
    assert not list((tmp_path / "homes").iterdir())


def test_a_variant_gets_the_best_of_its_rates_and_of_equals_the_smallest() -> None:
    from study.people_table import Found

    setting = _setting((1e-3, 3e-3))
    found = [Found(design="", case=case, is_tuning=True, sampled=[0.5], before=[], before_greedy=[], sessions=8,
                   greedy=[1.0 if (case.variant, case.rate) == ("sft", 3e-3) else 0.0], cpu_s=1.0)
             for case in people_design.tunings(setting)]
    rates = chosen_rates(setting, found)
    assert rates.pop("sft") == 3e-3 and set(rates.values()) == {1e-3} and len(rates) == len(people_design.VARIANTS) - 1


def test_two_processes_are_never_at_one_study(tmp_path: Path, capsys) -> None:
    lock = FileLock(tmp_path / "room2.lock")
    assert lock.take() and people.main([str(tmp_path)]) == 1
    assert "Another process" in capsys.readouterr().err
    lock.release()
    assert people.main([str(tmp_path), "--table"]) == 0 and "GoToObjS4" in capsys.readouterr().out


def test_no_item_is_both_learnt_from_and_held_out() -> None:
    for name in people_design.designs():
        setting, _ = people_design.read_design(name)
        assert not set(setting.learn.numbers) & set(setting.held.numbers)
        assert setting.tune_seed not in setting.seeds and setting.tuned_on <= setting.learn.count
        assert bool(setting.rates) != bool(setting.rates_of) and setting.rates_of in ("", *people_design.designs())
