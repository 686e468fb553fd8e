"""V6: from the wire to the painted row, with 100,000 rows in the Trajectory panel.

A process that speaks the protocol stamps each step with the time at which it sends it; the desktop (real client,
replica on disk, desk and panel, on its event loop) notes the end of the paint that first shows it. The baseline shows
the same session's previews in a uniform list view over a Python model.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import rig
import stress
import view_rig as view
from bench_view import kept_fold, more_steps, opened

LOADS = ((200, 1000), (20, 100))
"""Steps a second, and how many."""

PATIENCE_S = 60


def serve(epoch: str, head: int, rate: int, count: int) -> None:
    """A server that knows one session and sends `count` more steps of it at a pace."""
    import msgspec
    from websockets.asyncio.server import ServerConnection
    from websockets.asyncio.server import serve as listen

    from core.protocol.codec import encode
    from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Events, Welcome

    bodies = [json.loads(line) for line in sys.stdin]

    async def talk(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send(encode(Welcome(protocol=PROTOCOL, epoch=epoch, program="bench", name="li")))
        while '"subscribe"' not in str(await socket.recv()):
            pass
        loop = asyncio.get_running_loop()
        start = loop.time() + 1.0
        for number, body in enumerate(bodies[:count], 1):
            await asyncio.sleep(max(0.0, start + number / rate - loop.time()))
            body["fact"]["head"]["ended_at"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
            raw = msgspec.Raw(msgspec.json.encode(body))
            await socket.send(encode(Events(session=stress.SESSION, first=head + number, head=head + number,
                                            bodies=(raw,))))
        await asyncio.sleep(60)

    async def main() -> None:
        async with listen(talk, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL], compression=None) as server:  # type: ignore[list-item]
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.get_running_loop().create_future()

    asyncio.run(main())


def run(path: Path, rate: int, count: int, baseline: bool) -> dict[str, float]:
    """One load on a copy of the session."""
    from core.client.client import Client

    with view.copy_of(path) as copy:
        with view.place_over(copy) as place:
            place.desks.local.trajectory(stress.SESSION)
            bodies = [json.loads(body) for body in more_steps(place, count)]
            epoch, head = place.desks.local.replica.epoch, place.desks.local.replica.head(stress.SESSION)
        server = subprocess.Popen([sys.executable, __file__, "serve", epoch, str(head), str(rate), str(count)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write("\n".join(map(json.dumps, bodies)))
        server.stdin.close()
        del bodies  # they are the server's; here they would only be collected
        port = server.stdout.readline().strip()
        try:
            with view.place_over(copy, lambda replica: Client(replica, f"ws://127.0.0.1:{port}", "token")) as place:
                return _watch(place, count, baseline)
        finally:
            server.kill()
            server.wait()


def _watch(place, count: int, baseline: bool) -> dict[str, float]:
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

    from core.aio import TaskScope

    steps = place.desks.local.trajectory(stress.SESSION).steps
    shown, ages = [len(steps)], []
    if baseline:
        model = view.PreviewModel(view.previews(place, stress.SESSION, len(steps)))
        listed = view.UniformView(model)
        view.frame(view.shown(listed))
        place.cursor.move(stress.SESSION)

        def add(session: str) -> None:
            model.add([f"step {n}" for n in range(len(model.texts), len(steps))])
            listed.scrollToBottom()

        place.desks.trajectory_changed.connect(add)
    else:
        listed = opened(place).list

    class Painted(QObject):
        """Notes which steps a paint showed."""

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and watched is listed.viewport():
                listed.viewport().removeEventFilter(self)
                QApplication.sendEvent(watched, event)
                listed.viewport().installEventFilter(self)
                now = datetime.now(UTC)
                last = len(model.texts) if baseline else len(steps)
                ages.extend((now - e.head.ended_at).total_seconds() * 1000 for e in steps[shown[0] : last])
                shown[0] = last
                return True
            return False

    painted = Painted()
    listed.viewport().installEventFilter(painted)
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    want = len(steps) + count

    async def main() -> None:
        async with TaskScope("desktop") as scope:
            scope.spawn(place.desks.local.client.run(), name="client")
            place.desks.local.watch(stress.SESSION)
            async with asyncio.timeout(PATIENCE_S):
                while shown[0] < want:
                    await asyncio.sleep(0.005)

    with asyncio.Runner(loop_factory=lambda: QEventLoop(application)) as loop:
        loop.run(main())
    return rig.quantiles(ages)


def main() -> None:
    """Both loads, each beside the baseline."""
    view.application()
    path = stress.make()
    kept_fold(path)
    for rate, count in LOADS:
        new = run(path, rate, count, False)
        try:
            old = run(path, rate, min(count, 300), True)
        except TimeoutError:
            rig.told("V6", steps_per_s=rate, **new, baseline=f"did not keep up within {PATIENCE_S} s", **view.machine())
            continue
        rig.told("V6", steps_per_s=rate, ratio=round(old["p50_ms"] / new["p50_ms"], 1), **new,
                 baseline_p50_ms=old["p50_ms"], baseline_p99_ms=old["p99_ms"], **view.machine())


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
