"""Each loss's gradient is the engine's own (TRL) or the paper's formula, also packed, branched and in several rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from support.policy_rows import PROMPT, SESSIONS, assert_same, fresh_model, gradient, log_probs, made, whole
from support.tiny_model import make_model

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("policy"))


def ours(folder, rows, *, share=True, most=100_000, before=None, head=None, **more):
    """Loss and gradient by the product's own way."""
    from core.training.learner import Learner
    from core.training.methods import judge, prepare
    from core.training.rl_settings import RlSettings

    settings = RlSettings(model=str(folder), out="", kind="", **more)
    settings.check()
    learner = Learner(fresh_model(folder), most=most, share=share, critic=settings.loss == "ppo")
    if head is not None:
        learner.critic.load_state_dict(head)
    groves = learner.groves(rows)
    scores = learner.score(rows, groves)
    reference = [np.where(r.own, r.old - 0.1, 0.0) for r in rows] if settings.needs_reference else [
        np.zeros(r.ids.size) for r in rows]
    ready = prepare(settings, rows, scores if before is None else scores._replace(values=before), reference)
    judged, slopes = judge(settings, rows, scores, ready)
    learner.add_gradient(rows, judged.weights, groves, slopes)
    return judged.loss, gradient(learner.model), ready, learner


def tensors(rows, columns):
    return [torch.tensor(np.stack([np.asarray(c)[PROMPT:] for c in column])) for column in columns]


def trl_inputs(rows, ready):
    mask, old, ref = tensors(rows, ([r.own for r in rows], [r.old for r in rows], ready.reference))
    ids = torch.tensor(np.stack([r.ids for r in rows]))
    ones = torch.ones_like(ids)
    gains = torch.tensor([ready.by_name[r.session] for r in rows], dtype=torch.float32)
    return {"prompt_ids": ids[:, :PROMPT], "prompt_mask": ones[:, :PROMPT], "completion_ids": ids[:, PROMPT:],
            "completion_mask": ones[:, PROMPT:], "tool_mask": mask.long(), "advantages": gains,
            "old_per_token_logps": old.float(), "ref_per_token_logps": ref.float(),
            "old_logps": (old * mask).sum(1).float(), "num_items_in_batch": mask.sum()}


@pytest.fixture(scope="module")
def engine(folder, tmp_path_factory):
    """A trainer of TRL over a model, for its own loss."""
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

    def make(loss, **more):
        kinds = (RLOOTrainer, RLOOConfig) if loss == "rloo" else (GRPOTrainer, GRPOConfig)
        named = {} if loss == "rloo" else {"loss_type": loss}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = kinds[1](output_dir=str(tmp_path_factory.mktemp("trl")), per_device_train_batch_size=SESSIONS,
                            num_generations=4, max_completion_length=200, use_cpu=True, bf16=False, report_to=[],
                            gradient_checkpointing=False, disable_dropout=True, **named, **more)
            trainer = kinds[0](model=fresh_model(folder), reward_funcs=lambda **k: [], args=args,
                               train_dataset=Dataset.from_dict({"prompt": ["x"] * SESSIONS}),
                               processing_class=AutoTokenizer.from_pretrained(str(folder)))
        trainer.current_gradient_accumulation_steps = 1
        trainer.model.train()
        return trainer

    return make


@pytest.mark.parametrize(("loss", "kl", "high"), [("grpo", 0.0, 0.2), ("grpo", 0.3, 0.2), ("dr_grpo", 0.0, 0.2),
                                                  ("dapo", 0.1, 0.28), ("bnpo", 0.0, 0.28), ("rloo", 0.0, 4.0)])
def test_the_gradient_is_trls(folder, engine, loss, kl, high):
    rows = made(folder, share=1.0 if loss == "rloo" else 0.6)  # its trainer knows no masks within an answer
    longest = {"longest": 200} if loss == "dr_grpo" else {}
    value, found, ready, _ = ours(folder, rows, loss=loss, kl=kl, clip_high=high, clip_low=0.2, **longest)
    trainer = engine(loss, epsilon_high=high, epsilon=0.2, beta=kl) if loss != "rloo" else engine(
        loss, epsilon=0.2, epsilon_high=high)
    trainer.model.zero_grad()
    theirs = trainer._compute_loss(trainer.model, trl_inputs(rows, ready))
    theirs.backward()
    assert value == pytest.approx(float(theirs), rel=1e-4, abs=1e-6)
    assert_same(found, gradient(trainer.model))
    assert any((np.exp(-r.old[r.own] + log_probs(whole(folder), r.ids)[r.own]) > 1.2).any() for r in rows)


def test_advantages_are_those_of_the_papers(folder):
    from core.training.advantages import centred, left_out

    rows = made(folder)
    rewards = {r.session: r.reward for r in rows}
    values = torch.tensor([r.reward for r in rows]).view(2, 4)
    grpo = ((values - values.mean(1, keepdim=True)) / (values.std(1, keepdim=True) + 1e-4)).flatten()
    assert list(centred(rows, rewards, scaled=True).values()) == pytest.approx(grpo.tolist(), rel=1e-5)
    rloo = (values - (values.sum(1, keepdim=True) - values) / 3).flatten()
    assert list(left_out(rows, rewards).values()) == pytest.approx(rloo.tolist(), rel=1e-5)


def in_parts(rows):
    """The first session's row as two: the second begins with a context that was rewritten."""
    first, *others = rows
    cut = PROMPT + 15
    early = first._replace(**{k: getattr(first, k)[:cut] for k in ("ids", "own", "old", "steps", "blocked")})
    dice = np.random.default_rng(9)
    ids = np.concatenate([dice.integers(3, 300, 12), first.ids[cut:]])
    own = np.concatenate([np.zeros(12, bool), first.own[cut:]])
    late = first._replace(ids=ids, own=own, old=np.where(own, log_probs(whole_of[0], ids) + 0.2, 0.0),
                          steps=np.where(own, 2, -1), blocked=np.zeros(ids.size, bool))
    return [early, late, *others]


whole_of: list = []


def beyond_attention(folder, kind):
    """A model of layers that are more than full causal attention: short convolutions, or windows shorter than rows."""
    from transformers import Lfm2Config, Lfm2ForCausalLM, MistralConfig, MistralForCausalLM

    shape = {"vocab_size": 320, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": True, "bos_token_id": None}
    torch.manual_seed(1)
    model = Lfm2ForCausalLM(Lfm2Config(**shape, layer_types=["conv", "full_attention"])) if kind == "lfm2" else (
        MistralForCausalLM(MistralConfig(**shape, sliding_window=PROMPT)))
    model.save_pretrained(str(folder))
    return folder


def verl(folder, rows, advantages, *, low=0.2, high=0.2):
    """mean_m max(-A·r, -A·clip(r)) over own tokens: verl's core_algos.compute_policy_loss, by autograd."""
    model = fresh_model(folder)
    total, count = 0.0, sum(int(r.own.sum()) for r in rows)
    for row, gain in zip(rows, advantages, strict=True):
        lp = model(input_ids=torch.tensor(row.ids)[None]).logits[0, :-1].float().log_softmax(-1)
        lp = lp.gather(1, torch.tensor(row.ids)[1:, None])[:, 0]
        own, a = torch.tensor(row.own[1:]), torch.tensor(gain[1:]).float()
        ratio = torch.exp(lp - torch.tensor(row.old[1:]).float())
        total = total + (torch.maximum(-a * ratio, -a * ratio.clamp(1 - low, 1 + high)) * own).sum() / count
    total.backward()
    return float(total), gradient(model)


def masked_whiten(values, mask):
    mean = (values * mask).sum() / mask.sum()
    var = (((values - mean) ** 2) * mask).sum() / (mask.sum() - 1)
    return (values - mean) * torch.rsqrt(var + 1e-8) * mask


def test_reinforce_plus_plus_is_verls_with_the_reward_on_the_last_own_token(folder):
    rows = made(folder)
    value, found, _, _ = ours(folder, rows, loss="reinforce++", gamma=0.97)
    mask = torch.tensor(np.stack([r.own for r in rows])).double()
    earned = torch.zeros_like(mask)
    for n, row in enumerate(rows):
        earned[n, int(np.flatnonzero(row.own)[-1])] = row.reward
    coming, returns = torch.zeros(len(rows)).double(), torch.zeros_like(mask)
    for t in reversed(range(mask.shape[1])):
        here = earned[:, t] + 0.97 * coming
        coming = torch.where(mask[:, t] > 0, here, coming)
        returns[:, t] = coming
    theirs, slope = verl(folder, rows, masked_whiten(returns, mask).numpy())
    assert value == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    assert_same(found, slope)


def test_ppo_is_verls_policy_and_value_loss_together(folder):
    """GAE that skips observations, whitened; the clipped value loss; the critic's gradient reaches the layers."""
    rows = made(folder)
    head = torch.nn.Linear(32, 1)
    dice = np.random.default_rng(3)
    before = [np.where(r.own, 0.3 * dice.standard_normal(r.ids.size), 0.0) for r in rows]
    value, found, _, learner = ours(folder, rows, loss="ppo", gamma=0.98, lam=0.9, value_clip=0.2, before=before,
                                    head=head.state_dict())
    mask, old = torch.tensor(np.stack([r.own for r in rows])), torch.tensor(np.stack(before))
    gains = torch.zeros(mask.shape).double()
    for n, row in enumerate(rows):
        after = last = 0.0
        for t in reversed(np.flatnonzero(row.own)):
            reward = row.reward if t == np.flatnonzero(row.own)[-1] else 0.0
            last = reward + 0.98 * after - before[n][t] + 0.98 * 0.9 * last
            gains[n, t], after = last, before[n][t]
    policy, slope = verl(folder, rows, masked_whiten(gains, mask.double()).numpy())
    model = fresh_model(folder)
    states = model.model(input_ids=torch.tensor(np.stack([r.ids for r in rows]))).last_hidden_state
    v = head(states[:, :-1])[..., 0]
    goal, near = (gains + old)[:, 1:].float(), old[:, 1:].float()
    bounded = torch.maximum(torch.minimum(v, near + 0.2), near - 0.2)
    loss = 0.5 * (torch.maximum((v - goal) ** 2, (bounded - goal) ** 2) * mask[:, 1:]).sum() / mask.sum()
    (0.5 * loss).backward()
    assert value == pytest.approx(policy + 0.5 * float(loss), rel=1e-4)
    parts = {n: p.grad if p.grad is not None else torch.zeros_like(p) for n, p in model.named_parameters()}
    assert_same(found, slope + torch.cat([parts[n].flatten() for n in sorted(parts)]).double())
    assert_same(learner.critic.weight.grad.double(), head.weight.grad.double())


def test_dpo_is_the_sigmoid_loss_on_the_best_and_the_worst_of_each_group(folder):
    rows = made(folder)
    value, found, ready, _ = ours(folder, rows, loss="dpo", beta=0.3)
    assert len(ready.pairs) == 2
    model, by_name, total = fresh_model(folder), {r.session: n for n, r in enumerate(rows)}, 0.0

    def apart(session):
        row, ref = rows[by_name[session]], ready.reference[by_name[session]]
        lp = model(input_ids=torch.tensor(row.ids)[None]).logits[0, :-1].float().log_softmax(-1)
        lp = lp.gather(1, torch.tensor(row.ids)[1:, None])[:, 0]
        return ((lp - torch.tensor(ref[1:]).float()) * torch.tensor(row.own[1:])).sum()

    for best, worst in ready.pairs:
        total = total - torch.nn.functional.logsigmoid(0.3 * (apart(best) - apart(worst))) / 2
    total.backward()
    assert value == pytest.approx(float(total), rel=1e-4)
    assert_same(found, gradient(model))


def test_rejection_is_supervised_training_on_what_passed(folder):
    rows = made(folder)
    value, found, _, _ = ours(folder, rows, loss="rejection", threshold=0.5)
    passed = [r for r in rows if r.reward >= 0.5]
    assert 0 < len(passed) < len(rows)
    model, total = fresh_model(folder), 0.0
    for row in passed:
        labels = torch.tensor(np.where(row.own, row.ids, -100))
        total = total + torch.nn.functional.cross_entropy(
            model(input_ids=torch.tensor(row.ids)[None]).logits[0, :-1].float(), labels[1:], reduction="sum")
    total = total / sum(int(r.own.sum()) for r in passed)
    total.backward()
    assert value == pytest.approx(float(total), rel=1e-5)
    assert_same(found, gradient(model))


@pytest.mark.parametrize("most", [100_000, 130, 1])
def test_what_rows_share_is_computed_once_and_changes_nothing(folder, most):
    """Groups share their prompts; sessions share their first turns too; one row begins another; two are equal."""
    rows = made(folder)
    twin = rows[0]._replace(session="twin", reward=0.9)
    longer = rows[1]._replace(
        session="longer", **{k: np.concatenate([getattr(rows[1], k), getattr(rows[1], k)[-9:]])
                             for k in ("ids", "own", "old", "steps", "blocked")})
    half = PROMPT + 14
    branch = rows[2]._replace(session="branch", ids=np.concatenate([rows[2].ids[:half], rows[2].ids[half:][::-1]]))
    rows = [*rows, twin, longer, branch]
    _, apart, _, plain = ours(folder, rows, share=False, loss="grpo")
    _, shared, _, learner = ours(folder, rows, most=most, loss="grpo")
    assert_same(shared, apart)
    sizes = [sum(g.ids.size for g in one.groves(rows)) for one in (learner, plain)]
    assert sizes[1] == sum(r.ids.size for r in rows)
    assert sizes[0] < sizes[1] if most > 1 else sizes[0] == sizes[1]


def test_a_session_of_several_rows_counts_as_one_sequence(folder):
    whole_of[:] = [whole(folder)]
    rows = in_parts(made(folder))
    assert [r.session for r in rows[:3]] == ["s0", "s0", "s1"]
    from core.training.methods import shares

    grpo = shares(rows, "grpo", 1)
    assert sum(grpo[0]) + sum(grpo[1]) == pytest.approx(1 / SESSIONS) == pytest.approx(sum(grpo[2]))
    value, found, ready, _ = ours(folder, rows, loss="bnpo")
    theirs, slope = verl(folder, rows, ready.advantages)
    assert value == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    assert_same(found, slope)
    from core.training.advantages import gains_of

    gains = gains_of(rows, {r.session: r.reward for r in rows}, [np.zeros(r.ids.size) for r in rows])
    assert not gains[0].any() and gains[1].sum() == pytest.approx(rows[1].reward)


def test_what_a_person_masked_is_never_made_more_likely(folder):
    rows = [r._replace(blocked=r.own & (np.arange(r.ids.size) % 2 == 0)) for r in made(folder, stale=0.0)]
    from core.training.objectives import unblocked

    weights = [np.where(r.own, np.random.default_rng(n).standard_normal(r.ids.size), 0.0) for n, r in enumerate(rows)]
    left = unblocked(rows, weights)
    for row, before, after in zip(rows, weights, left, strict=True):
        assert (after[row.blocked] <= 0).all() and (before[row.blocked] > 0).any()
        assert (after[~row.blocked] == before[~row.blocked]).all()
        assert (after[row.blocked & (before < 0)] == before[row.blocked & (before < 0)]).all()
    assert not torch.equal(ours(folder, rows, loss="grpo")[1], ours(folder, rows, loss="grpo", masked="all")[1])


@pytest.mark.parametrize("kind", ["lfm2", "windows"])
def test_rows_that_cannot_be_packed_are_computed_one_by_one(tmp_path, kind):
    """They share their prompts, which are not merged; the gradient is plain torch's, row by row."""
    folder = beyond_attention(tmp_path, kind)
    rows = made(folder)
    value, found, ready, learner = ours(folder, rows, loss="bnpo")
    theirs, slope = verl(folder, rows, ready.advantages)
    assert value == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    assert_same(found, slope)
    assert sorted(g.paths[0].row for g in learner.groves(rows) if len(g.paths) == 1) == list(range(len(rows)))
    assert_same(torch.tensor(np.concatenate(learner.score(rows).now)),
                torch.tensor(np.concatenate([np.where(r.own, log_probs(whole(folder), r.ids), 0.0) for r in rows])))


@pytest.mark.parametrize("field", [{"final_logit_softcapping": 30.0}, {"is_causal": False}])
def test_a_model_that_cannot_be_exact_is_refused(folder, field):
    from core.domain.errors import InvalidInput
    from core.training.learner import Learner

    model = fresh_model(folder)
    vars(model.config).update(field)
    with pytest.raises(InvalidInput) as refused:
        Learner(model)
    assert refused.value.code == "model_not_plain"
