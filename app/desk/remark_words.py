"""Who remarks, and what programs remark (an import of its file, a runner of its agent) in the reader's language: the
log holds it in English, as they wrote it."""

from __future__ import annotations

import re
from functools import cache

from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line
from core.domain.step_entry import Note

LONGEST = 6_000
"""Characters of a remark that is looked up: a longer one is somebody's text."""

DEPTH = 5
"""Sentences within sentences that are looked for."""

_SENTENCES = (
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} The file ends inside this line."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} What stands before it was read."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} What stands before was read."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} The {1} steps before it were read."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Step {0} {1}: {2}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Recorded for {0}: {1}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} was left out: {1}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} repeats {1}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The archive is cut off or damaged at byte {0}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The archive's table of contents is damaged. Its members were read one by one."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The compressed file is cut off at byte {0}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The compressed file is damaged before byte {0}: {1}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The text is damaged at line {0}, byte {1}: {2}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The text is nested too deeply to be read."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Line {0}, byte {1} is not UTF-8; such bytes are shown as �."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Only {0} of {1} events are in the archive."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Only {0} of {1} events were read; event {2}: {3}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "It goes on in {0}, which is not beside it."),
    QT_TRANSLATE_NOOP("ImportRemarks", "It goes on in {0}, which is no trajectory."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The action of observation {0} is not in the file."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The answer that made {0} calls is not in the file."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The result of call {0} has no call."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} results have no call before them and were left out."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} requests were left out: nothing stands in them."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} more lines could not be read."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} lines of {1} could not be read."),
    QT_TRANSLATE_NOOP("ImportRemarks", "An event is not [seconds, kind, data] and was left out."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The file does not hold the exact input of every step: contexts are taken "
                                       "from its history and may differ from what the model was given."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The history does not match the steps, so {0} of {1} contexts are unknown."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The context of step {0} is too long to be kept."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The task's description is shown up to its character {0}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "A {0} is shown up to its character {1}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The messages are given as text: names and arguments of {0} calls are not "
                                       "in it."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The node begins after a summary: the steps before it are not in it."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Messages on other branches of the conversation, which are not among the "
                                       "steps: {0}."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The program recorded no contents: the steps have times, models and tokens "
                                       "only."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The keys have no times: no step says where in the terminal it was typed."),
    QT_TRANSLATE_NOOP("ImportRemarks", "No step says where in {0} it is: the recording stands at the end."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} tells of {1} requests, and there are {2} answers: their times and costs "
                                       "were not joined."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} beside it holds no messages of this program."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The row also holds a {0} answer."),
    QT_TRANSLATE_NOOP("ImportRemarks", "{0} is being written now."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The agent asked for leave: {0}. Answer: allow."),
    QT_TRANSLATE_NOOP("ImportRemarks", "The agent asked for leave: {0}. Answer: reject."),
)
_PARTS = (
    QT_TRANSLATE_NOOP("ImportRemarks", "Run {0}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Session {0}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Simulation {0}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Trace {0}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "a turn"),
    QT_TRANSLATE_NOOP("ImportRemarks", "says something else in this session than where this was said of it"),
    QT_TRANSLATE_NOOP("ImportRemarks", "goes on in its file after this was said of it, so that it holds no more"),
    QT_TRANSLATE_NOOP("ImportRemarks", "it holds no message of the assistant."),
    QT_TRANSLATE_NOOP("ImportRemarks", "Line {0} (byte {1})"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Row {0}"),
    QT_TRANSLATE_NOOP("ImportRemarks", "The end"),
    QT_TRANSLATE_NOOP("ImportRemarks", "it is no record."),
    QT_TRANSLATE_NOOP("ImportRemarks", "it holds no answer of the model."),
    QT_TRANSLATE_NOOP("ImportRemarks", "it holds no action of the agent."),
    QT_TRANSLATE_NOOP("ImportRemarks", "it holds no chat messages."),
    QT_TRANSLATE_NOOP("ImportRemarks", "it holds no request to a model."),
    QT_TRANSLATE_NOOP("ImportRemarks", "it holds no request to a model and no run of a tool."),
    QT_TRANSLATE_NOOP("ImportRemarks", "no turn is the agent's."),
    QT_TRANSLATE_NOOP("ImportRemarks", "no turn is the assistant's."),
    QT_TRANSLATE_NOOP("ImportRemarks", "no message is the assistant's."),
    QT_TRANSLATE_NOOP("ImportRemarks", "no item is an action."),
    QT_TRANSLATE_NOOP("ImportRemarks", "the whole run"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Expecting value"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Expecting ',' delimiter"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Expecting ':' delimiter"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Expecting property name enclosed in double quotes"),
    QT_TRANSLATE_NOOP("ImportRemarks", "Unterminated string starting at"),
)


def remark_words(remark: str) -> str:
    """The remark in the language of the window; as it is where no importer of this version makes it."""
    return (_sentence(remark) or remark) if len(remark) <= LONGEST else remark


def is_known(remark: str) -> bool:
    """Whether an importer's remark has words in every language."""
    return _sentence(remark) is not None


def _sentence(text: str, depth: int = DEPTH) -> str | None:
    """A sentence with its parts, or two behind each other, or one behind the name of a file's member."""
    words = _filled(text, _SENTENCES, depth)
    if words is not None or not depth:
        return words
    first, _, rest = text.partition(". ")
    before, after = (_filled(first + ".", _SENTENCES, depth - 1), _sentence(rest, depth - 1)) if rest else (None, None)
    if before is not None and after is not None:
        return f"{before} {after}"
    name, _, rest = text.partition(": ")
    after = _sentence(rest, depth - 1) if rest else None
    return None if after is None else f"{name}: {after}"


def _filled(text: str, sources: tuple[str, ...], depth: int) -> str | None:
    for source in sources:
        found = _pattern(source).fullmatch(text)
        if found:
            parts = [_part(part, depth - 1) for part in found.groups()]
            return translate("ImportRemarks", source).format(*parts)
    return None


def _part(text: str, depth: int) -> str:
    words = _sentence(text, depth) if depth > 0 else None
    return words or _filled(text, _PARTS, 0) or text


@cache
def _pattern(source: str) -> re.Pattern[str]:
    """Matches what a source says with anything in its places, which are numbered in order."""
    return re.compile("(.+?)".join(map(re.escape, re.split(r"\{\d\}", source))), re.DOTALL)


def words_of_note(note: Note) -> str:
    """What somebody said; of a program's own words those of the reader's language."""
    return remark_words(note.text) if note.author.kind in ("import", "agent") else note.text


def writer_of(note: Note) -> str:
    """Who said it: an agent has its session's id for a name, which says nothing to people."""
    agent = translate("ImportRemarks", "the agent")
    return agent if note.author.kind == "agent" else one_line(note.author.name or note.author.kind, 40)
