"""2,000 roll-outs beside a server while a person at the window watches, takes one over, acts in it and hands it back:
whether every session of the log ended, was scored and is whole, and what a step costs each process.

    python tests/benchmarks/run.py rollouts --sessions 200
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import rig
from support.parts import Parts, wait
from support.served_model import Reader, served

from core.domain.events import HandedBack, StepAdded, TakenOver
from core.domain.message import Message
from core.domain.session import SessionRow
from core.domain.task import EnvironmentSettings
from core.environments.registry import ENVIRONMENTS
from core.llm.model import Completion, Request
from core.store import log
from core.store.sqlite import connect

PACE_S = 1.0
"""How long the endpoint takes for an answer, as a model would."""


class Plan(Reader):
    """Knows the right commands of each goal, and goes on behind those that it finds given, whoever gave them."""

    name = "plan"

    def __init__(self) -> None:
        super().__init__()
        known = ENVIRONMENTS["textcraft"]
        self.plans = {plan[-1].partition(" using ")[0].split(maxsplit=2)[2]: plan for item in range(known.count())
                      if (plan := known.plan(EnvironmentSettings(kind="textcraft", item=item)))}

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        began = datetime.now(UTC)
        await asyncio.sleep(PACE_S)
        goal = next(m.content for m in request.messages if "Goal: craft " in m.content)
        plan, done = self.plans[goal.rpartition("Goal: craft ")[2].partition(".")[0]], 0
        for message in request.messages:
            if message.role == "assistant" and message.content.endswith(f"Action: {plan[done]}"):
                done += 1
        return Completion(message=Message(role="assistant", content=f"Action: {plan[done]}"), model=self.name,
                          finish_reason="stop", started_at=began, ended_at=datetime.now(UTC))


def main(words: Sequence[str]) -> None:
    """Play, take one over, check all, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=2000)
    count = parser.parse_args(words).sessions
    with tempfile.TemporaryDirectory() as folder:
        whole = Parts(Path(folder) / "home")
        whole.home.mkdir()
        whole.start_server()
        try:
            with served(Plan()) as url:
                rig.told("rollouts", **_played(whole, count, url))
        finally:
            if whole.window is not None:
                whole.kill_window()
            whole.server.terminate()
            whole.server.wait(60)


def _played(whole: Parts, count: int, url: str) -> dict[str, object]:
    goals = [str(item) for item in reversed(range(ENVIRONMENTS["textcraft"].count()))]  # the deepest first
    command = [sys.executable, "-m", "core.cli", "rollout", "textcraft", "--model", "plan", "--base-url", url,
               "--items", ",".join((goals * count)[:count]), "--steps", "60", "--at-once", "250", "--json"]
    began = time.monotonic()
    with subprocess.Popen(command, env=whole.env, stdout=subprocess.PIPE, text=True) as rollout:
        wait(lambda: any(row.steps for row in rows_of(whole)), "sessions play")
        taken = next(row.session for row in rows_of(whole) if row.state == "running")
        watched = _taken_over(whole, taken)
        told = [one for line in rollout.stdout if "session" in (one := json.loads(line))]
        _, status, used = os.wait4(rollout.pid, 0)
        rollout.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - began
    whole.close_window()
    steps = sum(one["steps"] for one in told)
    return {**_checked(whole, told, taken, count), "status": rollout.returncode, "steps": steps,
            "wall_s": round(wall, 1),
            "rollout_ms_a_step": round(1000 * (used.ru_utime + used.ru_stime) / steps, 2),
            "server_ms_a_step": round(1000 * _used_s(whole.server.pid) / steps, 2), **watched}


def _taken_over(whole: Parts, session: str) -> dict[str, object]:
    """What a person does at the window; how many sessions went on meanwhile, and how fast the window obeyed."""
    whole.open_window(session)
    assert whole.type("take") == "yours", "the session went on without the person"
    before = _steps(whole)
    began = time.monotonic()
    assert whole.type("act command=inventory") == "asked"
    wait(lambda: len(whole.trajectory(session).steps) > before[session], "the person's action is carried out")
    obeyed = time.monotonic() - began
    wait(lambda: sum(_steps(whole).values()) > sum(before.values()) + 100, "the others go on")
    assert whole.type("back") == "back"
    wait(lambda: any(isinstance(fact, HandedBack) for fact in whole.facts(session)), "the agent has it back")
    return {"action_s": round(obeyed, 2), "window_mb": round(_resident_mb(whole.window.pid))}


def _checked(whole: Parts, told: Sequence[dict], taken: str, count: int) -> dict[str, object]:
    """What the log holds. Raises AssertionError where a session is missing, not over, without a score, or is not what
    the command told of it."""
    whole.tiphys("verify")
    rows = {row.session: row for row in rows_of(whole)}
    assert len(rows) == len(told) == count, f"{len(rows)} in the log, {len(told)} told, {count} asked for"
    for one in told:
        row, heads = rows[one["session"]], [f.head for f in whole.facts(one["session"]) if isinstance(f, StepAdded)]
        assert row.state == one["state"] == "finished" and row.score is not None and row.score == one["score"], one
        assert [head.number for head in heads] == list(range(1, one["steps"] + 1)), one
        assert bool(one["people"]) == any(head.author for head in heads) == (one["session"] == taken), one
    facts = whole.facts(taken)
    own = [f.head for f in facts if isinstance(f, StepAdded) and f.head.author]
    person, = {f.person for f in facts if isinstance(f, TakenOver)}
    assert {head.author for head in own} == {person} and not rows[taken].held_by
    back, = (f for f in facts if isinstance(f, HandedBack))
    return {"sessions": count, "solved": sum(row.score == 100 for row in rows.values()), "author": person,
            "persons_steps": [head.number for head in own], "handed_back_at": back.step,
            "steps_of_taken": rows[taken].steps}


def rows_of(whole: Parts) -> list[SessionRow]:
    """Each session's row in the server's log."""
    with closing(connect(whole.home / "server.db", readonly=True)) as conn:
        return log.rows(conn)


def _steps(whole: Parts) -> dict[str, int]:
    return {row.session: row.steps for row in rows_of(whole)}


def _used_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main(sys.argv[1:])
