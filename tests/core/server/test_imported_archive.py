"""An archive of a running session is imported as what it is: nothing runs in it, and nobody is there to be guided."""

from __future__ import annotations

import pytest
from support.logs import make_session

from core.domain.errors import Conflict
from core.protocol.operations import ImportSession
from core.server.lifecycle import open_import
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import transaction


def test_an_archive_of_a_running_session_is_no_live_session(tmp_path):
    bodies, _ = make_session(3, 0, finished=False)
    conn = open_log(tmp_path / "server.db")
    with transaction(conn):
        open_import(conn, "s1", ImportSession(origin="archive"))
        log.append(conn, "s1", bodies)
        assert (log.row(conn, "s1").origin, log.row(conn, "s1").state) == ("archive", "running")
        open_import(conn, "s1", ImportSession(origin="archive"))
        assert log.row(conn, "s1").steps == 3, "a second import changes nothing"
        log.create(conn, "s2")
        log.append(conn, "s2", bodies)
        with pytest.raises(Conflict):
            open_import(conn, "s2", ImportSession(origin="archive"))
    conn.close()
