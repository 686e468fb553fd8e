"""How one model is shared by several processes: FSDP2 through accelerate, with the settings of fsdp.yaml.

Parameters, gradients and the optimizer's moments are float32 and sharded by layer. Layers compute in bfloat16 where
that is the precision; gradients are summed over the processes in float32, as a sum over 64 processes in bfloat16 loses
what one of them adds. What a layer hands to the next is not cast, and the loss is float32.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import torch
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin
from torch.distributed.fsdp import MixedPrecisionPolicy

from core.domain.errors import InvalidInput


def shards() -> bool:
    """Whether this process was started as one of several that share a model."""
    return os.environ.get("ACCELERATE_USE_FSDP") == "true" and "RANK" in os.environ


def plugin(precision: torch.dtype) -> FullyShardedDataParallelPlugin:
    """How accelerate shards: as fsdp.yaml says (it reaches this process as environment), in an explicit precision."""
    policy = MixedPrecisionPolicy(param_dtype=precision, reduce_dtype=torch.float32)
    return FullyShardedDataParallelPlugin(mixed_precision_policy=policy)


@contextlib.contextmanager
def shards_on_processor(wanted: bool) -> Iterator[None]:
    """While accelerate sets itself up: let it shard on a processor too, which it does for GPUs only, although torch's
    FSDP2 and its exchange (gloo) know both."""
    if not wanted or AcceleratorState._shared_state:
        yield
        return
    PartialState(cpu=True)
    PartialState._shared_state["distributed_type"] = DistributedType.MULTI_GPU
    yield
    if PartialState._shared_state["distributed_type"] != DistributedType.FSDP:
        raise RuntimeError("accelerate did not shard the model")


def load_whole(model: Any, weights: dict[str, torch.Tensor]) -> None:
    """Load a whole state dict. A name may be missing only if it is tied: if it shares its memory with one that is
    there. Raises InvalidInput (weights_lost) otherwise."""
    known = model.state_dict()
    places = {known[name].data_ptr() for name in weights if name in known}
    lost = sorted(name for name in known if name not in weights and known[name].data_ptr() not in places)
    lost += sorted(set(weights) - set(known))
    if lost:
        raise InvalidInput("weights_lost", f"The trained weights and the model differ in {', '.join(lost[:5])}.")
    model.load_state_dict(weights, strict=False)
