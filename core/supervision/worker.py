"""Rules as a process of its own, so that a person's rule can neither stop the desktop nor read its memory.

`python -m core.supervision.worker --log FILE --rules FOLDER` answers the requests of `core.workers.rules` until its
input ends.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, NotFound
from core.domain.events import encode_event
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory, fold
from core.store import blobs, log
from core.store.sqlite import Connection, connect
from core.supervision.propose import propose
from core.supervision.rule import Rule
from core.supervision.rule_book import rules_of
from core.supervision.rule_file import read_rule_file, set_rule
from core.workers.rules import (
    ListRules,
    ProposedVerdicts,
    ProposeVerdicts,
    RuleEffect,
    RuleLine,
    RulesRequest,
    SetRule,
    TryRules,
)
from core.workers.serve import Send, answer_line, serve

MOST_HELD = 200_000
"""Events of a session up to which its steps are held in memory; rules look at each several times, and those of a longer
one are read from the log each time."""

_DECODER = msgspec.json.Decoder[ListRules | TryRules | SetRule | ProposeVerdicts](RulesRequest)


class RulesWorker:
    """Answers requests about one log and one folder of rules. `send` sends one answer."""

    def __init__(self, log_file: Path, folder: Path, send: Send) -> None:
        self._log_file, self._folder, self._send = log_file, folder, send
        self._conn: Connection | None = None
        self._file: tuple[int, int] = (0, 0)

    def answer(self, line: bytes) -> None:
        """Answer one line; never raises for what it asks."""
        answer_line(line, _DECODER, self._handle, self._send)

    def _handle(self, request: RulesRequest) -> list[RuleLine] | list[RuleEffect] | ProposedVerdicts:
        if isinstance(request, ProposeVerdicts):
            return self._proposed(request.session)
        if isinstance(request, TryRules):
            return self._effects(request.session)
        if isinstance(request, SetRule):
            self._set(request)
        return self._rules(request.task)

    def _rules(self, task: str) -> list[RuleLine]:
        usual = {r.name: r.settings for r in rules_of(None)}
        file = read_rule_file(self._folder / "rules.toml")
        changed = file.tasks[task].rules if task in file.tasks else {} if task else file.rules
        return [_line(rule, usual.get(rule.name, rule.settings), changed.get(rule.name, {}))
                for rule in rules_of(self._folder, task)]

    def _effects(self, session: str) -> list[RuleEffect]:
        from core.supervision.agreement import effects  # brings the judge's half, which proposing does not need

        with closing(connect(self._log_file, readonly=True)) as conn:
            trajectory, rules = self._read(conn, session)
            return effects([trajectory], _bodies(conn), [rules])

    def _proposed(self, session: str) -> ProposedVerdicts:
        conn = self._connected()
        gc.disable()  # what is read stays until the answer: looking through it took a sixth of a long session's time
        try:
            trajectory, rules = self._read(conn, session)
            proposed = propose(trajectory, _bodies(conn), rules)
            return ProposedVerdicts(head=trajectory.seq, events=tuple(encode_event(e) for e in proposed))
        finally:
            gc.enable()

    def _connected(self) -> Connection:
        """One connection for many small sessions, as long as the log is the same file. Raises NotFound, Unavailable."""
        found = self._log_file.stat() if self._log_file.is_file() else None
        file = (found.st_dev, found.st_ino) if found else (0, 0)
        if self._conn is None or file != self._file:
            self.close()
            self._conn, self._file = connect(self._log_file, readonly=True), file
        return self._conn

    def close(self) -> None:
        """Let go of the log."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    def _read(self, conn: Connection, session: str) -> tuple[Trajectory, list[Rule]]:
        """A session as its log has it now, and the rules that hold for it. Raises NotFound, InvalidInput."""
        read = partial(log.bodies, conn, session) if log.head(conn, session) > MOST_HELD else None
        trajectory = fold(session, log.read_all(conn, session), read)
        if trajectory.created is None:
            raise NotFound("no_session", f"There is no session {session}.", session=session)
        return trajectory, rules_of(self._folder, trajectory.created.task.id)

    def _set(self, request: SetRule) -> None:
        """Settings that no rule has are refused before they are written."""
        rule = next((r for r in rules_of(self._folder) if r.name == request.rule), None)
        if rule is None:
            raise NotFound("no_rule", f"There is no rule {request.rule}.", rule=request.rule)
        rule.tuned({k: v for k, v in request.settings.items() if k != "enabled"})
        set_rule(self._folder, request.rule, request.settings, request.task)


def _line(rule: Rule, usual: Any, changed: dict[str, Any]) -> RuleLine:
    return RuleLine(name=rule.name, version=rule.version, about=rule.about, enabled=rule.enabled,
                    settings=dict(rule.settings), usual=dict(usual), changed=changed)


def _bodies(conn: Connection) -> Callable[[str], StepBody | None]:
    """Bodies by hash, None where the file does not hold one."""

    def body(name: str) -> StepBody | None:
        try:
            return decode_body(blobs.get(conn, name))
        except (NotFound, InvalidInput):
            return None

    return body


def main(argv: list[str] | None = None) -> int:
    """Serve until standard input ends. Standard output carries answers only: what a rule prints goes elsewhere."""
    parser = argparse.ArgumentParser(prog="python -m core.supervision.worker", description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="the server's database or a replica")
    parser.add_argument("--rules", type=Path, required=True, help="the folder of rules.toml and own rules")
    args = parser.parse_args(argv)
    return serve(lambda send: RulesWorker(args.log, args.rules, send).answer)


if __name__ == "__main__":
    sys.exit(main())
