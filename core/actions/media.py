"""Pictures, sound and films of a host, put before the session's multimodal endpoint; offered where there is one."""

from __future__ import annotations

import posixpath
import secrets
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import declared
from core.actions.parse import ParseDocument, ready, saved
from core.actions.result import ActionFailed, Result
from core.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from core.llm.media import MediaModel

Prompt = Annotated[str, Meta(description="What to look for.")]
LARGEST = 20 << 20
FRAMES = 30
SECONDS = 120.0
_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}


class ParseAudio(ParseDocument, frozen=True, kw_only=True):
    """Transcribe an audio file."""

    model: Annotated[str, Meta(description="The speech model.")] = "whisper-1"


class ParseImage(ParseDocument, frozen=True, kw_only=True):
    """Describe an image (PNG, JPEG, GIF or WebP)."""

    task: Prompt = "Describe this image as detail as possible."


class ParseVideo(ParseDocument, frozen=True, kw_only=True):
    """Describe a video by some of its frames."""

    task: Prompt = "Describe this video as detail as possible."
    frame_interval: Annotated[int, Meta(description="Take every n-th frame.", ge=1, le=100_000)] = 30


async def parse_audio(a: ParseAudio, bench: Bench) -> Result:
    """The words of a recording."""
    host, sandbox, path, target, model = await _ready(a, bench)
    data = await sandbox.read_file(path, LARGEST)
    text = await model.transcribe(posixpath.basename(path), data, a.model)
    return await saved(bench, host, target, text, {"parse_type": "audio", "model_used": a.model})


async def parse_image(a: ParseImage, bench: Bench) -> Result:
    """What a picture shows."""
    host, sandbox, path, target, model = await _ready(a, bench)
    kind = _KINDS.get(posixpath.splitext(path)[1].lower())
    if kind is None:
        raise ActionFailed("unreadable", f"{path} is none of {', '.join(sorted(_KINDS))}.", "refused")
    text = await model.describe([(kind, await sandbox.read_file(path, LARGEST))], a.task)
    return await saved(bench, host, target, text, {"parse_type": "image"})


async def parse_video(a: ParseVideo, bench: Bench) -> Result:
    """What every n-th frame shows, at most 30 of them; ffmpeg of the host takes them out."""
    host, sandbox, path, target, model = await _ready(a, bench)
    folder = f"/tmp/frames-{secrets.token_hex(4)}"
    try:
        frames = await _frames(sandbox, path, folder, a.frame_interval)
    finally:
        await sandbox.run(["rm", "-rf", folder])
    text = await model.describe([("image/jpeg", one) for one in frames], a.task)
    return await saved(bench, host, target, text, {"parse_type": "video", "frames": len(frames)})


async def _frames(sandbox: Sandbox, path: str, folder: str, interval: int) -> list[bytes]:
    script = ("command -v ffmpeg >/dev/null || exit 77; mkdir -p \"$2\" && exec ffmpeg -v error -nostdin -i \"$1\" -vf "
              "\"select='not(mod(n,$3))',scale='min(768,iw)':-2\" -vsync vfr -frames:v \"$4\" \"$2/%03d.jpg\"")
    ran = await sandbox.run(["bash", "-c", script, "frames", path, folder, str(interval), str(FRAMES)], timeout=SECONDS)
    if ran.exit_code == 77:
        raise ActionFailed("missing_tool", "This host has no ffmpeg, which takes frames out of videos.")
    found = await sandbox.list(folder) if ran.exit_code == 0 else []
    if not found:
        why = ran.output.decode("utf-8", "replace").strip()[-300:]
        raise ActionFailed("unreadable", f"No frame of {path} can be read: {why or 'it has none'}.")
    return [await sandbox.read_file(one.path, LARGEST) for one in found]


async def _ready(a: ParseDocument, bench: Bench) -> tuple[str, Sandbox, str, str, MediaModel]:
    """What `ready` gives, and the endpoint. Raises what is wrong with them."""
    if bench.media is None:
        raise ActionFailed("not_configured", "No multimodal endpoint is configured for this session (agent.media).",
                           "refused")
    return *await ready(a, bench), bench.media


ACTIONS = declared(parse_audio, parse_image, parse_video)
