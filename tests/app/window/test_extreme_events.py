"""The real window over valid but extreme events of every kind, panel by panel, in both languages: nothing falls.

TIPHYS_FUZZ_SESSIONS says over how many sessions; `make fuzz` takes many.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from support.extreme_sessions import ExtremeSession
from support.extreme_window import falls, go_through
from support.logs import Maker
from support.panels import told_session
from support.proofs import WHOLE
from support.tally import tally
from support.window import shown_window, speaking

from core.domain.events import FACT_KINDS, FileChanged, decode_event
from core.domain.step import Action, Observation, Output, StepBody

SEED = 1_000
SESSIONS = int(os.environ.get("TIPHYS_FUZZ_SESSIONS") or (4 if WHOLE else 3))
LANGUAGES = ("en", "zh_CN")


def test_sessions_hold_every_kind_of_event():
    kinds = Counter(type(decode_event(body).fact) for seed in range(SEED, SEED + SESSIONS)
                    for body in ExtremeSession(seed).bodies)
    assert set(kinds) == set(FACT_KINDS.values())


@pytest.mark.timeout(0 if SESSIONS > 10 else 120)
@pytest.mark.parametrize("seed", range(SEED, SEED + SESSIONS))
async def test_every_panel_shows_extreme_events(qapp, tmp_path: Path, seed: int):
    made = ExtremeSession(seed)
    with speaking(qapp, LANGUAGES[seed % 2]), falls() as found, shown_window(
            tmp_path, made, told_session()) as (window, place):
        await go_through(window, place, "s1", everything=SESSIONS > 10)
        assert place.sight.desk.row("s1").seq == len(made.bodies)
    tally("Extreme events shown in every panel", len(made.bodies), found, f"{SEED}…")


async def test_thousands_of_everything_at_one_step(qapp, tmp_path: Path):
    made = crowded()
    with falls() as found, shown_window(tmp_path, made) as (window, place):
        await go_through(window, place, "s1", everything=False)
    tally("Extreme events shown in every panel", len(made.bodies), found)


def crowded() -> Maker:
    """A session whose last step has 5,000 actions on as many hosts, and changes as many files."""
    made, many = told_session(), range(5_000)
    made.step += 1
    actions = tuple(Action(call_id=f"c{n}", tool=f"tool{n}", family="command",
                           arguments={"command": f"do {n}", "computer_ip": f"host{n}"}) for n in many)
    printed = tuple(Observation(call_id=f"c{n}", output=Output(text=f"out {n}")) for n in many)
    for n in many:
        made.say(FileChanged(host=f"host{n}", path=f"d{n % 7}/f{n}", after=made.keep(b"x"), step=made.step))
    fact = made._step_fact(StepBody(number=made.step, actions=actions, observations=printed))
    made.say(msgspec.structs.replace(fact, terminals={f"host{n}/t": n for n in many}))
    return made
