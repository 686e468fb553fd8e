"""Files that the reader opens: imported in a process of their own, then watched; one that grows is followed live."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.desk.notices import sentence_of
from app.desk.worker import Worker, read_line
from app.desk.workplace import Workplace
from app.imports.bar import ImportBar
from app.kit import quantities
from app.kit.background import BackgroundWork
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from core import program
from core.workers import imports

if TYPE_CHECKING:
    from core.formats.new_files import NewFiles

PATIENCE_MS = 500
"""An import that is done sooner shows no bar."""

WATCH_MS = 1500
QUIET_S = 900
"""A follower ends when its files have been silent for so long; they are watched on."""

FOLLOWERS = 4

WATCHED = 2000
"""Files that are watched, the newest."""

REMARKS = 3
SUFFIXES = 6


class ImportsController(QObject):
    """One import at a time; what is opened meanwhile waits for its turn."""

    def __init__(self, place: Workplace, bar: ImportBar, connected: Callable[[], Awaitable[None]]) -> None:
        """`connected` waits for this computer's own server: it owns the log and takes what the importer reads."""
        super().__init__(bar)
        self._place, self._bar, self._connected = place, bar, connected
        self._waiting: deque[tuple[tuple[str, ...], bool, int | None]] = deque()
        self._worker: Worker | None = None
        self._followers: dict[Worker, frozenset[str]] = {}
        self._stamps: dict[str, str] = {}
        self._new_files: list[NewFiles] = []
        self._count, self._failed, self._remarks = 0, 0, 0
        self._step: int | None = None
        self._is_cancelled = self._is_busy = False
        self._follows = False
        self._opening: NewFiles | None = None
        self._patience = single_shot(self, PATIENCE_MS, bar.show)
        self._watch = single_shot(self, WATCH_MS, self._look_at_files)
        self._look = BackgroundWork(self)
        self._look.done.connect(self._on_grown)
        bar.cancelled.connect(self.cancel)

    @property
    def is_following(self) -> bool:
        """Whether a file that grows is followed now."""
        return bool(self._followers)

    async def open(self, files: Sequence[str], *, follow: bool = False, step: int | None = None) -> None:
        """Import files and folders and go to the first session, at a step of it where one is named; with `follow` they
        are taken as being written."""
        self._waiting.append((tuple(files), follow, step))
        if not self._is_busy:
            await self._next()

    def cancel(self) -> None:
        """End the import that is at work, and forget what waits: sessions that were read stay, no half one does."""
        self._waiting.clear()
        if not self._is_busy:
            return
        self._is_cancelled = True
        self._bar.cancel.setEnabled(False)
        if self._worker is not None:
            self._worker.stop()

    # ---- one import ------------------------------------------------------------------------------

    async def _next(self) -> None:
        from core.formats.new_files import NewFiles  # not before the first paint: with all that reads files

        self._is_busy = True
        files, follow, self._step = self._waiting.popleft()
        self._follows = follow
        self._count, self._failed, self._remarks, self._is_cancelled = 0, 0, 0, False
        self._bar.begin(len(files))
        self._patience.start()
        folders = [Path(file) for file in files if Path(file).is_dir()]
        self._opening = await asyncio.to_thread(NewFiles, folders) if folders else None
        await self._connected()
        if self._is_cancelled:
            self._on_ended(follow, 0, "")
            return
        self._worker = self._start(["--progress", *files])
        self._worker.line.connect(self._on_line)
        self._worker.ended.connect(partial(self._on_ended, follow))
        self._worker.start()

    def _start(self, arguments: Sequence[str]) -> Worker:
        home = str(self._place.home.path)
        return Worker(program.command("tiphys", "--home", home, "import", "--json", *arguments), self)

    def _on_line(self, line: bytes) -> None:
        match read_line(line, imports.read_import_report):
            case imports.ImportProgressLine(progress=at):
                self._bar.tell(at.file, at.number, at.of, at.done)
            case imports.ImportFailureLine(failure=failure):
                self._failed += 1
                if self._failed <= REMARKS:
                    self._place.notices.tell(sentence_of(failure.error), "error")
            case imports.ImportPassedLine(passed=passed):
                self._tell_passed(passed)
            case imports.ImportLine() as imported:
                self._on_imported(imported)

    def _tell_passed(self, passed: imports.ImportPassed) -> None:
        """What folders held beside sessions."""
        none = self.tr("without a suffix")
        kinds = ", ".join(f"{quantities.number(count)} {one_line(suffix, 20) or none}"
                          for suffix, count in list(passed.unknown.items())[:SUFFIXES])
        self._failed += 1  # then nobody needs to be told that nothing was found
        text = self.tr("Files read: {read}; in no known format: {unknown} ({kinds}).")
        self._place.notices.tell(text.format(read=quantities.number(passed.read), kinds=kinds,
                                             unknown=quantities.number(sum(passed.unknown.values()))))

    def _on_imported(self, imported: imports.ImportLine) -> None:
        self._count += 1
        if imported.path:
            self._stamps[imported.path] = imported.stamp
        if self._count == 1:
            self._place.cursor.move(imported.session, self._step)
            if self._follows and self._place.cursor.step is None:
                self._place.cursor.follow()
        self._remarks += len(imported.warnings)

    def _on_ended(self, follow: bool, code: int, last_words: str) -> None:
        if self._worker is not None:
            self._worker.deleteLater()
        self._worker, self._is_busy = None, False
        self._patience.stop()
        self._bar.end()
        notices = self._place.notices
        if self._is_cancelled:
            notices.tell(self.tr("Cancelled: %Ln session(s) were imported; each other one is here whole or not at "
                                 "all.", None, plural(self._count)))
        elif self._count:
            notices.tell(self.tr("%Ln session(s) imported.", None, plural(self._count)), "done")
        elif not self._failed:
            notices.tell(last_words or self.tr("No session was found there."), "error" if code else "attention")
        if self._remarks and self._count > 1:  # those of one session stand above its steps
            notices.tell(self.tr("%Ln remark(s) on what was opened: see above the steps of each session.", None,
                                 plural(self._remarks)))
        if self._opening is not None and not self._is_cancelled:
            self._new_files.append(self._opening)
        self._keep_watching(follow)
        if self._waiting:
            self._place.scope.spawn(self._next(), name="import")

    # ---- files that grow -------------------------------------------------------------------------

    def _keep_watching(self, follow: bool) -> None:
        for path in list(self._stamps)[: max(0, len(self._stamps) - WATCHED)]:
            del self._stamps[path]
        if (self._stamps or self._new_files) and not self._watch.isActive():
            self._watch.start()
        if follow:
            self._follow(list(self._stamps))

    def _look_at_files(self) -> None:
        if not self._is_busy and len(self._followers) < FOLLOWERS:
            followed = frozenset().union(*self._followers.values())
            held = {p: s for p, s in self._stamps.items() if p not in followed}
            self._look.start(_changed, held, tuple(self._new_files))
        else:
            self._watch.start()

    def _on_grown(self, paths: list[str]) -> None:
        self._watch.start()
        for path in paths[:REMARKS]:
            name = one_line(Path(path).name, 80)
            self._place.notices.tell(self.tr("“{name}” is being written: it is followed.").format(name=name))
        if paths:
            self._follow(paths)

    def _follow(self, paths: Sequence[str]) -> None:
        follower = self._start(["--follow", "--quiet-after", str(QUIET_S), *paths])
        self._followers[follower] = frozenset(paths)
        follower.ended.connect(partial(self._on_silent, follower))
        follower.start()

    def _on_silent(self, follower: Worker, *_: object) -> None:
        """A follower has ended: what its files hold now is known."""
        from core.formats.live_source import stamp

        for path in self._followers.pop(follower) & self._stamps.keys():
            self._stamps[path] = stamp(Path(path))
        follower.deleteLater()


def _changed(stamps: Mapping[str, str], new_files: Sequence[NewFiles]) -> list[str]:
    """The files that are not as they were, and those that are new in folders that were opened."""
    from core.formats.live_source import stamp

    grown = [path for path, before in stamps.items() if (now := stamp(Path(path))) and now != before]
    return grown + [str(path) for folder in new_files for path in folder.since_last_time()]
