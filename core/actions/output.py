"""What a command printed, for the model: a range of a terminal's stream as text, cut in the middle."""

import asyncio

from core.actions.bench import Bench
from core.actions.render import cut, plain_text
from core.domain.step import Output
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import TerminalInfo

FRONT = 1 << 20
BACK = 2 << 20
"""How many raw bytes of a longer output are looked at, at its front and at its back."""


async def range_output(bench: Bench, host: str, terminal: str, start: int, end: int) -> Output:
    """Bytes start..end of a terminal as an Output."""
    text, lost = await range_text(bench.hosts[host], terminal, start, end)
    return await text_output(bench, text, f"{host}/{terminal}", start, end, lost=lost)


async def text_output(bench: Bench, text: str, terminal: str = "", start: int = 0, end: int = 0, *,
                      lost: int = 0) -> Output:
    """A text as an Output; where it is cut, the whole is kept as a blob. `lost` bytes are counted as characters."""
    shown, truncated = cut(text, bench.settings.output_chars)
    blob = await bench.sink.put_blob(text.encode("utf-8", "replace")) if truncated else ""
    return Output(text=shown, truncated=truncated or lost > 0, total_chars=len(text) + lost, blob=blob,
                  terminal=terminal, start=start, end=end)


async def range_text(sandbox: Sandbox, terminal: str, start: int, end: int) -> tuple[str, int]:
    """Bytes start..end of a terminal as text, with a line where bytes are missing; and how many are."""
    if end - start <= FRONT + BACK:
        return await _piece(sandbox, terminal, start, end)
    front, lost_front = await _piece(sandbox, terminal, start, start + FRONT)
    back, lost_back = await _piece(sandbox, terminal, end - BACK, end)
    lost = end - start - FRONT - BACK
    return f"{front}\n[… {lost:,} bytes left out …]\n{back}", lost + lost_front + lost_back


async def _piece(sandbox: Sandbox, terminal: str, start: int, end: int) -> tuple[str, int]:
    if end <= start:
        return "", 0
    chunk = await sandbox.terminals.read(terminal, start, end)
    lost = min(chunk.lost, end - start)
    text = await asyncio.to_thread(plain_text, chunk.data) if len(chunk.data) > 65536 else plain_text(chunk.data)
    return (f"[… {lost:,} bytes were not kept …]\n{text}" if lost else text), lost


async def tail_text(sandbox: Sandbox, info: TerminalInfo, since: int) -> tuple[str, int]:
    """The newest output of a terminal behind offset `since`, at most 256 KiB; and where it begins."""
    start = max(since, info.first, info.total - (1 << 18))
    text, _ = await range_text(sandbox, info.name, start, info.total)
    return text, start
