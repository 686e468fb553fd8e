"""The export worker as the desktop uses it: a process that is asked in JSON lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_tokenizer, trl_template

from core import program
from core.domain.errors import Unavailable
from core.llm import smollm2


@pytest.fixture
def ask(tmp_path):
    log = write_log(tmp_path / "server.db", a=talking_session(5))
    env = {**os.environ, "TIPHYS_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen([sys.executable, "-m", "core.export.worker", "--log", str(log)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=env)

    def answers(**request):
        line = json.dumps(request) if request else "{broken"
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        answers = []
        while not answers or "progress" in answers[-1]:
            answers.append(json.loads(process.stdout.readline()))
        return answers

    yield answers
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def test_a_conversation_with_the_worker(ask, tmp_path):
    pytest.importorskip("transformers")
    model = str(make_tokenizer(tmp_path / "model", template=trl_template("qwen3")))
    dataset = {"sessions": ["a"], "format": "trl", "model": model, "options": {"balance": "none"}}
    [*_, answer] = ask(id=2, do="dry_run", dataset=dataset)
    assert answer["id"] == 2
    dry = answer["ok"]
    assert (dry["samples"], dry["rows"], dry["sessions"][0]["masked"]) == (3, 3, 1)
    [seen] = ask(id="p", do="preview", session="a", model=model, sample=0, start=0, count=100_000)
    seen = seen["ok"]
    assert [s["kind"] for s in seen["samples"]] == ["react", "summary", "react"]
    assert len(seen["tokens"]) == seen["total"] and sum(m for _, m in seen["tokens"]) == seen["trained"]
    text = "".join(t for t, m in seen["tokens"] if m)
    assert text.count("<|im_end|>") == 5 and "�" not in text
    assert [(p["step"], p["state"]) for p in seen["parts"]][:2] == [(1, "kept"), (2, "masked")]
    first = seen["parts"][0]
    assert all(m == 1 for _, m in seen["tokens"][first["start"] : first["end"]])
    [page] = ask(id=4, do="preview", session="a", model=model, sample=0, start=50, count=20)
    assert page["ok"]["tokens"] == seen["tokens"][50:70]
    written = ask(id=5, do="write", dataset={"sessions": ["a"], "model": model}, folder=str(tmp_path / "out"))
    assert written[0]["progress"] == 1.0 and written[-1]["ok"]["trained"] == dry["trained"]
    assert (tmp_path / "out" / "data.jsonl").is_file()


def test_bad_requests_are_answered_and_the_worker_lives_on(ask):
    assert ask()[0]["error"]["code"] == "bad_request"
    assert ask(id=1, do="nonsense")[0]["error"]["code"] == "bad_request"
    absent = {"sessions": ["zzz"], "format": "chat"}
    assert ask(id=2, do="dry_run", dataset=absent)[0]["error"]["code"] == "no_session"
    misspelt = {"sessions": ["a"], "format": "chat", "options": {"reactt": 1}}
    assert ask(id=3, do="dry_run", dataset=misspelt)[0]["error"]["code"] == "bad_options"
    assert ask(id=4, do="dry_run", dataset={"sessions": ["a"], "format": "chat"})[-1]["ok"]["rows"]


def test_what_it_renders_with_a_tokenizer_takes_no_torch(tmp_path):
    pytest.importorskip("torch")
    model, log = make_tokenizer(tmp_path / "model"), write_log(tmp_path / "server.db", a=talking_session(5))
    code = ("import sys; from core.export.worker import main; main(); "
            "print('transformers' in sys.modules, [n for n in sys.modules if n.startswith('torch.')], file=sys.stderr)")
    asked = json.dumps({"id": 1, "do": "preview", "session": "a", "model": str(model), "sample": 0, "start": 0,
                        "count": 10})
    done = subprocess.run([sys.executable, "-c", code, "--log", str(log)], input=asked + "\n", capture_output=True,
                          text=True, check=True, env={**os.environ, "TIPHYS_HOME": str(tmp_path / "home")})
    assert json.loads(done.stdout)["ok"]["tokens"]
    assert done.stderr.splitlines() == ["True []"]


def test_the_small_model_is_made_by_a_process_of_its_own(tmp_path, monkeypatch):
    ended = subprocess.CompletedProcess([], smollm2.LACKS, "", "It is not installed: tiphys train-setup.")
    asked = []
    monkeypatch.setattr(smollm2, "require_extra", lambda *_: None)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: asked.append(words) or ended)
    with pytest.raises(Unavailable, match="train-setup"):
        smollm2.smollm2_apart(tmp_path)
    assert asked == [program.command("small-model", str(tmp_path))]
    made = tmp_path / "SmolLM2-135M-Instruct"
    made.mkdir()
    (made / "converted").touch()
    assert smollm2.smollm2_apart(tmp_path) == made and len(asked) == 1


def test_without_the_training_extra_that_process_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("core.llm.extra.importlib.util.find_spec", lambda name: None)
    assert smollm2.main([str(tmp_path)]) == smollm2.LACKS
    assert "tiphys train-setup" in capsys.readouterr().err


def test_importing_the_worker_imports_no_tokenizer():
    code = ("import core.export.worker, core.llm.local, core.training.worker, sys; "
            "print([m for m in ('torch', 'transformers') if m in sys.modules])")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_a_missing_extra_is_named_with_the_command_that_brings_it(monkeypatch):
    from core.domain.errors import Unavailable
    from core.llm import extra

    monkeypatch.setattr(extra.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"tiphys train-setup") as refused:
        extra.require_extra("torch")
    assert refused.value.code == "train_extra_missing"
