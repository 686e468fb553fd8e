"""Rows as a session gives them, and the gradient of one update: by plain transformers, and through our trainer."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

REACT, SUMMARY = 7, 10


def session_rows(segments: int, length: int, vocabulary: int, *, seed: int = 0, share: float = 0.1, span: int = 8,
                 summary: int = 12, stop: int = 3) -> list[dict[str, Any]]:
    """ReAct samples with their summary samples, repeated as the default balance does, in a random order.

    Every segment begins with the same tokens; spans of `span` tokens are trained until `share` of them is; what follows
    the last one is not. `stop`, a token that tokenizers pad with, is trained too.
    """
    dice = random.Random(seed)
    some = lambda count: [dice.randrange(4, vocabulary) for _ in range(count)]  # noqa: E731
    first, rows = some(length // 4), []
    for _ in range(segments):
        ids = first + some(dice.randrange(length // 2, length))
        labels = [-100] * len(ids)
        for at in range(int(span / share) - span, len(ids) - span, int(span / share)):
            ids[at + span - 1] = stop
            labels[at : at + span] = ids[at : at + span]
        rows += [{"input_ids": ids, "labels": labels}] * REACT
        end = [*some(summary - 1), stop]
        whole = ids + some(4) + end
        rows += [{"input_ids": whole, "labels": [-100] * (len(whole) - summary) + end}] * SUMMARY
    dice.shuffle(rows)
    return rows


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """As a data set in the format trl."""
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def plain_gradient(model: Path, rows: list[dict[str, Any]],
                   adapter: dict[str, Any] | None = None) -> tuple[float, dict[str, Any]]:
    """Loss and gradient of an update by plain transformers: each row by itself, copies too. `adapter` has the values of
    a LoRA adapter's parameters: then only these are trained."""
    import torch
    from transformers import AutoModelForCausalLM

    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).train()
    if adapter is not None:
        net = _with_adapter(net, adapter)
    count = sum(label != -100 for row in rows for label in row["labels"][1:])
    total = 0.0
    for row in rows:
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor([row["labels"]])
        loss = net(input_ids=ids, labels=labels, use_cache=False, num_items_in_batch=count).loss
        loss.backward()
        total += float(loss)
    return total, {n: p.grad for n, p in net.named_parameters() if p.grad is not None}


def _with_adapter(net: Any, values: dict[str, Any]) -> Any:
    from peft import LoraConfig, get_peft_model

    rank = next(v.shape[0] for n, v in values.items() if "lora_A" in n)
    net = get_peft_model(net, LoraConfig(r=rank, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear",
                                         task_type="CAUSAL_LM"))
    left = net.load_state_dict(values, strict=False)
    assert not left.unexpected_keys and not [n for n in left.missing_keys if "lora" in n]
    return net


def trainer_gradient(model: Path, data: Path, out: Path, **settings: Any) -> tuple[float, dict[str, Any], Any]:
    """Loss and gradient of the first update of a real run, before they are clipped; and the trainer, whose `trained`
    are the parameters' values then. An adapter's second matrices, which begin as 0, get values first."""
    from core.training.data import check_rows, load_rows
    from core.training.engine import make_trainer
    from core.training.settings import TrainSettings
    from core.training.train import crew_of

    catch = _catcher()
    chosen = TrainSettings(data=str(data), model=str(model), out=str(out), max_steps=1,
                           **{"device": "cpu", **settings})
    facts = check_rows([data], 1_000_000, 1_000_000, out / "rows", crew_of(chosen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = make_trainer(chosen, facts, load_rows(facts), [catch])
        trainer.args.max_grad_norm, trainer.args.save_strategy = 0.0, "no"
        trainer.train()
    trainer.trained = catch.values
    return trainer.state.log_history[0]["loss"], catch.gradients, trainer


def _catcher() -> Any:
    import torch
    from transformers import TrainerCallback

    class Catch(TrainerCallback):  # type: ignore[misc]
        gradients: dict[str, Any]
        values: dict[str, Any]

        def on_train_begin(self, *_: Any, model: Any, **__: Any) -> None:
            torch.manual_seed(5)
            with torch.no_grad():
                for name, parameter in model.named_parameters():
                    if "lora_B" in name:
                        parameter.normal_(0.0, 0.1)

        def on_pre_optimizer_step(self, *_: Any, model: Any, **__: Any) -> None:
            known = {n: p for n, p in model.named_parameters() if p.grad is not None}
            self.gradients = {n: _whole(p.grad).clone() for n, p in known.items()}
            self.values = {n: _whole(p.detach()).clone() for n, p in known.items()}

    return Catch()


def _whole(gradient: Any) -> Any:
    """All of it where several processes share it."""
    return gradient.full_tensor() if hasattr(gradient, "full_tensor") else gradient


def worst_error(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """The largest relative L2 difference of a parameter's gradient."""
    assert set(ours) == set(theirs)
    return max(float((ours[n] - g).norm() / g.norm()) for n, g in theirs.items())
