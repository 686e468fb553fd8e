"""Words of real runs that somebody remarked on, in files that are written again as programs do: with more at the end,
in another serialisation, with the middle of long outputs cut out. Each is found at the place where plain arithmetic
says that it is now, or nowhere; equal words elsewhere are never taken for them."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from support.imported import bodies
from support.real_data import real

from core.domain.anchor import TextAnchor, anchor_of, find, texts_of
from core.domain.step import StepBody
from core.formats import registry

FILES = (
    "claude-code/simonw_sample_session.jsonl", "codex-cli/codex-rollout.sample.jsonl",
    "swe-agent/crypto__BabyEncryption.traj", "mini-swe-agent/github_issue.traj.json",
    "atif/phoenix_harbor_terminus2_continuation.json", "openhands-events/basic.json",
    "inspect/2025-05-12T20-28-13-04-00_popularity.json", "atif/phoenix_harbor_terminus2_summarization.json",
    "claude-code/ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl", "openhands-events/basic_gui_mode.json",
    "swe-agent/default_sys-env_window100__install-1__marshmallow-code__marshmallow-1867.traj",
)
HEAD, CUT = 200, "\n[... cut out ...]\n"


def steps(path: Path) -> list[dict[int, StepBody]]:
    """By session the bodies by number."""
    return [{body.number: body for body in bodies(session)} for session in registry.read(path)]


def trimmed(value: object) -> object:
    """Long texts without their middle, everywhere in a file."""
    match value:
        case str() if len(value) > 3 * HEAD:
            return value[:HEAD] + CUT + value[-HEAD:]
        case list():
            return [trimmed(one) for one in value]
        case dict():
            return {key: trimmed(one) for key, one in value.items()}
    return value


def rewritten(path: Path, folder: Path, change=lambda value: value, **dump) -> Path:
    """The file with each of its JSON values changed, and written by other rules."""
    text, made = path.read_text("utf-8"), folder / path.name
    try:
        made.write_text(json.dumps(change(json.loads(text)), **dump), "utf-8")
    except json.JSONDecodeError:
        lines = (json.dumps(change(json.loads(line)), **dump) for line in text.splitlines() if line.strip())
        made.write_text("\n".join(lines) + "\n", "utf-8")
    return made


def remarks(body: StepBody, chance: random.Random) -> list[tuple[TextAnchor, str]]:
    """Some spans of a step's texts, short ones that stand there often too, with the text of each."""
    found = []
    for text in texts_of(body):
        for _ in range(6):
            start = chance.randrange(len(text.text)) if text.text else 0
            span = text.text[start : start + chance.choice((2, 5, 12, 40, 120))]
            made = anchor_of(body, span, text.text[:start]) if span.strip() else None
            if made is not None:
                held = [t.text for t in texts_of(body) if (t.part, t.action, t.name) == (
                    made.part, made.action, made.name) and t.text[made.start :].startswith(made.exact)]
                found.append((made, held[0]))
    return found


def place_in(anchor: TextAnchor, before: str, body: StepBody) -> set[int] | None:
    """Where arithmetic has the span in the same text of the step as it is now: the starts, of none where it was cut
    out; None where that text is another altogether."""
    now = [t.text for t in texts_of(body) if (t.part, t.action, t.name) == (anchor.part, anchor.action, anchor.name)]
    stop, left = anchor.start + len(anchor.exact), len(before) - anchor.start
    found: set[int] = set()
    for text in now:
        if text == before:
            found.add(anchor.start)
        elif CUT in text:
            cut = text.index(CUT)
            tail = len(text) - cut - len(CUT)
            if before.startswith(text[:cut]) and before.endswith(text[cut + len(CUT) :]):
                found |= {anchor.start} if stop <= cut else {len(text) - left} if left <= tail else set()
        else:
            return None
    return found


@pytest.mark.parametrize("name", FILES)
def test_words_of_a_real_run_are_found_where_they_are_now_or_nowhere(name: str, tmp_path: Path) -> None:
    path, seen = real(name), Counter[str]()
    kinds = {"same": rewritten(path, _folder(tmp_path, "same"), indent=None, ensure_ascii=True),
             "trimmed": rewritten(path, _folder(tmp_path, "trimmed"), trimmed)}
    lines = path.read_text("utf-8").splitlines()
    if path.suffix == ".jsonl":  # as it was before its last lines came
        (_folder(tmp_path, "short") / path.name).write_text("\n".join(lines[: len(lines) * 2 // 3]) + "\n", "utf-8")
        kinds["short"] = tmp_path / "short" / path.name
    whole = steps(path)
    for kind, other in kinds.items():
        chance = random.Random(f"{name} {kind}")
        begun, ended = (steps(other), whole) if kind == "short" else (whole, steps(other))
        for one, again in zip(begun, ended, strict=False):
            for number in sorted(one.keys() & again.keys())[:60]:
                for anchor, before in remarks(one[number], chance):
                    seen[kind, _judge(anchor, before, again[number])] += 1  # type: ignore[index]
    assert sum(n for (_, what), n in seen.items() if what == "another") == 0, seen
    assert all(seen[kind, "there"] for kind in kinds), seen
    missed = sum(n for (_, what), n in seen.items() if what == "missed")
    assert missed * 20 <= sum(seen.values()), f"what is there still is found: {seen}"


def _judge(anchor: TextAnchor, before: str, now: StepBody) -> str:
    place, wanted = find(anchor, now), place_in(anchor, before, now)
    if wanted is None:  # of a text that changed otherwise plain search knows whether the words are there at all
        return "gone" if place is None else "there" if anchor.exact in place.text.text else "another"
    if place is None:
        return "missed" if wanted else "gone"
    return "there" if place.start in wanted and _slot(place.text) == _slot(anchor) else "another"


def _slot(one: object) -> tuple[object, ...]:
    return one.part, one.action, one.name  # type: ignore[attr-defined]


def _folder(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name
