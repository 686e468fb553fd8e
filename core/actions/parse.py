"""The parse family: documents to text, inside the sandbox; pictures and sound are the module `media`'s."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from core.actions import documents
from core.actions.bench import Bench
from core.actions.declare import Declared, OnHost
from core.actions.result import ActionFailed, Result
from core.domain.errors import NotFound
from core.sandbox.sandbox import Sandbox

TEXT_LIMIT = 8 << 20
SECONDS = 120.0
_SCRIPT = Path(documents.__file__)


class ParseDocument(OnHost, frozen=True, kw_only=True):
    """What a document is read from, and where its text goes."""

    file_path: Annotated[str, Meta(description="Path of the document.", min_length=1)]
    save_path: Annotated[str, Meta(description="Where to write the text; must not exist yet. Not saved if left out."
                                   )] = ""


class ParsePdf(ParseDocument, frozen=True, kw_only=True):
    """Extract the text of a PDF file."""


class ParseDocx(ParseDocument, frozen=True, kw_only=True):
    """Extract the text of a Word document (.docx)."""


class ParseLatex(ParseDocument, frozen=True, kw_only=True):
    """Extract the text of a LaTeX file."""


class ParsePptx(ParseDocument, frozen=True, kw_only=True):
    """Extract the text of a presentation (.pptx), slide by slide."""


async def _parse(kind: str, a: ParseDocument, bench: Bench) -> Result:
    host, sandbox, path, target = await ready(a, bench)
    script = _SCRIPT.read_text(encoding="utf-8")
    ran = await sandbox.run(["python3", "-I", "-c", script, kind, path], timeout=SECONDS, limit=TEXT_LIMIT)
    text = ran.output.decode("utf-8", "replace")
    if ran.timed_out:
        raise ActionFailed("timeout", f"{path} took longer than {SECONDS:g} s to parse.", "timeout")
    if ran.exit_code:
        missing = "neither pdftotext" in text
        raise ActionFailed("missing_tool" if missing else "unreadable", " ".join(text.split())[-500:] or
                           f"The parser ended with exit code {ran.exit_code}.")
    data = {"parse_type": kind, "save_path": target, "cut": ran.truncated}
    return await saved(bench, host, target, text, data)


async def saved(bench: Bench, host: str, target: str, text: str, data: dict[str, Any]) -> Result:
    """The text itself, or (with a `target`) where it was written."""
    if not target:
        return Result(text=text, data=data)
    await bench.hosts[host].write_file(target, text.encode())
    await bench.files.edited(host, target, None, text.encode(), bench.step)
    return Result(text=f"Wrote {len(text):,} characters to {target}.", data={**data, "save_path": target})


async def ready(a: ParseDocument, bench: Bench) -> tuple[str, Sandbox, str, str]:
    """Host, sandbox, path, and the place to save to ("": none). Raises NotFound, ActionFailed (exists)."""
    host, sandbox = bench.host(a.computer_ip)
    path = bench.path(sandbox, a.file_path)
    target = bench.path(sandbox, a.save_path) if a.save_path else ""
    await sandbox.stat(path)
    if target:
        with suppress(NotFound):
            await sandbox.stat(target)
            raise ActionFailed("exists", f"{target} exists already; name another save_path.", "refused")
    return host, sandbox, path, target


ACTIONS = tuple(Declared(f"parse_{kind}", arguments, partial(_parse, kind)) for kind, arguments in (
    ("pdf", ParsePdf), ("docx", ParseDocx), ("latex", ParseLatex), ("pptx", ParsePptx)))
