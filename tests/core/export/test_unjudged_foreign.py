"""Every real trajectory of other programs, exported: no step that nobody judged is in a sample without the word."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest
from support.real_data import DATA, real
from support.tally import tally

from core.cli import main
from core.domain.errors import Conflict, InvalidInput, ReportableError
from core.domain.events import VerdictGiven, decode_event, encode_event, make_event
from core.domain.verdict import Author
from core.export.options import ExportOptions
from core.export.rows import SessionRows
from core.export.run import export
from core.export.source import LogSource
from core.store import log
from core.store.sqlite import connect
from core.store.writer import Writer
from core.supervision.propose import propose

JUDGE = Author(kind="judge", name="judge-1", version="1")
SEED = 11
ASKED, MASKED = ExportOptions(), ExportOptions(unjudged="mask")


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Path:
    """All real files in one log, as `tiphys import` stores them."""
    real("")
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIPHYS_HOME", str(home))
        patch.setattr("sys.excepthook", lambda *_: None)
        main(["import", str(DATA), "--json"])
    return home / "server.db"


def sessions(database: Path) -> list[str]:
    with closing(connect(database, readonly=True)) as conn:
        return [row.session for row in log.rows(conn) if row.steps]


def kept_by_somebody(database: Path, session: str) -> set[int]:
    """By the log alone: a keep of a judge that no rule's mask and no word of a person stands against."""
    said: dict[tuple[int, str], str] = {}
    with closing(connect(database, readonly=True)) as conn:
        for placed in log.read_all(conn, session):
            event = decode_event(placed.body)
            if isinstance(event.fact, VerdictGiven):
                said[event.fact.step, event.author.kind] = event.fact.value
    return {step for (step, kind), value in said.items() if value == "keep"
            and (kind in ("person", "import") or said.get((step, "rule")) != "mask")}


def trained_steps(source: LogSource, session: str, options: ExportOptions) -> set[int]:
    return {part.step for row in SessionRows(source, session, None, options)
            for part, trains in zip(row.sample.parts, row.trained, strict=True) if trains and part.step is not None}


def judge_some(database: Path) -> None:
    """Rules judge all sessions; a judge keeps every third step, drawn."""
    draw = random.Random(SEED)
    with closing(LogSource(database)) as source, Writer(database) as writer:
        for session in sessions(database):
            trajectory = source.trajectory(session)
            keeps = [make_event(VerdictGiven(step=e.head.number, value="keep"), JUDGE) for e in trajectory.steps
                     if draw.random() < 1 / 3]
            bodies = [encode_event(e) for e in [*propose(trajectory, source.body), *keeps]]
            if bodies:
                writer.do_blocking(lambda conn, session=session, bodies=bodies: log.append(conn, session, bodies))


def test_no_real_step_trains_that_nobody_judged(database, tmp_path):
    harm: list[str] = []
    steps = 0
    for judged in (False, True):
        if judged:
            judge_some(database)
        with closing(LogSource(database)) as source:
            for session in sessions(database):
                allowed = kept_by_somebody(database, session)
                steps += len(source.trajectory(session).steps)
                for options in (ASKED, MASKED):
                    trained = trained_steps(source, session, options)
                    harm += [f"{session} step {n} ({options.unjudged})" for n in sorted(trained - allowed)]
    tally("foreign steps exported without the word, trained though nobody judged them", steps, harm,
          f"all files, verdicts drawn with seed {SEED}")


def test_every_real_session_is_refused_until_the_word_is_said(database, tmp_path):
    names, harm = sessions(database), []
    for at, session in enumerate(names):
        with closing(LogSource(database)) as source:
            entries = source.trajectory(session).steps
            is_open = any(not any(v.value in ("keep", "mask") for v in e.verdicts.values()) for e in entries)
        try:
            export(database, [session], "chat", tmp_path / str(at), "", ASKED)
            refused = False
        except Conflict as error:
            refused = error.code == "steps_unjudged" and session in error.sentence
        except InvalidInput as error:
            refused = not is_open or error.code != "nothing_to_export"
        except ReportableError:
            refused = True
        harm += [session] * (is_open and not refused)
    tally("foreign sessions with unjudged steps, written without the word", len(names), harm)
