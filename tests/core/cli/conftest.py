"""Commands run in this process, on a home of their own."""

import json
import os
from pathlib import Path

import pytest

from core.cli import main

FILES = Path(__file__).parents[1] / "formats" / "files"


def judge_only_when_asked(home: Path) -> None:
    """Let the rules of a new home say nothing at the end of an import."""
    if not home.exists():
        (home / "rules").mkdir(parents=True)
        (home / "rules" / "rules.toml").write_text("at_end = false\n")


class Ran:
    """What a command line did."""

    def __init__(self, status, out, err) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def lines(self):
        """stdout as JSON, every line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def one(self):
        """The one JSON object of stdout."""
        (line,) = self.lines
        return line


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home."""
    place = tmp_path / "home"
    monkeypatch.setenv("TIPHYS_HOME", str(place))
    return place


@pytest.fixture
def tiphys(home, capsys, monkeypatch):
    """Runs a command line: `tiphys("sessions", "--json")`. In homes that an import makes, rules speak only when they
    are asked."""
    monkeypatch.setattr("sys.excepthook", lambda *_: None)  # main sets it; give the old one back afterwards

    def call(*arguments) -> Ran:
        if arguments[0] == "import":
            judge_only_when_asked(Path(os.environ["TIPHYS_HOME"]))
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        printed = capsys.readouterr()
        return Ran(status, printed.out, printed.err)

    return call


@pytest.fixture
def imported(tiphys):
    """A home with the sessions of the small files; gives the first one's identity."""
    ran = tiphys("import", FILES, "--json")
    assert ran.status == 0, ran.err
    return next(line["session"] for line in ran.lines if line["format"] == "swe-agent")


@pytest.fixture
def live(home):
    """A session that was created here and waits for its runner."""
    from core.cli.log_access import writing
    from core.domain.task import Task
    from core.protocol.operations import CreateSession
    from core.store.home import Home

    task = Task(id="t", title="A task", description="Do it.")
    writing(Home(home), lambda authority: authority.do("live-1", CreateSession(task=task)))
    return "live-1"
