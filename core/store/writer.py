"""The one writer of a database: one thread, one connection, many pieces of work per COMMIT.

Each piece runs in a savepoint of a shared transaction, so that one that fails leaves the others alone; a result
is handed out only after the COMMIT that holds it returned. With synchronous=FULL that means: on disk. A commit of
nothing but what another copy of can be had waits for no disk (synchronous=NORMAL): a power cut may take the newest
such commits, and what is left is still a prefix of what was written.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from core.domain.errors import Unavailable
from core.logs import Thinned
from core.store.schema import open_log
from core.store.sqlite import NORMAL, Connection, driver, is_disk_failure, scalar

T = TypeVar("T")
Work = Callable[[Connection], Any]
Piece = tuple[Work, Future[Any], bool]
"""What is to be done, where its result goes, and whether that waits for the disk."""

_BATCH = 256
_QUEUE = 4096
_log = logging.getLogger("store")
_failures = Thinned(_log)


class Writer:
    """Runs pieces of work on one connection. Made and closed by whoever owns the file.

    `on_commit` holds callables that are called, in the writer's thread, after each COMMIT that changed something
    and before its results are handed out; they must be quick. One that raises is logged.
    """

    def __init__(self, path: Path | str, open_file: Callable[[Path | str], Connection] = open_log) -> None:
        """Open (and migrate) the file here and now, so that the caller sees what `open_file` raises."""
        self.path = Path(path)
        self.on_commit: list[Callable[[], None]] = []
        self._conn = open_file(path)
        self._level = self._strictest = int(scalar(self._conn, "PRAGMA synchronous"))
        self._queue: queue.Queue[Piece | None] = queue.Queue(_QUEUE)
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"writer {self.path.name}", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[Connection], T]) -> T:
        """The result of `work(connection)`, once it is committed; its exception, once it is undone.

        Raises Unavailable when the disk refuses the commit (nothing of the work is then stored).
        """
        return await asyncio.wrap_future(self.submit(work))

    def do_blocking(self, work: Callable[[Connection], T]) -> T:
        """The same for code without an event loop."""
        return self.submit(work).result()

    def submit(self, work: Callable[[Connection], T], *, durable: bool = True) -> Future[T]:
        """Queue work in the order of the calls; blocks while thousands of pieces are waiting.

        `durable=False` is for copies that can be fetched again: their commit survives the end of the process, but
        it does not wait for the disk, unless durable work is in the same commit.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise Unavailable("store_closed", f"{self.path} is closed.", path=str(self.path))
            self._queue.put((work, future, durable))
        return future

    def close(self) -> None:
        """Finish what is queued, then close the file. May be called again."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work(self) -> None:
        try:
            while batch := self._next_batch():
                self._commit(batch)
                batch.clear()  # else what was written stays in memory until there is more to write
        finally:
            self._conn.close()

    def _next_batch(self) -> list[Piece]:
        """What is waiting, at least one piece; empty when there will be no more."""
        item = self._queue.get()
        batch: list[Piece] = []
        while item is not None:
            batch.append(item)
            if len(batch) == _BATCH:
                return batch
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch
        if batch:
            self._queue.put(None)  # the end was met behind work: meet it again after this batch
        return batch

    def _commit(self, batch: list[Piece]) -> None:
        wanted = [(work, future) for work, future, _ in batch if future.set_running_or_notify_cancel()]
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        before = self._conn.total_changes
        try:
            self._wait_for_disk(any(durable for _, _, durable in batch))
            self._conn.execute("BEGIN IMMEDIATE")
            for work, future in wanted:
                done.append((future, *self._piece(work)))
            self._conn.execute("COMMIT")
        except driver.Error as error:
            self._undo([future for _, future in wanted], error)
            return
        if self._conn.total_changes != before:
            self._tell()
        for future, result, failure in done:
            future.set_result(result) if failure is None else future.set_exception(failure)

    def _wait_for_disk(self, durable: bool) -> None:
        """Whether the next commit waits for the disk; as strict as the file was opened where it does."""
        level = self._strictest if durable else min(NORMAL, self._strictest)
        if level != self._level:
            self._conn.execute(f"PRAGMA synchronous={level}")
            self._level = level

    def _tell(self) -> None:
        for call in list(self.on_commit):
            try:
                call()
            except Exception:  # noqa: BLE001 - a broken listener must not end the one thread that writes
                _log.exception("A listener to commits of %s failed.", self.path)

    def _piece(self, work: Work) -> tuple[Any, BaseException | None]:
        self._conn.execute("SAVEPOINT piece")
        result: Any = None
        failure: BaseException | None = None
        try:
            result = work(self._conn)
        except BaseException as error:  # noqa: BLE001 - handed to the caller; this thread serves the others
            failure = error
        if not self._conn.in_transaction:  # a full disk or an I/O error undid the whole transaction
            lost = driver.OperationalError(f"the transaction was undone: {failure}")
            raise failure if isinstance(failure, driver.Error) else lost
        if failure is not None and is_disk_failure(failure):
            failure = self._refusal(failure)
        if failure is not None:
            self._conn.execute("ROLLBACK TO piece")
        self._conn.execute("RELEASE piece")
        return result, failure

    def _undo(self, futures: list[Future[Any]], error: BaseException) -> None:
        if self._conn.in_transaction:
            self._conn.execute("ROLLBACK")
        _failures.say(logging.ERROR, f"{self.path} {error}", "Nothing could be written to %s: %s", self.path, error)
        for future in futures:
            future.set_exception(self._refusal(error))

    def _refusal(self, error: BaseException) -> Unavailable:
        refusal = Unavailable("store_write_failed", f"{self.path} cannot be written: {error}", path=str(self.path))
        refusal.__cause__ = error
        return refusal
