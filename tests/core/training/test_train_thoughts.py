"""What a run does with recorded reasoning in its data: as exported, without loss, or refused where it is otherwise."""

from __future__ import annotations

import json

import pytest

from core.domain.errors import InvalidInput

data = pytest.importorskip("core.training.data")
ROWS = [{"input_ids": [1, 2, 3, 4, 5, 6], "labels": [-100, 2, 3, 4, 5, 6], "weights": None,
         "thoughts": [1, 3, 4, 5]},
        {"input_ids": [7, 8, 9], "labels": [-100, -100, 9], "weights": [0.0, 2.0, 7.0], "thoughts": []},
        {"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "weights": [0.0, 7.0, 10.0], "thoughts": [0, 2]}]


def facts_of(tmp_path, thoughts, *rows, form="jsonl"):
    path = tmp_path / f"d.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    else:
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    facts = data.check_rows([path], 10, 100, tmp_path / "rows", data.Crew(), thoughts)
    data.check_thoughts(facts, thoughts)
    return facts


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_context_takes_the_loss_of_thoughts_and_of_nothing_else(tmp_path, form):
    kept, context = (facts_of(tmp_path, thoughts, *ROWS, form=form) for thoughts in ("keep", "context"))
    assert (kept.thoughts, kept.trained_thoughts, kept.trained) == (5, 4, 8)
    assert (context.trained, context.tokens) == (4, kept.tokens)
    rows = [{k: list(v) for k, v in row.items() if k != "weight"} for row in data.load_rows(context)]
    assert [r["labels"] for r in rows] == [[-100, -100, -100, 4, -100, 6], [-100, -100, 9], [-100, -100, 3]]
    assert rows[2]["weights"] == [0.0, 0.0, 10.0] and rows[1]["weights"] == [0.0, 2.0, 7.0]
    assert facts_of(tmp_path, "data", *ROWS, form=form).trained == 8


@pytest.mark.parametrize(("thoughts", "row", "why"), [
    ("keep", {"input_ids": [1, 2], "labels": [-100, 2]}, "holds none"),
    ("context", {"input_ids": [1, 2], "labels": [-100, 2]}, "holds none"),
    ("drop", ROWS[0], "holds some"),
    ("keep", {**ROWS[0], "labels": [-100, -100, -100, 4, -100, 6]}, "no loss"),
])
def test_data_that_was_exported_otherwise_is_refused(tmp_path, thoughts, row, why):
    with pytest.raises(InvalidInput, match=why) as refused:
        facts_of(tmp_path, thoughts, row)
    assert refused.value.code == "thoughts_differ"


@pytest.mark.parametrize("edges", [[1], [3, 2], [0, 7], [-1, 2]])
def test_thoughts_that_are_no_places_of_the_row_are_refused_with_its_number(tmp_path, edges):
    with pytest.raises(InvalidInput, match="Row 2") as refused:
        facts_of(tmp_path, "data", ROWS[0], {**ROWS[0], "thoughts": edges})
    assert refused.value.code == "bad_row"
