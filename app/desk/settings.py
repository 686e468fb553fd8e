"""Settings: one declared table, validated on load, stored as a sparse TOML file that holds only what differs."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence

from app.desk.actions import ACTIONS
from app.desk.central import Central, central_file, flat
from app.kit.i18n import QT_TRANSLATE_NOOP

BETWEEN = " | "
"""Stands between the shortcuts of one command."""

PORTABLE = QKeySequence.SequenceFormat.PortableText

RESERVED = frozenset(("Esc", "Tab", "Shift+Tab", "Shift+Backtab", "Return", "Enter", "Space", "Up", "Down", "Left",
                      "Right", "Home", "End", "PgUp", "PgDown"))
"""Keys that lists, boxes and dialogs live by: a command on one of them would be done by who only wants out."""

Value = str | int | float | bool

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
"""Keys that can be written again as they are; another one in a file is reported, not kept."""


GROUPS: dict[str, str] = {
    "appearance": QT_TRANSLATE_NOOP("Settings", "Appearance"),
    "trajectory": QT_TRANSLATE_NOOP("Settings", "Trajectory"),
    "guidance": QT_TRANSLATE_NOOP("Settings", "Guidance"), "files": QT_TRANSLATE_NOOP("Settings", "Files"),
    "review": QT_TRANSLATE_NOOP("Settings", "Review"), "sessions": QT_TRANSLATE_NOOP("Settings", "Sessions"),
    "attention": QT_TRANSLATE_NOOP("Settings", "Attention"),
}
"""By the first part of a setting's key what the dialog calls those of its kind."""


@dataclass(frozen=True)
class Setting:
    """One setting: its place in the file, its default (which fixes its type), and how the dialog shows it."""

    key: str
    default: Value
    label: str
    choices: tuple[tuple[str, str], ...] = ()
    low: float = 0
    high: float = 0
    note: str = ""
    kind: str = ""
    """"time" for a time of the day, "keys" for shortcuts, "lines" for a list of texts; else the default says it."""

    def accepts(self, value: object) -> bool:
        """Whether a value may be stored under this key."""
        if isinstance(self.default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(self.default):
            return False
        if self.kind == "keys":
            return all(part not in RESERVED and QKeySequence(part, PORTABLE).toString(PORTABLE) == part
                       for part in keys_of(str(value)))
        if self.kind == "time":
            return re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", str(value)) is not None
        if self.choices:
            return value in [choice for choice, _ in self.choices]
        return isinstance(value, str | bool) or self.high == self.low or self.low <= value <= self.high


SETTINGS: tuple[Setting, ...] = (
    Setting("appearance.language", "system", QT_TRANSLATE_NOOP("Settings", "Language"),
            choices=(("system", QT_TRANSLATE_NOOP("Settings", "As the system")), ("en", "English"),
                     ("zh_CN", "简体中文")), note=QT_TRANSLATE_NOOP("Settings", "Takes effect at the next start.")),
    Setting("appearance.colours", "system", QT_TRANSLATE_NOOP("Settings", "Colours"),
            choices=(("system", QT_TRANSLATE_NOOP("Settings", "As the system")),
                     ("light", QT_TRANSLATE_NOOP("Settings", "Light")),
                     ("dark", QT_TRANSLATE_NOOP("Settings", "Dark")))),
    Setting("appearance.contrast", "system", QT_TRANSLATE_NOOP("Settings", "Contrast"),
            choices=(("system", QT_TRANSLATE_NOOP("Settings", "As the system")),
                     ("normal", QT_TRANSLATE_NOOP("Settings", "Normal")),
                     ("high", QT_TRANSLATE_NOOP("Settings", "High")))),
    Setting("appearance.text_size", 10.0, QT_TRANSLATE_NOOP("Settings", "Text size (points)"), low=7.0, high=24.0),
    Setting("trajectory.fold_waiting", True,
            QT_TRANSLATE_NOOP("Settings", "Fold three or more waiting steps in a row")),
    Setting("guidance.mode", "note", QT_TRANSLATE_NOOP("Settings", "Guidance is sent first as"),
            choices=(("note", QT_TRANSLATE_NOOP("Settings", "At the next step")),
                     ("interrupt", QT_TRANSLATE_NOOP("Settings", "Interrupt now: also ends the running action")))),
    Setting("guidance.templates", "", QT_TRANSLATE_NOOP("Settings", "Templates, one per line"), kind="lines",
            note=QT_TRANSLATE_NOOP("Settings", "Empty: the usual ones. {step}, {title}, {error}, {file}, {task}, "
                                               "{score} are filled in; other {words} wait for you.")),
    Setting("files.side_by_side", False, QT_TRANSLATE_NOOP("Settings", "Show differences side by side")),
    Setting("files.tree", False, QT_TRANSLATE_NOOP("Settings", "List the files by folder")),
    Setting("files.most_first", False, QT_TRANSLATE_NOOP("Settings", "List the most changed file first")),
    Setting("files.spaces", "exact", QT_TRANSLATE_NOOP("Settings", "White space in differences"),
            choices=(("exact", QT_TRANSLATE_NOOP("Settings", "All counts")),
                     ("trailing", QT_TRANSLATE_NOOP("Settings", "At line ends it does not count")),
                     ("all", QT_TRANSLATE_NOOP("Settings", "None counts")))),
    Setting("files.blank_lines", False, QT_TRANSLATE_NOOP("Settings", "Empty lines do not count in differences")),
    Setting("review.advance", False,
            QT_TRANSLATE_NOOP("Settings", "After a verdict go to the next step that no person has judged")),
    Setting("review.blind", False, QT_TRANSLATE_NOOP("Settings", "Hide the others' opinions until you have decided")),
    Setting("review.reasons", "", QT_TRANSLATE_NOOP("Settings", "Reasons to choose from, one per line"), kind="lines",
            note=QT_TRANSLATE_NOOP("Settings", "Empty: the usual ones.")),
    Setting("sessions.order", "begun", QT_TRANSLATE_NOOP("Settings", "Order of the list"),
            choices=(("begun", QT_TRANSLATE_NOOP("Settings", "Newest first")),
                     ("attention", QT_TRANSLATE_NOOP("Settings", "What needs attention first")),
                     ("new", QT_TRANSLATE_NOOP("Settings", "Most new steps first")),
                     ("heard", QT_TRANSLATE_NOOP("Settings", "Last heard of first")),
                     ("name", QT_TRANSLATE_NOOP("Settings", "By name")))),
    Setting("sessions.filters", "", QT_TRANSLATE_NOOP("Settings", "Saved filters, one per line: name = query"),
            kind="lines", note=QT_TRANSLATE_NOOP("Settings", "Empty: the usual ones.")),
    Setting("review.time", True,
            QT_TRANSLATE_NOOP("Settings", "Record how long I work on steps that I judge (active time only)")),
    Setting("review.idle", 60.0,
            QT_TRANSLATE_NOOP("Settings", "Seconds without key or mouse after which I am not at work"), low=10.0,
            high=600.0),
    Setting("sessions.ask", True,
            QT_TRANSLATE_NOOP("Settings", "Say what pause, resume and interrupt do, and ask before")),
    Setting("sessions.notify", True, QT_TRANSLATE_NOOP("Settings", "Say when a session needs attention")),
    Setting("sessions.quiet", False, QT_TRANSLATE_NOOP("Settings", "Say nothing in quiet hours")),
    Setting("sessions.quiet_from", "22:00", QT_TRANSLATE_NOOP("Settings", "Quiet from"), kind="time"),
    Setting("sessions.quiet_to", "08:00", QT_TRANSLATE_NOOP("Settings", "Quiet until"), kind="time"),
    Setting("attention.errors", 3, QT_TRANSLATE_NOOP("Settings", "Failed steps in a row"), high=10_000),
    Setting("attention.same", 4, QT_TRANSLATE_NOOP("Settings", "Equal actions in a row"), high=10_000),
    Setting("attention.waits", 10, QT_TRANSLATE_NOOP("Settings", "Waiting steps in a row"), high=10_000),
    Setting("attention.stall_min", 60.0, QT_TRANSLATE_NOOP("Settings", "Minutes in which no step ends"), high=100_000),
    Setting("attention.budget", 0.9, QT_TRANSLATE_NOOP("Settings", "Used share of a limit"), high=1),
    Setting("attention.diversity", 0.2,
            QT_TRANSLATE_NOOP("Settings", "Different commands of the last 50 since the first error: share, at most"),
            high=1, note=QT_TRANSLATE_NOOP(
                "Settings", "For sessions that are started from here; 0 means never. One session: menu Session.")),
)

KEYS: tuple[Setting, ...] = tuple(
    Setting(f"keys.{entry.key}", BETWEEN.join(entry.shortcuts), entry.text, kind="keys") for entry in ACTIONS)
"""The keys of every command, such as "J | Alt+Down"; a dialog of its own changes them."""

RENAMED = {"keys.session.keep_here": "keys.session.store_offline"}
"""Keys of earlier versions, and what they are called now."""

FIXABLE = ("guidance.templates", "review.", "attention.")
"""What an administrator may fix for everybody: how work is done. How the window looks and is used is the person's."""


class Settings(QObject):
    """The values of now: a person's own, else the administrator's (`central`), else the defaults. A change is stored
    and told at once; an unknown or wrong entry is kept and reported."""

    changed = Signal(str)

    def __init__(self, path: Path, table: tuple[Setting, ...] = (*SETTINGS, *KEYS),
                 parent: QObject | None = None, central: Central = Central()) -> None:
        super().__init__(parent)
        self.path = path
        self._table = {s.key: s for s in table}
        self._central: dict[str, Value] = {}
        self._fixed: set[str] = set()
        self._values: dict[str, Value] = {}
        self._foreign: dict[str, Value] = {}
        self.problems: list[str] = []
        self._take_central(central)
        self._load()

    def get(self, key: str) -> Value:
        """The value of a declared setting. Raises KeyError for any other."""
        if key in self._fixed or key not in self._values:
            return self._central.get(key, self._table[key].default)
        return self._values[key]

    def is_fixed(self, key: str) -> bool:
        """Whether the administrator's value holds, whatever the person chose."""
        return key in self._fixed

    def text(self, key: str) -> str:
        """A setting that is a text."""
        return str(self.get(key))

    def set(self, key: str, value: Value) -> None:
        """Store and tell a value. Raises ValueError where the table does not accept it or an administrator fixed it."""
        setting = self._table[key]
        if key in self._fixed or not setting.accepts(value):
            raise ValueError(f"{value!r} is no value of {key}.")
        if value == self.get(key):
            return
        if value == self._central.get(key, setting.default):
            self._values.pop(key, None)
        else:
            self._values[key] = value
        self._save()
        self.changed.emit(key)

    def _take_central(self, central: Central) -> None:
        self.lab_servers = central.servers
        self.updates = central.updates
        if central.problem:
            self.problems.append(central.problem)
        for key, value in central.values.items():
            setting = self._table.get(key)
            if setting is not None and setting.accepts(value):
                self._central[key] = type(setting.default)(value)
            else:
                self.problems.append(f"{central_file()}: {key} = {value!r} is not a setting of this version.")
        for key in sorted(central.fixed):
            if key in self._table and key.startswith(FIXABLE):
                self._fixed.add(key)
            else:
                self.problems.append(f"{central_file()}: {key} cannot be fixed for everybody.")

    def _load(self) -> None:
        try:
            stored = flat(tomllib.loads(self.path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return
        except (ValueError, RecursionError, OSError) as error:  # ValueError: no TOML, no UTF-8, or a number too long
            self.problems.append(f"{self.path.name} cannot be read: {error}")
            return
        for key, value in _renamed(stored).items():
            setting = self._table.get(key)
            if setting is not None and setting.accepts(value):
                self._values[key] = type(setting.default)(value)
            else:
                self._foreign |= {key: value} if _PLAIN_KEY.fullmatch(key) and isinstance(value, Value) else {}
                self.problems.append(f"{self.path.name}: {key} = {value!r} is not a setting of this version.")

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        foreign = {k: v for k, v in self._foreign.items() if not any(_clash(k, mine) for mine in self._values)}
        fresh.write_text(to_toml({**foreign, **self._values}), encoding="utf-8")
        fresh.replace(self.path)


def _clash(foreign: str, mine: str) -> bool:
    """Whether one of two keys would have to be a value and a table at once."""
    return mine.startswith(f"{foreign}.") or foreign.startswith(f"{mine}.")


def keys_of(value: str) -> tuple[str, ...]:
    """The shortcuts of a stored value, as portable texts."""
    return tuple(part.strip() for part in value.split(BETWEEN.strip()) if part.strip())


def _renamed(stored: dict[str, Any]) -> dict[str, Any]:
    """Entries under the keys of now, which count where a file has both."""
    old = {RENAMED[key]: value for key, value in stored.items() if key in RENAMED}
    return old | {key: value for key, value in stored.items() if key not in RENAMED}


def to_toml(values: dict[str, Value]) -> str:
    """The TOML text of dotted keys, in order."""
    lines: list[str] = []
    section = None
    for key in sorted(values, key=lambda k: k.rpartition(".")[::2]):
        table, _, name = key.rpartition(".")
        if table != section:
            section = table
            lines += ["", f"[{table}]"] if table else []
        lines.append(f"{name} = {_toml_value(values[key])}")
    return "\n".join(lines).lstrip("\n") + "\n"


def _escaped(text: str) -> str:
    def one(char: str) -> str:
        if char.isprintable() and char not in '"\\':
            return char
        return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"

    return "".join(map(one, text))


def _toml_value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{_escaped(value)}"' if isinstance(value, str) else repr(value)
