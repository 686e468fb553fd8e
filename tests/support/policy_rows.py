"""Rows of a small policy, and the gradient of its weights, for tests of losses."""

from __future__ import annotations

import copy
import functools

import numpy as np
import torch

PROMPT, ANSWER, SESSIONS = 24, 30, 8
CLOSE = 5e-6


@functools.cache
def whole(folder):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()


def fresh_model(folder):
    return copy.deepcopy(whole(folder))


def made(folder, *, stale=0.25, groups=2, seed=0, share=0.6):
    """Rows of equal lengths that share their group's prompt, as TRL wants them, sampled by a policy that is another."""
    from core.training.policy_rows import PolicyRow

    dice = np.random.default_rng(seed)
    model, rows = whole(folder), []
    prompts = [dice.integers(3, 300, PROMPT) for _ in range(groups)]
    for n in range(SESSIONS):
        ids = np.concatenate([prompts[n * groups // SESSIONS], dice.integers(3, 300, ANSWER)])
        own = np.concatenate([np.zeros(PROMPT, bool), dice.random(ANSWER) < share])
        old = np.where(own, log_probs(model, ids) + stale * dice.standard_normal(ids.size), 0.0)
        steps = np.where(own, 1, -1)
        rows.append(PolicyRow(ids, own, old, steps, np.zeros(ids.size, bool), f"s{n}", f"g{n * groups // SESSIONS}",
                              0, float(dice.random())))
    return rows


def log_probs(model, ids):
    with torch.no_grad():
        lps = model(input_ids=torch.tensor(ids)[None]).logits[0, :-1].float().log_softmax(-1)
    return np.concatenate([[0.0], lps.gather(1, torch.tensor(ids)[1:, None])[:, 0].double().numpy()])


def gradient(model):
    return torch.cat([p.grad.flatten() for _, p in sorted(model.named_parameters())]).double()


def assert_same(ours, theirs, close=CLOSE):
    assert float(theirs.norm()) > 1e-4
    assert float((ours - theirs).norm() / theirs.norm()) <= close
