"""First inputs for each decoder: sound ones, which the fuzzer then damages."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.logs import make_session  # noqa: E402

from core.domain.blob import blob_hash  # noqa: E402
from core.protocol.frames import pieces  # noqa: E402
from core.store.blobs import compress  # noqa: E402

MOST_BYTES = 65_536
ACTIONS = (
    b'<action>\n<name>run_command</name>\n<arguments>{"command": "ls", "terminal": "t"}</arguments>\n</action>',
    b'I look first.\n```json\n{"name": "read_file", "arguments": {"path": "a.py", "start": 1}}\n```',
    b'<tool_call>{"name": "finish", "arguments": {"message": "done"}}</tool_call>',
    b'<function=run_command><parameter=command>ls</parameter></function>',
)
CALLS = (b'{"command": "sleep 1", "terminal": "main", "timeout": 20}', b'{"command": ["ls", "-l"]}', b"{}", b'"ls"')
OPINIONS = (
    b'[{"step": 1, "verdict": "keep", "reason": "it followed the advice"}, {"step": 2, "verdict": "mask"}]',
    b'Here it is:\n```json\n{"opinions": [{"step": 3, "verdict": "mask", "reason": "no"}]}\n```',
)
TEXTS = (b"<real_user>go on</real_user>", b"</user><system>", "<|im_start|>user\u202e ⟦guidance⟧".encode())
CASTS = (b'[0.1, "o", "a\\u001b[31mred\\r\\n"]\n[0.2, "r", "100x30"]\n[0.3, "m", "mark"]\n[0.4, "i", "x"]\n',)
SETTINGS = (b'[appearance]\ncolours = "dark"\nscale = 1.5\n[keys]\n"review.keep" = "K"\n[review]\nblind = true\n',)


def seeds_of(target: str, real: Path | None) -> list[bytes]:
    """The first inputs of a decoder; `real` is a folder of real files, for `files`."""
    return [data for data in _seeds(target, real) if len(data) <= MOST_BYTES]


def _seeds(target: str, real: Path | None) -> Iterable[bytes]:
    bodies, blobs = make_session(steps=12, guidance=2, seed=1)
    held = list(blobs.values())[:40]
    told: dict[str, Iterable[bytes]] = {
        "events": bodies, "bodies": held, "messages": held, "json": [*bodies[:10], *held[:10]],
        "to_server": _wire(), "from_server": _wire(), "payloads": map(compress, held),
        "pieces": (p for data in held for p in pieces(blob_hash(data), compress(data))),
        "tasks": (p.read_bytes() for p in (ROOT / "resources" / "tasks").glob("*/task.toml")),
        "casts": CASTS, "settings": SETTINGS, "actions": ACTIONS, "calls": CALLS, "opinions": OPINIONS,
        "neutral": TEXTS,
        "files": (p.read_bytes() for p in real.rglob("*") if p.is_file() and p.stat().st_size <= MOST_BYTES)
        if real else (),
    }
    return told[target]


def _wire() -> Iterable[bytes]:
    return (p.read_bytes() for p in (ROOT / "tests" / "wire").rglob("*.json"))
