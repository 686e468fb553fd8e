"""What a run says of itself, computed again in a few lines from its logs, its rows and its weights."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from core.domain.drafts import pass_at
from core.domain.events import ScoreGiven, SessionCreated, StepAdded
from core.domain.sampled import decode_sampled
from core.store import blobs, log
from core.store.sqlite import connect
from core.training.policy_rows import load_rows
from core.training.rl_settings import RlSettings
from core.workers.reinforcement import read_sheets

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("jinja2")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def from_the_log(db, names):
    """Score, steps, failed actions and sampled tokens of each session, from its events alone."""
    with contextlib.closing(connect(db, readonly=True)) as conn:
        for name in names:
            facts = [placed.event.fact for placed in log.read_all(conn, name)]
            steps = [fact for fact in facts if isinstance(fact, StepAdded)]
            tokens = sum(len(decode_sampled(blobs.get(conn, fact.sampled)).ids) for fact in steps)
            score = next(fact.total for fact in facts if isinstance(fact, ScoreGiven))
            group = next(fact.group for fact in facts if isinstance(fact, SessionCreated))
            yield group, score / 100, len(steps), sum(fact.head.is_error for fact in steps), tokens


def test_every_figure_of_an_update_is_that_of_its_logs(letter_policy, tmp_path):
    from transformers import AutoModelForCausalLM

    from core.training.rl import run_rl

    told = []
    run_rl(RlSettings(model=str(letter_policy), out=str(tmp_path), kind="letters", tasks=3, group=4, limit=2,
                      max_tokens=4, updates=2, learning_rate=1e-2, device="cpu", staleness=1, keep=9), told.append)
    rows = [load_rows(tmp_path / "rollouts" / f"{n:05d}.npz") for n in (1, 2)]
    for metric, mine in zip(told, rows, strict=True):
        found = list(from_the_log(tmp_path / "home" / "server.db", dict.fromkeys(row.session for row in mine)))
        rewards = np.array([one[1] for one in found])
        assert (metric.sessions, metric.groups) == (12, 3) == (len(found), len({one[0] for one in found}))
        spread = (rewards.mean(), rewards.std(), (rewards == 1).mean())
        assert (metric.reward, metric.reward_spread, metric.solved) == pytest.approx(spread, abs=1e-5)
        counts = [np.mean([one[n] for one in found]) for n in (2, 3, 4)]
        assert (metric.steps, metric.errors, metric.length) == pytest.approx(counts, abs=6e-3)
        groups = [[one[1] for one in found if one[0] == group] for group in {one[0] for one in found}]
        assert metric.groups_dropped == sum(len(set(group)) == 1 for group in groups)
        for sheet in read_sheets((tmp_path / "groups" / f"{metric.update:05d}.json").read_bytes()):
            given = np.array([one.reward for one in sheet.sessions])
            wanted = (given - given.mean()) / (given.std(ddof=1) + 1e-4) if not sheet.dropped else 0 * given
            assert [one.advantage for one in sheet.sessions] == pytest.approx(wanted.tolist(), abs=2e-5)
    used = [row for one in rows for row in one if len({r.reward for r in one if r.group == row.group}) > 1]
    net = AutoModelForCausalLM.from_pretrained(str(tmp_path / "policy" / "00001"), dtype=torch.float32)
    gaps, entropy = [], []
    for row in used:
        ids = torch.tensor(row.ids)
        with torch.no_grad():
            scores = net(input_ids=ids[None]).logits[0, :-1].log_softmax(-1)
        now = scores.gather(1, ids[1:, None])[:, 0].numpy()[row.own[1:]]
        gaps += (now - row.old[row.own]).tolist()
        entropy += (-(scores.exp() * scores).sum(-1)).numpy()[row.own[1:]].tolist()
    ratios = np.exp(gaps)
    assert told[1].entropy == pytest.approx(np.mean(entropy), abs=1e-4)
    assert told[1].kl == pytest.approx(np.mean(ratios - 1 - np.array(gaps)), rel=1e-3, abs=1e-7) and told[1].kl > 1e-5
    assert told[1].clipped <= np.mean(np.abs(ratios - 1) > 0.2) + 1e-9
    assert told[1].staleness == pytest.approx(np.mean([1 - row.version for row in used]), abs=1e-3)


def test_the_divergence_is_from_the_policy_that_sampled_and_its_estimate_has_no_bias():
    """By the exact expectation over three tokens; the other way round it is another number."""
    from core.training.policy_rows import PolicyRow
    from core.training.rl_change import _apart

    old, now = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.3, 0.5])
    tokens = np.repeat(np.arange(3), [700, 200, 100])
    own = np.ones(1000, bool)
    row = PolicyRow(tokens, own, np.log(old[tokens]), tokens * 0, ~own, "s", "g", 0, 0.0)
    assert _apart([row], [row.old], [np.log(now[tokens])]) == pytest.approx(float((old * np.log(old / now)).sum()))


def test_pass_at_k_is_the_mean_over_all_choices_of_k_attempts():
    from itertools import combinations

    for attempts in range(1, 7):
        for solved in range(attempts + 1):
            for k in range(1, attempts + 1):
                chosen = [any(one < solved for one in some) for some in combinations(range(attempts), k)]
                assert pass_at(k, attempts, solved) == pytest.approx(sum(chosen) / len(chosen))
