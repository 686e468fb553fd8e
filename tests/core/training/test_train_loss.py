"""The loss falls exactly on the kept actions: followed token by token through the trainer's own collator and loss."""

from __future__ import annotations

import warnings

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_model, trl_template

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set of a session, a model, and the trainer that would train it."""
    from core.export.options import ExportOptions
    from core.export.render import Renderer
    from core.export.run import export
    from core.training.data import check_rows, load_rows
    from core.training.engine import make_trainer
    from core.training.settings import TrainSettings

    folder = tmp_path_factory.mktemp("loss")
    model = make_model(folder / "model", template=trl_template("qwen3"))
    log = write_log(folder / "server.db", a=talking_session(5, steps=3))
    export(log, ["a"], "trl", folder / "data", str(model), ExportOptions(balance="none"))
    settings = TrainSettings(data=str(folder / "data"), model=str(model), out=str(folder / "out"), batch=3,
                             micro_batch=3, device="cpu")
    facts = check_rows([folder / "data" / "data.jsonl"], 10_000, 10_000, folder / "rows")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = make_trainer(settings, facts, load_rows(facts), [])
    return trainer, Renderer(model), facts


def batch_of(trainer):
    return trainer.data_collator([dict(r) for r in trainer.train_dataset])


def test_the_labels_of_a_padded_batch_are_the_kept_actions_token_by_token(made):
    trainer, renderer, facts = made
    batch = batch_of(trainer)
    assert int((batch["labels"][:, 1:] != -100).sum()) == facts.trained
    lengths = batch["attention_mask"].sum(dim=1)
    for ids, labels, size in zip(batch["input_ids"], batch["labels"], lengths, strict=True):
        assert bool((labels[size:] == -100).all())  # the padding, which is made of stop tokens
        inside = labels[:size]
        assert bool(((inside == -100) | (inside == ids[:size])).all())
    first = renderer.decode([int(i) for i in batch["labels"][0] if i != -100])
    whole = renderer.decode([int(i) for i in batch["input_ids"][0][: lengths[0]]])
    actions = [t.split("<|im_end|>")[0] for t in whole.split("<|im_start|>assistant\n")[1:]]
    del actions[1]  # the masked step
    assert first == "".join(a + "<|im_end|>" for a in actions)


def test_the_trainers_loss_is_the_mean_over_the_kept_tokens_and_nothing_else(made):
    trainer, _, facts = made
    batch = batch_of(trainer)
    model = trainer.model.eval()
    with torch.no_grad():
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits.float()
        told = torch.log_softmax(logits[:, :-1], dim=-1).gather(2, batch["input_ids"][:, 1:, None])[..., 0]
        kept = batch["labels"][:, 1:] != -100
        by_hand = -told[kept].sum() / kept.sum()
        ours = trainer.compute_loss(model, dict(batch))
        seen = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=batch["labels"],
                     fused_lm_head=True).log_probs
    assert int(kept.sum()) == facts.trained
    assert torch.equal(seen[:, : kept.shape[1]] != 0, kept)
    assert torch.allclose(ours, by_hand, atol=1e-5)


def test_no_gradient_reaches_the_prediction_of_a_masked_token(made):
    trainer, _, _ = made
    batch = batch_of(trainer)
    model = trainer.model.eval()
    base = model.get_decoder()
    kept = torch.zeros_like(batch["labels"], dtype=torch.bool)
    kept[:, :-1] = batch["labels"][:, 1:] != -100  # the position that predicts a kept token
    caught = []

    def catch(_module, _args, out):
        out[0].retain_grad()
        caught.append(out[0])

    handle = base.norm.register_forward_hook(lambda m, a, out: catch(m, a, (out,)))
    try:
        trainer.compute_loss(model, dict(batch)).backward()
    finally:
        handle.remove()
    reached = caught[0].grad.abs().sum(dim=-1) > 0
    assert torch.equal(reached, kept)
    model.zero_grad()


def test_the_quick_loss_of_a_cpu_is_the_engines_own(made):
    from core.training.head import summed_loss

    trainer, _, facts = made
    batch = batch_of(trainer)
    weights = batch.pop("weights")
    model = trainer.model.eval()

    def gradient(loss):
        model.zero_grad()
        loss.backward()
        return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    theirs = super(type(trainer), trainer).compute_loss(model, dict(batch))
    ours = summed_loss(model, batch, weights) / facts.trained
    assert torch.allclose(ours, theirs, atol=1e-6)
    assert torch.allclose(gradient(ours), gradient(theirs), atol=1e-6)
    model.zero_grad()


def test_a_weight_counts_like_copies_in_the_same_update(made):
    trainer, _, _ = made
    rows = [dict(r) for r in trainer.train_dataset]
    model = trainer.model.eval()

    def gradient(examples):
        model.zero_grad()
        batch = trainer.data_collator(examples)
        count = trainer._get_num_items_in_batch([batch], torch.device("cpu"))
        loss = trainer.compute_loss(model, dict(batch), num_items_in_batch=count)
        loss.backward()
        return loss.detach(), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    copies = gradient([rows[0]] * 3 + [rows[1]] * 4)
    weighed = gradient([{**rows[0], "weight": 3.0}, {**rows[1], "weight": 4.0}])
    plain = gradient(rows[:2])
    assert torch.allclose(copies[0], weighed[0], atol=1e-5)
    assert torch.allclose(copies[1], weighed[1], atol=1e-5)
    assert not torch.allclose(plain[1], weighed[1], atol=1e-5)
    model.zero_grad()
