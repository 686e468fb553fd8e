"""What nobody judged is in no sample before somebody said what becomes of it."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing

import msgspec
import pytest
from support.exported import JUDGE, talking_session, write_log
from support.logs import PERSON, RULE, Maker
from support.tiny_model import make_tokenizer

from core.domain.errors import Conflict
from core.domain.events import VerdictGiven
from core.domain.verdict import Author
from core.export.options import ExportOptions
from core.export.render import Renderer
from core.export.rows import SessionRows
from core.export.run import dry_run, export
from core.export.source import LogSource

IMPORT = Author(kind="import", name="openhands")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    pytest.importorskip("transformers")
    return str(make_tokenizer(tmp_path_factory.mktemp("model")))


def plain(steps: int = 3, seed: int = 1) -> Maker:
    maker = Maker(seed)
    for _ in range(steps):
        maker.add_step(fails=False)
    return maker


def rows_of(path) -> list[dict]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def assistant_trains(path) -> list[bool]:
    """Which of the assistant's messages in a file of chat rows carry loss."""
    return [m["train"] for row in rows_of(path) for m in row["messages"] if m["role"] == "assistant"]


def test_writing_is_refused_with_counts_and_names_and_leaves_nothing(tmp_path):
    judged, open_one = plain(2, seed=1), plain(3, seed=2)
    judged.say(VerdictGiven(step=1, value="keep"), PERSON)
    judged.say(VerdictGiven(step=2, value="mask"), RULE)
    open_one.say(VerdictGiven(step=1, value="keep"), PERSON)
    open_one.say(VerdictGiven(step=2, value="unsure"), PERSON)
    log = write_log(tmp_path / "log.db", judged=False, a=judged, b=open_one)
    with pytest.raises(Conflict) as refused:
        export(log, ["a", "b"], "chat", tmp_path / "out", "", ExportOptions())
    assert refused.value.code == "steps_unjudged" and "b: 2 of 3" in refused.value.sentence
    assert "2 steps in 1 of 2 sessions" in refused.value.sentence and "a:" not in refused.value.sentence
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    report = export(log, ["a"], "chat", tmp_path / "a", "", ExportOptions())
    assert [(s.kept, s.masked, s.undecided) for s in report.sessions] == [(1, 1, 0)] and not report.warnings


def test_keep_trains_them_mask_does_not_and_both_are_said(tmp_path):
    maker = plain(3)
    maker.say(VerdictGiven(step=1, value="keep"), PERSON)
    log = write_log(tmp_path / "log.db", judged=False, s=maker)
    for word, trains in (("keep", [True, True, True]), ("mask", [True, False, False])):
        options = ExportOptions(unjudged=word, balance="none")
        report = export(log, ["s"], "chat", tmp_path / word, "", options)
        assert assistant_trains(tmp_path / word / "data.jsonl") == trains
        assert [(s.kept, s.masked, s.undecided) for s in report.sessions] == [(1, 0, 2)]
        assert any("2 steps in 1 of 1 sessions were judged by nobody" in w.sentence for w in report.warnings)
        manifest = msgspec.json.decode((tmp_path / word / "manifest.json").read_bytes())
        assert manifest["options"]["unjudged"] == word and manifest["sessions"][0]["undecided"] == 2
        card = (tmp_path / word / "README.md").read_text()
        assert f"judged an action: 2, {'of which 2 are trained' if word == 'keep' else 'not trained'}" in card


def test_whose_verdicts_shall_not_count_has_judged_nothing_and_an_ablation_asks_nobody(tmp_path):
    maker = plain(2)
    for step in (1, 2):
        maker.say(VerdictGiven(step=step, value="keep"), JUDGE)
    log = write_log(tmp_path / "log.db", judged=False, s=maker)
    export(log, ["s"], "chat", tmp_path / "all", "", ExportOptions())
    with pytest.raises(Conflict, match="2 steps"):
        export(log, ["s"], "chat", tmp_path / "without", "", ExportOptions(ignored=("judge",)))
    report = export(log, ["s"], "chat", tmp_path / "none", "", ExportOptions(verdicts="none", ignored=("judge",)))
    assert [(s.kept, s.undecided) for s in report.sessions] == [(2, 0)]


def test_the_dry_run_says_that_writing_is_refused_and_counts_no_open_action_as_trained(tmp_path, model):
    log = write_log(tmp_path / "log.db", judged=False, s=talking_session())
    asked = dry_run(log, ["s"], "trl", model, ExportOptions())
    kept = dry_run(log, ["s"], "trl", model, ExportOptions(unjudged="keep"))
    assert any(w.code == "unjudged_refused" and "s: 8 of 9" in w.sentence for w in asked.warnings)
    assert (asked.samples, asked.tokens) == (kept.samples, kept.tokens)
    assert 0 < asked.trained < kept.trained, "a summary is nobody's verdict's matter"


def test_a_preview_shows_an_open_action_in_its_place_and_untrained(tmp_path, model):
    maker = plain(3)
    maker.say(VerdictGiven(step=1, value="keep"), PERSON)
    log = write_log(tmp_path / "log.db", judged=False, s=maker)
    with closing(LogSource(log)) as source:
        [shown] = list(SessionRows(source, "s", Renderer(model), ExportOptions()))
        [kept] = list(SessionRows(source, "s", Renderer(model), ExportOptions(unjudged="keep")))
    assert shown.rendered.text == kept.rendered.text and shown.rendered.ids == kept.rendered.ids
    assert [p.state for p in shown.sample.parts if p.step] == ["kept", "undecided", "undecided"]
    kept_steps = [p.step for p in kept.sample.parts if p.state == "kept"]
    assert kept_steps == [1, 2, 3] and sum(kept.rendered.mask) > sum(shown.rendered.mask) > 0
    first = kept.rendered.mask.index(1)
    upto = kept.rendered.mask.index(0, first)
    assert shown.rendered.mask == [int(first <= at < upto) for at in range(len(kept.rendered.mask))]


@pytest.mark.parametrize("seed", range(12))
def test_random_verdicts_train_exactly_what_a_short_reading_of_the_log_allows(tmp_path, seed):
    """The reading: per step the last word of each author; people before rules and judges; nobody: as was said."""
    draw = random.Random(seed)
    maker, words = plain(8, seed=seed), {}
    for _ in range(14):
        step, author = draw.randint(1, 8), draw.choice((PERSON, RULE, JUDGE, IMPORT))
        value = draw.choice(("keep", "mask", "unsure", "none"))
        maker.say(VerdictGiven(step=step, value=value), author)
        words.setdefault(step, {}).pop(author.key, None)
        words[step][author.key] = (author.kind, value)
    log = write_log(tmp_path / "log.db", judged=False, s=maker)
    expected = [_read(list(words.get(step, {}).values())) for step in range(1, 9)]
    counts = Counter(expected)
    for word in ("keep", "mask"):
        wanted = [e == "keep" or (e == "" and word == "keep") for e in expected]
        if not any(wanted):
            continue
        options = ExportOptions(unjudged=word, balance="none")
        report = export(log, ["s"], "chat", tmp_path / word, "", options)
        assert assistant_trains(tmp_path / word / "data.jsonl") == wanted
        [session] = report.sessions
        assert (session.kept, session.masked, session.undecided) == (counts["keep"], counts["mask"], counts[""])
    if counts[""]:
        with pytest.raises(Conflict):
            export(log, ["s"], "chat", tmp_path / "refused", "", ExportOptions())


def _read(words: list[tuple[str, str]]) -> str:
    people = [v for k, v in words if k in ("person", "import") and v in ("keep", "mask")]
    others = [v for k, v in words if k in ("rule", "judge") and v in ("keep", "mask")]
    return people[-1] if people else "mask" if "mask" in others else "keep" if others else ""
