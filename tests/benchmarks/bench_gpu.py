"""G1: a real session's shape on one GPU: TRL's defaults on separate samples against ours, in seconds an update.

    python tests/benchmarks/run.py gpu --device cuda --tokens 65536

The model has the shape of Qwen3-1.7B and random weights: only speed and memory are read. With Liger's kernels where
they are installed. On a processor it runs tiny, to show that it runs.
"""

from __future__ import annotations

import gc
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rig import told
from support.tiny_model import make_tokenizer
from support.updates import session_rows, write_rows
from training_rig import arguments

REAL = {"hidden_size": 2048, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8,
        "intermediate_size": 6144, "head_dim": 128, "vocab_size": 151_936}
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "intermediate_size": 128, "head_dim": 32, "vocab_size": 2000}


def make_model(folder: Path, shape: dict[str, int], *, device: str) -> Path:
    """A Qwen3 of random weights, in float32 as training keeps them."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    make_tokenizer(folder)
    with torch.device(device):
        Qwen3ForCausalLM(Qwen3Config(**shape, max_position_embeddings=262_144,
                                     tie_word_embeddings=True)).save_pretrained(folder)
    return folder


def timed(run: Callable[[], None], device: str, rounds: int) -> dict[str, float]:
    """Median seconds of a run, the first of them left out, and the most GPU memory."""
    sync = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    seconds = []
    for _ in range(rounds + 1):
        sync()
        started = time.perf_counter()
        run()
        sync()
        seconds.append(time.perf_counter() - started)
    peak = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else 0.0
    return {"s": round(statistics.median(seconds[1:]), 4), "peak_gib": round(peak, 1)}


def by_trl(model: Path, rows: list[dict[str, Any]], folder: Path, device: str, *, liger: bool) -> Callable[[], None]:
    """TRL as it is set up by default, each sample by itself, mixed precision."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    cpu = device == "cpu"
    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).to(device)
    trainer = SFTTrainer(model=net, train_dataset=Dataset.from_list(rows),
                         processing_class=AutoTokenizer.from_pretrained(model),
                         args=SFTConfig(output_dir=str(folder / "trl"), max_length=None, bf16=not cpu, use_cpu=cpu,
                                        report_to="none", activation_checkpointing=True,
                                        dataset_kwargs={"skip_prepare_dataset": True}))
    if liger:
        from liger_kernel.transformers import apply_liger_kernel_to_qwen3

        apply_liger_kernel_to_qwen3(fused_linear_cross_entropy=False, cross_entropy=False, model=net)
    net.activation_checkpointing_enable({"use_reentrant": False})
    count = torch.tensor(sum(label != -100 for r in rows for label in r["labels"][1:]))

    def run() -> None:
        net.zero_grad(set_to_none=True)
        for row in rows:
            trainer.training_step(net, trainer.data_collator([row]), count.to(device))

    return run


def by_us(model: Path, rows: list[dict[str, Any]], folder: Path, device: str, *, liger: bool) -> Callable[[], None]:
    """`tiphys train` with its default settings."""
    from core.training.data import check_rows, load_rows
    from core.training.engine import make_trainer
    from core.training.settings import TrainSettings

    data = write_rows(folder / "data.jsonl", rows)
    settings = TrainSettings(data=str(data), model=str(model), out=str(folder / "ours"), batch=len(rows),
                             device="cpu" if device == "cpu" else "auto")
    facts = check_rows([data], 10_000_000, 10_000_000, folder / "rows")
    trainer = make_trainer(settings, facts, load_rows(facts), [])
    net = trainer.model.to(device).train()
    if liger:
        from liger_kernel.transformers import apply_liger_kernel_to_qwen3

        apply_liger_kernel_to_qwen3(fused_linear_cross_entropy=False, cross_entropy=False, model=net)
    if trainer.args.activation_checkpointing:
        net.activation_checkpointing_enable(dict(trainer.args.activation_checkpointing_kwargs))

    def run() -> None:
        net.zero_grad(set_to_none=True)
        update = trainer.updates(rows)
        trainer.training_step(net, update, trainer._get_num_items_in_batch([update], torch.device(device)))

    return run


def used(model: Path, rows: list[dict[str, Any]], seconds: float) -> float | None:
    """The share of the GPU's arithmetic that these rows needed, in percent: causal, nothing computed twice."""
    from transformers import AutoConfig
    from trl.trainer.utils import adjusted_mfu, compute_flops_per_token, get_peak_flops

    peak = get_peak_flops(torch.cuda.get_device_name(), "bfloat16") if torch.cuda.is_available() else None
    if peak is None:
        return None
    config, lengths = AutoConfig.from_pretrained(model), [len(r["input_ids"]) for r in rows]
    mean = sum(n * n for n in lengths) // sum(lengths)
    whole = compute_flops_per_token(config, mean) * sum(lengths) / seconds / peak
    return round(adjusted_mfu(100 * whole, config, mean), 1)


def main() -> None:
    """Measure and tell, or say what is needed."""
    args = arguments(device="cuda", tokens=65_536, segments=2, rounds=3)
    if args.device == "cuda" and not torch.cuda.is_available():
        print('{"benchmark": "gpu", "needs": "a GPU; there is none here", '
              '"rerun": "python tests/benchmarks/run.py gpu --device cuda --tokens 65536"}', flush=True)
        return
    cpu = args.device == "cpu"
    tokens, shape = (min(args.tokens, 512), TINY) if cpu else (args.tokens, REAL)
    liger = importlib.util.find_spec("liger_kernel") is not None and not cpu
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", shape, device=args.device)
        copies = session_rows(args.segments, tokens, shape["vocab_size"], span=64 if not cpu else 8,
                              summary=2000 if not cpu else 20)
        rows = list({tuple(r["input_ids"]): r for r in copies}.values())
        figures: dict[str, Any] = {}
        for kind, build in (("trl", by_trl), ("ours", by_us)):  # one after the other: both do not fit in memory
            run = build(model, rows, folder, args.device, liger=liger)
            figures[kind] = timed(run, args.device, args.rounds)
            del run
            gc.collect()
            if not cpu:
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
        chains = [r for r in rows if r["labels"][-1] != -100]  # what is left to compute once samples are merged
        mfu = {"mfu_trl": used(model, rows, figures["trl"]["s"]), "mfu_ours": used(model, chains, figures["ours"]["s"])}
        told("gpu", device=args.device if cpu else torch.cuda.get_device_name(), liger=liger,
             lengths=[len(r["input_ids"]) for r in rows], **figures, **mfu,
             trl_to_ours=round(figures["trl"]["s"] / figures["ours"]["s"], 2), goal_trl_to_ours=2.0)


if __name__ == "__main__":
    main()
