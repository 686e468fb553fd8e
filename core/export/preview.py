"""A sample token by token, as plain data for a program that has no tokenizer (the desktop)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from core.domain.errors import NotFound
from core.export.render import Rendered
from core.export.rows import SampleRow
from core.export.sample import SamplePart
from core.export.spans import Span
from core.export.text_preview import as_text
from core.workers.export import Preview, SampleLine, State, TokenPart


def preview(rows: list[SampleRow], at: int, start: int, count: int) -> Preview:
    """The list of a session's samples, and tokens start..start+count of one of them.

    Raises NotFound for a sample that the session does not have.
    """
    samples = tuple(_line(r) for r in rows)
    if rows and not 0 <= at < len(rows):
        raise NotFound("no_sample", f"The session has {len(rows)} samples, numbered from 0; there is no {at}.")
    if not rows:
        return Preview(samples=samples, sample=at, start=start)
    row = rows[at]
    if (rendered := row.rendered) is None:
        return as_text(row, Preview(samples=samples, sample=at, start=start), count)
    return Preview(samples=samples, sample=at, start=start, total=row.tokens, trained=row.trained_tokens,
                   parts=_parts(row, rendered), tokens=token_texts(rendered, start, count))


def token_texts(rendered: Rendered, start: int, count: int) -> tuple[tuple[str, int], ...]:
    """(text, mask) per token. A character that several tokens share stands at the first of them."""
    texts = []
    done = rendered.offsets[start - 1][1] if 0 < start <= len(rendered.offsets) else 0
    for (first, last), mask in list(zip(rendered.offsets, rendered.mask, strict=True))[start : start + count]:
        texts.append((rendered.text[max(first, done) : last], int(mask)))
        done = max(done, last)
    return tuple(texts)


def _line(row: SampleRow) -> SampleLine:
    return SampleLine(kind=row.sample.kind, step=row.sample.step, tokens=row.tokens, trained=row.trained_tokens,
                      rebuilt=row.sample.rebuilt)


def _parts(row: SampleRow, rendered: Rendered) -> tuple[TokenPart, ...]:
    """The agent's own messages as ranges of tokens, with what training does with each; one of which only some calls
    are trained is several ranges."""
    firsts = [a for a, _ in rendered.offsets]
    parts = [(span, row.sample.parts[span.message]) for span in rendered.spans]
    thoughts = {s.start for s in rendered.spans if s.thought_end}
    return tuple(TokenPart(start=bisect_left(firsts, start), end=bisect_left(firsts, end),
                           role=part.message.role, step=part.step,
                           state=_state(part, span, "context" if start in thoughts else "masked", is_hole))
                 for span, part in parts for start, end, is_hole in _pieces(span))


def _state(part: SamplePart, span: Span, without_loss: State, is_hole: bool) -> State:
    if is_hole:
        return without_loss
    return part.state if span.trained or not part.trained else "refused"


def _pieces(span: Span) -> Iterator[tuple[int, int, bool]]:
    """The characters of a span, with and without loss by turns."""
    at = span.start
    for start, end in span.holes:
        if at < start:
            yield at, start, False
        yield start, end, True
        at = end
    if at < span.end:
        yield at, span.end, False
