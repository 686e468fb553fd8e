"""What a person chooses about a training run. The defaults are the paper's: one epoch, batch 64, 5e-6 → 1e-6 cosine,
128k tokens (APOLLO §4.1)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from core.domain.errors import Conflict, InvalidInput, Unavailable
from core.domain.misfit import misfit


class TrainSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run. `data` is an export's folder or file, `model` a model's folder, `out` the run's folder.

    `batch` counts rows per update, over all devices. `max_steps` ends the run early. `method` "lora" trains an adapter
    that is merged into the result. Rows longer than `max_length` are refused, never cut. `save_every` counts updates
    between checkpoints, of which the last `keep` stay. Rows that the export holds out are evaluated every `eval_every`
    updates and at the end (0: with each checkpoint).

    Recorded reasoning in the data (`thoughts`) does as it was exported (data), carries no loss (context), or must be
    trained (keep) or absent (drop): a run on data that is otherwise is refused.

    `gpus` GPUs share each update and the model's memory (0: one, or the processor where there is none). With `device`
    "cpu" no GPU is used, and `processes` share the update on the processor as so many GPUs would: for trials and tests.
    `context_parallel` of them share each row, so that a row longer than what one can hold is trained.
    `precision` is what layers compute in; weights, moments and sums of gradients are float32 (auto: bf16 on a GPU).

    `optimizer` has `beta1`, `beta2` and `epsilon` (adamw), and `weight_decay` on matrices. Gradients are clipped to a
    norm of `clip` (0: never). The learning rate rises for `warmup_steps` updates and then falls by `decay` to
    `min_learning_rate`. `track` names where metrics go beside the run's own file; `run_name` is their name there.
    `peak_tflops` is what one device can compute (10¹² bfloat16 operations a second), where its name does not say it:
    the metric mfu is a share of that. `memory_gb` is what one device may use (10⁹ bytes; 0: what it has).

    The levers change what is computed, never the result: `merge_copies` computes equal rows of an update once,
    `merge_chains` (with it) also a row that begins another row; `cut_tail` leaves out what follows the last trained
    token; `packing` puts up to `pack_tokens` tokens of rows (0: as the longest row) side by side without padding, else
    `micro_batch` rows are padded; `head` scores trained positions only, or all; `checkpointing` keeps a layer's
    activations (none), computes them again (full) or all but attention's (selective), offload: as full, with the
    layers' inputs in the processor's memory; auto: the quickest that fits. `attention` is torch's kernel (auto: the one
    it finds best), `liger` takes Liger's for norms, rotation and gates.
    """

    data: str
    model: str
    out: str
    epochs: float = 1.0
    batch: int = 64
    micro_batch: int = 1
    learning_rate: float = 5e-6
    min_learning_rate: float = 1e-6
    warmup_steps: int = 0
    decay: Literal["cosine", "linear", "constant"] = "cosine"
    optimizer: Literal["adamw", "adafactor", "sgd"] = "adamw"
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    clip: float = 1.0
    weight_decay: float = 0.0
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    max_length: int = 131_072
    max_steps: int | None = None
    thoughts: Literal["data", "drop", "context", "keep"] = "data"
    method: Literal["full", "lora"] = "full"
    lora_rank: int = 16
    lora_alpha: int = 32
    save_every: int = 50
    keep: int = 2
    eval_every: int = 0
    seed: int = 42
    device: Literal["auto", "cpu"] = "auto"
    gpus: int = 0
    processes: int = 1
    context_parallel: int = 1
    track: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()
    run_name: str = ""
    peak_tflops: float = 0.0
    memory_gb: float = 0.0
    merge_copies: bool = True
    merge_chains: bool = True
    cut_tail: bool = True
    packing: bool = True
    pack_tokens: int = 0
    head: Literal["supervised", "all"] = "supervised"
    checkpointing: Literal["auto", "none", "full", "selective", "offload"] = "auto"
    attention: Literal["auto", "measured", "math", "flash", "efficient", "cudnn", "flex", "flash_attention_2",
                       "flash_attention_3"] = "auto"
    liger: bool = False

    @property
    def devices(self) -> int:
        """How many processes share each update, one per GPU."""
        return max(self.gpus, self.processes)

    @property
    def evaluates_every(self) -> int:
        """Updates between evaluations on held-out rows, where there are any."""
        return self.eval_every or self.save_every

    @property
    def checkpoints(self) -> Path:
        """Where the checkpoints of the run lie."""
        return Path(self.out) / "checkpoints"

    @property
    def metrics(self) -> Path:
        """The run's metrics, one JSON object per line."""
        return Path(self.out) / "metrics.jsonl"

    @property
    def result(self) -> Path:
        """The trained model, in the form that transformers loads."""
        return Path(self.out) / "model"

    def check(self) -> None:
        """Raises InvalidInput for a choice that cannot be."""
        for field, least in _LEAST.items():
            if getattr(self, field) < least:
                raise _bad(f"{field} is {getattr(self, field)}; it is at least {least}.")
        for field in (*_LEAST, "epochs", "max_steps"):
            if (getattr(self, field) or 0) > _MOST:
                raise _bad(f"{field} is {getattr(self, field)}; it is at most {_MOST}.")
        for field in ("epochs", "learning_rate", "epsilon"):
            if not 0 < getattr(self, field) < float("inf"):
                raise _bad(f"{field} is {getattr(self, field)}; it is above 0.")
        for field in ("beta1", "beta2"):
            if not 0 <= getattr(self, field) < 1:
                raise _bad(f"{field} is {getattr(self, field)}; it is at least 0 and less than 1.")
        if self.max_steps is not None and self.max_steps < 1:
            raise _bad(f"max_steps is {self.max_steps}; it is at least 1.")
        if not 0 <= self.min_learning_rate <= self.learning_rate:
            raise _bad("The learning rate ends between 0 and where it starts.")
        self._check_devices()
        self._check_unused()

    def _check_devices(self) -> None:
        if self.processes > 1 and self.device != "cpu":
            raise _bad("Several processes share a processor only where device is cpu; for GPUs say gpus.")
        if self.gpus and self.device == "cpu":
            raise _bad(f"{self.gpus} GPUs are asked for, and device says cpu.")
        if max(self.devices, 1) % self.context_parallel:
            raise _bad(f"context_parallel is {self.context_parallel}; it divides the number of devices, which is "
                       f"{max(self.devices, 1)}.")

    def _check_unused(self) -> None:
        """A setting that would have no effect is refused where it was changed."""
        defaults = {field.name: field.default for field in msgspec.structs.fields(TrainSettings)}
        for changed, (name, value) in _ONLY_WITH.items():
            if getattr(self, changed) != defaults[changed] and getattr(self, name) != value:
                raise _bad(f"{changed} has an effect only where {name} is {value}; here it is {getattr(self, name)}.")
        if self.run_name and not self.track:
            raise _bad("run_name has an effect only where track names a tracker.")


_ONLY_WITH: dict[str, tuple[str, object]] = {
    "beta1": ("optimizer", "adamw"), "beta2": ("optimizer", "adamw"), "epsilon": ("optimizer", "adamw"),
    "lora_rank": ("method", "lora"), "lora_alpha": ("method", "lora"), "pack_tokens": ("packing", True),
    "context_parallel": ("packing", True),
}

_LEAST = {"batch": 1, "micro_batch": 1, "save_every": 1, "keep": 1, "eval_every": 0, "pack_tokens": 0, "gpus": 0,
          "processes": 1, "context_parallel": 1, "warmup_steps": 0, "clip": 0, "weight_decay": 0, "max_length": 2,
          "lora_rank": 1, "lora_alpha": 1, "seed": 0, "peak_tflops": 0, "memory_gb": 0}
"""The smallest value of a setting that counts or measures something."""

_MOST = 2**32 - 1
"""The largest one: what seeds of numpy take, and far more than any run counts."""

_Table = TypeVar("_Table", bound=msgspec.Struct)


def read_settings(values: Mapping[str, str]) -> TrainSettings:
    """Settings from texts, as a command line has them; `track` names several with commas. Raises InvalidInput."""
    settings = read_as(TrainSettings, values, ("track",))
    settings.check()
    return settings


def read_as(kind: type[_Table], values: Mapping[str, str], several: Sequence[str]) -> _Table:
    """A table of settings from texts, those of `several` with commas. Raises InvalidInput, for a setting that does not
    exist with the one that was probably meant."""
    unknown = next((name for name in values if name not in kind.__struct_fields__), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, kind.__struct_fields__, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(kind.__struct_fields__)}."
        raise InvalidInput("unknown_setting", f"There is no training setting {unknown}{hint}", setting=unknown)
    lists = {name: [t for t in values[name].split(",") if t] for name in several if name in values}
    try:
        read = msgspec.convert({**values, **lists}, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _bad(f"Of the training settings {misfit(error, kind)}.") from error
    for name in values:
        if isinstance(number := getattr(read, name), float) and not math.isfinite(number):
            raise _bad(f"{name} is {number}; it is a number with an end.")
    return read


def check_gpus(settings: TrainSettings, present: int) -> None:
    """Raises Unavailable where a run asks for more GPUs than are `present`: it would else run on something slower."""
    if settings.gpus > present:
        raise Unavailable("too_few_gpus", f"{settings.gpus} GPUs are asked for, and this machine shows {present}; "
                          "to try several processes without GPUs, set device=cpu and processes.", present=present)


def check_same_run(folder: str, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raises Conflict (other_run) where a folder holds a run of other facts, with what differs."""
    other = sorted(name for name in now if before.get(name) != now[name])
    if other:
        named = ", ".join(f"{name} {str(before.get(name))[:40]} (now {str(now[name])[:40]})" for name in other)
        raise Conflict("other_run", f"{folder} holds a run with {named}. Go on with its settings, or name another "
                       "folder with --out.", fields=other)


def _bad(sentence: str) -> InvalidInput:
    return InvalidInput("bad_settings", sentence)
