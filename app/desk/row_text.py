"""What one line of the step list says: number, time, sign and word, tool, title, duration, in the reader's language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import isnan, nan

import msgspec

from app.desk.session_words import row_words
from app.desk.step_words import error_word, gain_words, rescored_words, unscored_words, verdict_state, verdict_words
from app.kit import quantities
from app.kit.i18n import plural, translate
from app.kit.safe_text import one_line, visible
from core.domain.blindness import seen
from core.domain.guidance import FOREIGN_PERSON, SIMULATED_USER, UNKNOWN_USER, Guidance
from core.domain.request import plain_words, requested
from core.domain.session import SessionRow
from core.domain.step import StepHead
from core.domain.steps import ERROR, Steps
from core.domain.trajectory import Item, Trajectory
from core.formats.tools import table_of

_SECTION = re.compile(r"^\s*</?[a-z_]{1,40}>|</[a-z_]{1,40}>\s*$", re.MULTILINE)
"""What the parts of a summary stand in, as the agent is asked for it."""


class RowText(msgspec.Struct, frozen=True):
    """The parts of a row. `meaning` colours icon, tool and outcome; `lines` is how many lines `title` may take.

    `ground` names a tint under the whole row; `face` is how the title is set: text, code, or a path, whose name stays
    readable; `state` is the verdict's sign: keep, mask, unsure, undecided, or what a machine proposes
    ("proposed_mask"); `is_chip` frames the outcome; `depth` counts the callers of a subagent's row.
    """

    number: str = ""
    time: str = ""
    icon: str = ""
    tool: str = ""
    title: str = ""
    face: str = "text"
    word: str = ""
    meaning: str = ""
    is_chip: bool = False
    is_failed: bool = False
    added: int = 0
    removed: int = 0
    duration: str = ""
    lines: int = 1
    ground: str = ""
    state: str = ""
    verdict: str = ""
    depth: int = 0

    @property
    def spoken(self) -> str:
        """The row as one text."""
        parts = (self.number, self.time, self.tool, self.title, self.word, self.verdict, self.duration)
        return "  ".join(p for p in parts if p)


def row_text(trajectory: Trajectory, kind: str, first: int, last: int, live: str = "", reader: str = "") -> RowText:
    """The row of items first..last: one item, a fold (`kind` says of what: waiting or loop), or the live row.

    A blind `reader` (an author's key) is not told what others think of a step."""
    if kind == "live":
        return _live(trajectory, live)
    if kind in ("waiting", "loop"):
        steps = trajectory.items.step_at(first), trajectory.items.step_at(last)
        return fold_row(trajectory, kind, *steps, reader)
    return _item(trajectory, trajectory.items[first], reader)


def _item(trajectory: Trajectory, item: Item, reader: str) -> RowText:
    if item.kind == "step":
        return step_row(trajectory, int(item.ref), reader)
    if item.kind == "guidance":
        return _guidance(trajectory, trajectory.guidance[str(item.ref)])
    if item.kind == "summary":
        summary = trajectory.summaries[str(item.ref)]
        template = translate("Row", "summary of {first}–{last}")
        word = template.format(first=quantities.number(summary.first), last=quantities.number(summary.last))
        return RowText(icon="scroll-text", tool=translate("Row", "Summary"), word=word,
                       title=_short(_SECTION.sub("", summary.text)))
    if item.kind == "submission":
        return _submission(trajectory, int(item.ref))
    score = trajectory.scores[int(item.ref)]
    why = unscored_words(score) or _short(score.message)
    again = rescored_words(trajectory, score.ordinal)
    if score.failed:
        return RowText(icon="flag", tool=translate("Row", "Score"), title=why,
                       word=again or translate("Row", "not scored"), meaning="error")
    title = " · ".join(filter(None, (quantities.score(score.total), gain_words(trajectory, score), why)))
    return RowText(icon="flag", tool=translate("Row", "Score"), title=title, word=again)


def _submission(trajectory: Trajectory, at: int) -> RowText:
    """What was handed in, and the score that it got."""
    handed = trajectory.submissions[at]
    score = next((s.total for s in trajectory.scores if s.ordinal == handed.ordinal), None)
    title = translate("Row", "submission {n}, after step {step}").format(
        n=handed.ordinal, step=quantities.number(handed.step))
    word = translate("Row", "score {value}").format(value=quantities.score(score))
    return RowText(icon="package-check", tool=translate("Row", "Handed in"), title=title,
                   word=rescored_words(trajectory, handed.ordinal) or (word if score is not None else ""))


def step_row(trajectory: Trajectory, at: int, reader: str = "") -> RowText:
    """The row of the `at`-th step."""
    steps = trajectory.steps
    entry = steps.at(at)
    head = entry.head
    kind = kind_of(head, trajectory)
    tool = tool_word(head.tools[0]) if head.tools else translate("Row", "Answer")
    title = head.title.removeprefix(head.tools[0]).strip() if head.tools else plain_words(head.title)
    word, meaning = _outcome(head)
    verdicts = seen(entry.verdicts, reader)
    state, chip = verdict_state(verdicts.values(), len(head.tools)), ""
    if state == "mask":
        chip = next((one_line(v.reason, 28) for v in verdicts.values() if v.value == "mask" and v.reason), "")
    return RowText(
        number=quantities.number(head.number), time=_time(steps, at),
        icon="user-round" if head.author else ICONS.get(kind, "braces"),
        tool=one_line(tool, 40), title=one_line(title), face=FACES.get(kind, "text") if head.tools else "text",
        word=" · ".join(filter(None, (one_line(head.author, 24), chip or word))), is_chip=bool(chip),
        meaning="mask" if chip else meaning or ("person" if head.author else ""),
        added=head.added, removed=head.removed, duration=_took(head), state=state,
        verdict=verdict_words(verdicts, len(head.tools))[0])


def tool_word(name: str) -> str:
    """A tool in its own name; a call of which its file does not tell the tool is only called one."""
    return translate("Row", "Call") if name == UNNAMED else name


def with_called(row: RowText, called: Sequence[SessionRow]) -> RowText:
    """The row of a step that called subagents: how many steps they made, and how many of these failed."""
    count = sum(session.steps for session in called)
    failed = sum(session.errors for session in called)
    many = translate("Row", "{n} steps").format(n=quantities.number(count))
    parts = [translate("Row", "1 step") if count == 1 else many]
    parts += [f"✗ {quantities.number(failed)}"] if failed else []
    if row.meaning == "error":
        parts.append(row.word)
    took = max((session.worked_s or 0.0 for session in called), default=0.0)
    return msgspec.structs.replace(row, icon="bot", word="  ".join(parts), is_chip=False,
                                   meaning=row.meaning if row.meaning == "error" else "muted",
                                   duration=quantities.short_duration(took) if took >= 0.95 else row.duration)


def kind_of(head: StepHead, trajectory: Trajectory) -> str:
    """What a step's first action is for; of a log of before it was written down, what its program's table says."""
    if head.kind or not head.tools:
        return head.kind or "message"
    return table_of(trajectory.created.program if trajectory.created else "").tool(head.tools[0]).kind


UNNAMED = "unknown"
"""The tool of an imported call where its file names none."""

ICONS = {"shell": "terminal", "input": "terminal", "wait": "hourglass", "read": "file-text", "list": "search",
         "search": "search", "edit": "file-pen-line", "write": "file-plus", "patch": "file-pen-line",
         "web_search": "globe", "web_page": "globe", "todo": "list-todo", "subagent": "bot",
         "message": "message-square-text", "thought": "message-square-text", "submit": "package-check",
         "tool": "braces"}
"""The sign of what a step did."""

FACES = {"shell": "code", "input": "code", "wait": "code", "search": "code", "list": "code", "web_page": "code",
         "tool": "code", "read": "path", "edit": "path", "write": "path", "patch": "path"}


def _outcome(head: StepHead) -> tuple[str, str]:
    """The one word on how a step ended, where that is not as usual."""
    if head.is_error:
        code = translate("Row", "exit {code}")
        return code.format(code=head.exit_code) if head.exit_code else error_word(head.error_kind), "error"
    if head.status == "running":
        return translate("Row", "background"), "muted"
    return "", ""


def _time(steps: Steps, at: int) -> str:
    """When a step began, where that is another minute than the step before it."""
    now, before = _minute(steps, at), _minute(steps, at - 1) if at else nan
    return "" if now == before or now != now else quantities.clock(quantities.moment(now * 60))


def _minute(steps: Steps, at: int) -> float:
    began = steps.started[at]
    return (began if began == began else steps.ended[at]) // 60


def _took(head: StepHead) -> str:
    """From a second on."""
    seconds = quantities.between(head.started_at, head.ended_at)
    return quantities.short_duration(seconds) if seconds is not None and seconds >= 0.95 else ""


def fold_row(trajectory: Trajectory, kind: str, at: int, until: int, reader: str = "") -> RowText:
    """Steps at..until as one row; only the first and the last are looked at, and what was said of those between."""
    steps = trajectory.steps
    first, last = steps[at].head, steps[until].head
    count = quantities.number(until - at + 1)
    failed = sum(bool(flags & ERROR) for flags in steps.flags[at : until + 1])
    name = first.tools[0] if first.tools else ""
    title = one_line(first.title.removeprefix(name).strip())
    if kind == "waiting":
        tool, title = translate("Row", "Waited"), f"{one_line(name, 40)} ×{count}  {title}"
    else:
        tool = translate("Row", "Same ×{count}").format(count=count)
        title = title if first.family == "command" else f"{one_line(name, 40)} {title}"
    word, meaning = _inside(steps, at, until, reader)
    many = plural(failed)  # a name: lupdate does not follow `translate` with a call in this place
    return RowText(
        number=f"{quantities.number(first.number)}–{quantities.number(last.number)}", icon="chevron-right", tool=tool,
        title=title, face="code", is_chip=bool(word), is_failed=failed == until - at + 1,
        word=word or (translate("Row", "%Ln failed", None, many) if failed else ""),
        meaning=meaning or ("error" if failed else "muted"),
        duration=quantities.short_duration(quantities.between(first.started_at or first.ended_at, last.ended_at)))


def _inside(steps: Steps, at: int, until: int, reader: str) -> tuple[str, str]:
    """What a reader must know of what a fold hides: how many are masked, else how many somebody is unsure of."""
    states = Counter(verdict_state(seen(steps.opinions[n].verdicts, reader).values(), len(steps.shape(n).tools))
                     for n in range(at, until + 1) if n in steps.opinions)
    masked = plural(states["mask"] + states["partly"])
    unsure = plural(states["unsure"])
    if states["mask"] + states["partly"]:
        return translate("Row", "%Ln masked", None, masked), "mask"
    if states["unsure"]:
        return translate("Row", "%Ln unsure", None, unsure), "attention"
    return "", ""


def _guidance(trajectory: Trajectory, guidance: Guidance) -> RowText:
    is_simulated = guidance.author == SIMULATED_USER
    author = translate("Row", "Simulated") if is_simulated else speaker(guidance)
    title = _short(requested(guidance.text) or guidance.text)
    look = "person" if guidance.by_person else ""
    icon = "ship-wheel" if guidance.by_person and guidance.author != FOREIGN_PERSON else "user-round"
    return RowText(time=_asked_at(trajectory, guidance), icon=icon, tool=author, meaning=look, ground=look,
                   title=title, lines=3)


def _asked_at(trajectory: Trajectory, guidance: Guidance) -> str:
    """When it was said; of a file without times nobody knows, as its events bear the time of the import."""
    steps, created = trajectory.steps, trajectory.created
    if created and created.origin != "live" and len(steps) and isnan(steps.started[0]) and isnan(steps.ended[0]):
        return ""
    return quantities.clock(guidance.queued_at)


def speaker(guidance: Guidance) -> str:
    """Whose words they are: a person's name, or what a foreign file says of its user."""
    words = {FOREIGN_PERSON: translate("Row", "Person"),
             SIMULATED_USER: translate("Row", "Simulated user"),
             UNKNOWN_USER: translate("Row", "User")}
    return words.get(guidance.author) or one_line(guidance.author, 24)


def _live(trajectory: Trajectory, text: str) -> RowText:
    number = (trajectory.open_step.number if trajectory.open_step else trajectory.row.steps + 1)
    _, word, meaning = row_words(trajectory.row)
    return RowText(number=quantities.number(number), tool=translate("Row", "now"), state="live",
                   meaning=meaning, title=" ".join(visible(text[-600:], escapes=False).split())[-240:], word=word)


def _short(text: str) -> str:
    return one_line(text, 400)


def head_line(head: StepHead) -> str:
    """A step in one short line, for tables: number, how it failed, title."""
    sign = f"✗ {error_word(head.error_kind)}  " if head.is_error else ""
    return f"{quantities.number(head.number)}  {sign}{one_line(head.title)}"
