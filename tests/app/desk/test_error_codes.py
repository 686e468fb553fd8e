"""Every refusal that the window can meet has a sentence in the reader's languages: the sources declare the codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from app.desk.notices import SENTENCES
from app.desk.step_words import UNSCORED, unscored_words
from core.domain import errors
from core.domain.errors import ReportableError
from core.domain.events import ScoreGiven

CORE = Path(__file__).parents[3] / "core"

MET = ("client", "formats", "formats/readers", "protocol", "server",
       "tasks/allowances.py", "tasks/task_check.py", "domain/attention.py",
       "store/log.py", "store/commands.py", "store/early_opinions.py", "store/unnamed_blobs.py", "store/outbox.py",
       "store/blobs.py", "store/writer.py")
"""Where what a command, a connection or a copy can come back with is raised."""

ELSEWHERE = ("server/authority.py", "server/held_database.py", "server/ownership.py", "server/running_server.py",
             "server/address.py", "server/serve.py", "server/certificate.py",
             "server/settings_file.py", "server/retention.py",
             "server/end_rules.py")
"""What only whoever starts a server, or works at its command line, is told."""

AMONG_PROGRAMS = {"ahead_of_log": "the client drops its copy", "journal_gap": "the runner resumes",
                  "seq_gap": "the client resumes", "no_grant": "only the command line takes a permission back",
                  "bad_role": "readers ask only for roles that there are",
                  "bad_tool_table": "the tables of tools are the program's own",
                  "bad_proxy": "only whoever starts a server names its proxies",
                  "bad_client_secret": "strangers are not told of the server's files",
                  "bad_role_rule": "only whoever starts a server gives roles to groups",
                  "session_taken": "a second runner gives up",
                  "too_many_subagents": "only a runner calls subagents, and writes the refusal into its log"}
"""Codes that no reader sees, and why."""

KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, ReportableError)}


def raised(path: Path) -> set[str]:
    """The codes of the errors that a module makes."""
    calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
    named = [c.args[0] for c in calls if getattr(c.func, "id", getattr(c.func, "attr", "")) in KINDS and c.args]
    return {c.value for c in named if isinstance(c, ast.Constant) and isinstance(c.value, str)}


def modules() -> list[Path]:
    """The modules of MET."""
    found = [f for name in MET for f in ([CORE / name] if name.endswith(".py") else sorted((CORE / name).glob("*.py")))]
    return [f for f in found if f.relative_to(CORE).as_posix() not in ELSEWHERE]


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(CORE).as_posix())
def test_what_the_window_can_meet_is_told_in_the_readers_language(path: Path) -> None:
    lacking = raised(path) - set(SENTENCES) - set(AMONG_PROGRAMS)
    assert not lacking, f"app/desk/notices.py has no sentence for {sorted(lacking)}"


def test_a_code_that_no_reader_sees_is_still_there() -> None:
    assert set(AMONG_PROGRAMS) <= set().union(*map(raised, CORE.rglob("*.py")))


def test_every_reason_for_no_score_is_told_in_the_readers_language(qapp: object) -> None:
    sources = [(CORE / name).read_text(encoding="utf-8") for name in ("tasks/handing_in.py", "tasks/scoring.py",
                                                                       "tasks/rescoring.py")]
    given = {word for text in sources for word in re.findall(r'"((?:evaluator|submission|not|bad)_[a-z_]+)"', text)}
    assert given - {"not_rescorable"} == set(UNSCORED)
    score = ScoreGiven(ordinal=1, step=1, total=None, failed=True, message="exit code 7", reason="evaluator_failed")
    assert unscored_words(score) == "The evaluator failed; that is not the agent's doing."
    assert unscored_words(ScoreGiven(ordinal=1, step=1, total=None, failed=True, message="x")) == "", "an older one"
