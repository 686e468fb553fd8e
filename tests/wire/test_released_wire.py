"""Every wire version that was ever released is still spoken: its frames are kept as they were and never written anew.

`released/N/` is a copy of `golden/` at the release of version N. When N+1 is released, add a folder; change none.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.wire import admin_token, raw_peer, serving

from core.protocol.codec import decode_from_server, decode_to_server, encode
from core.protocol.messages import PROTOCOL, FromServer

RELEASED = Path(__file__).parent / "released"
FRAMES = sorted(RELEASED.glob("*/*.json"))
OURS = {m.__struct_config__.tag for m in FromServer.__args__}  # type: ignore[attr-defined]


def test_every_version_until_now_has_its_frames() -> None:
    assert sorted(int(folder.name) for folder in RELEASED.iterdir()) == list(range(1, PROTOCOL + 1))


@pytest.mark.parametrize("path", FRAMES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_an_old_frame_still_says_all_that_it_said(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    decode = decode_from_server if path.stem in OURS else decode_to_server
    _holds(json.loads(encode(decode(text))), json.loads(text))


def _holds(now: Any, then: Any) -> None:
    """What is said now may say more, but not less (a field that has its default may be left out)."""
    if isinstance(then, dict):
        for key, value in then.items():
            if key in now:
                _holds(now[key], value)
            else:
                assert not value or key == "type", f"{key} is no longer understood"
    elif isinstance(then, list):
        assert len(now) == len(then)
        for one, other in zip(now, then, strict=True):
            _holds(one, other)
    else:
        assert now == then or str(now) == str(then)


def test_a_client_of_version_1_is_served_as_it_was(tmp_path: Path) -> None:
    """Its very bytes, and of the answers the fields that it reads."""
    hello = (RELEASED / "1/hello.json").read_text(encoding="utf-8")
    make = (RELEASED / "1/op_create_session.json").read_text(encoding="utf-8")
    guide = '{"type":"command","id":"m2","cseq":2,"session":"s1","op":{"op":"guide","guidance":"g1","text":"Look."}}'
    answers: list[dict[str, Any]] = []

    async def scenario() -> None:
        async with (
            serving(tmp_path) as server,
            raw_peer(server.url, admin_token(tmp_path), client="c1", hello=False) as peer,
        ):
            for text in (hello, make, guide, '{"type":"subscribe","session":"s1","after":0}'):
                await peer.say(text.strip())
                answers.append(json.loads(await asyncio.wait_for(peer.socket.recv(), 60)))

    asyncio.run(scenario())
    welcome, first, second, events = answers
    assert (welcome["type"], welcome["protocol"], welcome["scopes"]) == ("welcome", 1, ["admin"])
    assert welcome.get("cseq", 0) == 0
    assert (first["type"], first["id"], first["cseq"], first["result"]) == ("ack", "m1", 1, {"seq": 1})
    assert (second["type"], second["id"], second["cseq"], second["result"]) == ("ack", "m2", 2, {"seq": 2})
    assert (events["type"], events["session"], events["first"], events["head"]) == ("events", "s1", 1, 2)
    assert [body["fact"]["type"] for body in events["bodies"]] == ["session_created", "guidance_queued"]
    assert events["bodies"][1]["fact"]["text"] == "Look."
