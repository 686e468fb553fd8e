"""A policy that learns: its scores of rows, and the gradient of any loss that is a weight per token.

Two passes: the first scores what the policy did as it is now, from which a loss makes weights; the second is the
supervised head's. Rows that begin alike are computed once in both; where layers are more than attention, as short
convolutions or windows, a row behind another would see into it, so there each is computed alone.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from core.domain.errors import InvalidInput
from core.training.forest import Grove, planted
from core.training.head import has_plain_head, log_probs, weighted_loss
from core.training.policy_rows import PolicyRow, Reals
from core.training.segments import can_pack, use_segments

_log = logging.getLogger("rl")


class Scores(NamedTuple):
    """Of each row's own tokens: log-probability, entropy of the prediction, value of the state before (with a critic);
    0 elsewhere."""

    now: list[Reals]
    entropy: list[Reals]
    values: list[Reals]


class Learner:
    """A causal model under training. Nothing random is in it: two learners given the same do the same.

    `temperature` is what the policy samples at: its log-probabilities are those of the logits over it. Groves hold at
    most `most` tokens. Raises InvalidInput (model_not_plain) for a model that does more than score its last states by
    one matrix, or that sees what comes after.
    """

    def __init__(self, model: Any, *, temperature: float = 1.0, most: int = 16_384, share: bool = True,
                 critic: bool = False, low: bool = False) -> None:
        if not has_plain_head(model) or not getattr(model.config.get_text_config(), "is_causal", True):
            raise InvalidInput("model_not_plain", f"{type(model).__name__} cannot be trained by reinforcement: its "
                               "attention or its output layer does more than this program can compute exactly.")
        self._packs = can_pack(model)
        if self._packs:
            use_segments(model)
        else:
            _log.info("this model's layers take no packed rows; each is computed alone")
        self.model = model.eval()  # no dropout: ratios must not be noise
        self._head = model.get_output_embeddings()
        self._heat, self._low = temperature or 1.0, low
        self._most, self._share = (most, share) if self._packs else (1, False)
        self.critic = _critic(model) if critic else None

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        """All that is trained."""
        own = [p for p in self.model.parameters() if p.requires_grad]
        return own + (list(self.critic.parameters()) if self.critic is not None else [])

    def groves(self, rows: Sequence[PolicyRow]) -> list[Grove]:
        """The rows, laid out to be computed."""
        return planted([r.ids for r in rows], [r.own for r in rows], self._most, share=self._share)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def score(self, rows: Sequence[PolicyRow], groves: Sequence[Grove] | None = None) -> Scores:
        """What the policy as it is now thinks of what was done."""
        found = Scores(*([np.zeros(r.ids.size) for r in rows] for _ in range(3)))
        for grove in self.groves(rows) if groves is None else groves:
            states, targets = self._states(grove)
            lps, entropies = log_probs(self._head, states / self._heat, targets)
            columns = [lps, entropies]
            if self.critic is not None:
                columns.append(self.critic(states.float())[:, 0])
            for column, made in zip(columns, found, strict=False):
                _spread(grove, rows, column.double().cpu().numpy(), made)
        return found

    def add_gradient(self, rows: Sequence[PolicyRow], weights: Sequence[Reals], groves: Sequence[Grove],
                     slopes: Sequence[Reals] | None = None) -> None:
        """Add the gradient of Σ w·l, and of a loss of the critic that has these slopes by its values."""
        for grove in groves:
            states, targets = self._states(grove)
            total = weighted_loss(self._head, states / self._heat, targets, self._gathered(grove, rows, weights))
            if self.critic is not None and slopes is not None:
                total = total + (self.critic(states.float())[:, 0] * self._gathered(grove, rows, slopes)).sum()
            total.backward()

    @property
    def head(self) -> Any:
        """What makes predictions of states."""
        return self._head

    def states(self, row: PolicyRow) -> torch.Tensor:
        """The last states, over the temperature, of the places that predict a row's own tokens; with their gradient."""
        grove, = planted([row.ids], [row.own], max(self._most, row.ids.size), share=False)
        states, _ = self._states(grove)
        found: torch.Tensor = states[grove.slots(grove.paths[0], _own(row))] / self._heat
        return found

    def predictions(self, row: PolicyRow) -> torch.Tensor:
        """The logarithms of what is predicted in the place of each own token of a row, over the whole vocabulary."""
        found: torch.Tensor = self._head(self.states(row)).float().log_softmax(-1)
        return found

    def _states(self, grove: Grove) -> tuple[torch.Tensor, torch.Tensor]:
        """The last states of the places that are scored, and the tokens that follow them."""
        device = self.model.device
        ids, positions = (torch.from_numpy(a.astype(np.int64)).to(device) for a in (grove.ids, grove.positions))
        scored = torch.from_numpy(grove.scored).to(device)
        kind = torch.autocast(device.type, torch.bfloat16) if self._low else contextlib.nullcontext()
        borders = {"segment_lengths": grove.lengths, "segment_prefixes": grove.prefixes} if self._packs else {}
        with kind:
            states = self.model.get_decoder()(
                input_ids=ids[None], position_ids=positions[None], use_cache=False,
                **borders).last_hidden_state[0][scored]
        return states, ids[scored + 1]

    def _gathered(self, grove: Grove, rows: Sequence[PolicyRow], values: Sequence[Reals]) -> torch.Tensor:
        """The sum over rows at each scored place."""
        total = np.zeros(grove.scored.size)
        for path in grove.paths:
            tokens = _own(rows[path.row])
            np.add.at(total, grove.slots(path, tokens), values[path.row][tokens])
        return torch.from_numpy(total.astype(np.float32)).to(self.model.device)


def _own(row: PolicyRow) -> NDArray[np.int64]:
    return np.flatnonzero(row.own[1:]) + 1  # the first token has no prediction


def _spread(grove: Grove, rows: Sequence[PolicyRow], column: Reals, made: Sequence[Reals]) -> None:
    for path in grove.paths:
        tokens = _own(rows[path.row])
        made[path.row][tokens] = column[grove.slots(path, tokens)]


def _critic(model: Any) -> torch.nn.Linear:
    """A value of a state, at first 0 for all."""
    critic = torch.nn.Linear(model.config.get_text_config().hidden_size, 1).to(model.device)
    torch.nn.init.zeros_(critic.weight)
    torch.nn.init.zeros_(critic.bias)
    return critic
