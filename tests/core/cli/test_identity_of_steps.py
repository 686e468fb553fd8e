"""Files of one session in every order: no opinion ever stands on another text, and no step of any file is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.identity import Library, parts_in, states
from support.proofs import tries
from support.real_data import DATA, real
from support.tally import tally

from core.cli import follow_files
from core.cli.follow_files import FileFollower, _File

FOREIGN = Path(__file__).parents[1] / "formats" / "foreign"
OWN = [FOREIGN / name for name in ("claude.jsonl", "codex.jsonl", "codex_exec.jsonl", "atif.json", "gemini.json",
                                   "sdk.jsonl", "openhands.json", "cline.json")]
FOLDERS = ("claude-code", "codex-cli", "atif", "openhands-events", "openhands-sdk")
REAL = sorted(p for folder in FOLDERS for p in (DATA / folder).glob("*.json*") if parts_in(p))
SEEDS = tries(2, 2)
SUBJECT = "Logs of one session, split, forked, excerpted, in any order"


def test_there_are_real_files() -> None:
    assert real("claude-code").is_dir() and len(REAL) > len(FOLDERS)


@pytest.mark.parametrize("path", [*OWN, *REAL], ids=lambda p: p.stem[:30])
def test_no_opinion_moves_and_no_step_is_lost_in_whatever_order_states_of_a_file_come(tmp_path, path) -> None:
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


@pytest.mark.parametrize("path", [p for p in [*OWN, *REAL] if p.suffix == ".jsonl"], ids=lambda p: p.stem[:30])
def test_a_log_that_is_followed_line_by_line_is_the_sessions_of_the_whole_file(tmp_path, path, monkeypatch) -> None:
    """Whatever is judged while an answer is half written: no state of the file is another session."""
    monkeypatch.setattr(follow_files, "SHARE", 0)
    chance = random.Random(f"{path.name} live")
    lines = path.read_bytes().splitlines(keepends=True)
    library, live = Library(tmp_path), tmp_path / "live.jsonl"
    live.write_bytes(b"")
    follower = FileFollower(library.home, [_File(live, "")], True, 0.0)
    for line in lines:
        with live.open("ab") as file:
            file.write(line)
        follower.look()
        if (sessions := library.sessions()) and chance.random() < 0.5:
            library.judge(chance.choice(sessions), chance)
    follower.settle_all()
    followed = library.sessions()
    assert sorted(set(library.take(path.read_bytes()))) == followed == library.sessions()
    tally(SUBJECT, len(lines), library.harm(), f"live {path.stem}")
