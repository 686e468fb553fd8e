"""How much memory an update takes, by part, before anything is loaded; and how activations are kept so that it fits.

An estimate of a dense transformer trained in our way (packed rows, the head at trained positions, Adam in float32). It
counts what is large: parameters, gradients and moments; the activations of a pack; the head's scores and the gradient
of its matrix. A device's own context, fragmentation and the libraries are the reserve.
"""

from __future__ import annotations

from typing import Any

import msgspec

from core.domain.errors import LimitReached

KINDS = ("none", "selective", "full", "offload")
"""How activations are kept, the quickest first: all; attention's outputs and the layers' inputs; these inputs; these
in the processor's memory."""

_RESERVE = 0.9
"""The part of a device's memory that a plan may take."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What of a model decides its memory: counts of parameters (of the whole model, of a layer, of the embedding and
    of the output layer beside it, 0 where it is the same matrix), its widths and its number of layers."""

    parameters: int
    layer: int
    embedding: int
    head: int
    layers: int
    hidden: int
    inner: int
    heads: int
    head_size: int
    vocabulary: int


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What a run asks of a device: tokens of a pack, how many of them are scored at once (those with loss), bytes of a
    number in layers (`width`), processes that share the model, trained parameters of an adapter (0: all), bytes of
    moments per trained parameter, and the scores that the head makes at once. `is_shared`: the tokens are a part of a
    pack that several devices share. `apart`: the processor's memory is
    another one than the device's."""

    tokens: int
    scored: int
    width: int = 4
    devices: int = 1
    adapter: int = 0
    moments: int = 8
    scores: int = 1 << 26
    is_shared: bool = False
    apart: bool = True


class MemoryPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes on each device by part, and what lies in the processor's memory instead (`host`)."""

    checkpointing: str
    parameters: int
    gradients: int
    moments: int
    gathered: int
    activations: int
    head: int
    host: int = 0

    @property
    def total(self) -> int:
        """All of it on a device."""
        return (self.parameters + self.gradients + self.moments + self.gathered + self.activations + self.head)


def shape_of(model: Any) -> Shape:
    """From a model, which may be on the device `meta`: without weights."""
    config = model.config.get_text_config()
    embedding, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    everything = sum(p.numel() for p in model.parameters())
    apart = 0 if head is embedding else head.numel()
    heads = config.num_attention_heads
    return Shape(parameters=everything, embedding=embedding.numel(), head=apart, layers=config.num_hidden_layers,
                 layer=(everything - embedding.numel() - apart) // config.num_hidden_layers, hidden=config.hidden_size,
                 inner=getattr(config, "intermediate_size", None) or 4 * config.hidden_size, heads=heads,
                 head_size=getattr(config, "head_dim", None) or config.hidden_size // heads,
                 vocabulary=config.vocab_size)


def planned(shape: Shape, load: Load, checkpointing: str) -> MemoryPlan:
    """What each part takes with activations kept in this way."""
    trained = load.adapter or shape.parameters
    frozen = (shape.parameters * load.width if load.adapter else 0) // load.devices
    # a layer is gathered while the next one is, in the width of layers; with its gradient, where it is trained
    whole = 2 * shape.layer + shape.embedding + shape.head
    gathered = whole * load.width * (1 if load.adapter else 2) if load.devices > 1 else 0
    elsewhere = shape.layers * load.tokens * shape.hidden * load.width if checkpointing == "offload" else 0
    return MemoryPlan(
        checkpointing=checkpointing, parameters=trained * 4 // load.devices + frozen,
        gradients=trained * 4 // load.devices, moments=trained * load.moments // load.devices, gathered=gathered,
        activations=_activations(shape, load, checkpointing) + (0 if load.apart else elsewhere),
        head=_head(shape, load), host=elsewhere if load.apart else 0)


def _activations(shape: Shape, load: Load, checkpointing: str) -> int:
    """Twelve states of a layer's width and four of its inner width are kept of each token: the inputs of each matrix
    product, norm and gate, and the query, key and value before and after rotation; four more where attention's are
    exchanged between devices."""
    states = 16 if load.is_shared else 12
    layer = load.tokens * load.width * (states * shape.hidden + 4 * shape.inner)
    inputs = load.tokens * load.width * shape.hidden
    attention = load.tokens * (load.width * shape.heads * shape.head_size + 4 * shape.heads)
    again = 3 * layer  # made anew, with their gradients and what is made on the way
    return {"none": shape.layers * layer, "selective": shape.layers * (inputs + attention) + again,
            "full": shape.layers * inputs + again, "offload": 2 * inputs + again}[checkpointing]


def _head(shape: Shape, load: Load) -> int:
    """Scores, as they are made and as float32, the states that are scored and their gradient, and the gradient of the
    matrix in float32 and in the width of layers."""
    rows = min(load.scored, max(64, load.scores // shape.vocabulary))
    scores = rows * shape.vocabulary * (4 + load.width)
    states = 2 * load.scored * shape.hidden * load.width
    matrix = 0 if load.adapter else shape.vocabulary * shape.hidden * (4 + (load.width if load.width < 4 else 0))
    return scores + states + matrix


def chosen(shape: Shape, load: Load, room: int, asked: str) -> MemoryPlan:
    """The plan as asked, or for `auto` the quickest that fits into `room` bytes of a device. Raises LimitReached
    (memory_short) where none does, with what would."""
    kinds = KINDS if asked == "auto" else (asked,)
    plans = [planned(shape, load, kind) for kind in kinds]
    fitting = next((plan for plan in plans if plan.total <= room * _RESERVE), None)
    if fitting is not None:
        return fitting
    least = min(plans, key=lambda plan: plan.total)
    raise LimitReached(
        "memory_short", f"An update takes about {_gb(least.total)} on each device ({_parts(least)}), and it has "
        f"{_gb(room)}. {' or '.join(_ways(shape, load, room, asked)) or 'A smaller model'} would fit.",
        needed=least.total, present=room)


def _ways(shape: Shape, load: Load, room: int, asked: str) -> list[str]:
    """Which single changes would make it fit."""
    kinds = KINDS if asked == "auto" else (asked,)

    def fits(kinds: tuple[str, ...] = kinds, **changed: int) -> bool:
        other = msgspec.structs.replace(load, **changed)
        return any(planned(shape, other, kind).total <= room * _RESERVE for kind in kinds)

    ways = [f"checkpointing={kind}" for kind in KINDS if asked != "auto" and fits((kind,))][:1]
    devices = next((n for n in (2, 4, 8, 16, 32, 64) if n > load.devices and fits(devices=n)), None)
    ways += [f"{devices} devices"] if devices else []
    if not load.adapter and fits(adapter=shape.parameters // 100):
        ways.append("method=lora")
    share = next((n for n in (2, 4, 8, 16) if fits(tokens=load.tokens // n, scored=load.scored // n,
                                                   devices=max(n, load.devices), is_shared=True)), None)
    ways += [f"context_parallel={share} on {max(share, load.devices)} devices"] if share and not load.is_shared else []
    tokens = next((load.tokens // n for n in (2, 4, 8, 16) if fits(tokens=load.tokens // n,
                                                                    scored=load.scored // n)), None)
    return [*ways, *([f"rows of at most {tokens:,} tokens"] if tokens else [])]


def _parts(plan: MemoryPlan) -> str:
    parts = {"parameters": plan.parameters, "gradients": plan.gradients, "moments": plan.moments,
             "gathered layers": plan.gathered, "activations": plan.activations, "head": plan.head}
    return ", ".join(f"{name} {_gb(size)}" for name, size in parts.items() if size)


def _gb(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.0f} MB"
