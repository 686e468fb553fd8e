"""What the training benchmarks share: the same rows through plain transformers, through TRL and through ours.

One thread, variants in turn, several rounds; ratios are medians over the rounds, of processor time, since wall time on
a shared machine tells about the others. Memory is the peak of a step less what was there before it.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from support.tiny_model import make_tokenizer
from support.updates import write_rows

Step = Callable[[], float]
Rows = Sequence[dict[str, Any]]


def arguments(**defaults: Any) -> argparse.Namespace:
    """Options of a benchmark, `--name value`, with these defaults."""
    parser = argparse.ArgumentParser()
    for name, value in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    told = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    return told


def make_model(folder: Path, *, layers: int, hidden: int, vocabulary: int, longest: int = 131_072) -> Path:
    """A Qwen2 of random weights, saved with a tokenizer."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    make_tokenizer(folder)
    torch.manual_seed(0)
    Qwen2ForCausalLM(Qwen2Config(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=hidden * 11 // 4 // 64 * 64,
        num_hidden_layers=layers, num_attention_heads=hidden // 64, num_key_value_heads=max(1, hidden // 256),
        max_position_embeddings=longest, tie_word_embeddings=True)).save_pretrained(folder)
    return folder


class Variant:
    """A way to compute one update: loss and gradient, nothing learnt."""

    def __init__(self, model: Any, step: Callable[[], float], tokens: int) -> None:
        self.model, self._step, self.tokens = model, step, tokens
        self.cpu_s: list[float] = []
        self.wall_s: list[float] = []
        self.mb: list[float] = []
        self.loss = 0.0

    def measure(self) -> None:
        """One round."""
        self.model.zero_grad(set_to_none=True)
        settle()
        before, wall, cpu = resident_mb(), time.perf_counter(), time.thread_time()
        self.loss = self._step()
        self.cpu_s.append(time.thread_time() - cpu)
        self.wall_s.append(time.perf_counter() - wall)
        self.mb.append(peak_mb() - before)

    def gradient(self) -> dict[str, torch.Tensor]:
        """What the last round left, by parameter."""
        return {n: p.grad.clone() for n, p in self.model.named_parameters() if p.grad is not None}

    @property
    def told(self) -> dict[str, float]:
        """Medians, for a line of results."""
        seconds = statistics.median(self.cpu_s)
        return {"cpu_s": round(seconds, 3), "wall_s": round(statistics.median(self.wall_s), 3),
                "tokens_per_cpu_s": round(self.tokens / seconds, 1), "step_mb": round(statistics.median(self.mb))}


def plain(model: Path, batches: Sequence[dict[str, Any]], *, checkpoints: bool = False) -> Variant:
    """Plain transformers: labels of -100, each batch by itself, all positions scored."""
    from transformers import AutoModelForCausalLM

    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).train()
    if checkpoints:
        net.activation_checkpointing_enable({"use_reentrant": False})
    count = sum(int((b["labels"][:, 1:] != -100).sum()) for b in batches)

    def step() -> float:
        total = 0.0
        for batch in batches:
            loss = net(**batch, use_cache=False, num_items_in_batch=count).loss
            loss.backward()
            total += float(loss)
        return total

    return Variant(net, step, tokens_of(batches))


def trl(model: Path, rows: Rows, folder: Path, *, rows_at_once: int = 1, **settings: Any) -> Variant:
    """TRL's trainer, its head as on a GPU (on a CPU it would score all positions, which is slower)."""
    import trl.trainer.utils as engine
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    engine._use_triton = lambda device: True
    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).train()
    trainer = SFTTrainer(model=net, train_dataset=Dataset.from_list(list(rows)),
                         processing_class=AutoTokenizer.from_pretrained(model),
                         args=SFTConfig(output_dir=str(folder / "trl"), max_length=None, use_cpu=True, report_to="none",
                                        bf16=False, dataset_kwargs={"skip_prepare_dataset": True}, **settings))
    if settings.get("activation_checkpointing"):
        net.activation_checkpointing_enable(settings.get("activation_checkpointing_kwargs"))
    batches = [trainer.data_collator(list(rows[n : n + rows_at_once])) for n in range(0, len(rows), rows_at_once)]
    count = sum(int((b["labels"][:, 1:] != -100).sum()) for b in batches)

    def step() -> float:
        total = 0.0
        for batch in batches:
            loss = trainer.compute_loss(net, dict(batch), num_items_in_batch=torch.tensor(count))
            loss.backward()
            total += float(loss)
        return total

    return Variant(net, step, tokens_of(batches))


def ours(model: Path, rows: Rows, folder: Path, **settings: Any) -> Variant:
    """`tiphys train`'s trainer with these settings."""
    from core.training.data import check_rows, load_rows
    from core.training.engine import make_trainer
    from core.training.settings import TrainSettings

    folder = folder / f"ours{len(list(folder.glob('ours*')))}"
    folder.mkdir()
    data = write_rows(folder / "data.jsonl", list(rows))
    told = TrainSettings(data=str(data), model=str(model), out=str(folder), batch=len(rows), device="cpu", **settings)
    facts = check_rows([data], 10_000_000, 10_000_000, folder / "rows")
    trainer = make_trainer(told, facts, load_rows(facts), [])
    net = trainer.model.train()
    if trainer.args.activation_checkpointing:
        net.activation_checkpointing_enable(dict(trainer.args.activation_checkpointing_kwargs))
    examples = [dict(r) for r in rows]

    def step() -> float:  # planning the update is part of it
        update = trainer.updates(examples)
        return float(trainer.training_step(net, update, trainer._get_num_items_in_batch([update], torch.device("cpu"))))

    return Variant(net, step, sum(len(r["input_ids"]) for r in rows))


def alternate(variants: dict[str, Variant], rounds: int) -> dict[str, Any]:
    """Measure them in turn; what each cost, and ratios to the first."""
    for _ in range(rounds):
        for variant in variants.values():
            variant.measure()
    first = next(iter(variants))
    base = variants[first]
    told: dict[str, Any] = {name: v.told for name, v in variants.items()}
    for name, variant in variants.items():
        if name != first:
            told[f"{name}_to_{first}"] = round(ratio(variant.cpu_s, base.cpu_s), 3)
            told[f"{name}_to_{first}_memory"] = round(ratio(variant.mb, base.mb), 3)
    return told


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def single(rows: Rows) -> list[dict[str, Any]]:
    """Each row as a batch of its own."""
    return [{k: torch.tensor([r[k]]) for k in ("input_ids", "labels")} for r in rows]


def tokens_of(batches: Sequence[dict[str, Any]]) -> int:
    """Tokens that are no padding."""
    return sum(int(b["attention_mask"].sum()) if "attention_mask" in b else b["input_ids"].numel() for b in batches)


def settle() -> None:
    """Give freed memory back, and begin to look for the peak anew."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def resident_mb() -> float:
    """Resident memory now."""
    return _status("VmRSS")


def peak_mb() -> float:
    """The most resident memory since `settle`."""
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1000
