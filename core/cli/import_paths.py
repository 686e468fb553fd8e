"""`tiphys import`: trajectories of other programs, and our own archives, become sessions of this home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.cli.output import emit, json_option, note, say
from core.domain.plural import counted

if TYPE_CHECKING:
    from core.cli.progress import ProgressDisplay
    from core.cli.store_imported import Read
    from core.domain.errors import ReportableError
    from core.store.home import Home
    from core.workers.imports import ImportLine


@click.command(name="import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--follow", is_flag=True, help="Go on with files that are still being written, until Ctrl+C.")
@click.option("--quiet-after", type=float, default=0.0, metavar="SECONDS",
              help="With --follow: end when no file has changed for so long.")
@click.option("--progress", "with_progress", is_flag=True,
              help="With --json: print also how far it is, and failures, as JSON lines.")
@json_option
def import_paths(paths: tuple[Path, ...], follow: bool, quiet_after: float, with_progress: bool, as_json: bool) -> int:
    """Import the sessions in PATHS: files, or folders with all files below them.

    The format is recognised by the content. A second import of the same content changes nothing. At the end the rules
    judge what was imported, as at the end of an agent's session (at_end = false in rules.toml: not). Ctrl+C ends it:
    the sessions that it named stay, each other one is there whole or not at all.
    """
    from core.cli.progress import ProgressDisplay
    from core.formats.new_files import NewFiles
    from core.store.home import Home

    home = Home.default()
    progress = ProgressDisplay(as_json=as_json and with_progress, quiet=as_json and not with_progress)
    failures: list[ReportableError] = []
    found: list[ImportLine] = []
    passed = FolderTally()
    new_files = NewFiles([path for path in paths if follow and path.is_dir()])
    try:
        for line in import_all(home, paths, failures, progress, passed):
            progress.clear()
            found.append(line)
            _show(line, as_json)
        if not follow:
            _judge(home, [line.session for line in found])
    except KeyboardInterrupt:
        progress.clear()
        note(f"tiphys: It was cancelled after {counted(len(found), 'session')}; each other one is there whole or "
             "not at all.")
        return 130
    _tell(failures, as_lines=as_json and with_progress)
    _tell_passed(passed, as_json, with_progress)
    if follow:
        from core.cli.follow_files import follow_files

        grown = follow_files(home, found, new_files, quiet_after, as_json)
        _judge(home, [*(line.session for line in found), *grown])
    return max((f.exit_status for f in failures), default=0)


def _judge(home: Home, sessions: Sequence[str]) -> None:
    from core.cli.log_access import writing

    if sessions:
        writing(home, lambda authority: authority.judge_ended(sessions))


def _show(line: ImportLine, as_json: bool) -> None:
    if as_json:
        emit(line)
        return
    say(f"{line.result:<9} {line.format:<12} {line.steps:>6,} steps  {line.session}  {line.title}")
    for warning in line.warnings:
        say(f"          {warning}")


def _tell(failures: Sequence[ReportableError], *, as_lines: bool) -> None:
    from core.workers.imports import ImportFailureLine

    for failure in failures:
        if as_lines:
            emit(ImportFailureLine.of(failure))
        else:
            note(f"tiphys: {failure.sentence} [{failure.code}]")


class FolderTally:
    """What the folders of an import held."""

    def __init__(self) -> None:
        self.read = 0
        self.unknown: Counter[str] = Counter()
        """Files in no known format, by their suffix; "" for none."""

    def kinds(self, most: int) -> dict[str, int]:
        """The most common suffixes first."""
        return dict(sorted(self.unknown.items(), key=lambda one: (-one[1], one[0]))[:most])


def _tell_passed(tally: FolderTally, as_json: bool, with_progress: bool) -> None:
    from core.workers.imports import ImportPassed, ImportPassedLine

    if not tally.unknown:
        return
    if as_json and with_progress:
        emit(ImportPassedLine(ImportPassed(tally.read, tally.kinds(_MOST_SUFFIXES))))
    elif not as_json:
        kinds = ", ".join(f"{count:,} {suffix or 'without a suffix'}"
                          for suffix, count in tally.kinds(_SUFFIXES).items())
        note(f"tiphys: {counted(tally.read, 'file')} read, {tally.unknown.total():,} in no known format ({kinds}).")


_SUFFIXES, _MOST_SUFFIXES = 12, 500
"""Suffixes that are named to a person, and to a program."""


def import_all(home: Home, paths: Sequence[Path], failures: list[ReportableError],
               progress: ProgressDisplay | None = None, passed: FolderTally | None = None) -> Iterator[ImportLine]:
    """Import every session below the paths, one line each; what could not be read is put into `failures`.

    In a folder, files of no known format are passed over and counted in `passed`: only a file that was named itself
    must be one.
    """
    from core.cli.progress import ProgressDisplay
    from core.cli.store_imported import store_all

    shown = progress or ProgressDisplay(quiet=True)
    for line in store_all(home, _read_all(paths, failures, shown, passed or FolderTally()), failures):
        shown.sessions += 1
        yield line


def _read_all(paths: Sequence[Path], failures: list[ReportableError], progress: ProgressDisplay,
              passed: FolderTally) -> Iterator[Read]:
    from core.cli.store_imported import Read
    from core.domain.errors import ReportableError
    from core.formats import registry
    from core.formats.live_source import stamp
    from core.formats.source import Source

    files = [(file, file == path) for path in paths for file in registry.files(path)]
    progress.expect([file for file, _ in files])
    for file, is_named in files:
        progress.begin()
        before = stamp(file)
        try:
            for session in registry.read(Source(file, progress.at)):
                yield Read(session, file, before)
            passed.read += not is_named
        except ReportableError as failure:
            if is_named or failure.code not in ("unknown_format", "empty_file"):
                failures.append(failure)
            else:
                passed.unknown[file.suffix.lower()[:20]] += 1
