"""The known formats. A file is recognised by its content; its name only breaks no tie."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.formats import (
    adp,
    agentgym,
    archive,
    atif,
    claude_code,
    cline,
    cline_ui,
    codex,
    codex_exec,
    endless,
    gemini,
    harbor,
    innovator,
    inspect_log,
    miniswe,
    nebius,
    openai_chat,
    openhands,
    openhands_sdk,
    sharegpt,
    sweagent,
    terminal_bench,
)
from core.formats.imported import Imported
from core.formats.source import Source


class Format(msgspec.Struct, frozen=True):
    """One format: `recognises` looks at the content, `read` gives the sessions that a file holds."""

    name: str
    title: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Imported]]


FORMATS: tuple[Format, ...] = (
    Format(archive.NAME, "Tiphys archive", archive.recognises, archive.read),
    Format(sweagent.NAME, "SWE-agent trajectory", sweagent.recognises, sweagent.read),
    Format(inspect_log.NAME, "Inspect log", inspect_log.recognises, inspect_log.read),
    Format(atif.NAME, "ATIF trajectory", atif.recognises, atif.read),
    Format(miniswe.NAME, "mini-swe-agent trajectory", miniswe.recognises, miniswe.read),
    Format(claude_code.NAME, "Claude Code session", claude_code.recognises, claude_code.read),
    Format(codex.NAME, "Codex CLI rollout", codex.recognises, codex.read),
    Format(codex_exec.NAME, "Codex exec stream", codex_exec.recognises, codex_exec.read),
    Format(openhands_sdk.NAME, "OpenHands SDK conversation", openhands_sdk.recognises, openhands_sdk.read),
    Format(openhands.NAME, "OpenHands events", openhands.recognises, openhands.read),
    Format(openhands.OUTPUT, "OpenHands evaluation output", openhands.recognises_rows, openhands.read_output),
    Format(gemini.NAME, "Gemini CLI chat", gemini.recognises, gemini.read),
    Format(terminal_bench.NAME, "terminal-bench trial or asciicast", terminal_bench.recognises, terminal_bench.read),
    Format(endless.NAME, "Endless Terminals solutions", endless.recognises, endless.read),
    Format(innovator.NAME, "InnovatorBench nodes", innovator.recognises, innovator.read),
    Format(nebius.NAME, "Nebius SWE-agent trajectories", nebius.recognises, nebius.read),
    Format(adp.NAME, "Agent Data Protocol", adp.recognises, adp.read),
    Format(agentgym.NAME, "AgentGym trajectories", agentgym.recognises, agentgym.read),
    Format(sharegpt.NAME, "ShareGPT or LLaMA-Factory rows", sharegpt.recognises, sharegpt.read),
    Format(cline.NAME, "Cline conversation", cline.recognises, cline.read),
    Format(cline_ui.NAME, "Cline window messages", cline_ui.recognises, cline_ui.read),
    Format(openai_chat.NAME, "OpenAI chat messages", openai_chat.recognises, openai_chat.read),
)


def recognise(path: Path) -> Format:
    """The format of one file. Raises InvalidInput (unknown_format) where none fits."""
    return _recognise(Source(path))


def read(path: Path | Source) -> Iterator[Imported]:
    """The sessions of one file, each complete. Raises ReportableError where nothing of it can be read."""
    source = Source(path) if isinstance(path, Path) else path
    yield from _recognise(source).read(source)


def files(path: Path) -> Iterator[Path]:
    """The file itself, or all regular files below a folder by name; links and hidden entries are not followed.

    Files that another one stands for are left out: the events of a conversation folder, the casts of a trial, the
    continuation of a trajectory. Reading the one reads them too.
    """
    if not path.is_dir():
        yield path
        return
    for folder, names, leaves in os.walk(path, followlinks=False):
        parts = _parts(Path(folder), leaves)
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in parts)
        found = [p for leaf in sorted(leaves) if _is_plain(p := Path(folder, leaf))]
        taken = {other for p in found if _may_continue(p) for other in atif.companions(Source(p))}
        taken.update(other for p in found if p.name == cline.HISTORY for other in cline.companions(Source(p)))
        taken.update(_later_events(found))
        yield from (p for p in found if p not in taken)


def _parts(folder: Path, leaves: list[str]) -> frozenset[str]:
    """The folders whose files belong to a file beside them."""
    try:
        state = folder / openhands_sdk.FOLDER_STATE
        if state.name in leaves and openhands_sdk.recognises(Source(state)):
            return frozenset({"events"})
        if "results.json" in leaves and terminal_bench.companions(Source(folder / "results.json")):
            return frozenset({"sessions", "panes"})
    except ReportableError:
        pass
    return frozenset()


def _later_events(found: list[Path]) -> list[Path]:
    """The files of a session that has one per event, but for the first, which stands for all."""
    own = next((together for p in found if (together := openhands.siblings(p))), [])
    return own[1:] if own and openhands.recognises(Source(own[0])) else []


_CONTINUES = (b'"continued_trajectory_ref"', b'"trajectory_path"')
_LOOK = 16 * 1024 * 1024


def _is_plain(path: Path) -> bool:
    return not path.name.startswith(".") and path.is_file() and not path.is_symlink()


def _may_continue(path: Path) -> bool:
    """Whether a file is a trajectory that names another file; larger ones are read alone."""
    if path.suffix != ".json" or path.stat().st_size > _LOOK:
        return False
    data = path.read_bytes()
    return b'"schema_version"' in data and (
        any(mark in data for mark in _CONTINUES) or harbor.beside(path) is not None)


def _recognise(source: Source) -> Format:
    for known in FORMATS:
        if known.recognises(source):
            return known
    names = ", ".join(f.title for f in FORMATS)
    raise InvalidInput("unknown_format", f"{source.path} is in no format known here ({names}).", path=str(source.path))
