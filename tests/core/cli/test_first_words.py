"""What somebody types who has not read the manual: an answer that leads on, and no raw words of a library."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.tiny_model import make_tokenizer

from core.domain.plural import counted


@pytest.mark.parametrize(("words", "answer"), [
    (("opne", "x"), "'opne' is no command. Did you mean tiphys open?"),
    (("sesions",), "Did you mean tiphys sessions?"),
    (("ls",), "Did you mean tiphys sessions?"),
    (("run.trja",), "'run.trja' is neither a command nor a file here."),
    (("serve", "--port", "abc"), "'abc' is not a whole number."),
    (("account", "activity", "nobody"), "There is no account nobody. [no_account]"),
    (("rollout", "textcraft", "--model", "m"), "--base-url is missing"),
    (("rollout", "textcraft", "--plan", "--base-url", "http://127.0.0.1:9/v1"), "--model is missing"),
    (("login", "http://127.0.0.1:9"), "is no address of a server: wss://HOST:PORT is expected. [bad_address]"),
    (("login", "ws://127.0.0.1:9"), "cannot be reached: connection refused."),
])
def test_a_slip_is_answered_with_what_was_meant(tiphys, words, answer) -> None:
    ran = tiphys(*words)
    assert ran.status in (1, 2) and answer in ran.err and "Errno" not in ran.err


def test_a_file_in_a_commands_place_is_opened(tiphys, tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("no run")
    assert "[unknown_format]" in tiphys(tmp_path / "notes.txt").err
    assert tiphys("help").out == tiphys("--help").out
    assert tiphys("help", "train").out == tiphys("train", "--help").out


def test_the_computers_own_account_cannot_be_taken_away(tiphys) -> None:
    tiphys("account", "add", "li")
    own = next(one["name"] for one in tiphys("account", "list", "--json").lines if one["name"] != "li")
    assert "[own_account]" in tiphys("account", "revoke", own).err
    assert tiphys("account", "activity", own).status == 0


@pytest.mark.parametrize(("text", "words"), [
    ("after_days = -3", "after_days has to be a number above 0."),
    ("after_days = \"soon\"", "after_days has to be a number or nothing, not a text."),
    ("action = \"burn\"", "action = 'burn' is none of archive, delete."),
    ("actoin = \"delete\"", "there is no setting 'actoin' (did you mean action?)."),
    ("after_days = ", "is no TOML"),
])
def test_what_is_wrong_in_retention_toml_is_said_in_words(tiphys, home, text, words) -> None:
    tiphys("sessions")
    (Path(home) / "retention.toml").write_text(text)
    ran = tiphys("retention")
    assert ran.status == 2 and words in ran.err and "`" not in ran.err


def test_an_export_says_what_it_left_out(tiphys, imported, tmp_path) -> None:
    model = make_tokenizer(tmp_path / "model")
    (model / "config.json").write_text('{"max_position_embeddings": 8}')
    ran = tiphys("export", imported, "--to", "chat", "--out", tmp_path / "out", "--model", model, "--dry-run",
                 "--unjudged", "keep")
    assert "too_long" in ran.out and "1 of 1 session without a row" in ran.out


def test_nobody_to_ask_is_no_silent_end(tiphys, imported, tmp_path) -> None:
    tiphys("backup", tmp_path / "copy.db")
    assert "[not_confirmed]" in tiphys("restore", tmp_path / "copy.db").err


def test_ctrl_c_while_the_program_loads_leaves_no_traceback(tmp_path) -> None:
    (tmp_path / "click.py").write_text("import time\nprint('loads', flush=True)\ntime.sleep(60)\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    ran = subprocess.Popen([sys.executable, "-m", "core.cli", "sessions"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell's & ignores it
    assert ran.stdout is not None and ran.stdout.readline() == "loads\n"
    ran.send_signal(signal.SIGINT)
    _, complaints = ran.communicate(timeout=30)
    assert complaints == "" and ran.returncode == -signal.SIGINT


def test_one_is_one() -> None:
    assert [counted(n, "row") for n in (0, 1, 2_000)] == ["0 rows", "1 row", "2,000 rows"]


def test_rows_of_messages_need_not_fit_a_model_that_nobody_named(tiphys, imported, tmp_path, monkeypatch) -> None:
    model = make_tokenizer(tmp_path / "model")
    (model / "config.json").write_text('{"max_position_embeddings": 8}')
    monkeypatch.setattr("core.cli.export.default_model", lambda _: str(model))
    words = ("export", imported, "--out", tmp_path / "out", "--dry-run", "--unjudged", "keep")
    ran = tiphys(*words, "--to", "chat")
    assert ran.status == 0 and "too_long" not in ran.out and "0 samples" not in ran.out
    assert "takes at most 8. Name one with a longer context: --model." in tiphys(*words, "--to", "trl").out
    ran = tiphys(*words, "--to", "chat", "--max-tokens", "9")
    assert "a row of this export has at most 9. Raise that with --max-tokens." in ran.out
