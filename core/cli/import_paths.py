"""`tiphys import`: trajectories of other programs, and our own archives, become sessions of this home."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from core.cli.log_access import writing
from core.cli.number import Number
from core.cli.output import emit, json_option, note, say, visible
from core.cli.store_imported import Read, store_all
from core.domain.errors import InvalidInput, ReportableError
from core.domain.plural import counted
from core.formats import registry
from core.formats.live_source import stamp
from core.formats.new_files import NewFiles
from core.formats.source import Source
from core.store.home import Home
from core.supervision.rule_file import judges_at_end
from core.workers import imports

_SELDOM = 50_000, 20, 50
"""When memory is looked through for what nobody refers to: what is read is let go of without that, and of a long log a
twelfth of the time went there."""


@click.command(name="import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--follow", is_flag=True, help="Go on with files that are still being written, until Ctrl+C.")
@click.option("--quiet-after", type=Number(0, 1e9), default=0.0, metavar="SECONDS",
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
    home = Home.default()
    progress = ProgressDisplay(as_json=as_json and with_progress, quiet=as_json and not with_progress)
    failures: list[ReportableError] = []
    found: list[imports.ImportLine] = []
    passed = FolderTally()
    judged: dict[str, int] = {}
    new_files = NewFiles([path for path in paths if follow and registry.is_folder(path)])
    thresholds = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        for line in import_all(home, paths, failures, progress, passed, None if follow else judged):
            progress.clear()
            found.append(line)
            _show(line, as_json)
        if not follow:
            _judge(home, [line.session for line in found], judged, failures)
    except KeyboardInterrupt:
        progress.clear()
        note(f"tiphys: It was cancelled after {counted(len(found), 'session')}; each other one is there whole or "
             "not at all.")
        return 130
    finally:
        gc.set_threshold(*thresholds)
    _tell(failures, as_lines=as_json and with_progress)
    shown = len(failures)
    _tell_passed(passed, as_json, with_progress)
    if not (found or failures or passed.read or passed.unknown or follow or with_progress):
        note(f"tiphys: Nothing was found to import in {', '.join(map(str, paths))}.")
    if follow:
        from core.cli.follow_files import follow_files

        grown = follow_files(home, found, new_files, quiet_after, as_json)
        _judge(home, [*(line.session for line in found), *grown], judged, failures)
        _tell(failures[shown:], as_lines=as_json and with_progress)
    return max((f.exit_status for f in failures), default=0)


def _judge(home: Home, sessions: Sequence[str], judged: Mapping[str, int], failures: list[ReportableError]) -> None:
    """Let the rules judge what was imported and not `judged` on the way; rules that cannot be used are one failure
    more, and nothing is lost."""
    if not sessions:
        return
    try:
        folder = home.path / "rules"
        if judges_at_end(folder) and folder.is_dir():
            from core.supervision.rule_book import rules_of  # with all rules, which a process of its own asks

            rules_of(folder)
    except InvalidInput as error:
        failures.append(error)
    else:
        writing(home, lambda authority: authority.judge_ended(sessions, judged))


def _show(line: imports.ImportLine, as_json: bool) -> None:
    if as_json:
        emit(line)
        return
    say(f"{line.result:<9} {line.format:<12} {line.steps:>6,} steps  {line.session}  {line.title}")
    for warning in line.warnings:
        say(f"          {warning}")


def _tell(failures: Sequence[ReportableError], *, as_lines: bool) -> None:
    for failure in failures:
        if as_lines:
            emit(imports.ImportFailureLine.of(failure))
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
    if not tally.unknown:
        return
    if as_json and with_progress:
        emit(imports.ImportPassedLine(imports.ImportPassed(tally.read, tally.kinds(_MOST_SUFFIXES))))
    elif not as_json:
        kinds = ", ".join(f"{count:,} {suffix or 'without a suffix'}"
                          for suffix, count in tally.kinds(_SUFFIXES).items())
        note(f"tiphys: {counted(tally.read, 'file')} read, {tally.unknown.total():,} in no known format ({kinds}).")


_SUFFIXES, _MOST_SUFFIXES = 12, 500
"""Suffixes that are named to a person, and to a program."""


def import_all(home: Home, paths: Sequence[Path], failures: list[ReportableError],
               progress: ProgressDisplay | None = None, passed: FolderTally | None = None,
               judged: dict[str, int] | None = None) -> Iterator[imports.ImportLine]:
    """Import every session below the paths, one line each; what could not be read is put into `failures`.

    In a folder, files of no known format are passed over and counted in `passed`: only a file that was named itself
    must be one. `judged` as in `store_all`.
    """
    shown = progress or ProgressDisplay(quiet=True)
    for line in store_all(home, _read_all(paths, failures, shown, passed or FolderTally()), failures,
                          judged):
        shown.sessions += 1
        yield line


def _read_all(paths: Sequence[Path], failures: list[ReportableError], progress: ProgressDisplay,
              passed: FolderTally) -> Iterator[Read]:
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
            if is_named or failure.code not in ("unknown_format", "empty_file", "packed_otherwise"):
                failures.append(failure)
            else:
                passed.unknown[file.suffix.lower()[:20]] += 1


EVERY_S = 0.1
PATIENCE_S = 0.5
"""Work that is done within so many seconds tells no progress."""


class ProgressDisplay:
    """Told which file is at work and how far in it; tells a person on stderr, or a program on stdout."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self._as_json = as_json
        self._quiet = quiet or not (as_json or sys.stderr.isatty())
        self._shown_at = time.monotonic() + PATIENCE_S - EVERY_S
        self._shown = False
        self._sizes: list[int] = []
        self._files: Sequence[Path] = ()
        self._number = 0
        self.sessions = 0

    def expect(self, files: Sequence[Path]) -> None:
        """These files are going to be read."""
        self._files, self._number = files, 0
        self._sizes = [_size(path) for path in files]

    def begin(self) -> None:
        """The next file is being read."""
        self._number += 1
        self.at(0)

    def at(self, position: int) -> None:
        """So many bytes of the file have been read."""
        now = time.monotonic()
        if self._quiet or not self._number or now < self._shown_at + EVERY_S:
            return
        self._shown_at = now
        whole = sum(self._sizes) or 1
        done = (sum(self._sizes[: self._number - 1]) + position) / whole
        name = self._files[self._number - 1].name
        self._tell(imports.ImportProgress(file=name, number=self._number, of=len(self._files),
                                          done=round(min(1.0, done), 4),
                                          sessions=self.sessions))

    def clear(self) -> None:
        """Take the line away: something else is written, or the work is over."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._shown = False

    def _tell(self, how_far: imports.ImportProgress) -> None:
        if self._as_json:
            emit(imports.ImportProgressLine(how_far))
            return
        line = (f"{how_far.done:4.0%}  file {how_far.number:,} of {how_far.of:,}, "
                f"{counted(how_far.sessions, 'session')}  {how_far.file}")
        click.echo(f"\r\x1b[K{visible(line)[:100]}", err=True, nl=False)
        self._shown = True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
