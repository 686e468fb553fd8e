"""What is imported is judged in the transaction that stores it, by the program's own rules; the others wait."""

import json
from pathlib import Path

import pytest

from core.cli import main
from core.cli.import_paths import import_all
from core.cli.log_access import reading
from core.domain.events import VerdictGiven, decode_event
from core.domain.trajectory import fold
from core.store import blobs, log
from core.store.home import Home
from core.supervision.propose import propose
from core.supervision.worker import _bodies

CODEX = Path(__file__).parents[1] / "formats" / "foreign" / "codex.jsonl"
EVERY = ("from core.supervision.rule import Finding\ndef find(evidence):\n    'All.'\n"
         "    yield from (Finding(s.number, 'x') for s in evidence.steps)\n")


def rule_words(home: Home, session: str) -> list[tuple[int, str]]:
    with reading(home) as conn:
        events = [decode_event(one.body) for one in log.read_all(conn, session)]
    return [(event.fact.step, event.author.name) for event in events
            if isinstance(event.fact, VerdictGiven) and event.author.kind == "rule"]


def imported(home: Home, path: Path) -> tuple[str, int, dict[str, int]]:
    """The session, its steps, and what was judged on the way."""
    judged: dict[str, int] = {}
    [line] = import_all(home, [path], [], judged=judged)
    return line.session, line.steps, judged


def test_rules_judge_on_the_way_and_have_nothing_to_add_when_they_read_the_log(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    session, steps, judged = imported(home, CODEX)
    assert judged == {session: steps}
    assert "error_result" in {name for _, name in rule_words(home, session)}
    with reading(home) as conn:
        assert propose(fold(session, log.read_all(conn, session)), _bodies(conn)) == []
        assert log.row(conn, session).seq == log.head(conn, session)
        assert all(blobs.holds(conn, entry.body) for entry in fold(session, log.read_all(conn, session)).steps)
    assert imported(home, CODEX) == (session, steps, {}), "what is here already is judged at the end"


@pytest.mark.parametrize(("name", "text"), [
    ("every.py", EVERY), ("rules.toml", "at_end = false\n"), ("rules.toml", "[rules.none_of_ours]\nenabled = false\n")])
def test_own_rules_and_those_that_are_off_or_broken_are_left_for_the_end(tmp_path: Path, name: str, text: str) -> None:
    home = Home(tmp_path / "home")
    (home.path / "rules").mkdir(parents=True)
    (home.path / "rules" / name).write_text(text)
    session, _, judged = imported(home, CODEX)
    assert (judged, rule_words(home, session)) == ({}, [])


def test_the_command_asks_own_rules_at_the_end_and_writes_down_what_was_judged(tmp_path: Path, monkeypatch) -> None:
    home = Home(tmp_path / "home")
    monkeypatch.setenv("TIPHYS_HOME", str(home.path))
    assert main(["import", str(CODEX)]) == 0
    [[session, steps]] = json.loads((home.path / "cache" / "judged_at_end.json").read_text()).items()
    words = rule_words(home, session)
    assert steps and words
    (home.path / "rules").mkdir()
    (home.path / "rules" / "every.py").write_text(EVERY)
    other = tmp_path / "other.jsonl"
    other.write_text(CODEX.read_text().replace("own-c", "own-d"))
    assert main(["import", str(CODEX), str(other)]) == 0
    with reading(home) as conn:
        [name] = [row.session for row in log.rows(conn) if row.session != session]
    assert "every" in {author for _, author in rule_words(home, name)} and rule_words(home, session) == words
