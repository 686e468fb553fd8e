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
    tally("Logs of one session, split, forked, excerpted, in any order", tried, harm, f"0-{SEEDS - 1} {path.stem}")
