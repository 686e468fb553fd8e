"""Files of one session in every order: no opinion ever stands on another text, and no step of any file is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.identity import Library, parts_in, states
from support.real_data import DATA
from support.tally import tally

FOREIGN = Path(__file__).parents[1] / "formats" / "foreign"
OWN = [FOREIGN / name for name in ("claude.jsonl", "codex.jsonl", "codex_exec.jsonl", "atif.json")]
REAL = sorted(p for folder in ("claude-code", "codex-cli", "atif") for p in (DATA / folder).glob("*.json*"))
SEEDS = 4
SUBJECT = "Logs of one session, split, forked, excerpted, in any order"


@pytest.mark.parametrize("path", [*OWN, *REAL], ids=lambda p: p.stem[:30])
def test_no_opinion_moves_and_no_step_is_lost_in_whatever_order_states_of_a_file_come(tmp_path, path) -> None:
    assert parts_in(path)
    harm: list[str] = []
    tried = 0
    for seed in range(SEEDS):
        chance = random.Random(f"{path.name} {seed}")
        made = states(path, chance)
        order = chance.sample(made, len(made)) + chance.sample(made, 2)
        folder = tmp_path / str(seed)
        folder.mkdir()
        library = Library(folder)
        for content in order:
            sessions = library.take(content)
            assert sessions, content
            library.judge(chance.choice(sessions), chance)
            tried += 1
        harm += [f"seed {seed}: {what}" for what in library.harm()]
    tally(SUBJECT, tried, harm, f"0-{SEEDS - 1} {path.stem}")


@pytest.mark.parametrize("path", [*OWN, *REAL[::3]], ids=lambda p: p.stem[:30])
def test_archives_of_homes_that_saw_a_session_grow_in_other_orders_come_together(tmp_path, path) -> None:
    """Each took other states in another order, so that one name means other steps in the two."""
    chance = random.Random(f"{path.name} archives")
    made = states(path, chance)
    homes = []
    for name in "ab":
        folder = tmp_path / name
        folder.mkdir()
        homes.append(Library(folder))
        for content in chance.sample(made, len(made) // 2 + 1):
            homes[-1].judge(chance.choice(homes[-1].take(content)), chance)
    one, two = homes
    one.take_archives(two)
    two.take_archives(one)
    tally(SUBJECT, 2, [*one.harm(), *two.harm()], f"archives {path.stem}")
