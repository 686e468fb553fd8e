"""The parse family: documents to text, inside the sandbox; media need a model that this program is not told of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from core.actions import documents
from core.actions.bench import Bench
from core.actions.declare import Carrier, Declared, OnHost
from core.actions.result import ActionFailed, Result
from core.domain.errors import NotFound

TEXT_LIMIT = 8 << 20
SECONDS = 120.0
_SCRIPT = Path(documents.__file__)
SourcePath = Annotated[str, Meta(description="Path of the document.", min_length=1)]
SavePath = Annotated[str, Meta(description="Where to write the text; must not exist yet. Not saved if left out.")]
Prompt = Annotated[str, Meta(description="What to look for.")]


class ParsePdf(OnHost, frozen=True, kw_only=True):
    """Extract the text of a PDF file."""

    file_path: SourcePath
    save_path: SavePath = ""


class ParseDocx(OnHost, frozen=True, kw_only=True):
    """Extract the text of a Word document (.docx)."""

    file_path: SourcePath
    save_path: SavePath = ""


class ParseLatex(OnHost, frozen=True, kw_only=True):
    """Extract the text of a LaTeX file."""

    file_path: SourcePath
    save_path: SavePath = ""


class ParsePptx(OnHost, frozen=True, kw_only=True):
    """Extract the text of a presentation (.pptx), slide by slide."""

    file_path: SourcePath
    save_path: SavePath = ""


class ParseAudio(OnHost, frozen=True, kw_only=True):
    """Transcribe an audio file. Needs a speech model."""

    file_path: SourcePath
    save_path: SavePath = ""
    model: Annotated[str, Meta(description="The speech model.")] = "whisper-1"


class ParseImage(OnHost, frozen=True, kw_only=True):
    """Describe an image. Needs a vision model."""

    file_path: SourcePath
    save_path: SavePath = ""
    task: Prompt = "Describe this image as detail as possible."


class ParseVideo(OnHost, frozen=True, kw_only=True):
    """Describe a video by some of its frames. Needs a vision model."""

    file_path: SourcePath
    save_path: SavePath = ""
    task: Prompt = "Describe this video as detail as possible."
    frame_interval: Annotated[int, Meta(description="Take every n-th frame.", ge=1)] = 30


async def _parse(kind: str, a: OnHost, bench: Bench, file_path: str, save_path: str) -> Result:
    host, sandbox = bench.host(a.computer_ip)
    path = bench.path(sandbox, file_path)
    target = bench.path(sandbox, save_path) if save_path else ""
    await sandbox.stat(path)
    if target:
        await _must_be_free(bench, host, target)
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
    if not target:
        return Result(text=text, data=data)
    await sandbox.write_file(target, text.encode())
    await bench.files.edited(host, target, None, text.encode(), bench.step)
    return Result(text=f"Wrote {len(text):,} characters to {target}.", data=data)


async def _must_be_free(bench: Bench, host: str, path: str) -> None:
    try:
        await bench.hosts[host].stat(path)
    except NotFound:
        return
    raise ActionFailed("exists", f"{path} exists already; name another save_path.", "refused")


def _document(kind: str) -> Carrier:
    async def carry(a: ParsePdf | ParseDocx | ParseLatex | ParsePptx, bench: Bench) -> Result:
        return await _parse(kind, a, bench, a.file_path, a.save_path)

    return carry


def _medium(what: str) -> Carrier:
    async def carry(a: ParseAudio | ParseImage | ParseVideo, bench: Bench) -> Result:
        _, sandbox = bench.host(a.computer_ip)
        await sandbox.stat(bench.path(sandbox, a.file_path))
        raise ActionFailed("missing_tool", f"No model that understands {what} is configured for this session.")

    return carry


ACTIONS = (
    Declared("parse_pdf", ParsePdf, _document("pdf")),
    Declared("parse_docx", ParseDocx, _document("docx")),
    Declared("parse_latex", ParseLatex, _document("latex")),
    Declared("parse_audio", ParseAudio, _medium("speech")),
    Declared("parse_image", ParseImage, _medium("images")),
    Declared("parse_video", ParseVideo, _medium("videos")),
    Declared("parse_pptx", ParsePptx, _document("pptx")),
)
