"""One update at a time: its rows merged, cut, packed and dealt to the devices, with the denominator of them all.

Every device makes the same plan from the same rows and takes its own part, so nothing has to be agreed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from core.domain.errors import InvalidInput
from core.training.copies import Counted, counted, cut_tail, merge
from core.training.head import IGNORED
from core.training.packing import Part, Work, groups, packs


class Levers(msgspec.Struct, frozen=True, kw_only=True):
    """What is done to an update's rows before they are computed; none of it changes the gradient.

    `pack` is the most tokens of a pack (0: rows are padded, `rows` at once). `work` is what balances the packs. `share`
    neighbouring devices share each pack.
    """

    merge_copies: bool = True
    merge_chains: bool = True
    cut_tail: bool = True
    pack: int = 0
    rows: int = 1
    work: Work = Work()
    share: int = 1


class Update(dict[str, Any]):
    """What a device computes for one update: `parts` (inputs of the model), the `weight` of all trained tokens on all
    devices, and counts over all of them: `tokens` and `trained_tokens` as the rows have them, once merged
    `computed_tokens` in rows of `lengths`, of which `scored` have a loss."""


class UpdateCollator:
    """Makes an Update of one update's rows."""

    def __init__(self, levers: Levers, pad: int, device: int = 0, devices: int = 1) -> None:
        self._levers, self._pad = levers, pad
        self._device, self._devices = device, devices

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> Update:
        """Raises InvalidInput where merging lost or invented loss, which would be a fault of ours."""
        whole, share = [counted(r) for r in rows], self._levers.share
        weight = sum(r.weight for r in whole)
        merged = self._merged(whole)
        if abs(sum(r.weight for r in merged) - weight) > 1e-9 * max(weight, 1.0):
            raise InvalidInput("supervision_lost", "The rows of an update lost some of what they train.")
        return Update(
            parts=[self._part([merged[i] for i in p]) for p in self._dealt(merged)[self._device // share]],
            weight=weight,
            tokens=sum(r.ids.size for r in whole),
            computed_tokens=sum(r.ids.size for r in merged),
            trained_tokens=sum(int(np.count_nonzero(r.weights)) for r in whole),
            lengths=[r.ids.size for r in merged],
            scored=sum(int(np.count_nonzero(r.weights)) for r in merged),
        )

    def _merged(self, rows: list[Counted]) -> list[Counted]:
        if self._levers.cut_tail:
            rows = [r for r in map(cut_tail, rows) if r.ids.size]
        if self._levers.merge_copies:
            rows = merge(rows, prefixes=self._levers.merge_chains)
        return rows

    def _dealt(self, rows: list[Counted]) -> list[list[Part]]:
        lengths = [r.ids.size for r in rows]
        if self._levers.pack:
            return packs(lengths, self._levers.pack, self._devices // self._levers.share, self._levers.work)
        return groups(lengths, self._levers.rows, self._devices)

    def _part(self, rows: list[Counted]) -> dict[str, Any]:
        # a device without rows computes one token without loss: all of them must take part in every exchange
        rows = rows or [Counted(np.full(1, self._pad), np.zeros(1))]
        if not self._levers.pack:
            return padded(rows, self._pad)
        share = self._levers.share
        if share == 1:
            return packed(rows)
        lacking = -sum(r.ids.size for r in rows) % share
        filler = [Counted(np.full(lacking, self._pad), np.zeros(lacking))] if lacking else []
        return shared(packed([*rows, *filler]), self._device % share, share)


def packed(rows: Sequence[Counted]) -> dict[str, Any]:
    """Rows one after the other, each with positions of its own; `segment_lengths` keeps attention inside them."""
    lengths = tuple(r.ids.size for r in rows)
    ids = np.concatenate([r.ids for r in rows])
    weights = np.concatenate([r.weights for r in rows])
    positions = np.concatenate([np.arange(n) for n in lengths])
    return {
        **_tensors(ids[None], weights[None]),
        "position_ids": torch.from_numpy(positions[None]),
        "segment_lengths": lengths,
    }


def shared(part: dict[str, Any], place: int, share: int) -> dict[str, Any]:
    """What the process at `place` of a group computes of a pack, whose length is a multiple of `share`. Its labels and
    weights reach one token further than its ids: what its last token predicts is the next one's first."""
    size = part["input_ids"].shape[1] // share
    own = slice(place * size, (place + 1) * size)
    behind = slice(own.start, own.stop + 1)
    labels = torch.nn.functional.pad(part["labels"], (0, 1), value=IGNORED)
    weights = torch.nn.functional.pad(part["weights"], (0, 1))
    return {**part, "input_ids": part["input_ids"][:, own], "position_ids": part["position_ids"][:, own],
            "labels": labels[:, behind], "weights": weights[:, behind]}


def padded(rows: Sequence[Counted], pad: int) -> dict[str, Any]:
    """Rows side by side. The mask comes from their lengths: a pad token is often a stop token that is trained."""
    shape = len(rows), max(r.ids.size for r in rows)
    ids, weights, mask = np.full(shape, pad, np.int64), np.zeros(shape), np.zeros(shape, np.int64)
    for at, row in enumerate(rows):
        size = row.ids.size
        ids[at, :size], weights[at, :size], mask[at, :size] = row.ids, row.weights, 1
    return {**_tensors(ids, weights), "attention_mask": torch.from_numpy(mask)}


def _tensors(ids: NDArray[np.int64], weights: NDArray[np.float64]) -> dict[str, Any]:
    labels = np.where(weights > 0, ids, IGNORED)
    return {
        "input_ids": torch.from_numpy(ids),
        "labels": torch.from_numpy(labels),
        "weights": torch.from_numpy(weights.astype(np.float32)),
    }


class Shuffled(torch.utils.data.Sampler):  # type: ignore[misc]
    """Which rows each update takes: all of them once an epoch, in an order that the seed and the epoch give."""

    def __init__(self, rows: int, batch: int, seed: int) -> None:
        self._rows, self._batch, self._seed, self._epoch = rows, batch, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """The order of this epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return -(-self._rows // self._batch)

    def __iter__(self) -> Iterator[list[int]]:
        dice = torch.Generator().manual_seed(self._seed + self._epoch)
        order: list[int] = torch.randperm(self._rows, generator=dice).tolist()
        yield from (order[n : n + self._batch] for n in range(0, self._rows, self._batch))


class Updates(torch.utils.data.DataLoader):  # type: ignore[misc]
    """A data set's updates. The engine tells it the epoch, also after a resume."""

    def set_epoch(self, epoch: int) -> None:
        """The epoch that is read next."""
        assert isinstance(self.batch_sampler, Shuffled)
        self.batch_sampler.set_epoch(epoch)
