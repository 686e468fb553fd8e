"""What is said of drafts of generated tasks: lists in words, and an answer held against the one before."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

from app.kit.entries import TwoLines
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.long_text import Part
from app.kit.safe_text import one_line
from core.domain.drafts import PHASES, DraftAnswer, DraftRecord, pass_at

STATES = {"accepted": QT_TRANSLATE_NOOP("Drafts", "accepted"), "refused": QT_TRANSLATE_NOOP("Drafts", "refused"),
          "to mend": QT_TRANSLATE_NOOP("Drafts", "to mend")}
_PHASES = {"description": QT_TRANSLATE_NOOP("Drafts", "Description"),
           "initial tests": QT_TRANSLATE_NOOP("Drafts", "Initial tests"), "image": QT_TRANSLATE_NOOP("Drafts", "Image"),
           "final tests": QT_TRANSLATE_NOOP("Drafts", "Final tests")}
_GATES = {
    "form": QT_TRANSLATE_NOOP("Drafts", "Form"),
    "near-duplicate": QT_TRANSLATE_NOOP("Drafts", "Near-duplicates"),
    "truth is hidden": QT_TRANSLATE_NOOP("Drafts", "Hidden solution"),
    "initial tests pass": QT_TRANSLATE_NOOP("Drafts", "Initial tests on the image"),
    "doing nothing earns 0": QT_TRANSLATE_NOOP("Drafts", "Doing nothing"),
    "truth passes": QT_TRANSLATE_NOOP("Drafts", "Solution"),
    "truth passes again": QT_TRANSLATE_NOOP("Drafts", "Solution, once more"),
    "solved sometimes": QT_TRANSLATE_NOOP("Drafts", "Attempts of a policy"),
    "unfinished": QT_TRANSLATE_NOOP("Drafts", "End of its author's work"),
    "person": QT_TRANSLATE_NOOP("Drafts", "A person"),
}
_MEANINGS = {"accepted": "keep", "refused": "mask", "to mend": "attention"}
_SIGNS = {"accepted": "✓", "refused": "✗", "to mend": "~"}


def draft_line(record: DraftRecord) -> TwoLines:
    """A draft in the list: its title; what became of it and why."""
    by = translate("Drafts", "{state} by a person") if record.by_person else "{state}"
    state = by.format(state=translate("Drafts", STATES[record.state]))
    why = "" if record.state == "accepted" and not record.by_person else record.reason or gate_words(record.gate)
    below = " · ".join(filter(None, (state, one_line(why, 120))))
    return TwoLines(title=one_line(record.title or record.id, 90), below=below, sign=_SIGNS[record.state],
                    meaning=_MEANINGS[record.state], right=solved_words(record))


def solved_words(record: DraftRecord) -> str:
    """How often a policy solved a draft, "" where it was not tried."""
    if not record.attempts:
        return ""
    return translate("Drafts", "{solved} of {attempts}").format(solved=record.solved, attempts=record.attempts)


def facts_of(record: DraftRecord, answers: Sequence[DraftAnswer]) -> str:
    """What stands below a draft's title: how often it was mended, and pass@k."""
    facts = [record.id]
    refused = sum(bool(answer.gate) for answer in answers)
    if answers:
        facts.append(translate("Drafts", "{answers} answers, {refused} refused").format(
            answers=len(answers), refused=refused))
    if record.attempts:
        n, c = record.attempts, record.solved
        facts.append(f"pass@1 {pass_at(1, n, c):.2f} · pass@{n} {pass_at(n, n, c):.2f}")
    return " · ".join(facts)


def answer_line(answer: DraftAnswer) -> TwoLines:
    """An answer in the list of a draft: its phase, and the gate that it did not pass."""
    phase = translate("Drafts", _PHASES[answer.phase])
    number = f" {answer.attempt}" if answer.attempt > 1 else ""
    below = one_line(answer.reason, 200) if answer.gate else translate("Drafts", "passed its gates")
    return TwoLines(title=f"{phase}{number}", below=below, sign="✗" if answer.gate else "✓",
                    meaning="mask" if answer.gate else "keep", right=gate_words(answer.gate))


def gate_words(gate: str) -> str:
    """What a gate looks at; an attempt to cheat has its own name."""
    if gate.startswith("cheat "):
        return translate("Drafts", "Cheating ({name})").format(name=one_line(gate.removeprefix("cheat "), 40))
    return translate("Drafts", _GATES[gate]) if gate in _GATES else one_line(gate, 60)


def gates_passed(record: DraftRecord, answers: Sequence[DraftAnswer]) -> list[tuple[str, bool]]:
    """The phases that were begun, each with whether its gates were passed in the end; then the policy's."""
    passed = {answer.phase for answer in answers if not answer.gate}
    begun = {answer.phase for answer in answers}
    found = [(translate("Drafts", _PHASES[phase]), phase in passed) for phase in PHASES if phase in begun]
    if record.attempts:
        found.append((gate_words("solved sometimes"), record.solved > 0))
    return found


def answer_parts(answers: Sequence[DraftAnswer], at: int) -> list[Part]:
    """The `at`-th answer: why it was refused, and what differs from the one before of its phase; the first whole."""
    answer = answers[at]
    before = next((one for one in reversed(answers[:at]) if one.phase == answer.phase and one.text), None)
    parts = []
    if answer.gate:
        parts.append(Part(text=f"{gate_words(answer.gate)}: {answer.reason}\n\n", meaning="error"))
    if not answer.text:
        parts.append(Part(text=translate("Drafts", "This answer could not be read."), style="meta"))
    elif before is None:
        parts.append(Part(text=answer.text, style="mono", lexer="python" if "tests" in answer.phase else ""))
    else:
        lines = list(unified_diff(before.text.splitlines(), answer.text.splitlines(), lineterm="", n=4))[2:]
        text = "\n".join(lines) or translate("Drafts", "Nothing differs from the answer before.")
        parts.append(Part(text=text, style="mono", lexer="diff" if lines else ""))
    return parts
