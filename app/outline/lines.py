"""The lines of the outline: what each leads to, and how it is written when it is painted. No Qt widgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from app.desk.row_text import FACES, kind_of
from app.kit import quantities
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from app.outline.finds import Find, finds_in
from app.outline.phases import Phase, phases_of
from core.domain.blindness import seen
from core.domain.path_parts import name_of
from core.domain.request import plain_words, requested
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.steps import ERROR
from core.domain.trajectory import Item, Trajectory
from core.domain.verdict import PEOPLE

FAILED = bytes(int(bool(flags & ERROR)) for flags in range(256))


class Subagent(msgspec.Struct, frozen=True):
    """What a line tells of a subagent; a row of a session holds more, and what cannot be hashed."""

    session: str
    title: str
    steps: int
    errors: int


class OutlineLine(msgspec.Struct, frozen=True):
    """One line. `first` and `last` are items of the session's trajectory, −1 for what has no place in the list.

    `what` is the phase, find, subagent or item of which it tells; None: task or end.
    """

    kind: str
    session: str
    depth: int = 0
    first: int = -1
    last: int = -1
    what: Phase | Find | Subagent | Item | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What names the line while its session grows."""
        return self.kind, self.what.session if isinstance(self.what, Subagent) else self.session, self.first


class LineText(msgspec.Struct, frozen=True):
    """How a line reads: icon, words, and at the right its steps and its failures. `meaning` colours the icon."""

    icon: str
    words: str
    right: str = ""
    failed: int = 0
    meaning: str = "muted"
    is_strong: bool = False

    @property
    def spoken(self) -> str:
        """The line as one text."""
        failures = translate("Outline", "{n} failed").format(n=self.failed) if self.failed else ""
        return ", ".join(filter(None, (self.words, self.right, failures)))


class Outlined(msgspec.Struct):
    """A session as it is outlined: its fold, its subagents by the step that called them, and who may not see what
    others think of it."""

    session: str
    trajectory: Trajectory
    called: Mapping[int, Sequence[SessionRow]] = {}
    reader: str = ""


def outline_of(top: Outlined, inside: Mapping[str, Outlined]) -> list[OutlineLine]:
    """The lines of a session; of the subagents that are `inside` their own finds stand below them."""
    trajectory = top.trajectory
    lines = [OutlineLine("task", top.session)] if trajectory.created is not None else []
    for phase in phases_of(trajectory):
        if phase.pause_s and phase.begun_by != "pause":
            lines.append(OutlineLine("pause", top.session, 0, phase.first, phase.first, phase))
        lines.append(OutlineLine("phase", top.session, 0, phase.first, phase.last, phase))
        lines += _content(top, inside, phase.first, phase.last, 1)
    if trajectory.row.state in FINAL_STATES:
        lines.append(OutlineLine("end", top.session, 0, -1, -1))
    return lines


def _content(one: Outlined, inside: Mapping[str, Outlined], first: int, last: int, depth: int) -> Iterator[OutlineLine]:
    """What stands out between two items, subagents at the step that called them."""
    items, trajectory = one.trajectory.items, one.trajectory
    before = len(items.others_in(0, first - 1))
    start, stop = first - before, last + 1 - len(items.others_in(0, last))
    found = [(items.of_step(find.first), OutlineLine(find.kind, one.session, depth, items.of_step(find.first),
              items.of_step(find.last), find)) for find in finds_in(trajectory, start, stop, one.reader)]
    for step, rows in one.called.items():
        at = trajectory.index_of(step) if step else len(trajectory.steps) - 1
        if at is not None and start <= at < stop:
            place = items.of_step(at)
            found += [(place, OutlineLine("subagent", one.session, depth, place, place,
                                          Subagent(row.session, row.title, row.steps, row.errors))) for row in rows]
    for place in items.others_in(first, last):
        if items.others[place].kind == "submission":
            at = items.places[place]
            found.append((at, OutlineLine("submission", one.session, depth, at, at, items.others[place])))
    for _, line in sorted(found, key=lambda pair: pair[0]):
        yield line
        if isinstance(line.what, Subagent) and (child := inside.get(line.what.session)) is not None:
            yield from _content(child, inside, 0, len(child.trajectory.items) - 1, depth + 1)


# ---- words -------------------------------------------------------------------------------------------


def text_of(line: OutlineLine, trajectory: Trajectory, reader: str = "") -> LineText:
    """How a line is written; only the steps that it names are read."""
    match line.what:
        case Phase() as phase if line.kind == "pause":
            words = translate("Outline", "Pause of {time}")
            return LineText("hourglass", words.format(time=quantities.duration(phase.pause_s)))
        case Phase() as phase:
            return _phase(phase, trajectory)
        case Find() as find:
            return _FINDS[find.kind](find, trajectory, reader)
        case Subagent() as row:
            return LineText("bot", one_line(row.title, 160), quantities.number(row.steps), row.errors)
        case Item() as item:
            handed = trajectory.submissions[int(item.ref)]
            return LineText("package-check", translate("Row", "Handed in"),
                            quantities.number(handed.step) if handed.step else "", meaning="ink")
    if line.kind == "task":
        return LineText("target", translate("Row", "Task"), "0")
    return _end(trajectory)


def _end(trajectory: Trajectory) -> LineText:
    row = trajectory.row
    word = {"failed": translate("Outline", "Ended: failed"),
            "stopped": translate("Outline", "Ended: stopped by a person")
            if row.reason == "stopped_by_person" else translate("Outline", "Ended: stopped")}.get(
                row.state, translate("Outline", "Ended: finished"))
    if row.score is not None:
        word += f" · {translate('Row', 'score {value}').format(value=quantities.score(row.score))}"
    return LineText("flag", word, quantities.number(row.steps), meaning="error" if row.state == "failed" else "muted")


def _phase(phase: Phase, trajectory: Trajectory) -> LineText:
    first, last, failed = _span(phase, trajectory)
    right = quantities.number(first) if first == last else f"{quantities.number(first)}–{quantities.number(last)}"
    icon, words, meaning = _begun(phase, trajectory)
    return LineText(icon, words, right if first else "", failed, meaning, is_strong=True)


def _begun(phase: Phase, trajectory: Trajectory) -> tuple[str, str, str]:
    """Icon, words and colour of what began a phase."""
    item = phase.item
    if phase.begun_by == "plan":
        return "list-todo", one_line(phase.words, 160), "muted"
    if phase.begun_by == "pause":
        words = translate("Outline", "After a pause of {time}")
        return "hourglass", words.format(time=quantities.duration(phase.pause_s)), "muted"
    if item is None:
        return "", translate("Outline", "Beginning"), "muted"
    if item.kind == "summary":
        summary = trajectory.summaries[str(item.ref)]
        words = translate("Outline", "Summary of {first}–{last}")
        return "scroll-text", words.format(first=quantities.number(summary.first),
                                           last=quantities.number(summary.last)), "ink"
    if item.kind == "guidance":
        given = trajectory.guidance[str(item.ref)]
        words = one_line(plain_words(requested(given.text) or given.text), 160)
        return "user-round", words, "person" if given.by_person else "muted"
    total = trajectory.scores[int(item.ref)].total
    return "flag", translate("Row", "score {value}").format(value=quantities.score(total)), "ink"


def _span(phase: Phase, trajectory: Trajectory) -> tuple[int, int, int]:
    """The numbers of a phase's first and last step (0 where it has none), and how many of its steps failed."""
    steps, items = trajectory.steps, trajectory.items
    start = phase.first - len(items.others_in(0, phase.first - 1))
    stop = phase.last + 1 - len(items.others_in(0, phase.last))
    if start >= stop:
        return 0, 0, 0
    failed = bytes(steps.flags[start:stop]).translate(FAILED).count(1)
    return steps.numbers[start], steps.numbers[stop - 1], failed


def _range(find: Find, trajectory: Trajectory) -> str:
    numbers = trajectory.steps.numbers
    first, last = quantities.number(numbers[find.first]), quantities.number(numbers[find.last])
    return first if first == last else f"{first}–{last}"


def _errors(find: Find, trajectory: Trajectory, reader: str) -> LineText:
    head = trajectory.steps[find.first].head
    words = one_line(head.title.removeprefix(head.tools[0]).strip() if head.tools else head.title, 120)
    name, kind = one_line(head.tools[0], 40) if head.tools else "", kind_of(head, trajectory)
    if FACES.get(kind) == "path":
        words = name_of(words)  # the line is narrow, and cuts at its end
    if not words or kind != "shell":
        words = f"{name} {words}".strip()
    return LineText("circle-x", words + (f" ×{find.count}" if find.count > 1 else ""), _range(find, trajectory),
                    meaning="error")


def _masked(find: Find, trajectory: Trajectory, reader: str) -> LineText:
    verdicts = seen(trajectory.steps.opinions[find.first].verdicts, reader).values()
    reason = next((v.reason for v in verdicts if v.author.kind in PEOPLE and v.value == "mask" and v.reason), "")
    words = one_line(reason, 120) or translate("Row", "masked")
    words += f" ×{find.count}" if find.count > 1 else ""
    return LineText("circle-slash", words, _range(find, trajectory), meaning="mask")


def _file(find: Find, trajectory: Trajectory, reader: str) -> LineText:
    return LineText("file-plus" if find.is_new else "file-pen-line", one_line(name_of(find.path), 120),
                    _range(find, trajectory))


def _files(find: Find, trajectory: Trajectory, reader: str) -> LineText:
    words = translate("Outline", "{n} files changed")
    return LineText("file-pen-line", words.format(n=quantities.number(find.count)), _range(find, trajectory))


def _answer(find: Find, trajectory: Trajectory, reader: str) -> LineText:
    is_report = bool(trajectory.row.caller)
    words = (translate("Outline", "Report") if is_report else translate("Row", "Answer"))
    return LineText("message-square-text", words, _range(find, trajectory))


_FINDS = {"errors": _errors, "masked": _masked, "file": _file, "files": _files, "answer": _answer}
