"""What was decided of a step, as a sign and in a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.kit import quantities
from app.kit.i18n import translate
from core.domain.verdict import PEOPLE, Verdict, masked_actions, step_outcome


def verdict_state(verdicts: Iterable[Verdict], actions: int) -> str:
    """The sign of what was decided of a step: a person's word, else what a machine proposes, else undecided."""
    given = list(verdicts)
    if not given:  # most steps, and each row that comes into sight asks
        return "undecided"
    people = [v for v in given if v.author.kind in PEOPLE]
    decided = step_outcome(people, actions) if people else "undecided"
    if decided == "partly" or masked_actions(people, actions):
        return "partly"
    if decided in ("keep", "mask"):
        return decided
    if any(v.value == "unsure" for v in people):
        return "unsure"
    proposed = step_outcome(given, actions)
    return f"proposed_{proposed}" if proposed in ("keep", "mask") else "undecided"


def verdict_words(verdicts: Mapping[str, Verdict], actions: int) -> tuple[str, str]:
    """Sign and word of what was decided of a step of so many actions, with the colour; empty while it is undecided."""
    if not verdicts:
        return "", ""
    decided = step_outcome(verdicts.values(), actions)
    if decided == "mask":
        return "⊘ " + translate("Row", "masked"), "mask"
    if masked := masked_actions(verdicts.values(), actions):
        words = translate("Row", "action {n} masked")
        return "◐ " + words.format(n=", ".join(map(quantities.number, masked))), "attention"
    if any(v.value == "unsure" for v in verdicts.values()):
        return "? " + translate("Row", "unsure"), "attention"
    return ("✓ " + translate("Row", "kept"), "keep") if decided == "keep" else ("", "")
