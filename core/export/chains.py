"""A ReAct sample and the summary sample that goes on from it, computed once: one row with two regions of loss.

The summary sample's tokens begin with all tokens of the ReAct sample. Attention is causal, so neither the hidden
states nor the losses of the actions see what follows: the losses of both samples are losses of the longer row, and how
often each counts is a weight per token. Where the tokens differ (a template renders the past otherwise once the
summary is asked for) both stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from core.export.formats import IGNORED
from core.export.options import ExportOptions
from core.export.rows import SampleRow


def merged(rows: Iterator[SampleRow]) -> Iterator[SampleRow]:
    """The rows of one session, merged where one goes on from the one before."""
    before: SampleRow | None = None
    for row in rows:
        if before is not None:
            joined = _joined(before, row)
            if joined is not None:
                before = None
                yield joined
                continue
            yield before
        before = row
    if before is not None:
        yield before


def _joined(react: SampleRow, summary: SampleRow) -> SampleRow | None:
    """One row of both, or None where the second does not go on from the first."""
    first, second = react.rendered, summary.rendered
    if first is None or second is None or (react.sample.kind, summary.sample.kind) != ("react", "summary"):
        return None
    size = len(first.ids)
    if second.ids[:size] != first.ids or any(second.mask[:size]):
        return None
    mask = [*first.mask, *second.mask[size:]]
    count = len(react.trained)
    trained = tuple(t or (i < count and react.trained[i]) for i, t in enumerate(summary.trained))
    rendered = msgspec.structs.replace(second, mask=mask, seams=max(first.seams, second.seams))
    return SampleRow(sample=summary.sample, trained=trained, rendered=rendered, react_tokens=size, part=react.part)


def token_weights(row: SampleRow, options: ExportOptions) -> dict[str, Any]:
    """The columns of a row whose tokens count differently: `labels` where a weight is above 0, and `weights`."""
    assert row.rendered is not None
    first = row.react_tokens if row.react_tokens else len(row.rendered.ids) * (row.sample.kind == "react")
    times = options.times("react"), options.times("summary")
    weights = [float(times[at >= first]) * m for at, m in enumerate(row.rendered.mask)]
    labels = [i if w else IGNORED for i, w in zip(row.rendered.ids, weights, strict=True)]
    return {"labels": labels, "weights": weights}


def sharded_columns(row: SampleRow, options: ExportOptions) -> dict[str, Any]:
    """What the pretokenised form has beside ids: a weight per token, how often the row counts (repeated rows are not
    written twice), and from which token on a chain is its summary sample."""
    plain = msgspec.structs.replace(options, balance="none") if options.balance == "repeat" else options
    repeats = 1 if options.chains else copies(row, options)
    return {**token_weights(row, plain), "repeats": repeats, "summary_from": row.react_tokens}


def copies(row: SampleRow, options: ExportOptions) -> int:
    """How many rows a row becomes in a data file."""
    if options.chains:
        kinds = ("react", "summary") if row.react_tokens else (row.sample.kind,)
        return int(any(options.times(k) for k in kinds))
    times = options.times(row.sample.kind)
    return min(times, 1) if options.balance == "weight" else times
