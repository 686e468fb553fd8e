"""The made-up session of the manual's pictures is a whole, valid log, and the window shows it."""

from __future__ import annotations

import sys
from pathlib import Path

from support.window import shown_window

sys.path.insert(0, str(Path(__file__).parents[3] / "packaging" / "pictures"))

from story import make_story

from app.disagreements.model import disagreements


def test_the_story_is_a_whole_log(qtbot, tmp_path):
    with shown_window(tmp_path, make_story(0), make_story(1)) as (_, place):
        ours, other = place.desks.local.trajectory("s1"), place.desks.local.trajectory("s2")
        assert len(ours.steps) == len(other.steps) == 24
        assert [g.state for g in ours.guidance.values()] == ["answered", "delivered", "queued"]
        assert other.guidance == {}
        assert [s.total for s in ours.scores] == [61.5, 78.0]
        assert [d.step for d in disagreements(ours) if d.people] == [3]
        held = {ref.hash for entry in ours.steps for ref in ours.context(entry.head.number)}
        assert all(place.desks.local.held(name) for name in held), "every message can be read"
        assert len(ours.context(24)) < 30 and len(ours.summaries) == 1
