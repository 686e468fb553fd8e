"""Which kernels compute attention and a layer's small parts; none of them changes what is learnt."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from core import program
from core.domain.errors import InvalidInput, Unavailable
from core.training.packed_kernels import PACKAGES, PACKED
from core.training.room import is_low, uses_gpu
from core.training.segments import segment_attention
from core.training.settings import TrainSettings

_log = logging.getLogger("train")

_BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
             "cudnn": SDPBackend.CUDNN_ATTENTION}

_ON_PROCESSOR = ("auto", "measured", "math", "flash")
"""What there is for a processor; the others are a GPU's, if only for their gradient (flex)."""

_LONGEST_MEASURED = {"cpu": 2048, "cuda": 32_768}
"""Tokens of the pack that kernels are measured with, at most."""


def check_kernels(settings: TrainSettings, on_gpu: bool) -> None:
    """Raises Unavailable (kernel_missing) for kernels that this machine does not have, InvalidInput (bad_settings) for
    settings that a kernel cannot compute with."""
    if settings.attention in PACKED and not settings.packing:
        raise InvalidInput("bad_settings", f"attention={settings.attention} takes packed rows only: packing=false "
                           "cannot go with it.")
    if settings.attention in PACKAGES and settings.precision == "fp32":
        raise InvalidInput("bad_settings", f"attention={settings.attention} computes in bfloat16 only: precision=fp32 "
                           "cannot go with it.")
    if settings.attention not in _ON_PROCESSOR and not on_gpu:
        raise Unavailable("kernel_missing", f"attention={settings.attention} computes on a GPU only; a processor has "
                          f"{', '.join(_ON_PROCESSOR)}.", kernel=settings.attention)
    if not _is_here(settings.attention):
        raise Unavailable("kernel_missing", f"attention={settings.attention} is a package of its own, which is not "
                          f"installed: {program.install_line('flash-attn')}.", kernel=settings.attention)
    if settings.liger and importlib.util.find_spec("liger_kernel") is None:
        raise Unavailable("kernel_missing", "liger=true needs Liger's kernels, which are not installed: "
                          f"{program.install_line('liger-kernel')}.", kernel="liger")
    if settings.liger and not on_gpu:
        raise Unavailable("kernel_missing", "Liger's kernels compute on a GPU only.", kernel="liger")


def _is_here(name: str) -> bool:
    return name not in PACKAGES or importlib.util.find_spec(PACKAGES[name]) is not None


def kernel_of(settings: TrainSettings, model: Any, tokens: int) -> str:
    """The kernel that a run computes attention with. `measured` is the quickest here for rows of so many tokens; what a
    process measured stays in the run's folder, so that a resumed run computes as it did."""
    if settings.attention != "measured":
        return settings.attention
    note = Path(settings.out) / f"attention-{os.environ.get('RANK', '0')}.txt"
    before = note.read_text().strip() if note.is_file() else ""
    device = "cuda" if uses_gpu(settings) else "cpu"
    names = [*_BACKENDS, *(name for name in PACKED if settings.packing and _is_here(name) and (
        name not in PACKAGES or is_low(settings)))] if device == "cuda" else ["math", "flash"]
    if before in names:
        return before
    found = _measured(names, model.config.get_text_config(), min(tokens, _LONGEST_MEASURED[device]), device,
                      torch.bfloat16 if is_low(settings) else torch.float32)
    _log.info("attention was measured: %s", ", ".join(f"{name} {1000 * took:.1f} ms" for name, took in found))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(found[0][0] + "\n")
    return found[0][0]


def _measured(names: Sequence[str], config: Any, tokens: int, device: str, dtype: torch.dtype
              ) -> list[tuple[str, float]]:
    """The kernels that take such a pack, the quickest first, with seconds of a layer forward and backward: a row of
    half the tokens, and two of a quarter. What no kernel takes is torch's own choice."""
    heads = config.num_attention_heads
    keys = getattr(config, "num_key_value_heads", None) or heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    tokens = max(4, tokens - tokens % 4)
    states = [torch.randn(1, n, tokens, size, device=device, dtype=dtype, requires_grad=True)
              for n in (heads, keys, keys)]
    module = torch.nn.Module()
    module.num_key_value_groups, module.is_causal = heads // keys, True
    took = []
    for name in names:
        try:
            times = [_pass(module, name, states, (tokens // 2, tokens // 4, tokens // 4)) for _ in range(4)]
        except (RuntimeError, ValueError, TypeError) as error:  # it does not take such states, or this GPU
            _log.info("attention=%s cannot be measured here: %s", name, str(error)[:200])
            continue
        took.append((name, min(times[1:])))
    return sorted(took, key=lambda one: one[1]) or [("auto", 0.0)]


def _pass(module: torch.nn.Module, name: str, states: list[torch.Tensor], lengths: tuple[int, ...]) -> float:
    """Seconds of one forward and backward pass."""
    began = time.perf_counter()
    query, key, value = states
    with attention_kernel(name):
        output, _ = segment_attention(module, query, key, value, None, segment_lengths=lengths, kernel=name)
        torch.autograd.grad(output.sum(), states)
    if output.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - began


def attention_kernel(name: str) -> contextlib.AbstractContextManager[Any]:
    """While torch may compute attention by this kernel only (auto: by the one it finds best). Within it torch raises
    RuntimeError where the kernel does not take what it is given."""
    return sdpa_kernel(_BACKENDS[name]) if name in _BACKENDS else contextlib.nullcontext()


def use_liger(model: Any) -> None:
    """Liger's norms, rotation and gates in a model; its loss knows no weights of tokens, so the head stays ours."""
    kernels = importlib.import_module("liger_kernel.transformers")
    kernels._apply_liger_kernel_to_instance(model, cross_entropy=False, fused_linear_cross_entropy=False)
