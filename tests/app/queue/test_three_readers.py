"""Three people at one real server judge real runs: at a window, over the wire, and on the command line by several
processes at once. Nothing is given to more than were asked, and the agreement is that of the published formulas."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.queued import done
from support.wire import account, running_client, serving

from app.desk.queue_book import Shown
from app.desk.session_key import id_of, key_of
from app.queue.row import QueueRowRole
from core.domain.queue import QueueWork
from core.protocol.operations import GiveVerdict, MakeQueue, TakeFromQueue

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "tests" / "core" / "formats" / "foreign"
Pairs = list[tuple[str, str]]


async def tiphys(home: Path, *arguments: object) -> tuple[int, str, str]:
    """A command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TIPHYS_HOME": str(home)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "core.cli", *map(str, arguments), env=env, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


def alpha(pairs: Pairs) -> float:
    """Krippendorff, Computing Krippendorff's alpha-reliability (2011), nominal data, from the coincidences."""
    together = Counter(pair for unit in pairs for pair in permutations(unit))
    each = Counter(one for unit in pairs for one in unit)
    total = sum(each.values())
    observed = sum(count for (a, b), count in together.items() if a != b) / total
    expected = sum(each[a] * each[b] for a, b in permutations(each, 2)) / (total * (total - 1))
    return 1 - observed / expected


def kappa(pairs: Pairs) -> float:
    """Cohen, A coefficient of agreement for nominal scales (1960), from the table of proportions."""
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[k] * second[k] for k in first) / n**2
    return (agreed - chance) / (1 - chance)


def say(who: str, session: str, step: int) -> str:
    """What each says: mostly the same, each at times another thing than the two others, and one at times not sure."""
    at = step + len(session)
    if who == "kim" and at % 7 == 0:
        return "unsure"
    is_alone = at % 5 == {"kim": 0, "me": 1}.get(who, 2)
    return "mask" if (at % 3 == 0) != is_alone else "keep"


async def test_what_three_people_judge_is_shared_out_once_and_their_agreement_is_that_of_the_formulas(tmp_path: Path
                                                                                                  ) -> None:
    lab = tmp_path / "lab"
    async with serving(lab) as server:
        kim, me = (account(lab, who, "view", "review") for who in ("kim", "me"))
        status, out, err = await tiphys(lab, "import", SAMPLES, "--json")
        assert status in (0, 1), err
        found = [line for line in map(json.loads, out.splitlines()) if line.get("steps", 0) >= 3]
        steps = {line["session"]: line["steps"] for line in found if line["steps"] <= 24}
        chosen = list(steps)[:9]
        assert len(chosen) == 9 and len({line["format"] for line in found if line["session"] in chosen}) >= 4
        async with running_client(tmp_path / "kim.db", server.url, kim) as client, window(tmp_path / "me") as made:
            entry = made.place.servers.add(server.url, me)
            key = key_of("q", entry.id)
            await eventually(lambda: made.place.queues.me(key) == "me")
            await done(client, "q", MakeQueue(name="Q", sessions=tuple(chosen), work=QueueWork(twice=67)))
            await eventually(lambda: len(made.place.queues.items(key)) == 9)
            made.window.resize(1440, 900)
            made.window.lay_out("queue")
            made.place.queues.show(Shown(queue=key, title="Q"))

            async def grab() -> list[str]:
                got = []
                for _ in range(5):
                    reply = await client.answer(await client.send("q", TakeFromQueue()))
                    got.append(type(reply).__name__)
                    await asyncio.sleep(0)
                return got

            runs = [tiphys(lab, "queue", "take", "Q", "--json") for _ in range(5)]
            both = asyncio.gather(grab(), *runs)
            QTest.keyClick(made.window, Qt.Key.Key_Q)
            _, *taken = await both
            mine = [json.loads(out)["taken"] for status, out, _ in taken if status == 0]
            assert len(mine) == len(set(mine)) == 5, "no process got what another one has"
            for _ in range(9):  # what is left, by whoever may have it
                await client.answer(await client.send("q", TakeFromQueue()))
                await tiphys(lab, "queue", "take", "Q")
                made.place.queues.send(key, TakeFromQueue())

            def held() -> dict[str, list[str]]:
                return {i.session: [h.person for h in i.holders] for i in client.replica.queue_items()}

            wanted = {i.session: i.wanted for i in client.replica.queue_items()}
            await eventually(lambda: all(len(people) == wanted[s] for s, people in held().items()))
            assert sum(wanted.values()) == 15 and all(len(set(p)) == len(p) for p in held().values())
            assert {len(p) for p in held().values()} == {1, 2} and len({p for h in held().values() for p in h}) == 3
            admin = next(p for h in held().values() for p in h if p not in ("kim", "me"))
            for session, people in held().items():
                for step in range(1, steps[session] + 1):
                    if "kim" in people:
                        await done(client, session, GiveVerdict(step=step, value=say("kim", session, step)))
                    if "me" in people:
                        made.place.sender.send(key_of(session, entry.id),
                                               GiveVerdict(step=step, value=say("me", session, step)))
            sem = asyncio.Semaphore(2)

            async def command(session: str, step: int) -> None:
                async with sem:
                    status, _, err = await tiphys(lab, "verdict", session, step, say(admin, session, step))
                    assert status == 0, err

            await asyncio.gather(*(command(s, n) for s, people in held().items() if admin in people
                                   for n in range(1, steps[s] + 1)))
            pairs: Pairs = []
            for session, people in held().items():
                if len(people) == 2:
                    said = [tuple(say(who, session, n) for who in people) for n in range(1, steps[session] + 1)]
                    pairs += [one for one in said if "unsure" not in one]  # type: ignore[misc]
            couples = {tuple(sorted(p)) for p in held().values() if len(p) == 2}
            expected = alpha(pairs) if len(couples) > 1 else kappa(pairs)
            assert -1 < expected < 1
            await eventually(lambda: all(i.is_done for i in client.replica.queue_items()))
            line = json.loads((await tiphys(lab, "queue", "show", "Q", "--json"))[1])
            assert line["agreement"] == pytest.approx(expected) and line["agreed_on"] == len(pairs)
            assert line["done"] == 9
            made.window.lay_out("queue")
            head = made.window.docks["queue"].widget().head  # type: ignore[attr-defined]
            sign = "α" if len(couples) > 1 else "κ"
            await eventually(lambda: f"{sign} {expected:.2f}" in head.numbers[4].text())
            model = made.window.docks["queue"].widget().list.model()  # type: ignore[attr-defined]
            rows = [model.index(at, 0).data(QueueRowRole) for at in range(model.rowCount())]
            for row in rows:  # each session by the same two: Cohen's
                people = held()[id_of(row.session)]
                both_said = [(say(people[0], id_of(row.session), n), say(people[1], id_of(row.session), n))
                             for n in range(1, steps[id_of(row.session)] + 1)] if len(people) == 2 else []
                decided = [one for one in both_said if "unsure" not in one]
                if len({x for one in decided for x in one}) > 1:
                    assert row.agreement == f"κ {kappa(decided):.2f}"
