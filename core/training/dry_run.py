"""What a run would need, before any weight is loaded: its memory by part, for each way to keep activations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from core.domain.errors import LimitReached
from core.domain.plural import counted
from core.llm.foreign_model import SAFE
from core.training.context_parallel import check_shares
from core.training.data import DataFacts
from core.training.launch import gpus_here
from core.training.memory import KINDS, MemoryPlan, chosen, planned, shape_of
from core.training.room import load_of, room_for
from core.training.settings import TrainSettings, check_gpus


class RunEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What would be trained, and the memory that it takes. `chosen` is how activations would be kept, "" where nothing
    fits; then `refusal` names what would. Sizes in bytes; `present` is what a device has."""

    rows: int
    tokens: int
    trained: int
    longest: int
    updates: int
    devices: int
    parameters: int
    pack_tokens: int
    present: int
    chosen: str
    refusal: str
    plans: tuple[MemoryPlan, ...]


def look(settings: TrainSettings, facts: DataFacts) -> RunEstimate:
    """The estimate for a model's folder and a checked data set, for as many devices as the settings say."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(settings.model, **SAFE))
    check_shares(model, settings.context_parallel)
    shape, load, room = shape_of(model), load_of(settings, facts, model), room_for(settings)
    try:
        kind, refusal = chosen(shape, load, room, settings.checkpointing).checkpointing, ""
    except LimitReached as error:
        kind, refusal = "", error.sentence
    updates = max(1, round(settings.epochs * -(-facts.rows // settings.batch)))
    return RunEstimate(rows=facts.rows, tokens=facts.tokens, trained=facts.trained, longest=facts.longest, present=room,
                  updates=min(updates, settings.max_steps or updates), devices=settings.devices or 1,
                  parameters=shape.parameters, pack_tokens=load.tokens, chosen=kind, refusal=refusal,
                  plans=tuple(planned(shape, load, k) for k in KINDS))


def dry_run(settings: TrainSettings) -> RunEstimate:
    """As `look`, reading the data first. Writes nothing that stays. Raises what a run would raise before it starts."""
    from tempfile import TemporaryDirectory

    from core.training.train import checked_data

    settings.check()
    if not settings.memory_gb:
        check_gpus(settings, gpus_here())
    with TemporaryDirectory() as folder:
        facts, _ = checked_data(settings, Path(folder))
        return look(settings, facts)


def lines(found: RunEstimate) -> list[str]:
    """The estimate in words, a line for each way to keep activations."""
    words = [f"{counted(found.rows, 'row')}, {counted(found.tokens, 'token')}, {found.trained:,} of them trained; "
             f"{counted(found.updates, 'update')} on {counted(found.devices, 'device')}, up to "
             f"{counted(found.pack_tokens, 'token')} at once."]
    for plan in found.plans:
        mark = "→" if plan.checkpointing == found.chosen else " "
        parts = "  ".join(f"{name} {_gb(getattr(plan, name))}" for name in (
            "parameters", "gradients", "moments", "gathered", "activations", "head", "host"))
        words.append(f"{mark} {plan.checkpointing:9}  {_gb(plan.total)} of {_gb(found.present)}:  {parts}")
    return [*words, found.refusal] if found.refusal else words


def _gb(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def as_data(found: RunEstimate) -> dict[str, Any]:
    """The estimate as plain data, each plan with its total."""
    plans = [{**msgspec.to_builtins(plan), "total": plan.total} for plan in found.plans]
    return {**msgspec.to_builtins(found), "plans": plans}
