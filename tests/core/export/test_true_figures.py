"""What a report, its papers and its command say of steps is what a count of the written rows gives."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from support.exported import talking_session, write_log
from support.logs import PERSON, RULE, Maker
from support.tiny_model import make_tokenizer

from core.domain.errors import Conflict
from core.domain.events import VerdictGiven
from core.domain.message import ToolCall
from core.domain.step import Action, Observation, Output, StepBody
from core.export.options import ExportOptions
from core.export.run import dry_run, export
from core.workers.export import Report

KEEP = ExportOptions(unjudged="keep", balance="none")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    pytest.importorskip("transformers")
    return str(make_tokenizer(tmp_path_factory.mktemp("model")))


def trained_marks(folder: Path) -> int:
    """By the file alone: the assistant's messages with a loss, in all of its rows."""
    rows = [msgspec.json.decode(line) for line in (folder / "data.jsonl").read_bytes().splitlines()]
    return sum(bool(m.get("train")) for row in rows if row["kind"] == "react" for m in row["messages"])


def said(report: Report) -> tuple[int, int, int]:
    return report.unjudged, report.unjudged_trained, report.unjudged_refused


def with_a_secret_at_the_end(steps: int) -> Maker:
    maker = Maker(7)
    for _ in range(steps):
        maker.add_step(fails=False)
    maker.guide("the key is hunter2-quoted")
    maker.add_step(fails=False)
    return maker


def test_unjudged_steps_are_trained_refused_or_neither_as_the_rows_have_them(tmp_path):
    whole, twin = talking_session(5), talking_session(5)
    whole.say(VerdictGiven(step=1, value="keep"), PERSON)
    log = write_log(tmp_path / "log.db", judged=False, a=whole, b=twin, c=with_a_secret_at_the_end(3))
    options = msgspec.structs.replace(KEEP, secrets=("hunter2-quoted",))
    report = export(log, ["a", "b", "c"], "chat", tmp_path / "out", "", options)
    marks = trained_marks(tmp_path / "out")
    lost = [r.step for s in report.sessions for r in s.refused if r.code == "in_a_refused_sample"]
    assert report.duplicates and marks and lost == [1, 2, 3, 4]
    count, trained, refused = said(report)
    assert (count, trained, refused) == (7 + 8 + 4, marks - 1, 4), "of 9 + 9 + 4 three are judged"
    others = count - trained - refused
    assert others > 0, "of a sample that equals an earlier one"
    [words] = [w for w in report.warnings if w.code == "unjudged_train"]
    assert (words.figures["steps"], words.figures["trained"], words.figures["refused"], words.figures["others"]) == (
        count, trained, refused, others)
    told = (f"{count}, of which {trained} are trained as if they were kept, {refused} stand in refused samples and "
            f"{others} are")
    assert told in (tmp_path / "out" / "README.md").read_text()
    facts = msgspec.json.decode((tmp_path / "out" / "manifest.json").read_bytes())
    counted = [facts["counts"][n] for n in ("unjudged", "unjudged_trained", "unjudged_refused")]
    assert counted == [count, trained, refused]
    assert sum(s["unjudged"] for s in facts["sessions"]) == count


def test_a_kind_of_sample_that_counts_0_times_trains_nothing(tmp_path):
    log = write_log(tmp_path / "log.db", judged=False, s=talking_session(5))
    options = msgspec.structs.replace(KEEP, balance="repeat", react=0)
    report = export(log, ["s"], "chat", tmp_path / "out", "", options)
    assert trained_marks(tmp_path / "out") == 0 == report.unjudged_trained < report.unjudged


class TwoCalls(Maker):
    """Steps of two calls each."""

    def _body(self, tool: str, fails: bool) -> StepBody:
        actions = tuple(Action(call_id=f"s{self.step}c{i}", tool="run", arguments={"n": i}) for i in range(2))
        seen = tuple(Observation(call_id=a.call_id, output=Output(text="out")) for a in actions)
        return StepBody(number=self.step, thought="Both.", actions=actions, observations=seen)

    def _calls(self, body: StepBody) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(id=a.call_id, name=a.tool, arguments="{}") for a in body.actions)

    def _side_effects(self, body: StepBody) -> None:
        """None: these say nothing of terminals and files."""


def test_a_step_masked_in_part_is_counted_so_where_nobody_judged_its_other_action(tmp_path):
    maker = TwoCalls(3)
    for _ in range(4):
        maker.add_step(fails=False)
    maker.say(VerdictGiven(step=3, action=1, value="mask"), RULE)
    maker.say(VerdictGiven(step=4, action=1, value="keep"), PERSON)
    log = write_log(tmp_path / "log.db", judged=False, s=maker)
    report = export(log, ["s"], "chat", tmp_path / "out", "", KEEP)
    [one] = report.sessions
    assert (one.kept, one.partly, one.masked, one.undecided) == (0, 1, 0, 3)
    assert [(r.code, r.step) for r in one.refused] == [("masked_in_part", 3)]
    assert said(report) == (4, trained_marks(tmp_path / "out"), 0) == (4, 3, 0), "its other action was judged by nobody"
    table = [line for line in (tmp_path / "out" / "README.md").read_text().splitlines() if line.startswith("| s ")]
    assert [line.split(" | ")[2:7] for line in table] == [["4", "0", "1", "0", "3"]]
    with pytest.raises(Conflict, match="s: 4 of 4"):
        export(log, ["s"], "chat", tmp_path / "no", "", ExportOptions())


def why_too_long(report: Report) -> list[str]:
    return [r.sentence for s in report.sessions for r in s.refused if r.code == "too_long"]


def test_a_sample_that_is_too_long_says_for_what_and_which_option_raises_it(tmp_path, model):
    log = write_log(tmp_path / "log.db", s=talking_session())
    longest = dry_run(log, ["s"], "trl", model, KEEP).longest
    own = msgspec.structs.replace(KEEP, max_tokens=longest - 1)
    [sentence] = why_too_long(dry_run(log, ["s"], "trl", model, own))
    assert f"{longest} tokens" in sentence and f"at most {longest - 1}" in sentence and "--max-tokens" in sentence
    assert "--model" not in sentence
    small = make_tokenizer(tmp_path / "Short-1B")
    (small / "config.json").write_text(f'{{"max_position_embeddings": {longest - 1}}}')
    [sentence] = why_too_long(dry_run(log, ["s"], "trl", str(small), KEEP))
    assert f"the model Short-1B takes at most {longest - 1}" in sentence and "--model" in sentence
    assert "--max-tokens" not in sentence


def test_the_length_of_a_model_that_nobody_named_takes_no_row_of_messages(tmp_path, model):
    log = write_log(tmp_path / "log.db", s=talking_session())
    whole = dry_run(log, ["s"], "chat", model, KEEP)
    small = make_tokenizer(tmp_path / "Short-1B")
    (small / "config.json").write_text('{"max_position_embeddings": 8}')
    for name in ("chat", "axolotl", "slime", "llama-factory"):
        assert dry_run(log, ["s"], name, str(small), KEEP, stands_in=True).rows == whole.rows
        assert why_too_long(dry_run(log, ["s"], name, str(small), KEEP)), "a named one is what will be trained"
    assert why_too_long(dry_run(log, ["s"], "trl", str(small), KEEP, stands_in=True)), "its own tokens are written"
    own = msgspec.structs.replace(KEEP, max_tokens=whole.longest - 1)
    assert len(why_too_long(dry_run(log, ["s"], "chat", str(small), own, stands_in=True))) == 1
