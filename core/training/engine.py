"""The engine: TRL's SFTTrainer set up for rows whose ids and labels are final, and its result as safetensors."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from accelerate.utils import DistributedType
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import SFTConfig
from trl.models.selective_activation_checkpointing import enable_selective_activation_checkpointing

from core.domain.errors import InvalidInput
from core.llm.foreign_model import SAFE, load_model
from core.training.checkpoints import sync_all
from core.training.context_parallel import check_shares, share_rows
from core.training.data import DataFacts
from core.training.head import add_weighted_loss, has_plain_head
from core.training.kernels import kernel_of, use_liger
from core.training.memory import chosen, shape_of
from core.training.pace import Pace, flops_of, peak_flops
from core.training.packed_kernels import PACKED
from core.training.packing import work_of
from core.training.room import is_low, load_of, pack_size, room_for, uses_gpu
from core.training.segments import can_pack, use_segments
from core.training.settings import TrainSettings
from core.training.sharding import load_whole
from core.training.trainer import MaskedTrainer, WeightedCollator
from core.training.updates import Levers, UpdateCollator

_log = logging.getLogger("train")

_KINDS = {"full": {"use_reentrant": False}, "selective": {"use_reentrant": False, "selective": True},
          "offload": {"use_reentrant": False, "offload": True}}
"""How the engine is told what to compute again; selective keeps the outputs of attention."""


def make_trainer(settings: TrainSettings, facts: DataFacts, rows: Any, callbacks: Sequence[TrainerCallback],
                 held: Any = None, asked: threading.Event | None = None) -> Any:
    """A trainer that trains exactly these rows: nothing is dropped or tokenized again. `held` are rows to evaluate
    on; `asked` ends it."""
    on_gpu, low = uses_gpu(settings), is_low(settings)
    # full training keeps float32 weights: at 5e-6 most updates are smaller than bfloat16 can add
    dtype = torch.bfloat16 if low and settings.method == "lora" else torch.float32
    model = load_model(AutoModelForCausalLM, settings.model, dtype=dtype)
    if settings.liger:
        use_liger(model)
    kernel = kernel_of(settings, model, facts.longest)
    levers = _levers(settings, facts, model, kernel)
    again = _recomputed(settings, facts, model)
    if again == "selective":
        enable_selective_activation_checkpointing(model)  # the engine would wrap an adapter, which nothing calls
    tokenizer = AutoTokenizer.from_pretrained(settings.model, **SAFE)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    trainer = MaskedTrainer(
        model=model, args=_arguments(settings, on_gpu, low, held is not None, again), train_dataset=rows,
        eval_dataset=held, processing_class=tokenizer,
        data_collator=WeightedCollator(pad_token_id=pad or 0), callbacks=list(callbacks),
        peft_config=_lora(settings) if settings.method == "lora" else None,
    )
    add_weighted_loss(model, everywhere=settings.head == "all")
    place = trainer.accelerator
    if levers.share > 1:
        share_rows(model, levers.share, kernel)
    trainer.updates = UpdateCollator(levers, pad or 0, place.process_index, place.num_processes)
    trainer.batch_rows, trainer.asked, trainer.attention = settings.batch, asked, kernel
    trainer.keep = settings.keep
    peak = peak_flops(place.device, settings.peak_tflops)
    trainer.pace = Pace(flops_of(model.config.get_text_config(), adapter=settings.method == "lora"),
                        peak and peak * place.num_processes)
    trainer.remove_callback(PrinterCallback)  # metrics are told by ours
    return trainer


def _levers(settings: TrainSettings, facts: DataFacts, model: Any, kernel: str) -> Levers:
    """What is done to the rows of an update; where the model cannot take packed rows they are padded."""
    levers = Levers(merge_copies=settings.merge_copies, merge_chains=settings.merge_chains, cut_tail=settings.cut_tail,
                    rows=settings.micro_batch, work=work_of(model.config.get_text_config()),
                    share=settings.context_parallel)
    if not settings.packing:
        return levers
    if levers.share > 1:
        check_shares(model, levers.share)
        if not can_pack(model) or (settings.head != "all" and not has_plain_head(model)):
            raise InvalidInput("bad_settings", "context_parallel needs a model whose layers take packed rows and whose "
                               "output layer is one matrix, and this one's do not.")
    if not can_pack(model) and settings.attention in PACKED:
        raise InvalidInput("bad_settings", f"attention={kernel} takes packed rows only, and this model's layers take "
                           "none.")
    if not can_pack(model):
        _log.info("this model's attention takes no packed rows; they are padded")
        return levers
    use_segments(model, kernel)
    return msgspec.structs.replace(levers, pack=pack_size(settings, facts))


def _recomputed(settings: TrainSettings, facts: DataFacts, model: Any) -> str:
    """How activations are kept: as asked, else the quickest way that fits. Raises LimitReached where none does."""
    if settings.checkpointing == "offload" and not uses_gpu(settings):
        return "full"  # a layer's inputs are in the processor's memory as it is
    if settings.checkpointing != "auto":
        return settings.checkpointing
    weights = sum(p.numel() * p.element_size() for p in model.parameters() if p.device.type != "meta")
    plan = chosen(shape_of(model), load_of(settings, facts, model), room_for(settings, weights), "auto")
    _log.info("activations are kept in the way %s: about %d MB on each device", plan.checkpointing, plan.total >> 20)
    return plan.checkpointing


def _arguments(settings: TrainSettings, on_gpu: bool, low: bool, evaluates: bool, again: str) -> SFTConfig:
    # an update's parts are looped over by our trainer, so the engine sees one batch an update
    return SFTConfig(
        output_dir=str(settings.checkpoints), num_train_epochs=settings.epochs,
        max_steps=settings.max_steps or -1, per_device_train_batch_size=max(1, settings.batch // settings.devices),
        gradient_accumulation_steps=1, max_length=settings.max_length, **_optimizer(settings),
        dataset_kwargs={"skip_prepare_dataset": True}, packing=False, loss_type="nll",
        router_aux_loss_coef=0.0,  # an auxiliary loss counts tokens, not weights
        activation_checkpointing=again != "none", activation_checkpointing_kwargs=_KINDS.get(again),
        bf16=low, use_cpu=not on_gpu, logging_steps=1, logging_first_step=True, logging_nan_inf_filter=False,
        save_strategy="steps", save_steps=settings.save_every, seed=settings.seed,
        eval_strategy="steps" if evaluates else "no", eval_steps=settings.evaluates_every if evaluates else None,
        per_device_eval_batch_size=settings.micro_batch, prediction_loss_only=True, data_seed=settings.seed,
        report_to=list(settings.track) or "none", run_name=settings.run_name or Path(settings.out).name,
        disable_tqdm=True, dataloader_pin_memory=on_gpu,
    )


_OPTIMIZERS = {"adamw": "adamw_torch_fused", "adafactor": "adafactor", "sgd": "sgd"}

_DECAYS = {"cosine": "cosine_with_min_lr", "linear": "polynomial", "constant": "constant_with_warmup"}


def _optimizer(settings: TrainSettings) -> dict[str, Any]:
    """The engine's names for how weights are changed."""
    lowest: dict[str, dict[str, float]] = {
        "cosine": {"min_lr": settings.min_learning_rate},
        "linear": {"lr_end": settings.min_learning_rate, "power": 1.0}}
    return {
        "optim": _OPTIMIZERS[settings.optimizer], "learning_rate": settings.learning_rate,
        "adam_beta1": settings.beta1, "adam_beta2": settings.beta2, "adam_epsilon": settings.epsilon,
        "weight_decay": settings.weight_decay, "max_grad_norm": settings.clip,
        "lr_scheduler_type": _DECAYS[settings.decay], "lr_scheduler_kwargs": lowest.get(settings.decay, {}),
        "warmup_steps": settings.warmup_steps,
    }


def _lora(settings: TrainSettings) -> LoraConfig:
    return LoraConfig(r=settings.lora_rank, lora_alpha=settings.lora_alpha, lora_dropout=0.0,
                      target_modules="all-linear", task_type="CAUSAL_LM")


def _whole_model(trainer: Any, settings: TrainSettings) -> Any:
    """The trained model; where it is sharded the first process puts it together."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    if trainer.accelerator.distributed_type != DistributedType.FSDP:
        return model
    weights = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if not trainer.is_world_process_zero():
        return model
    whole = load_model(AutoModelForCausalLM, settings.model, dtype=torch.float32)
    if isinstance(model, PeftModel):
        whole = get_peft_model(whole, _lora(settings))
    load_whole(whole, weights)
    return whole


def save_result(trainer: Any, settings: TrainSettings) -> None:
    """Write the model, an adapter merged into it, under its name only once it is whole. An adapter is kept beside."""
    trainer.accelerator.wait_for_everyone()
    part = Path(settings.out) / ".model.part"
    model = _whole_model(trainer, settings)
    if trainer.is_world_process_zero():
        if isinstance(model, PeftModel):
            model.save_pretrained(str(Path(settings.out) / "adapter"))
            model = model.merge_and_unload()
        shutil.rmtree(part, ignore_errors=True)
        model.config.use_cache = True
        dtype = AutoConfig.from_pretrained(settings.model, **SAFE).dtype
        model.to(dtype or torch.float32).save_pretrained(str(part))
        trainer.processing_class.save_pretrained(str(part))
        sync_all(part)
        part.replace(settings.result)
    trainer.accelerator.wait_for_everyone()
