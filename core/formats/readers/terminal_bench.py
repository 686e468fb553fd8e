"""terminal-bench trials (`results.json` with its casts and `commands.txt`), and asciicasts (v1, v2, v3) alone.

A trial knows no steps: they are made of the keys that were sent, from the cast's input events or `commands.txt`.
What the terminal showed is stored whole for the Terminals panel. Token counts of 0 are how the harness says unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from core.domain.errors import ReportableError
from core.domain.events import ScoreGiven
from core.domain.step import Action, StepBody
from core.formats.asciicast import Cast, add_output, is_header, read_cast
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import canonical
from core.formats.source import Source, is_plain, printable
from core.formats.values import dict_of, int_of, text_of, time_of

NAME = "terminal-bench"
SESSIONS = "sessions"
_COMMANDS = 8 * 1024 * 1024


def recognises(source: Source) -> bool:
    """Whether the file is the result of a trial, or a recorded terminal."""
    return _is_trial(source.object) or any(is_header(v) for v in source.samples[:1])


def _is_trial(value: dict[str, Any]) -> bool:
    return {"is_resolved", "task_id"} <= value.keys() and bool(
        value.keys() & {"failure_mode", "parser_results", "trial_name"})


def companions(files: Sequence[Path]) -> list[Path]:
    """The folders of a trial's recordings."""
    return [path.parent / folder for path in files if path.name == "results.json" and _casts(path)
            and _is_trial(Source(path).object) for folder in (SESSIONS, "panes")]


def _casts(path: Path) -> list[Path]:
    folder = path.parent / SESSIONS
    if not folder.is_dir() or folder.is_symlink():
        return []
    return sorted(p for p in folder.glob("*.cast") if is_plain(p))[:20]


def read(source: Source) -> Iterator[Imported]:
    """The one session of a trial or of a cast."""
    trial = source.object if _is_trial(source.object) else {}
    if not trial:
        yield _alone(source)
        return
    names = [trial.get(k) for k in ("id", "trial_name", "task_id", "trial_started_at")]
    builder = SessionBuilder(NAME, source.name, canonical(names))
    if source.json.problem:
        builder.warnings.append(source.json.problem)
    asked = text_of(trial.get("instruction"))
    title = text_of(trial.get("trial_name")) or text_of(trial.get("task_id")) or asked[:400]
    builder.create(title, asked, task=text_of(trial.get("task_id")))
    started = time_of(trial.get("agent_started_at") or trial.get("trial_started_at"))
    for path in _casts(source.path):
        try:
            cast = read_cast(Source(path))
        except ReportableError as error:
            builder.warnings.append(str(error))
            continue
        builder.warnings.extend(f"{printable(path.name)}: {p}" for p in cast.problems)
        steps = path.stem == "agent"
        _replay(builder, cast, path.stem, started if steps else None, steps=steps)
    if not builder.steps:
        _commands(builder, source.path.parent / "commands.txt")
    _end(builder, trial)
    yield builder.build()


def _alone(source: Source) -> Imported:
    cast = read_cast(source)
    builder = SessionBuilder(NAME, source.name, canonical([cast.header, cast.events[:20]]), cast.problems)
    title = text_of(cast.header.get("title")) or text_of(cast.header.get("command")) or Path(source.name).stem
    builder.create(title, text_of(cast.header.get("command")))
    if not cast.events:
        raise source.without_steps("output", cast.problems)
    _replay(builder, cast, "terminal", None, steps=True)
    return builder.build_without_end()


def _replay(builder: SessionBuilder, cast: Cast, terminal: str, started: datetime | None, *, steps: bool) -> None:
    """Output and, from the keys that were typed, steps."""
    keys, is_sent, offset, unwritten = "", False, 0, b""
    started_at: datetime | None = None
    at: datetime | None = None
    for seconds, kind, data in cast.events:
        if kind == "o":
            unwritten += data.encode("utf-8", "replace")
            if len(unwritten) < 16_384 and cast.is_same_moment(seconds):
                continue
        at = cast.time(seconds, started)
        offset, unwritten = add_output(builder, terminal, offset, unwritten, at, cast.size)
        if kind == "i" and steps:
            if is_sent:
                _step(builder, keys, started_at, at, {f"main/{terminal}": offset})
                keys, is_sent = "", False
            started_at = started_at if keys else at
            keys, is_sent = keys + data, data.endswith(("\r", "\n"))
    offset, _ = add_output(builder, terminal, offset, unwritten, at, cast.size)
    if keys:
        _step(builder, keys, started_at, at, {f"main/{terminal}": offset})


def _step(builder: SessionBuilder, keys: str, start: datetime | None, end: datetime | None,
          terminals: dict[str, int]) -> None:
    action = Action(call_id="1", tool="send_keys", arguments={"command": keys}, family="command")
    builder.step(StepBody(number=builder.steps + 1, actions=(action,)), None, None, started_at=start, ended_at=end,
                 terminals=terminals)


def _commands(builder: SessionBuilder, path: Path) -> None:
    """Each line of `commands.txt` is the Python form of the keys of one call."""
    if not is_plain(path) or path.stat().st_size > _COMMANDS:
        return
    unread = 0
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            sent = ast.literal_eval(line) if line.strip() else None
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            unread += 1
            continue
        if sent is not None:
            keys = "".join(map(str, sent)) if isinstance(sent, list | tuple) else str(sent)
            _step(builder, keys, None, None, {})
    if unread:
        builder.warnings.append(f"{unread} lines of {printable(path.name)} could not be read.")
    if builder.steps:
        builder.warnings.append("The keys have no times: no step says where in the terminal it was typed.")


def _end(builder: SessionBuilder, trial: dict[str, Any]) -> None:
    builder.totals({k: v for k in ("total_input_tokens", "total_output_tokens") if (v := int_of(trial.get(k)))})
    resolved = trial.get("is_resolved")
    parts = {k: 100.0 if v == "passed" else 0.0 for k, v in dict_of(trial.get("parser_results")).items()}
    if isinstance(resolved, bool):
        builder.fact(ScoreGiven(ordinal=1, step=builder.steps, total=100.0 if resolved else 0.0, parts=parts,
                                message="tests of the benchmark"))
    mode = text_of(trial.get("failure_mode"))
    good = mode in ("", "none", "unset")
    builder.end("finished" if good else "failed", "finished" if good else mode)


FORMAT = Format(name=NAME, title="terminal-bench trial or asciicast", recognises=recognises, read=read,
                companions=companions, parts_of=lambda path: [path.parent / SESSIONS])
