"""The writer: results only after COMMIT, many per COMMIT, one failure alone; a full disk is told and survived."""

import asyncio
import threading

import pytest
from support.logs import make_session

from core.domain.errors import Conflict, Unavailable
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import connect, scalar
from core.store.writer import Writer


@pytest.fixture
def writer(tmp_path):
    with Writer(tmp_path / "a.db") as writer:
        yield writer


def put(key, value="v"):
    return lambda conn: conn.execute("INSERT INTO setting VALUES (?, ?)", (key, value)).rowcount


def stored(writer):
    return {row[0] for row in connect(writer.path, readonly=True).execute("SELECT key FROM setting")}


def held_back(writer):
    """A piece of work that keeps the writer busy until the returned event is set."""
    go = threading.Event()
    writer.submit(lambda conn: go.wait())
    return go


def test_a_result_comes_after_its_commit(writer):
    async def main():
        assert await writer.do(put("a")) == 1
        assert stored(writer) == {"a"}

    asyncio.run(main())


def test_what_waits_is_committed_together_and_told_before_the_results(writer):
    commits = []
    go = held_back(writer)
    futures = [writer.submit(put(str(n))) for n in range(100)]
    writer.on_commit.append(lambda: commits.append(sum(f.done() for f in futures)))
    go.set()
    assert [f.result() for f in futures] == [1] * 100
    writer.do_blocking(lambda conn: None)  # changes nothing, so nobody is told
    assert commits[0] == 0 and len(commits) <= 2


def level(conn):
    return scalar(conn, "PRAGMA synchronous")


def test_a_copy_does_not_wait_for_the_disk_unless_durable_work_is_in_the_same_commit(writer):
    full, normal = 2, 1
    assert writer.do_blocking(level) == full
    assert writer.submit(level, durable=False).result() == normal
    go = held_back(writer)
    together = [writer.submit(level, durable=False), writer.submit(level), writer.submit(level, durable=False)]
    go.set()
    assert [f.result() for f in together] == [full] * 3
    assert writer.submit(level, durable=False).result() == normal
    assert writer.do_blocking(level) == full


def test_a_file_that_never_waits_for_the_disk_is_not_made_to(tmp_path):
    with Writer(tmp_path / "derived.db", lambda path: connect(path, durable=False)) as derived:
        assert [derived.submit(level, durable=durable).result() for durable in (True, False, True)] == [1, 1, 1]


def test_one_failure_leaves_the_others_alone(writer):
    go = held_back(writer)

    def half(conn):
        put("half")(conn)
        raise Conflict("no", "Not today.")

    good, bad, after = writer.submit(put("good")), writer.submit(half), writer.submit(put("after"))
    go.set()
    assert good.result() == after.result() == 1
    with pytest.raises(Conflict):
        bad.result()
    assert stored(writer) == {"good", "after"}


def test_a_broken_listener_is_logged_and_the_writer_goes_on(writer, caplog):
    writer.on_commit.append(lambda: [].pop())
    assert writer.do_blocking(put("a")) == writer.do_blocking(put("b")) == 1
    assert "listener" in caplog.text


def test_cancelled_work_that_has_not_begun_is_not_done(writer):
    async def main():
        go = held_back(writer)
        waiting = asyncio.get_running_loop().create_task(writer.do(put("cancelled")))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        go.set()
        await writer.do(put("kept"))

    asyncio.run(main())
    assert stored(writer) == {"kept"}


def test_closing_finishes_what_is_queued_and_refuses_more(tmp_path):
    writer = Writer(tmp_path / "a.db")
    go = held_back(writer)
    futures = [writer.submit(put(str(n))) for n in range(600)]
    go.set()
    writer.close()
    writer.close()
    assert all(f.result() == 1 for f in futures) and len(stored(writer)) == 600
    with pytest.raises(Unavailable) as caught:
        writer.do_blocking(put("late"))
    assert caught.value.code == "store_closed"


def test_a_full_disk_is_told_in_a_sentence_and_survived(writer):
    bodies, _ = make_session(60, seed=2)
    writer.do_blocking(lambda conn: log.create(conn, "s"))
    pages = writer.do_blocking(lambda conn: scalar(conn, "PRAGMA page_count"))
    writer.do_blocking(lambda conn: conn.execute(f"PRAGMA max_page_count={pages + 1}").fetchall())
    go = held_back(writer)
    small, large = writer.submit(put("small")), writer.submit(lambda conn: log.append(conn, "s", bodies))
    go.set()
    with pytest.raises(Unavailable) as caught:
        large.result()
    assert caught.value.code == "store_write_failed" and "full" in str(caught.value)
    answered = {"small"} if small.exception() is None else set()
    assert stored(writer) == answered, "what was answered is there, what was refused is not"
    writer.do_blocking(lambda conn: conn.execute("PRAGMA max_page_count=4000000").fetchall())
    assert writer.do_blocking(lambda conn: log.append(conn, "s", bodies)) == len(bodies)


def test_a_commit_that_fails_refuses_everything_in_it(tmp_path):
    class Failing:
        """A connection whose next COMMIT fails, as with an I/O error."""

        def __init__(self, conn):
            self.conn, self.fails = conn, False

        def execute(self, sql, *values):
            if sql == "COMMIT" and self.fails:
                from core.store.sqlite import driver

                raise driver.OperationalError("disk I/O error")
            return self.conn.execute(sql, *values)

        def __getattr__(self, name):
            return getattr(self.conn, name)

    conn = Failing(open_log(tmp_path / "a.db"))
    with Writer(tmp_path / "a.db", lambda path: conn) as writer:
        conn.fails = True
        go = held_back(writer)
        futures = [writer.submit(put(str(n))) for n in range(3)]
        go.set()
        for future in futures:
            with pytest.raises(Unavailable):
                future.result()
        conn.fails = False
        writer.do_blocking(put("later"))
        assert stored(writer) == {"later"}


def test_a_file_that_cannot_be_opened_is_told_to_the_maker(tmp_path):
    with pytest.raises(Unavailable):
        Writer(tmp_path / "no folder" / "a.db")


def test_work_from_many_threads_is_all_done(writer):
    def many(name):
        for n in range(50):
            writer.do_blocking(put(f"{name}-{n}"))

    threads = [threading.Thread(target=many, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored(writer)) == 400
