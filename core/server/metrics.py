"""What a server says of itself to Prometheus: states, work, delays, room, refusals; it names no session and nobody.

The text format is that of version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partialmethod

from core.domain.session import FINAL_STATES
from core.domain.version import version
from core.protocol.messages import PROTOCOL
from core.server.counts import Histogram, Pulse
from core.server.hub import Hub
from core.store import log
from core.store.home import Home
from core.store.sqlite import scalar

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[Mapping[str, str], float]


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


class Exposition:
    """Collects families of metrics; `str()` is the page. Every name begins with `tiphys_`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    def _family(self, kind: str, name: str, about: str, value: float | Iterable[Sample]) -> None:
        self._head(name, kind, about)
        for labels, one in [({}, value)] if isinstance(value, int | float) else value:
            self._sample(name, labels, one)

    gauge = partialmethod(_family, "gauge")
    """A value that goes up and down, or several told apart by labels."""
    counter = partialmethod(_family, "counter")
    """A value that only grows; the name ends with `_total`."""

    def histogram(self, name: str, about: str, held: Histogram) -> None:
        """How values are spread."""
        self._head(name, "histogram", about)
        for bound, count in zip(held.bounds, held.counts, strict=True):
            self._sample(f"{name}_bucket", {"le": _number(bound)}, count)
        self._sample(f"{name}_bucket", {"le": "+Inf"}, held.number)
        self._sample(f"{name}_sum", {}, held.sum)
        self._sample(f"{name}_count", {}, held.number)

    def _head(self, name: str, kind: str, about: str) -> None:
        escaped = about.replace("\\", "\\\\").replace("\n", "\\n")
        self._lines += [f"# HELP tiphys_{name} {escaped}", f"# TYPE tiphys_{name} {kind}"]

    def _sample(self, name: str, labels: Mapping[str, str], value: float) -> None:
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        self._lines.append(f"tiphys_{name}{f'{{{inner}}}' if inner else ''} {_number(value)}")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
