"""Health, readiness and metrics: over a real socket, judged by Prometheus' own parser."""

from __future__ import annotations

import asyncio
import http.client
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.wire import account, admin_token, bodies_of, fill, raw_peer, running_client, serving, until

from core.domain.session import SessionRow
from core.protocol.messages import Subscribe
from core.protocol.operations import SetTag
from core.server import http_pages
from core.store import log

Usage = namedtuple("Usage", "total used free")


def get(url: str, path: str, token: str = "", **headers: str) -> tuple[int, str, str]:
    """Status, kind and text of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", int(url.rsplit(":", 1)[1]), timeout=60)
    connection.request("GET", path, headers=headers | ({"Authorization": f"Bearer {token}"} if token else {}))
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"], answer.read().decode()
    connection.close()
    return found


async def page(url: str, path: str, token: str = "", **headers: str) -> tuple[int, str, str]:
    return await asyncio.to_thread(get, url, path, token, **headers)


def samples(text: str) -> dict[str, float]:
    """Every sample of a page as Prometheus' parser reads it: `name{label=value}` → value."""
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type != "unknown", family.name
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
            name = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert name not in found, name
            found[name] = sample.value
    return found


def test_health_needs_no_token_and_foreign_places_learn_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            assert (await page(server.url, "/healthz"))[::2] == (200, "ok\n")
            assert (await page(server.url, "/readyz"))[::2] == (200, "ready\n")
            for path in ("/healthz", "/readyz", "/metrics"):
                assert (await page(server.url, path, Host="evil.example"))[0] == 403
                assert (await page(server.url, path, Origin="http://127.0.0.1:1"))[0] == 403
            assert (await page(server.url, "/"))[0] == 401
            assert (await page(server.url, "/healthz/.."))[0] == 401

    asyncio.run(scenario())


def test_a_server_that_cannot_store_is_alive_and_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            monkeypatch.setattr(http_pages.shutil, "disk_usage", lambda _: Usage(100, 99, 1))
            assert (await page(server.url, "/readyz"))[::2] == (503, "disk_full\n")
            assert (await page(server.url, "/healthz"))[0] == 200
            monkeypatch.undo()
            assert (await page(server.url, "/readyz"))[0] == 200
            server.hub.writer.close()
            assert (await page(server.url, "/readyz"))[::2] == (503, "store_closed\n")

    asyncio.run(scenario())


def test_metrics_are_for_their_scope(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            watcher, person = account(tmp_path, "prometheus", "metrics"), account(tmp_path, "li", "view", "review")
            assert (await page(server.url, "/metrics"))[0] == 401
            assert (await page(server.url, "/metrics", "tph_wrong"))[0] == 401
            assert (await page(server.url, "/metrics", person))[0] == 403
            for token in (watcher, admin_token(tmp_path)):
                status, kind, text = await page(server.url, "/metrics", token)
                assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
            found = samples(text)
            assert found["tiphys_refusals_total{code=no_token}"] == 1
            assert found["tiphys_refusals_total{code=bad_token}"] == 1
            assert found["tiphys_refusals_total{code=missing_scope}"] == 1
            assert [(await page(server.url, "/metrics", f"guess{n}"))[0] for n in range(25)][-1] == 429
            assert (await page(server.url, "/metrics", watcher))[0] == 200, "who has a token is not slowed down"

    asyncio.run(scenario())


def test_metrics_tell_of_sessions_work_delays_and_room(tmp_path: Path) -> None:
    home = tmp_path / "home"

    async def scenario() -> dict[str, float]:
        async with serving(home) as server:
            await fill(server, "one", bodies_of(7))
            await fill(server, "two", bodies_of(5))
            row = SessionRow(session="two", origin="atif", state="finished", seq=6, attention=("stall",))
            await server.hub.store(lambda conn: log.put_row(conn, row))
            async with (running_client(tmp_path / "r.db", server.url, account(home, "li", "view"), "one") as client,
                        raw_peer(server.url, admin_token(home)) as peer):
                await peer.say(Subscribe(session="two", after=0))
                await until(lambda: client.replica.head("one") == 7)
                await client.send("one", SetTag(step=0, tag="x"))
                await until(lambda: not client.replica.waiting())
                return samples((await page(server.url, "/metrics", admin_token(home)))[2])

    found = asyncio.run(scenario())
    assert found["tiphys_sessions{origin=live,state=queued}"] == 1
    assert found["tiphys_sessions{origin=imported,state=finished}"] == 1
    assert found["tiphys_sessions_needing_attention{kind=stall}"] == 1
    assert found["tiphys_runners{state=missing}"] == 1 and found["tiphys_runners{state=alive}"] == 0
    assert found["tiphys_events_total"] == 12
    assert found["tiphys_connections{kind=client}"] == 2 and found["tiphys_accounts_connected"] == 2
    assert found["tiphys_greetings_total{kind=client}"] == 2
    assert found["tiphys_subscriptions"] == 2 and found["tiphys_subscription_lag_events"] == 0
    assert found["tiphys_commands_total{answer=nak}"] == found["tiphys_refusals_total{code=missing_scope}"] == 1
    assert found["tiphys_outbox_age_seconds_count"] == found["tiphys_outbox_age_seconds_bucket{le=86400}"] == 1
    assert found["tiphys_outbox_age_seconds_sum"] < 3600
    assert found["tiphys_commit_seconds_count"] >= 2
    assert abs(found["tiphys_disk_free_bytes"] - shutil.disk_usage(home).free) < 1 << 30
    assert found["tiphys_log_bytes"] > 0 and found["tiphys_loop_lag_seconds"] >= 0


def test_a_subscription_that_is_not_sent_everything_is_behind(tmp_path: Path) -> None:
    async def scenario() -> float:
        async with serving(tmp_path) as server:
            await fill(server, "long", bodies_of(5000))
            async with raw_peer(server.url, admin_token(tmp_path)) as peer:
                await peer.say(Subscribe(session="long", after=0))
                await until(lambda: any(sent >= 2000 for p in server.hub.peers for _, sent in p.followed))
                text = (await page(server.url, "/metrics", admin_token(tmp_path)))[2]
                return samples(text)["tiphys_subscription_lag_events"]

    assert asyncio.run(scenario()) == 3000


def test_a_label_cannot_forge_a_line() -> None:
    from core.server.metrics import Exposition

    made = Exposition()
    made.gauge("odd", 'about\n# TYPE "x"', [({"code": 'a"} 1\nforged 1 \\'}, 2.5)])
    assert samples(str(made)) == {'tiphys_odd{code=a"} 1\nforged 1 \\}': 2.5}
