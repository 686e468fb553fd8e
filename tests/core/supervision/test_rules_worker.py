"""The rules' process: lists, switches and tunes them, and says what each changes before it is switched on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import write_log
from support.logs import PERSON, RULE, Maker

from core.domain.errors import InvalidInput
from core.domain.events import VerdictGiven
from core.supervision import worker
from core.supervision.rule_book import rules_of
from core.supervision.rule_file import FILE, read_rule_file, set_rule
from core.supervision.worker import RulesWorker
from core.workers.messages import WorkerAnswer


@pytest.fixture
def log(tmp_path) -> Path:
    made = Maker(5)
    for fails in (False, True, True, False):
        made.add_step(fails=fails)
    made.say(VerdictGiven(step=2, value="keep", reason="it was a probe"), PERSON)
    made.say(VerdictGiven(step=1, value="mask", reason="bad"), RULE)
    return write_log(tmp_path / "server.db", s=made)


def ask(log: Path, folder: Path, **request) -> dict:
    answers: list[WorkerAnswer] = []
    RulesWorker(log, folder, answers.append).answer(json.dumps({"id": 7, **request}).encode())
    [answer] = [json.loads(msgspec.json.encode(a)) for a in answers]
    assert answer["id"] == 7
    return answer


def line(answer: dict, name: str) -> dict:
    return next(r for r in answer["ok"] if r.get("name", r.get("rule")) == name)


def test_a_rule_that_is_off_still_says_what_it_would_change(log, tmp_path):
    folder = tmp_path / "rules"
    before = line(ask(log, folder, do="effects", session="s"), "error_result")
    assert (before["enabled"], before["found"], before["would_mask"], before["overruled"]) == (True, 2, 1, 1)
    assert [e[1] for e in before["examples"]] == [2, 3] and (before["judged"], before["confirmed"]) == (1, 0)
    answer = ask(log, folder, do="set", rule="error_result", settings={"enabled": False})
    assert line(answer, "error_result")["enabled"] is False
    after = line(ask(log, folder, do="effects", session="s"), "error_result")
    assert (after["enabled"], after["found"], after["would_mask"]) == (False, 2, 1)


def test_a_session_that_is_too_long_to_be_held_is_judged_the_same(log, tmp_path, monkeypatch):
    short = ask(log, tmp_path, do="effects", session="s")["ok"]
    monkeypatch.setattr(worker, "MOST_HELD", 2)
    assert ask(log, tmp_path, do="effects", session="s")["ok"] == short
    held = RulesWorker(log, tmp_path, print)
    assert not held._read(held._connected(), "s")[0].steps._held
    held.close()


def test_rules_are_tuned_for_all_sessions_or_those_of_a_task(log, tmp_path):
    folder = tmp_path / "rules"
    ask(log, folder, do="set", rule="idle_gpus", settings={"gpus": 8})
    ask(log, folder, do="set", rule="idle_gpus", settings={"gpus": 4, "enabled": False}, task="task_5")
    every, one = (line(ask(log, folder, do="rules", task=t), "idle_gpus") for t in ("", "task_5"))
    assert (every["settings"]["gpus"], every["usual"]["gpus"], every["changed"]) == (8, 0, {"gpus": 8})
    assert (one["settings"]["gpus"], one["enabled"], one["changed"]) == (4, False, {"gpus": 4, "enabled": False})
    assert read_rule_file(folder / f"{FILE}~").tasks == {}
    ask(log, folder, do="set", rule="idle_gpus", settings={}, task="task_5")
    ask(log, folder, do="set", rule="idle_gpus", settings={})
    assert read_rule_file(folder / FILE) == read_rule_file(folder / "none.toml")


@pytest.mark.parametrize(("request_", "code"), [
    ({"do": "set", "rule": "nope"}, "no_rule"), ({"do": "set", "rule": "idle_gpus", "settings": {"x": 1}}, "bad_rules"),
    ({"do": "set", "rule": "idle_gpus", "settings": {"gpus": "many"}}, "bad_rules"), ({"do": "dance"}, "bad_request"),
    ({"do": "set", "rule": "deadlocked_polling", "settings": {"run": -5}}, "bad_rules"),
    ({"do": "effects", "session": "none"}, "no_session"),
])
def test_what_cannot_be_done_is_said_and_written_nowhere(request_, code, log, tmp_path):
    assert ask(log, tmp_path / "rules", **request_)["error"]["code"] == code
    assert not (tmp_path / "rules" / FILE).exists()


_NAMES = st.text(min_size=1, max_size=12)
_VALUES = st.one_of(st.booleans(), st.integers(-9, 9**9), st.floats(allow_nan=False), st.text(max_size=20),
                    st.lists(st.integers(0, 9), max_size=3))


@given(name=_NAMES, task=st.text(max_size=12), settings=st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=3))
def test_what_is_written_is_read_again(name, task, settings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    set_rule(folder, "other", {"enabled": False})
    set_rule(folder, name, settings, task)
    file = read_rule_file(folder / FILE)
    assert (file.tasks[task] if task else file).rules[name] == settings
    assert name == "other" or file.rules["other"] == {"enabled": False}


def test_a_file_that_cannot_be_read_is_not_written_over(tmp_path):
    (tmp_path / FILE).write_text("[rules\n")
    with pytest.raises(InvalidInput):
        set_rule(tmp_path, "idle_gpus", {"gpus": 2})
    assert (tmp_path / FILE).read_text() == "[rules\n"


def test_the_process_answers_and_what_a_persons_rule_prints_is_no_answer(log, tmp_path):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "loud.py").write_text("print('hello')\ndef find(evidence):\n    \"\"\"Loud.\"\"\"\n    print('x')\n"
                                    "    yield from ()\n")
    asked = [{"id": 1, "do": "rules"}, {"id": 2, "do": "effects", "session": "s"}, {"id": 3}]
    command = [sys.executable, "-m", "core.supervision.worker", "--log", str(log), "--rules", str(folder)]
    done = subprocess.run(command, input="\n".join(map(json.dumps, asked)), capture_output=True, text=True, timeout=100,
                          check=True)
    answers = [json.loads(t) for t in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == [1, 2, 3] and "loud" in [r["name"] for r in answers[0]["ok"]]
    assert answers[2]["error"]["code"] == "bad_request" and rules_of(folder)[-1].name == "loud"
