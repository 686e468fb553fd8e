"""Samples as the paper made them, and each action once, on sessions of three segments."""

from __future__ import annotations

import pytest
from support.exported import judge_kept, write_log
from support.logs import RULE, Maker

from core.domain.errors import InvalidInput
from core.domain.events import VerdictGiven
from core.export.options import read_options
from core.export.run import export


def three_segments() -> Maker:
    """Two summaries; each carries the last steps on, and the last segment's own step is masked."""
    maker = Maker(4)
    for _ in range(4):
        maker.add_step(fails=False)
    maker.summarise()
    maker.add_step(fails=False)
    maker.summarise()
    maker.add_step(fails=True)
    judge_kept(maker)
    maker.say(VerdictGiven(step=6, value="mask", reason="failed"), RULE)
    return maker


def summaries_in_a_row() -> Maker:
    """Two summaries with no step between them: the second segment's actions are all carried."""
    maker = Maker(4)
    for _ in range(4):
        maker.add_step(fails=False)
    maker.summarise()
    maker.summarise("again")
    maker.add_step(fails=False)
    judge_kept(maker)
    return maker


def counted(tmp_path, maker, **options):
    tmp_path.mkdir(exist_ok=True)
    log = write_log(tmp_path / "log.db", judged=False, s=maker)
    return export(log, ["s"], "chat", tmp_path / "out", "", read_options(options))


@pytest.mark.parametrize("make", [three_segments, summaries_in_a_row])
def test_the_paper_has_one_summary_sample_less_than_segments_where_each_action_once_has_fewer(tmp_path, make):
    paper = counted(tmp_path / "paper", make(), preset="paper")
    once = counted(tmp_path / "once", make(), preset="once")
    default = counted(tmp_path / "default", make())
    assert (paper.react, paper.summary) == (3, 2) and paper.rows == 3 * 7 + 2 * 10
    assert (once.react, once.summary) == (default.react, default.summary) == (2, 2)
    assert once.rows == default.rows == 2 * 7 + 2 * 10


def test_what_is_chosen_goes_before_the_preset_and_an_unknown_one_is_refused():
    chosen = read_options({"preset": "paper", "overlap": "once", "react": 3})
    assert (chosen.overlap, chosen.react, chosen.summary, chosen.preset) == ("once", 3, 10, "paper")
    with pytest.raises(InvalidInput):
        read_options({"preset": "papers"})


def test_the_card_and_the_manifest_name_the_preset(tmp_path):
    counted(tmp_path, three_segments(), preset="paper")
    assert "preset paper" in (tmp_path / "out" / "README.md").read_text()
    assert '"preset": "paper"' in (tmp_path / "out" / "manifest.json").read_text()
