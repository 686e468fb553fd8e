"""The whole product under faults: one seed, and deaths at chosen boundaries (`make faults-long` takes every one)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from faults import deaths
from faults.evidence import Evidence
from faults.invariants import check
from faults.run import one
from faults.stand import Settings, zygote

from core.store.sqlite import connect

pytestmark = [pytest.mark.timeout(180), pytest.mark.skipif(not Path("/proc").exists(), reason="needs Linux's /proc")]


def test_a_seed_of_every_fault_breaks_no_promise(tmp_path: Path) -> None:
    told = one(Settings(seed=21, seconds=100.0, kills=60, messages=400), tmp_path)  # by what was done, not by a clock
    assert told["examples"] == []
    assert (told["lost"], told["repeated"], told["disordered"], told["other"]) == (0, 0, 0, 0)
    assert told.get("over"), "it came to rest"
    assert told["kills"] > 20 and told["messages"] > 100 and told["steps"] > 5, "it was a real run"


@pytest.mark.parametrize("party", deaths.PARTIES)
def test_a_party_that_dies_at_a_boundary_breaks_no_promise(party: str, tmp_path: Path) -> None:
    died = deaths.run(tmp_path, [(party, n) for n in (7, 16, 29, 46)])
    assert [v for d in died for v in d.violations] == []
    assert sum(bool(d.at) for d in died) >= 3, "it did die"


def test_the_judge_sees_every_kind_of_harm(tmp_path: Path) -> None:
    """The files of a peaceful session are falsified in one place each; the judge must say which promise they break."""
    place = tmp_path / "run"
    place.mkdir()

    async def live() -> None:
        async with zygote(tmp_path) as made:
            assert (await deaths.die(place, made, "nobody", 0)).violations == ()

    asyncio.run(live())
    for number, (harm, wanted) in enumerate(HARMS.items()):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(place, copy, ignore=shutil.ignore_patterns("*.sock"))
        harm(copy)
        assert wanted in {(v.invariant, v.what) for v in check(Evidence(copy))}, harm.__name__


def forget_a_message(folder: Path) -> None:
    line = {"token": "client1.00001.000099", "kind": "note", "session": "client1-session", "command": "x", "of": ""}
    append(folder / "client1.sent", line)


def show_another_context(folder: Path) -> None:
    append(folder / "prompts.jsonl", {**lines(folder / "prompts.jsonl")[0], "hash": "other"})


def hide_guidance_from_the_model(folder: Path) -> None:
    rewrite(folder / "prompts.jsonl", [{**line, "tokens": []} for line in lines(folder / "prompts.jsonl")])


def show_guidance_twice(folder: Path) -> None:
    rewrite(folder / "prompts.jsonl", [{**li, "tokens": li["tokens"] * 2} for li in lines(folder / "prompts.jsonl")])


def act_twice(folder: Path) -> None:
    append(folder / "acts.jsonl", lines(folder / "acts.jsonl")[0])


def act_on_a_forgotten_answer(folder: Path) -> None:
    append(folder / "acts.jsonl", {**lines(folder / "acts.jsonl")[0], "call": "never"})


def change_a_copy(folder: Path) -> None:
    change = "UPDATE event SET body = CAST(body || ' ' AS BLOB) WHERE seq = 2"
    alter(folder / "client1.db", "event_is_never_changed", change)


def lose_an_event(folder: Path) -> None:
    alter(folder / "home/server.db", "event_is_never_deleted", "DELETE FROM event WHERE seq = 3")


def change_a_row(folder: Path) -> None:
    alter(folder / "home/server.db", "", "UPDATE session SET row = replace(row, '\"steps\":3', '\"steps\":4')")


def forget_an_answer(folder: Path) -> None:
    alter(folder / "home/server.db", "", "DELETE FROM command WHERE cseq = 2")


def lose_a_payload(folder: Path) -> None:
    alter(folder / "home/server.db", "", "DELETE FROM blob")


def cry_out(folder: Path) -> None:
    (folder / "server.out").write_text("Traceback (most recent call last):\n  File /core/x\nValueError: y\n")


HARMS = {
    forget_a_message: ("I1", "lost"),
    show_another_context: ("I3", "other"),
    hide_guidance_from_the_model: ("I1", "lost"),
    show_guidance_twice: ("I1", "repeated"),
    act_twice: ("I3", "repeated"),
    act_on_a_forgotten_answer: ("I3", "other"),
    change_a_copy: ("I4", "other"),
    lose_an_event: ("I5", "lost"),
    change_a_row: ("I5", "other"),
    forget_an_answer: ("I6", "lost"),
    lose_a_payload: ("I7", "lost"),
    cry_out: ("I10", "other"),
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def append(path: Path, line: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def rewrite(path: Path, new: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in new))


def alter(path: Path, guard: str, statement: str) -> None:
    with contextlib.closing(connect(path)) as conn:
        if guard:
            conn.execute(f"DROP TRIGGER {guard}")
        assert conn.execute(statement).rowcount
