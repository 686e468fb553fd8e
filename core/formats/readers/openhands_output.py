"""Rows of OpenHands' `output.jsonl`: the `history` of each holds events as `openhands` reads them."""

from __future__ import annotations

from typing import Any

from core.formats.imported import Imported, SessionBuilder
from core.formats.readers import openhands
from core.formats.rows import SourceRow, row_format
from core.formats.source import Source
from core.formats.values import as_json, dict_of, dicts_of, float_of, text_of

NAME = "openhands-output"


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) and openhands.are_events(value.get("history")) and bool(
        value.keys() & {"metrics", "instance_id", "instruction", "test_result", "metadata"})


def _row(source: Source, row: SourceRow) -> Imported | str:
    run, events = row.value, dicts_of(row.value.get("history"))
    builder = SessionBuilder(NAME, source.name, row.data)
    name = text_of(run.get("instance_id"))
    asked = text_of(run.get("instruction"))
    llm = dict_of(dict_of(run.get("metadata")).get("llm_config"))
    title = name or text_of(dict_of(run.get("issue")).get("title")) or asked[:400]
    openhands.create(builder, events, title, name, text_of(llm.get("model")), asked)
    metrics = dict_of(run.get("metrics"))
    openhands.add_events(builder, events, metrics)
    if not builder.steps:
        return "it holds no action of the agent."
    builder.totals({"accumulated_cost": float_of(metrics.get("accumulated_cost"))})
    builder.submission(text_of(run.get("git_patch")) or text_of(dict_of(run.get("test_result")).get("git_patch")))
    if error := run.get("error"):
        builder.end("failed", "error", as_json(error)[:2000])
    else:
        openhands.end(builder, events)
    return builder.build()


FORMAT = row_format(NAME, "OpenHands evaluation output", _is_row, "history of events", _row, rank=1)
