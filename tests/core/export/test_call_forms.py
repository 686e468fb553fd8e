"""A template with calls of its own that does not take all of a session's: its samples go into plain text whole."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from support.logs import fill
from support.real_data import real
from support.tiny_model import make_tokenizer, trl_template

from core.export.options import ExportOptions
from core.export.run import dry_run, export
from core.formats import registry
from core.store.writer import Writer

pytest.importorskip("trl")


@pytest.fixture
def gpt_oss(tmp_path):
    special = ("<|start|>", "<|message|>", "<|channel|>", "<|end|>", "<|constrain|>")
    return make_tokenizer(tmp_path / "m", template=trl_template("gptoss"), stops=("<|return|>", "<|call|>"),
                          special=special)


def imported(tmp_path) -> tuple[Path, list[str]]:
    """Real sessions of other programs, several calls in a message and results without a call among them, in a log."""
    log, names = tmp_path / "server.db", []
    with Writer(log) as writer:
        for file in registry.files(real("atif")):
            for one in registry.read(file):
                names.append(one.session)
                writer.do_blocking(lambda conn, one=one: fill(conn, one.session, one.bodies, one.blobs))
    return log, names


def test_gpt_oss_trains_what_its_own_calls_cannot_hold_in_plain_text(gpt_oss, tmp_path):
    log, names = imported(tmp_path)
    own, auto = (dry_run(log, names, "trl", str(gpt_oss), ExportOptions(balance="none", unjudged="keep", calls=calls))
                 for calls in ("native", "auto"))
    lost, left = ([r.code for s in report.sessions for r in s.refused] for report in (own, auto))
    assert {"template_error", "completion_rewritten", "in_a_refused_sample"} <= set(lost)
    assert set(left) == {"no_context"}  # the file does not say what was summarised
    changed = [s.session for s in auto.sessions if s.in_text]
    assert 0 < len(changed) < len(names) and auto.trained > own.trained
    assert not any(s.in_text for s in own.sessions)


def test_a_model_that_nobody_named_decides_nothing_about_the_calls_of_messages(tmp_path):
    """Its template knows no calls; the one that the data will be trained with may. Tokens are counted all the same."""
    log, names = imported(tmp_path)
    options, small = ExportOptions(balance="none", unjudged="keep"), str(make_tokenizer(tmp_path / "m"))
    unnamed, named = (export(log, names, "chat", tmp_path / str(apart), small, options, stands_in=apart)
                      for apart in (True, False))
    assert not any(s.in_text for s in unnamed.sessions) and any(s.in_text for s in named.sessions)
    rows, other = ([json.loads(line) for line in (tmp_path / str(apart) / "data.jsonl").read_text().splitlines()]
                   for apart in (True, False))
    calls, none = ([m for row in rows for m in row["messages"] if m.get("tool_calls")] for rows in (rows, other))
    assert calls and not none and any(m["train"] for m in calls)
    assert any(m["role"] == "tool" for row in rows for m in row["messages"])
    trained, same = ([sum(bool(m.get("train")) for m in row["messages"]) for row in rows] for rows in (rows, other))
    assert trained == same and unnamed.tokens == named.tokens > 0
    whole = export(log, names, "chat", tmp_path / "blind", "", options)  # as where no tokens can be counted
    assert (tmp_path / "blind/data.jsonl").read_bytes() == (tmp_path / "True/data.jsonl").read_bytes() and whole.rows
    asked = msgspec.structs.replace(options, calls="text")
    assert any(s.in_text for s in dry_run(log, names, "chat", small, asked, stands_in=True).sessions)


def test_a_sample_that_is_too_long_is_not_made_shorter_by_another_form(gpt_oss, tmp_path):
    log, names = imported(tmp_path)
    report = dry_run(log, names, "trl", str(gpt_oss), ExportOptions(balance="none", unjudged="keep", max_tokens=10))
    assert report.samples == 0 and not any(s.in_text and s.samples for s in report.sessions)
