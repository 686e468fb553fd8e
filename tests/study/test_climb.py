"""What a study of climbing asks of the product, and how it tells of it; the commands have tests of their own."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from study import climb
from study.climb import DESIGNS, Climb, Climbing, Lesson, read_climb, results
from study.climb_curve import drawn
from study.people_design import Items

SHOWN = (Items(first=0, count=2),)
DESIGN = Climb(title="A & B", kind="textcraft", width=8, words=(Items(first=0, count=4),), lessons=(
    Lesson(shown=SHOWN, games=(1, 2), train={"epochs": 2}), Lesson(shown=SHOWN, games=(1,), train={"epochs": 1},
           steps=3)),
    learn=Items(first=0, count=2), held=Items(first=2, count=2), limit=4, max_tokens=8, plays=3,
    rl={"updates": 2, "test_every": 1}, seeds=(1, 2))


class _Commands(Climbing):
    """Keeps what is asked, and answers as the commands do."""

    def __init__(self, folder: Path, fails_at: str = "") -> None:
        super().__init__(DESIGN, folder)
        self.asked: list[tuple[str, ...]] = []
        self._fails_at = fails_at

    def _tiphys(self, *arguments: str) -> bytes:
        if arguments[0] == self._fails_at:
            raise OSError(arguments[0])
        self.asked.append(arguments)
        named = dict(pairwise(arguments))
        if arguments[0] == "rollout":
            game = named.get("--env-seed")
            lines = [{"session": f"s{game}-{item}", "item": item, "score": 100.0 * (item != 3), "steps": 3 + item}
                     for item in map(int, named["--items"].split(","))]
            return "\n".join(map(json.dumps, [*lines, {"solved": 1}])).encode()
        made = Path(named["--out"]) / ("manifest.json" if arguments[0] == "export" else "model/config.json")
        made.parent.mkdir(parents=True)
        made.touch()
        return b""


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first model is made without torch."""
    def made(kind: str, folder: Path, **_: object) -> None:
        folder.mkdir()
        (folder / "config.json").touch()

    monkeypatch.setattr(climb, "make", made)


def _ran(study: Climbing) -> dict[str, float]:
    return study.played("end-1", (study.start(), study.climb(1))[1], 1)


def test_each_step_is_a_command_and_held_out_items_are_in_none_that_learns(tmp_path: Path) -> None:
    study = _Commands(tmp_path)
    assert _ran(study) == {"2": 1.0, "3": 0.0}
    assert [asked[0] for asked in study.asked] == ["rollout", "rollout", "export", "train", "export", "train", "rl",
                                                  "rollout"]
    first, second, rl = study.asked[2], study.asked[4], study.asked[6]
    assert first[1:5] == ("s1-0", "s1-1", "s2-0", "s2-1")
    assert second[1:3] == ("s1-0", "--to")  # the other one is too long
    assert str(tmp_path / "sft-1" / "model") in study.asked[5] and str(tmp_path / "sft-2" / "model") in rl
    assert {"items=0,1", "test_items=2,3", "seed=1", "updates=2", "test_group=3"} <= set(rl)


@pytest.mark.parametrize("cut", ["export", "train", "rl"])
def test_what_was_done_before_a_cut_is_not_done_again(cut: str, tmp_path: Path) -> None:
    first = _Commands(tmp_path, fails_at=cut)
    with pytest.raises(OSError, match=cut):
        _ran(first)
    second = _Commands(tmp_path)
    _ran(second)
    assert second.asked[0][0] == cut
    assert len(first.asked) + len(second.asked) == 8


def test_the_table_tells_the_rise_with_its_interval() -> None:
    before, after = [{"2": 0.0, "3": 0.5}, {"2": 0.0, "3": 0.5}], [{"2": 1.0, "3": 1.0}, {"2": 1.0, "3": 0.5}]
    lines = results(DESIGN, before, after)
    assert lines[2].startswith("| after supervised training | 25% |")
    assert lines[4] == "| more, paired by seed and item | +62% | +0% to +100% |"
    assert lines[5] == "| by seed | 25% → 100%, 25% → 75% | |"


def test_the_curve_has_a_line_for_each_seed_and_one_for_their_mean() -> None:
    picture = ElementTree.fromstring(drawn("A & B", [{0: 0.1, 10: 0.5}, {0: 0.3, 10: 0.9, 20: 1.0}], 240))
    lines = [one.get("points") for one in picture.iter("{http://www.w3.org/2000/svg}polyline")]
    assert len(lines) == 3
    heights = [float(point.split(",")[1]) for point in lines[-1].split()]
    assert len(heights) == 2  # updates that every seed has
    assert heights[1] < heights[0]


@pytest.mark.parametrize("name", sorted(path.stem for path in DESIGNS.glob("*.toml")))
def test_no_design_learns_from_what_it_holds_out(name: str) -> None:
    design = read_climb(name)
    held = set(design.held.numbers)
    shown = {number for lesson in design.lessons for items in lesson.shown for number in items.numbers}
    assert not held & {*design.learn.numbers, *shown}
    assert len(held) * design.plays >= 200
    assert {*held, *design.learn.numbers} <= {n for items in design.words for n in items.numbers}
    assert msgspec.structs.asdict(design)["rl"]["test_every"]
