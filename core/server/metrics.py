"""What a server says of itself to Prometheus: states, work, delays, room, refusals; it names no session and nobody."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping

from core.domain.session import FINAL_STATES
from core.domain.version import version
from core.protocol.messages import PROTOCOL
from core.server.exposition import Exposition, Sample
from core.server.hub import Hub
from core.server.pulse import Pulse
from core.store import log
from core.store.home import Home
from core.store.sqlite import scalar


def page(hub: Hub, home: Home, pulse: Pulse, certificate_until: float | None = None) -> str:
    """The metrics of now. `certificate_until`: seconds since 1970 at which the certificate expires."""
    made = Exposition()
    made.gauge("build_info", "What runs here; the value is always 1.",
               [({"version": version(), "protocol": str(PROTOCOL)}, 1)])
    made.gauge("start_time_seconds", "When the server started, in seconds since 1970.", hub.counts.since)
    _sessions(made, hub)
    _connections(made, hub)
    _work(made, hub)
    _delays(made, hub, pulse)
    _room(made, home)
    if certificate_until is not None:
        made.gauge("certificate_expires_seconds", "When the TLS certificate expires, in seconds since 1970.",
                   certificate_until)
    return str(made)


def _sessions(made: Exposition, hub: Hub) -> None:
    rows = log.rows(hub.reader)
    states = Counter((row.state, "live" if row.origin == "live" else "imported") for row in rows)
    made.gauge("sessions", "Sessions by state; origin says whether they were made here or imported.",
               [({"state": state, "origin": origin}, n) for (state, origin), n in sorted(states.items())])
    made.gauge("sessions_awaited", "Sessions that people spoke of and that nobody has made here, or made again.",
               len(log.rows(hub.reader, awaited=True)))
    attention = Counter(kind for row in rows for kind in row.attention)
    made.gauge("sessions_needing_attention", "Sessions that ask for a look, by why.", _by("kind", attention))
    made.gauge("guidance_waiting", "Messages of people that no step has taken up yet.",
               sum(row.guidance_waiting for row in rows if row.state not in FINAL_STATES))
    working = [row for row in rows if row.origin == "live" and row.seq > 0 and row.state not in FINAL_STATES]
    alive = sum(hub.lookups.is_alive(row.session) for row in working)
    made.gauge("runners", "Sessions at work, by whether a runner lives: a missing one is started within seconds.",
               [({"state": "alive"}, alive), ({"state": "missing"}, len(working) - alive)])


def _connections(made: Exposition, hub: Hub) -> None:
    runners = sum(bool(peer.leases) for peer in hub.peers)
    made.gauge("connections", "Greeted connections: runners hold a session, clients look and guide.",
               [({"kind": "runner"}, runners), ({"kind": "client"}, len(hub.peers) - runners)])
    made.gauge("accounts_connected", "Different accounts among the clients.",
               len({peer.principal.name for peer in hub.peers if not peer.leases}))
    made.counter("greetings_total", "Connections that introduced themselves, since the start.",
                 _by("kind", hub.counts.greeted))
    made.counter("refusals_total", "What was refused since the start, by code: docs/errors.md says what each means.",
                 _by("code", hub.counts.refusals))
    made.counter("pages_total", "Answers to plain HTTP requests since the start.", _by("path", hub.counts.pages))


def _work(made: Exposition, hub: Hub) -> None:
    made.counter("events_total", "Events of all sessions in the log; rate() gives events per second.",
                 int(scalar(hub.reader, "SELECT coalesce(sum(head), 0) FROM session")))
    made.counter("commands_total", "Commands of clients since the start, by answer.",
                 _by("answer", hub.counts.commands))
    made.histogram("commit_seconds", "How long work waited until it was on the disk.", hub.counts.commit)


def _delays(made: Exposition, hub: Hub, pulse: Pulse) -> None:
    heads = dict(hub.reader.execute("SELECT id, head FROM session").fetchall())
    behind = [max(0, heads.get(session, 0) - sent) for peer in hub.peers for session, sent in peer.followed]
    made.gauge("subscription_lag_events", "How many events the slowest subscription has yet to be sent.",
               max(behind, default=0))
    made.gauge("subscriptions", "Sessions that are followed, counted once for each connection.", len(behind))
    made.gauge("loop_lag_seconds", "By how much the event loop was late, at most, in the last minute.", pulse.worst)
    made.histogram("outbox_age_seconds", "How long commands waited on their computer before they came, by its clock.",
                   hub.counts.outbox_age)


def _room(made: Exposition, home: Home) -> None:
    made.gauge("disk_free_bytes", "What is free on the disk of the data folder.", shutil.disk_usage(home.path).free)
    made.gauge("log_bytes", "Size of the log of record with its write-ahead log.",
               sum(path.stat().st_size for path in home.path.glob("server.db*") if path.suffix in (".db", ".db-wal")))


def _by(label: str, counts: Mapping[str, int]) -> Iterable[Sample]:
    return [({label: name}, count) for name, count in sorted(counts.items())]
