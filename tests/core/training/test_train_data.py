"""A data set is looked at as a whole before anything of it is trained."""

from __future__ import annotations

import json

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.training.data import check_rows, data_file


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
