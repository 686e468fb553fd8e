"""Messages are exported, counted and read where nothing of the training extra is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.exported import talking_session, write_log

WITHOUT = """
import importlib.util, sys
found = importlib.util.find_spec
absent = ("torch", "transformers", "jinja2")
importlib.util.find_spec = lambda name, *rest: None if name in absent else found(name, *rest)
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in absent:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
from core.cli.root import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def bare(tmp_path):
    """Runs the command line in a process that cannot import any of the extra."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    write_log(home / "server.db", a=talking_session(5))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", WITHOUT, *words], env={**os.environ, "TIPHYS_HOME": str(home)},
                              capture_output=True, text=True, check=False)

    return run


def test_chat_messages_are_written(bare, tmp_path) -> None:
    done = bare("export", "a", "--to", "chat", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "tiphys train-setup" in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out/data.jsonl").read_text().splitlines()]
    assert rows and all(row["messages"] for row in rows)


def test_a_dry_run_of_tokens_says_what_it_cannot_know(bare, tmp_path) -> None:
    done = bare("export", "a", "--to", "trl", "--dry-run", "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["samples"] == 3 and report["tokens"] == 0
    assert any(warning["code"] == "no_tokenizer_at_hand" for warning in report["warnings"])


def test_tokens_cannot_be_written_and_the_way_out_is_named(bare, tmp_path) -> None:
    done = bare("export", "a", "--to", "trl", "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "tiphys train-setup" in done.stderr
    assert not (tmp_path / "out" / "data.jsonl").exists()


def test_a_sample_is_read_as_text_with_what_trains_marked(bare) -> None:
    done = bare("preview", "a", "--json")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    text = [piece for piece, mask in seen["tokens"] if mask]
    assert seen["trained"] == len(text) > 0
    assert [part["state"] for part in seen["parts"]][:2] == ["kept", "masked"]
    shown = bare("preview", "a").stdout
    assert f"⟦{text[0]}" in shown
