"""What a task asks of a computer, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable

from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line
from core.domain.host_rights import HostRight

_T = "Right"
_WORDS: dict[str, str] = {
    "unconfined_agent": QT_TRANSLATE_NOOP(
        "Right", "Sandbox: none. The agent runs UNCONFINED and can read and change all files of the user it runs as."),
    "unconfined_evaluator": QT_TRANSLATE_NOOP("Right", "Evaluator: {name} runs UNCONFINED too."),
    "path": QT_TRANSLATE_NOOP("Right", "Folder: {name} is read as a model."),
    "variable": QT_TRANSLATE_NOOP("Right", "Variable: the value of {name} is sent to {endpoint}."),
    "endpoint": QT_TRANSLATE_NOOP("Right", "Endpoint: all that the agent sees is sent to {name}."),
    "code": QT_TRANSLATE_NOOP(
        "Right", "Code: the installed package {name} runs as this user without a container. Its settings: {endpoint}."),
    "image": QT_TRANSLATE_NOOP("Right", "Image: the container is made from {name}."),
    "build": QT_TRANSLATE_NOOP(
        "Right", "Build: the container is built by {name}. The task's commands run as root in containers for that."),
    "build_network": QT_TRANSLATE_NOOP("Right", "Network: while {name} builds, it reaches public addresses."),
    "service": QT_TRANSLATE_NOOP(
        "Right", "Service: {name} runs the programs of its image, as root of a container of their own where that says "
        "so."),
    "root_tests": QT_TRANSLATE_NOOP("Right", "Tests: {name} runs as root in a container of its own."),
    "network": QT_TRANSLATE_NOOP("Right", "Network: the host {name} has one."),
    "reach": QT_TRANSLATE_NOOP("Right", "Network: the host {name} reaches {endpoint}."),
    "data": QT_TRANSLATE_NOOP("Right", "Data: {name} of this computer is read."),
    "machine": QT_TRANSLATE_NOOP(
        "Right", "Machine: the agent works on {name} without a sandbox, and can do there all that its login can."),
}
_MAX = 300


def right_words(right: HostRight) -> str:
    """One right as a sentence; a kind of a newer version by its name."""
    known = _WORDS.get(right.kind)
    if known is None:
        return one_line(f"{right.kind} {right.name} {right.endpoint}", _MAX)
    return translate(_T, known).format(name=one_line(right.name, _MAX), endpoint=one_line(right.endpoint, _MAX))


def rights_words(rights: Iterable[HostRight]) -> str:
    """Several, a line each."""
    return "\n".join(f"•  {right_words(right)}" for right in rights)
