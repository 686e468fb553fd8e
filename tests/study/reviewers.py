"""Who judges the recorded sessions: the product's rules, reviewers who err more or less, and chance.

Each gives verdicts of his own into the same log; an export lets one of them count, or the rules alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from study.record import Masked, Recorded
from study.session import Store

from core.domain.events import VerdictGiven, encode_event, make_event
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author, final_verdict
from core.store import blobs, log
from core.store.sqlite import Connection
from core.supervision.propose import propose

WRONG: Mapping[str, float] = {"reviewer": 0.0, "reviewer-5": 0.05, "reviewer-10": 0.10, "reviewer-20": 0.20}
"""Reviewers, and how many of their verdicts are wrong."""

CHANCE = "chance"
"""Who masks as many tokens as the true reviewer, of actions that he draws."""

EVERYBODY = (*WRONG, CHANCE)


async def judge(store: Store, recorded: Sequence[Recorded], seed: int) -> dict[str, Masked]:
    """All verdicts on a seed's sessions; gives what each of those who judge masks where guided variants learn."""
    for one in recorded:
        await _judge_by_rules(store, one.session)
    helped = [one for one in recorded if one.kind != "unwatched"]
    masked = {"rules": _masked(store, helped)}
    for name, wrong in WRONG.items():
        for one in recorded:
            await _give(store, one.session, name, _seen(one, name, wrong))
        masked[name] = _masked(store, helped)
    await _judge_by_chance(store, helped, seed)
    return masked | {"random": _masked(store, helped)}


def _masked(store: Store, recorded: Sequence[Recorded]) -> Masked:
    """What is masked now: the latest person's verdicts count, else the rules'."""
    found = [(good, final_verdict(entry.verdicts.values()) == "mask") for one in recorded
             for good, entry in zip(one.good, store.read(one.session).steps, strict=True)]
    return Masked(wrong=sum(not good for good, _ in found), right=sum(good for good, _ in found),
                  wrong_masked=sum(masked and not good for good, masked in found),
                  right_masked=sum(masked and good for good, masked in found))


async def _judge_by_rules(store: Store, session: str) -> None:
    """What `tiphys judge --rules-only` does."""

    def rules(conn: Connection) -> list[bytes]:
        def body(name: str) -> StepBody:
            return decode_body(blobs.get(conn, name))

        return [encode_event(e) for e in propose(fold(session, log.read_all(conn, session)), body)]

    await store.append(session, await store.writer.do(rules))


def _seen(one: Recorded, name: str, wrong: float) -> dict[int, bool]:
    """Each step as a reviewer sees it: right or not, which he mistakes by chance."""
    chance = random.Random(f"{one.session} {name}")
    return {step: good != (chance.random() < wrong) for step, good in enumerate(one.good, 1)}


async def _judge_by_chance(store: Store, recorded: Sequence[Recorded], seed: int) -> None:
    """Mask drawn actions until as many tokens are masked as the true reviewer masks in these sessions."""
    sizes = {(one.session, step): size for one in recorded for step, size in _sizes(store.read(one.session))}
    wanted = sum(sizes[one.session, step] for one in recorded for step, good in enumerate(one.good, 1) if not good)
    drawn = random.Random(f"chance {seed}").sample(sorted(sizes), len(sizes))
    masked: set[tuple[str, int]] = set()
    while wanted > 0:
        masked.add(drawn[-1])
        wanted -= sizes[drawn.pop()]
    for one in recorded:
        await _give(store, one.session, CHANCE, {step: (one.session, step) not in masked
                                                 for step in range(1, len(one.good) + 1)})


def _sizes(read: Trajectory) -> Iterator[tuple[int, int]]:
    """The steps of a session with the lengths of their answers in tokens, as the agent counted them."""
    return ((entry.head.number, entry.completion.tokens) for entry in read.steps if entry.completion is not None)


async def _give(store: Store, session: str, name: str, keeps: Mapping[int, bool]) -> None:
    author = Author(kind="person", name=name)
    verdicts = [VerdictGiven(step=step, value="keep" if keep else "mask", reason="") for step, keep in keeps.items()]
    await store.append(session, [encode_event(make_event(v, author)) for v in verdicts])
