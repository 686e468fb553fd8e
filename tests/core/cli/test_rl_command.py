"""What `tiphys rl` prints of its updates."""

from __future__ import annotations

from core.cli import rl
from core.workers.reinforcement import RlMetric


def test_an_update_from_which_nothing_was_learnt_says_so(capsys) -> None:
    for dropped in (1, 2):
        rl._say(RlMetric(update=dropped, updates=2, reward=0.0, groups=2, groups_dropped=dropped))
    first, second = capsys.readouterr().out.splitlines()
    assert "nothing to learn" not in first and second.endswith("nothing to learn: the sessions of each task had the "
                                                               "same reward")
