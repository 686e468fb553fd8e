"""The rules and what each changes, in words."""

from __future__ import annotations

from app.kit import quantities
from app.kit.entries import TwoLines
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line
from core.workers.rules import RuleEffect, RuleLine

MEANINGS = {
    "error_result": QT_TRANSLATE_NOOP("Rules", "An action that failed"),
    "late_failure": QT_TRANSLATE_NOOP("Rules", "The start of a background job that failed later"),
    "null_action": QT_TRANSLATE_NOOP("Rules", "No action, or a call that cannot be read"),
    "blind_edit": QT_TRANSLATE_NOOP("Rules", "A change of a file that was not looked at just before"),
    "second_edit": QT_TRANSLATE_NOOP("Rules", "The second edit of a file in a row"),
    "script_ignored": QT_TRANSLATE_NOOP("Rules", "A variant of a script that was provided"),
    "transformers_inference": QT_TRANSLATE_NOOP("Rules", "Bulk inference with transformers where vLLM is expected"),
    "idle_gpus": QT_TRANSLATE_NOOP("Rules", "Training that leaves GPUs idle"),
    "repeated_evaluation": QT_TRANSLATE_NOOP("Rules", "Evaluating again though nothing changed"),
    "early_finish": QT_TRANSLATE_NOOP("Rules", "Finishing too early, or with worse outputs than the best"),
    "lowered_score": QT_TRANSLATE_NOOP("Rules", "Work that lowered a full score"),
    "blind_retry": QT_TRANSLATE_NOOP("Rules", "The same failing call again"),
    "deadlocked_polling": QT_TRANSLATE_NOOP("Rules", "Many steps that wait for nothing"),
    "secret_printed": QT_TRANSLATE_NOOP("Rules", "A secret in a call or its result"),
}
"""What each of the program's own rules masks."""


def meaning(name: str) -> str:
    """What a rule masks, in the reader's language; a person's own rule has its name only."""
    source = MEANINGS.get(name, "")
    return translate("Rules", source) if source else one_line(name, 60)


def lines(rule: RuleLine, effect: RuleEffect | None) -> TwoLines:
    """A rule in the list."""
    right = ""
    if effect is not None and effect.broken:
        right = translate("Rules", "broken")
    elif effect is not None and effect.found:
        verb = (translate("Rules", "masks {n}") if rule.enabled else translate("Rules", "would mask {n}"))
        right = verb.format(n=quantities.number(effect.would_mask))
    below = one_line(rule.name, 60) + ("" if rule.enabled else " · " + translate("Rules", "off"))
    if rule.changed:
        below += " · " + translate("Rules", "changed")
    return TwoLines(title=meaning(rule.name), below=below, sign="✓" if rule.enabled else "–",
                    meaning="keep" if rule.enabled else "muted", right=right)


def effect_words(rule: RuleLine, effect: RuleEffect | None) -> str:
    """What the rule does to the open session."""
    if effect is None:
        return ""
    if effect.broken:
        return translate("Rules", "The rule itself failed; the log names the error.")
    if not effect.found:
        return translate("Rules", "It finds nothing in this session.")
    number = quantities.number
    found = translate("Rules", "Steps that it finds in this session: {n}.")
    alone = (translate("Rules", "Masked by it alone: {n}.") if rule.enabled else
             translate("Rules", "More that would be masked if it were on: {n}."))
    sentences = [found.format(n=number(effect.found)), alone.format(n=number(effect.would_mask))]
    if effect.overruled:
        sentences.append(translate("Rules", "Kept by a person all the same: {n}.").format(n=number(effect.overruled)))
    if effect.judged:
        people = translate("Rules", "Decided by people: {judged}, of which they mask {confirmed}.")
        sentences.append(people.format(judged=number(effect.judged), confirmed=number(effect.confirmed)))
    return " ".join(sentences)
