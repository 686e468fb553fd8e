"""A data set is looked at as a whole before anything of it is trained."""

from __future__ import annotations

import json

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.training.data import check_rows, data_file
from core.training.settings import TrainSettings
from core.training.worker import read_settings


def write(path, *rows):
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def row(ids=(1, 2, 3), labels=(-100, 2, 3), **more):
    return {"input_ids": list(ids), "labels": list(labels), **more}


def test_facts_count_what_can_carry_loss(tmp_path):
    told = check_rows(write(tmp_path / "d", row(), row(labels=(1, -100, 3), weight=7.0)), 10, 100)
    assert (told.rows, told.tokens, told.trained, told.longest, told.weighted) == (2, 6, 3, 3, True)


@pytest.mark.parametrize(("bad", "says"), [
    (row(labels=(-100, 2)), "as many labels"), (row(labels=(-100, 2, 4)), "labels that equal"),
    (row(ids=(1, 2, 99), labels=(-100, 2, 99)), "tokenizer"), (row(labels=(1, -100, -100)), "trains anything"),
    ("{no json", "Line 2"), ({"messages": []}, "Line 2"),
])
def test_a_row_that_cannot_be_trained_exactly_is_named(tmp_path, bad, says):
    with pytest.raises(InvalidInput, match=says) as refused:
        check_rows(write(tmp_path / "d", row(), bad), 10, 100)
    assert refused.value.code == "bad_row" and "2" in refused.value.sentence


def test_long_rows_are_refused_never_cut(tmp_path):
    with pytest.raises(InvalidInput) as refused:
        check_rows(write(tmp_path / "d", row()), 10, 2)
    assert refused.value.code == "row_too_long" and refused.value.params["tokens"] == 3


def test_an_empty_or_missing_set_is_refused(tmp_path):
    with pytest.raises(InvalidInput):
        check_rows(write(tmp_path / "d"), 10, 100)
    with pytest.raises(NotFound):
        data_file(str(tmp_path))
    write(tmp_path / "data.jsonl", row())
    assert data_file(str(tmp_path)) == tmp_path / "data.jsonl"


def test_the_defaults_are_the_papers_and_nonsense_is_refused():
    told = read_settings({"data": "d", "model": "m", "out": "o"})
    assert (told.epochs, told.batch, told.learning_rate, told.min_learning_rate, told.max_length) == (
        1.0, 64, 5e-6, 1e-6, 131_072)
    assert read_settings({"data": "d", "model": "m", "out": "o", "batch": "8", "method": "lora"}).batch == 8
    with pytest.raises(InvalidInput):
        read_settings({"data": "d", "model": "m", "out": "o", "method": "magic"})
    with pytest.raises(InvalidInput):
        TrainSettings(data="d", model="m", out="o", batch=0).check()
    with pytest.raises(InvalidInput):
        TrainSettings(data="d", model="m", out="o", learning_rate=1e-6, min_learning_rate=1e-5).check()
