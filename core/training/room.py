"""What a device has, and what a run asks of it."""

from __future__ import annotations

from typing import Any

import psutil
import torch

from core.training.data import DataFacts
from core.training.head import CPU_SCORES, GPU_SCORES
from core.training.memory import Load
from core.training.settings import TrainSettings

_PACK_CPU, _PACK_GPU = 1024, 16_384
"""Tokens that rows shorter than that are packed to: enough for the matrix products to run at full speed."""

_MOMENTS = {"adamw": 8, "adafactor": 0, "sgd": 0}


def uses_gpu(settings: TrainSettings) -> bool:
    """Whether a run computes on GPUs, of this machine or, for an estimate, of another."""
    return settings.device == "auto" and (settings.gpus > 0 or torch.cuda.is_available())


def is_low(settings: TrainSettings) -> bool:
    """Whether layers compute in bfloat16."""
    return settings.precision == "bf16" or (settings.precision == "auto" and uses_gpu(settings))


def pack_size(settings: TrainSettings, facts: DataFacts) -> int:
    """The most tokens of a pack."""
    least = (_PACK_GPU if uses_gpu(settings) else _PACK_CPU) * settings.context_parallel
    return settings.pack_tokens or max(facts.longest, least)


def load_of(settings: TrainSettings, facts: DataFacts, model: Any) -> Load:
    """What a run asks of each device."""
    at_once = max(pack_size(settings, facts), facts.longest) if settings.packing else (
        facts.longest * settings.micro_batch)
    at_once = -(-at_once // settings.context_parallel)
    share = 1.0 if settings.head == "all" else facts.trained / max(facts.tokens, 1)
    adapter = _adapter(model, settings.lora_rank) if settings.method == "lora" else 0
    return Load(tokens=at_once, scored=max(1, round(at_once * share)), width=2 if is_low(settings) else 4,
                devices=settings.devices or 1, adapter=adapter, moments=_MOMENTS[settings.optimizer],
                scores=GPU_SCORES if uses_gpu(settings) else CPU_SCORES, apart=uses_gpu(settings),
                is_shared=settings.context_parallel > 1)


def _adapter(model: Any, rank: int) -> int:
    head = model.get_output_embeddings()
    linear = [m for m in model.modules() if isinstance(m, torch.nn.Linear) and m is not head]
    return sum(rank * (m.in_features + m.out_features) for m in linear)


def room_for(settings: TrainSettings, loaded: int = 0) -> int:
    """Bytes that a device has for a run, of which `loaded` are taken by its weights; of processes that share a
    processor each has its part. All processes of a run get the same: the least."""
    if settings.memory_gb:
        room = int(settings.memory_gb * 1e9)
    elif uses_gpu(settings):
        room = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    else:
        room = (psutil.virtual_memory().available + loaded * settings.processes) // settings.processes
    if not torch.distributed.is_initialized():
        return room
    from accelerate import PartialState

    least = torch.tensor(room, device=PartialState().device)
    torch.distributed.all_reduce(least, op=torch.distributed.ReduceOp.MIN)
    return int(least)
