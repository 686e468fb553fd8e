"""A folder of rules: switched and tuned by TOML, for all or for one task, and a person's own in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.logs import Maker

from core.domain.errors import InvalidInput
from core.domain.events import Placed, encode_event
from core.domain.step import decode_body
from core.domain.trajectory import fold
from core.supervision.propose import propose
from core.supervision.rule_book import rules_of
from core.supervision.rule_file import set_rule
from core.supervision.rules import RULES

OWN = '''
from core.supervision.rule import Finding
VERSION = "2"
def find(evidence, *, most=0):
    """Too much thought."""
    yield from (Finding(s.number, "long") for s in evidence.steps if len(s.thought) > most)
'''


def session() -> Maker:
    maker = Maker(3)
    for fails in (False, True, False):
        maker.add_step(fails=fails)
    return maker


def said(maker: Maker, folder: Path, bodies=None, task: str = ""):
    told = fold("s", [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies or maker.bodies, 1)])
    events = propose(told, lambda h: decode_body(maker.blobs[h]), rules_of(folder, task))
    return [(e.author.name, e.fact.step, e.fact.value) for e in events], [encode_event(e) for e in events]


def test_without_a_folder_the_rules_are_the_programs(tmp_path):
    assert rules_of(None) == rules_of(tmp_path / "none") == RULES.get()
    assert [r.name for r in rules_of(tmp_path)] == RULES.names()


def test_drafts_are_no_rules_and_what_stood_in_the_file_before_lies_beside_it(tmp_path):
    for name in ("_draft.py", ".hidden.py", "mine.py"):
        (tmp_path / name).write_text(OWN)
    assert [r.name for r in rules_of(tmp_path)] == [*RULES.names(), "mine"]
    set_rule(tmp_path, "mine", {"most": 3})
    assert not (tmp_path / "rules.toml~").exists()
    set_rule(tmp_path, "mine", {"most": 5})
    assert "most = 3" in (tmp_path / "rules.toml~").read_text()
    assert "most = 5" in (tmp_path / "rules.toml").read_text()


def test_a_rule_that_is_switched_off_takes_back_what_it_said(tmp_path):
    maker = session()
    first, events = said(maker, tmp_path)
    assert first == [("error_result", 2, "mask")]
    (tmp_path / "rules.toml").write_text("[rules.error_result]\nenabled = false\n")
    assert said(maker, tmp_path, [*maker.bodies, *events])[0] == [("error_result", 2, "none")]


def test_a_task_may_have_its_own_choice(tmp_path):
    (tmp_path / "rules.toml").write_text("[tasks.t1.rules.error_result]\nenabled = false\n"
                                         "[rules.idle_gpus]\ngpus = 8\n[tasks.t1.rules.idle_gpus]\ngpus = 4\n")
    assert said(session(), tmp_path)[0] and not said(session(), tmp_path, task="t1")[0]
    tuned = {t: next(r for r in rules_of(tmp_path, t) if r.name == "idle_gpus") for t in ("", "t1")}
    assert [tuned[t].settings["gpus"] for t in ("", "t1")] == [8, 4]
    assert [tuned[t].version for t in ("", "t1")] == ["2; gpus=8", "2; gpus=4"]
    assert RULES.get(["idle_gpus"])[0].version == "2", "the program's own are as they were"


def test_a_persons_rule_speaks_and_an_edit_of_it_is_a_new_version(tmp_path):
    maker = session()
    (tmp_path / "wordy.py").write_text(OWN)
    found, events = said(maker, tmp_path)
    assert [f for f in found if f[0] == "wordy"] == [("wordy", n, "mask") for n in (1, 2, 3)]
    [rule] = [r for r in rules_of(tmp_path) if r.name == "wordy"]
    assert rule.version.startswith("2+") and rule.about == "Too much thought." and rule.settings == {"most": 0}
    (tmp_path / "wordy.py").write_text(OWN + "\n# edited\n")
    assert len([f for f in said(maker, tmp_path, [*maker.bodies, *events])[0] if f[0] == "wordy"]) == 3
    (tmp_path / "rules.toml").write_text("[rules.wordy]\nmost = 100000\n")
    assert not [f for f in said(maker, tmp_path)[0] if f[0] == "wordy"]


def test_a_persons_rule_that_breaks_stops_no_other(tmp_path, caplog):
    (tmp_path / "broken.py").write_text("def find(evidence):\n    yield 1 / 0\n")
    assert said(session(), tmp_path)[0] == [("error_result", 2, "mask")]
    assert "broken broke" in caplog.text


SHARED = """from typing import Annotated
from msgspec import Meta
from core.supervision.rule import Finding

def find(evidence, *, share: Annotated[float, Meta(ge=0, le=1)] = 0.5, odd: "Nowhere" = 3):
    return iter(())
"""


@pytest.mark.parametrize(("declared", "told"), [
    (SHARED.replace(', odd: "Nowhere" = 3', ""), "share of the rule own is a number from 0 to 1, not 1.5"),
    (SHARED, None), ("def find(evidence, *, share: str = 2): return iter(())", "a whole number, not 1.5"),
])
def test_a_persons_rule_declares_what_its_settings_may_be(tmp_path, declared, told):
    (tmp_path / "own.py").write_text(declared)
    (tmp_path / "rules.toml").write_text("[rules.own]\nshare = 1.5\n")
    if told is None:  # a type that is not there bounds nothing
        assert rules_of(tmp_path)[-1].settings == {"share": 1.5, "odd": 3}
        return
    with pytest.raises(InvalidInput, match=told):
        rules_of(tmp_path)


@pytest.mark.parametrize(("file", "text", "told"), [
    ("rules.toml", "[rules.nonsense]\n", "nonsense"), ("rules.toml", "[rules.idle_gpus]\ngpus = 'all'\n", "gpus"),
    ("rules.toml", "[rules.deadlocked_polling]\nrun = -5\n",
     r"rules\.toml: The setting run of the rule deadlocked_polling is a whole number of 1 or more, not -5\.$"),
    ("rules.toml", "[tasks.t1.rules.deadlocked_polling]\nrun = 0\n", r"run of .* of 1 or more, not 0\."),
    ("rules.toml", "[rules.deadlocked_polling]\nrun = 2.5\n", r"whole number of 1 or more, not 2\.5\."),
    ("rules.toml", "[rules.deadlocked_polling]\nrun = true\n", "not True"),
    ("rules.toml", "[rules.idle_gpus]\ngpus = -1\n", r"gpus of the rule idle_gpus is a whole number of 0 or more"),
    ("rules.toml", "[rules.idle_gpus]\nlora_from = 0\n", r"lora_from of .* of 1 or more, not 0"),
    ("rules.toml", "[rules.lowered_score]\nmargin = -0.5\n", "margin of .* a number of 0 or more, not -0.5"),
    ("rules.toml", "[rules.blind_edit]\nspare_runs = 1\n", "spare_runs of .* is true or false, not 1"),
    ("rules.toml", "[tasks.t1.rules.none]\nx = 1\n", "There is no rule none; known are blind_edit"),
    ("rules.toml", "[rules.idle_gpus]\nnone = 1\n", "none"), ("rules.toml", "rules = 3", "rules.toml"),
    ("rules.toml", "[rules.idle_gpus]\nenabled = 1\n", "enabled"), ("rules.toml", "[[", "rules.toml"),
    ("rules.toml", "[rules.lowered_score]\nmargin = nan\n", "margin"),
    ("rules.toml", "[rules.lowered_score]\nmax_score = inf\n", "max_score"),
    ("a.py", "def find(", "a.py"), ("a.py", "x = 1", "a.py"), ("a.py", "raise SystemError('no')", "a.py"),
    ("null_action.py", OWN, "already"),
])
def test_files_that_cannot_be_used_are_named(tmp_path, file, text, told):
    (tmp_path / file).write_text(text)
    with pytest.raises(InvalidInput, match=told) as refused:
        rules_of(tmp_path)
    assert refused.value.code == "bad_rules"
