"""What a run of reinforcement learning tells of itself: a line an update, and a sheet of each group that it played."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class RlMetric(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One update; update 0 tells of the held-out items before the first.

    Rewards are 0-1, means over sessions; `solved` is the share that got the whole reward. `groups_dropped` came out
    alike within or too old, `failed` sessions broke and are not trained. `length` counts a session's own tokens,
    `entropy` is a prediction's in nats, `kl` is from the policy that sampled to the one that is trained, measured at
    the last change of the weights; `kl_reference` to the first model. `clipped` is the share of tokens that were held
    back. `staleness` is the mean age of what was trained, in updates. Times are in seconds.
    """

    update: int
    updates: int
    reward: float | None = None
    reward_spread: float | None = None
    solved: float | None = None
    sessions: int = 0
    failed: int = 0
    groups: int = 0
    groups_dropped: int = 0
    steps: float | None = None
    errors: float | None = None
    length: float | None = None
    horizon: int | None = None
    loss: float | None = None
    entropy: float | None = None
    kl: float | None = None
    kl_reference: float | None = None
    clipped: float | None = None
    staleness: float | None = None
    masked_steps: int = 0
    grad_norm: float | None = None
    lr: float | None = None
    tokens: int | None = None
    play_s: float | None = None
    train_s: float | None = None
    test_reward: float | None = None
    test_solved: float | None = None
    test_sessions: int | None = None


class StepSheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of a session: what the policy wrote (cut), how many tokens, and the means over them of advantage, entropy
    and log-probability. `masked`: a person said so."""

    number: int
    text: str = ""
    tokens: int = 0
    advantage: float = 0.0
    entropy: float = 0.0
    log_prob: float = 0.0
    is_error: bool = False
    masked: bool = False


class SessionSheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session of a group. `advantage` is the mean over its own tokens."""

    session: str
    reward: float = 0.0
    advantage: float = 0.0
    version: int = 0
    steps: list[StepSheet] = []


class GroupSheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The sessions of one task in one update; `dropped` where nothing was learnt from them."""

    update: int
    group: str
    task: str = ""
    dropped: bool = False
    sessions: list[SessionSheet] = []


OnRlMetric = Callable[[RlMetric], None]


def read_sheets(data: bytes) -> list[GroupSheet]:
    """The sheets of an update's file. Raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(data, type=list[GroupSheet])
