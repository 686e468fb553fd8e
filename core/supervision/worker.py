"""Rules as a process of its own, so that a person's rule can neither stop the desktop nor read its memory: JSON lines
in, JSON lines out.

`python -m core.supervision.worker --log FILE --rules FOLDER`. Requests carry an `id` and `do`; each answer the same
`id` with `ok` or `error` {code, sentence}. It ends when its input ends.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, NotFound, ReportableError
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import fold
from core.json_lines import Say, serve
from core.store import blobs, log
from core.store.sqlite import Connection, connect
from core.supervision.agreement import RuleEffect, effects
from core.supervision.rule import Rule
from core.supervision.rule_book import rules_of
from core.supervision.rule_file import read_rule_file, set_rule

_log = logging.getLogger("session")


class Ask(msgspec.Struct, kw_only=True):
    """One request. `rules` lists them for a task; `effects` says what each changes in a session, or would; `set`
    switches and tunes one."""

    id: int
    do: str
    session: str = ""
    task: str = ""
    rule: str = ""
    settings: dict[str, Any] = {}


class RuleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as a person sees it: `usual` are its own settings, `told` what rules.toml says of it in this scope."""

    name: str
    version: str
    about: str
    enabled: bool
    settings: dict[str, Any]
    usual: dict[str, Any]
    told: dict[str, Any]


class Worker:
    """Answers requests about one log and one folder of rules. `say` sends one answer."""

    def __init__(self, log_file: Path, folder: Path, say: Say) -> None:
        self._log_file, self._folder, self._say = log_file, folder, say

    def answer(self, line: bytes) -> None:
        """Answer one line; never raises for what it asks."""
        number: int | None = None
        try:
            ask = msgspec.json.decode(line, type=Ask)
            number = ask.id
            self._say({"id": number, "ok": msgspec.to_builtins(self._do(ask))})
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._fail(number, InvalidInput("bad_request", f"The request cannot be read: {error}"))
        except ReportableError as error:
            self._fail(number, error)
        except Exception as error:  # noqa: BLE001 - a command handler: one bad request must not end the process
            _log.exception("rules worker")
            self._fail(number, ReportableError("rules_failed", f"The rules failed: {type(error).__name__}: {error}"))

    def _do(self, ask: Ask) -> object:
        match ask.do:
            case "rules":
                return self._rules(ask.task)
            case "effects":
                return self._effects(ask.session)
            case "set":
                self._set(ask)
                return self._rules(ask.task)
        raise InvalidInput("bad_request", f"The rules do not know the request {ask.do}.")

    def _rules(self, task: str) -> list[RuleLine]:
        usual = {r.name: r.settings for r in rules_of(None)}
        file = read_rule_file(self._folder / "rules.toml")
        told = file.tasks[task].rules if task in file.tasks else {} if task else file.rules
        return [_line(rule, usual.get(rule.name, rule.settings), told.get(rule.name, {}))
                for rule in rules_of(self._folder, task)]

    def _effects(self, session: str) -> list[RuleEffect]:
        with closing(connect(self._log_file, readonly=True)) as conn:
            told = fold(session, log.read_all(conn, session))
            if told.created is None:
                raise NotFound("no_session", f"There is no session {session}.", session=session)
            return effects([told], _bodies(conn), [rules_of(self._folder, told.created.task.id)])

    def _set(self, ask: Ask) -> None:
        """Settings that no rule has are refused before they are written."""
        if ask.rule not in [r.name for r in rules_of(self._folder)]:
            raise NotFound("no_rule", f"There is no rule {ask.rule}.", rule=ask.rule)
        rule = next(r for r in rules_of(self._folder) if r.name == ask.rule)
        rule.tuned({k: v for k, v in ask.settings.items() if k != "enabled"})
        set_rule(self._folder, ask.rule, ask.settings, ask.task)

    def _fail(self, number: int | None, error: ReportableError) -> None:
        self._say({"id": number, "error": {"code": error.code, "sentence": error.sentence}})


def _line(rule: Rule, usual: Any, told: dict[str, Any]) -> RuleLine:
    return RuleLine(name=rule.name, version=rule.version, about=rule.about, enabled=rule.enabled,
                    settings=dict(rule.settings), usual=dict(usual), told=told)


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
    return serve(lambda say: Worker(args.log, args.rules, say).answer)


if __name__ == "__main__":
    sys.exit(main())
