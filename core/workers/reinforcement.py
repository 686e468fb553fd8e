"""What a run of reinforcement learning tells of itself: a line an update, and a sheet of each group that it played."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from core.domain.bounds import Count, Id, Measure, Name, StepPlace, Text, Title, Total


class RlMetric(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One update; update 0 tells of the held-out items before the first.

    Rewards are 0-1, means over sessions; `solved` is the share that got the whole reward. `groups_dropped` came out
    alike within or too old, `failed` sessions broke, in those that were `taken_over` a person acted: neither are
    trained, or part of any mean. `length` counts a session's own tokens, `entropy` is a prediction's in nats, `kl` is
    from the policy that sampled to the one that is trained, measured at the last change of the weights; `kl_reference`
    to the first model. `clipped` is the share of tokens that were held back. `staleness` is the mean age of what was
    trained, in updates. Times are in seconds. `people` has the loss of each kind of what people
    said, `people_count` how much there was of it.
    """

    update: Count
    updates: Count
    reward: Measure | None = None
    reward_spread: Measure | None = None
    solved: Measure | None = None
    sessions: Count = 0
    failed: Count = 0
    taken_over: Count = 0
    groups: Count = 0
    groups_dropped: Count = 0
    steps: Measure | None = None
    errors: Measure | None = None
    length: Measure | None = None
    horizon: Count | None = None
    loss: Measure | None = None
    entropy: Measure | None = None
    kl: Measure | None = None
    kl_reference: Measure | None = None
    clipped: Measure | None = None
    staleness: Measure | None = None
    masked_steps: Count = 0
    grad_norm: Measure | None = None
    lr: Measure | None = None
    tokens: Total | None = None
    play_s: Measure | None = None
    train_s: Measure | None = None
    people: dict[Name, Measure] = {}
    people_count: dict[Name, Count] = {}
    test_reward: Measure | None = None
    test_solved: Measure | None = None
    test_sessions: Count | None = None


class RlPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run would do: of how many items, how many sessions an update; what it would learn from people now, by kind
    (steps, answers, pairs, judged sessions), and how many sessions it would leave out, by why."""

    dry_run: bool = True
    updates: Count = 0
    items: Count = 0
    test_items: Count = 0
    sessions_an_update: Count = 0
    people: dict[Name, Count] = {}
    left_out: dict[Name, Count] = {}


class StepSheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of a session: what the policy wrote (cut), how many tokens, and the means over them of advantage, entropy
    and log-probability. `masked`: a person said so."""

    number: StepPlace
    text: Text = ""
    tokens: Total = 0
    advantage: Measure = 0.0
    entropy: Measure = 0.0
    log_prob: Measure = 0.0
    is_error: bool = False
    masked: bool = False


class SessionSheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session of a group. `advantage` is the mean over its own tokens."""

    session: Id
    reward: Measure = 0.0
    advantage: Measure = 0.0
    version: Count = 0
    steps: list[StepSheet] = []


class GroupSheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The sessions of one task in one update; `dropped` where nothing was learnt from them."""

    update: Count
    group: Title
    task: Title = ""
    dropped: bool = False
    sessions: list[SessionSheet] = []


OnRlMetric = Callable[[RlMetric], None]


def read_sheets(data: bytes) -> list[GroupSheet]:
    """The sheets of an update's file. Raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(data, type=list[GroupSheet])
