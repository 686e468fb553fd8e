"""Which kernels compute attention and a layer's small parts; none of them changes what is learnt."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from typing import Any

from torch.nn.attention import SDPBackend, sdpa_kernel

from core import program
from core.domain.errors import Unavailable
from core.training.settings import TrainSettings

_BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
             "cudnn": SDPBackend.CUDNN_ATTENTION}

_ON_PROCESSOR = ("auto", "math", "flash")
"""What torch has for a processor; the others are a GPU's."""


def check_kernels(settings: TrainSettings, on_gpu: bool) -> None:
    """Raises Unavailable (kernel_missing) for kernels that this machine does not have."""
    if settings.attention not in _ON_PROCESSOR and not on_gpu:
        raise Unavailable("kernel_missing", f"attention={settings.attention} computes on a GPU only; a processor has "
                          f"{', '.join(_ON_PROCESSOR)}.", kernel=settings.attention)
    if settings.liger and importlib.util.find_spec("liger_kernel") is None:
        raise Unavailable("kernel_missing", "liger=true needs Liger's kernels, which are not installed: "
                          f"{program.install_line('liger-kernel')}.", kernel="liger")
    if settings.liger and not on_gpu:
        raise Unavailable("kernel_missing", "Liger's kernels compute on a GPU only.", kernel="liger")


def attention_kernel(name: str) -> contextlib.AbstractContextManager[Any]:
    """While torch may compute attention by this kernel only (auto: by the one it finds best). Within it torch raises
    RuntimeError where the kernel does not take what it is given."""
    return sdpa_kernel(_BACKENDS[name]) if name in _BACKENDS else contextlib.nullcontext()


def use_liger(model: Any) -> None:
    """Liger's norms, rotation and gates in a model; its loss knows no weights of tokens, so the head stays ours."""
    kernels = importlib.import_module("liger_kernel.transformers")
    kernels._apply_liger_kernel_to_instance(model, cross_entropy=False, fused_linear_cross_entropy=False)
