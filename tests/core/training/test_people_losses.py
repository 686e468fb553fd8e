"""Losses made of what people said: their gradients are the engine's own (TRL), or the formula's by plain autograd."""

from __future__ import annotations

import numpy as np
import pytest
from support.policy_rows import assert_same, fresh_model, gradient, made
from support.tiny_model import make_model

from core.domain.errors import InvalidInput

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("policy"))


def chances(model, row):
    """Log-probabilities of a row's tokens, the first 0, with their gradient."""
    ids = torch.tensor(row.ids)
    lps = model(input_ids=ids[None]).logits[0, :-1].float().log_softmax(-1).gather(1, ids[1:, None])[:, 0]
    return torch.cat([torch.zeros(1), lps])


def learner_of(folder):
    from core.training.learner import Learner

    return Learner(fresh_model(folder), share=True)


def weighed(folder, rows, judge):
    """Loss and gradient by the product's own way."""
    learner = learner_of(folder)
    groves = learner.groves(rows)
    scores = learner.score(rows, groves)
    found = judge(rows, scores.now)
    learner.add_gradient(rows, found.weights, groves)
    return found.loss, gradient(learner.model)


@pytest.mark.parametrize(("direction", "alpha"), [("forward", 0.0), ("reverse", 1.0)])
def test_distillation_of_advice_has_trls_gradient_over_the_whole_vocabulary(folder, direction, alpha):
    from trl.experimental.sdft.loss_utils import compute_full_logit_self_distillation_loss

    from core.training.people import distil

    rows = made(folder)[:3]
    dice = np.random.default_rng(5)
    advised = []
    for n, row in enumerate(rows):
        hint = dice.integers(3, 300, 4 + n)  # the advice makes the prompt longer, and each one otherwise
        none = np.zeros(hint.size, bool)
        advised.append(row._replace(ids=np.concatenate([hint, row.ids]), own=np.concatenate([none, row.own]),
                                    old=np.concatenate([none * 0.0, row.old]),
                                    steps=np.concatenate([none - 1, row.steps]),
                                    blocked=np.concatenate([none, row.blocked])))
    student, teacher = learner_of(folder), learner_of(folder)
    value = distil(student, rows, teacher, advised, direction)
    model, total = fresh_model(folder), 0.0
    for row, hinted in zip(rows, advised, strict=True):
        ours = model(input_ids=torch.tensor(row.ids)[None]).logits[0, np.flatnonzero(row.own) - 1]
        with torch.no_grad():
            goal = model(input_ids=torch.tensor(hinted.ids)[None]).logits[0, np.flatnonzero(hinted.own) - 1]
        total = total + compute_full_logit_self_distillation_loss(ours, goal, distillation_alpha=alpha).mean() / 3
    total.backward()
    assert value == pytest.approx(float(total), rel=1e-4)
    assert_same(gradient(student.model), gradient(model))
    assert all(p.grad is None for p in teacher.model.parameters())
    with pytest.raises(InvalidInput, match="same answer"):
        distil(student, rows[:2], teacher, advised[1:], direction)


@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_a_correction_counts_by_the_shaped_ratio_of_what_a_person_did_instead(folder, gamma):
    from core.training.people import corrected

    rows = made(folder)[:4]
    rows[1] = rows[1]._replace(session="s0")
    value, found = weighed(folder, rows, lambda some, now: corrected(some, now, gamma))
    model, total = fresh_model(folder), 0.0
    for session in ("s0", "s2", "s3"):
        lps = torch.cat([chances(model, row)[row.own] for row in rows if row.session == session])
        terms = lps.exp() / (lps.exp() + gamma) if gamma else lps
        total = total - terms.mean() / 3
    total.backward()
    assert value == pytest.approx(float(total), rel=1e-4)
    assert_same(found, gradient(model))


def test_branches_are_preferred_by_trls_dpo_on_what_follows_their_common_steps(folder):
    from core.training.people import preferred_suffixes, suffixes

    rows = [row._replace(steps=np.where(row.own, np.arange(row.ids.size) // 10, -1)) for row in made(folder)[:4]]
    after = {"s0": 3, "s1": 3, "s2": 2, "s3": 2}
    cut = suffixes(rows, after)
    assert all(0 < c.own.sum() < r.own.sum() for c, r in zip(cut, rows, strict=True))
    reference = [np.where(r.own, r.old - 0.1, 0.0) for r in cut]
    pairs = [("s0", "s1"), ("s3", "s2")]
    value, found = weighed(folder, cut, lambda some, now: preferred_suffixes(some, now, reference, pairs, 0.3))
    model, by_name = fresh_model(folder), {r.session: n for n, r in enumerate(cut)}

    def summed(session, of):
        row = cut[by_name[session]]
        return (of(row, by_name[session]) * torch.tensor(row.own)).sum()

    ours = {s: summed(s, lambda row, n: chances(model, row)) for s in by_name}
    refs = {s: summed(s, lambda row, n: torch.tensor(reference[n]).float()) for s in by_name}
    losses = [-torch.nn.functional.logsigmoid(0.3 * ((ours[a] - refs[a]) - (ours[b] - refs[b]))) for a, b in pairs]
    total = torch.stack(losses).mean()  # DPOTrainer's sigmoid loss, whose completion mask is the suffix
    total.backward()
    assert value == pytest.approx(float(total), rel=1e-4)
    assert_same(found, gradient(model))
    with pytest.raises(InvalidInput, match="says nothing"):
        preferred_suffixes(suffixes(rows, {**after, "s0": 99}), reference, reference, pairs, 0.3)


def test_verdicts_differ_from_their_groups_and_never_turn_the_outcome(folder):
    from core.training.people import with_verdicts

    rows = made(folder)
    rows = [row._replace(steps=np.where(row.own, np.arange(row.ids.size) // 20, -1), reward=float(n % 2))
            for n, row in enumerate(rows)]
    none = with_verdicts(rows, {}, 1.0)
    masks = {row.session: {1: -1.0, 2: -1.0} for row in rows}
    assert all(np.allclose(a, b) for a, b in zip(none, with_verdicts(rows, masks, 1.0), strict=True)), \
        "a judge that masks everything says nothing"
    one = with_verdicts(rows, {"s1": {1: -1.0}}, 5.0)
    masked, other = (one[1][(rows[1].steps == step) & rows[1].own] for step in (1, 2))
    assert (masked < other).all() and (masked > 0).all(), "worse than its neighbours, and of a session that won"
    assert all((np.sign(a[r.own]) == np.sign(b[r.own])).all() for a, b, r in zip(one, none, rows, strict=True))
    alike = [row._replace(reward=1.0) for row in rows]
    told = with_verdicts(alike, {"s1": {1: -1.0}}, 0.5)
    assert told[1].min() < -0.3 and abs(told[5]).max() == 0.0, "where outcomes are alike, the verdicts alone speak"
