"""What a person may choose about an export; all of it is written into the manifest."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.errors import InvalidInput
from core.domain.misfit import misfit
from core.export.presets import with_preset


class ExportOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How samples become rows.

    `react` and `summary` are how often each sample counts (7 and 10: APOLLO §4.1), by `balance`: repeated rows,
    one row with a weight, or not at all; auto: weights where the format has them, else repeated rows. `overlap` says
    whether an action that is in two samples, because it was carried past a summary, is trained in the first only (once)
    or in each. `ignored` names authors of verdicts ("rule:blind_edit"), or kinds of them ("judge"), that shall not
    count. `verdicts` "none" trains every action: the paper's ablation. `unjudged` is what becomes of steps that nobody
    judged: they train (keep), they do not (mask), or the export is refused until somebody says which. `taken_over`:
    what people wrote in the agent's place trains as the agent's own (keep), or is context alone (mask). `preset` names
    where the options came from that were not chosen one by one (`core.export.presets`); "" is nowhere.
    `calls` "auto" writes tool calls in the plain-text action format where the model's template has none of its own.
    `thoughts`: what becomes of recorded reasoning where the template has a place for it: left out (drop, as the paper
    has it), shown without loss (context), or trained with its action (keep).
    `max_tokens` (and what the model takes at once) refuses longer samples. `secrets` are exact values: a sample that
    holds one is refused, or the value is replaced in it (`on_secret`). They are never written anywhere. `scan` replaces
    what looks like a secret, and people's names in paths; an export that finds secrets so is not written until somebody
    has looked at the report and allows it (`allow_findings`). `secret_rules` is a file of more forms of secrets, as
    gitleaks has them. `eval_share` of the tasks (or the tasks named in `eval_tasks`) go whole into a file of their own,
    eval.jsonl, each sample once. `dedupe` leaves out samples that equal an earlier one. `chains` merges a ReAct sample
    with the summary sample that goes on from it into one row with a weight per token; None: with weights, where it is
    exact.
    """

    react: int = 7
    summary: int = 10
    balance: Literal["auto", "repeat", "weight", "none"] = "auto"
    overlap: Literal["once", "each"] = "once"
    verdicts: Literal["final", "none"] = "final"
    unjudged: Literal["keep", "mask", "refuse"] = "refuse"
    taken_over: Literal["keep", "mask"] = "keep"
    preset: Literal["", "paper", "once"] = ""
    ignored: tuple[str, ...] = ()
    calls: Literal["auto", "native", "text"] = "auto"
    thoughts: Literal["drop", "context", "keep"] = "drop"
    max_tokens: int | None = 131_072
    secrets: tuple[str, ...] = ()
    on_secret: Literal["refuse", "redact"] = "refuse"
    scan: bool = True
    secret_rules: str = ""
    allow_findings: bool = False
    eval_share: float = 0.0
    eval_tasks: tuple[str, ...] = ()
    dedupe: bool = True
    chains: bool | None = None

    def settled(self, *, weights: bool) -> ExportOptions:
        """The options with what is left open decided, for a format that has `weights` per token or has not."""
        balance = self.balance if self.balance != "auto" else "weight" if weights else "repeat"
        chains = self.chains if self.chains is not None else weights and balance == "weight"
        return msgspec.structs.replace(self, balance=balance, chains=chains)

    @property
    def repetition(self) -> str:
        """Why equal rows stand in a data set, as a sentence; "" where none do. Of settled options."""
        if self.balance != "repeat":
            return ""
        return (f"Equal rows are meant: the row of each ReAct sample stands {self.react} times, that of each summary "
                f"sample {self.summary} times (balance repeat; none writes each once).")

    def times(self, kind: str) -> int:
        """How often a sample of a kind counts."""
        if self.balance == "none":
            return 1
        return self.summary if kind == "summary" else self.react


def read_options(data: object) -> ExportOptions:
    """The options of plain JSON data; what they leave open is as their preset has it. Raises InvalidInput."""
    try:
        options = msgspec.convert(with_preset(data or {}), ExportOptions)
    except msgspec.ValidationError as error:
        raise InvalidInput("bad_options", f"Of the export options {misfit(error, ExportOptions)}.") from error
    if min(options.react, options.summary) < 0:
        raise InvalidInput("bad_options", "A sample cannot count less than 0 times.")
    if not 0 <= options.eval_share < 1:
        raise InvalidInput("bad_options", "The share of tasks for evaluation is at least 0 and less than 1.")
    return options
