"""A step's payloads, read: its text, and its reward in words. Knows no widget; long ones are read in a thread."""

from __future__ import annotations

import msgspec

from app.kit.i18n import translate
from app.kit.long_text import Part
from app.step.parts import answer_parts, parts_of, reward_words
from core.domain.errors import InvalidInput
from core.domain.sampled import decode_sampled
from core.domain.step import Observation, decode_body
from core.domain.tools import ToolTable
from core.formats.windows import is_refused


class ReadStep(msgspec.Struct, frozen=True):
    """What a step's payloads say: its text, and its reward in words."""

    parts: list[Part]
    reward: str = ""


def read_step(data: bytes, tools: ToolTable, raw: bool, tokens: bytes, refused: bool = False) -> ReadStep:
    """A step's text, its answer as tokens where there are some given. `refused`: its head says that an editor did
    not carry something out, which that editor tells in the words of its result alone."""
    try:
        body = decode_body(data)
        if refused:
            body = msgspec.structs.replace(body, observations=tuple(map(_refused, body.observations)))
        parts = answer_parts(decode_sampled(tokens), body, tools, raw=raw) if tokens else parts_of(body, tools, raw=raw)
        return ReadStep(parts, reward_words(body.observations))
    except InvalidInput as error:
        sentence = translate("ReadStep", "This step cannot be read: {why}").format(why=error)
        return ReadStep([Part(text=sentence, meaning="error")])


def _refused(observation: Observation) -> Observation:
    if observation.is_error or not is_refused(observation):
        return observation
    return msgspec.structs.replace(observation, status="refused")
