"""Drives the Files panel: which files as of the step, which two versions, their difference made in a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.fetches import Fetch
from app.desk.link_status import why_not_here
from app.desk.workplace import Workplace
from app.files.diff import Diff, compare, counts
from app.files.diff_lines import MAX_BYTES, Spaces, Whitespace
from app.files.gist import FilesGist
from app.files.model import FilesModel, Key, State, TouchedFile, touched
from app.files.reads import ReadPaths
from app.files.view import SPACES, FilesView
from app.kit.background import BackgroundWork
from app.kit.quantities import byte_size
from core.domain.events import FileChanged

OWN = ("older", "newer", "step", "next_place", "previous_place", "spaces", "blank_lines", "sides", "tree", "most")
"""The actions of the panel, their keys without "files."."""

CHECKED = {"files.sides": "files.side_by_side", "files.tree": "files.tree", "files.blank_lines": "files.blank_lines",
           "files.most": "files.most_first"}
"""Actions that are settings."""


class FilesController(QObject):
    """The chosen file stays chosen when steps come and go; its newest change as of the step is compared."""

    def __init__(self, place: Workplace, model: FilesModel, view: FilesView) -> None:
        super().__init__(view)
        self._place, self._sight, self._model, self._view = place, place.sight, model, view
        self._key: Key | None = None
        self._pair: tuple[State, State] | None = None
        self._places: tuple[int, int] | None = None
        self._seen: tuple[str, int, int | None] = ("", 0, None)
        self._fetches: list[Fetch] = []
        self._counting: list[FileChanged] = []
        self._reads = ReadPaths(self)
        self._diff = BackgroundWork(self)
        self._count = BackgroundWork(self)
        self._counted: FileChanged | None = None
        self._connect()
        for key in ("files.side_by_side", "files.tree", "files.spaces"):
            self._on_setting(key)
        self._show_touched()

    def _connect(self) -> None:
        self._sight.opened.connect(self._on_opened)
        self._sight.stepped.connect(self._show_touched)
        self._sight.grew.connect(self._show_touched)
        self._sight.replaced.connect(self._on_replaced)
        self._place.desks.link_changed.connect(self._on_link)
        self._view.chosen.connect(self._choose_file)
        self._view.compared.connect(self._compare_versions)
        self._view.step_asked.connect(self._place.cursor.to_step)
        self._view.whitespace_asked.connect(partial(self._place.settings.set, "files.spaces"))
        for key, setting in CHECKED.items():
            self._place.actions[key].setChecked(bool(self._place.settings.get(setting)))
            self._place.actions[key].toggled.connect(partial(self._place.settings.set, setting))
        self._place.actions["files.spaces"].triggered.connect(self._next_spaces)
        self._place.settings.changed.connect(self._on_setting)
        self._model.counts_wanted.connect(self._want_counts)
        self._reads.grew.connect(self._list_again)
        self._diff.done.connect(self._show_diff)
        self._count.done.connect(self._put_counts)

    # ---- how it is compared ----------------------------------------------------------------------

    @property
    def _space(self) -> Whitespace:
        settings = self._place.settings
        spaces: Spaces = settings.text("files.spaces")  # type: ignore[assignment]
        return Whitespace(spaces, bool(settings.get("files.blank_lines")))

    def _next_spaces(self, *_: object) -> None:
        kinds = [key for key, _ in SPACES]
        at = kinds.index(self._place.settings.text("files.spaces"))
        self._place.settings.set("files.spaces", kinds[(at + 1) % len(kinds)])

    def _on_setting(self, key: str) -> None:
        action = next((a for a, setting in CHECKED.items() if setting == key), "")
        if action:
            self._place.actions[action].setChecked(bool(self._place.settings.get(key)))
        if key == "files.side_by_side":
            self._view.diff.set_side_by_side(bool(self._place.settings.get(key)))
        elif key == "files.tree":
            self._view.files.show_tree(bool(self._place.settings.get(key)))
        elif key == "files.most_first":
            self._list_again()
        elif key in ("files.spaces", "files.blank_lines"):
            self._view.show_whitespace(self._space)
            self._pair = None
            if (file := self._file()) is not None and self._places is not None:
                self._show_pair(file.states(), *self._places)

    def _file(self) -> TouchedFile | None:
        return self._model.file(max(0, self._model.row_of(self._key) if self._key else 0))

    # ---- what is shown ---------------------------------------------------------------------------

    def _on_opened(self) -> None:
        self._key = None

    def _on_replaced(self) -> None:
        self._seen, self._pair = ("", 0, None), None

    def _show_touched(self) -> None:
        session, step, trajectory = self._sight.session, self._sight.step, self._sight.trajectory
        changes = trajectory.files if trajectory is not None else []
        self._reads.show(trajectory)
        if (session, len(changes), step) == self._seen and self._pair is not None:
            return
        self._seen = (session, len(changes), step)
        files = touched(changes, step, self._reads.steps, most_first=bool(self._place.settings.get("files.most_first")))
        self._model.show(files)
        changed = next((file.key for file in files if file.changes and file.last.step == step), None)
        self._key = changed or self._key
        self._view.show_files(len(files), len({f.host for f in files} - {""}) > 1, step)
        if not files:
            self._pair = None
            return
        if self._key is None or self._model.row_of(self._key) < 0:
            self._key = None
        self._view.files.select(self._key)
        self._show_file()

    def _list_again(self) -> None:
        """More was read than was known, or another order is wanted."""
        self._seen = ("", 0, None)
        self._show_touched()

    def _choose_file(self, key: Key) -> None:
        self._key = key
        self._show_file()

    def _show_file(self) -> None:
        file = self._file()
        if file is not None:
            states = file.states()
            if states:
                self._show_pair(states, len(states) - 2, len(states) - 1)
            else:
                self._diff.drop()
                self._pair, self._places = None, None
                self._view.show_states(file, states, 0, 0)
            self._show_life(file)

    def _show_life(self, file: TouchedFile) -> None:
        """Over the whole session, also what comes after the step that is read."""
        trajectory, step = self._sight.trajectory, self._sight.step
        if trajectory is not None:
            written = [change.step for change in trajectory.files if (change.host, change.path) == file.key]
            last = trajectory.row.steps
            self._view.life.show_life(written, self._reads.steps.get(file.path, ()), last, step or last)

    def _compare_versions(self, old: int, new: int) -> None:
        file = self._file()
        if file is not None:
            self._key = file.key
            self._show_pair(file.states(), old, new)

    def _show_pair(self, states: list[State], old: int, new: int) -> None:
        file = self._file()
        if file is None:
            return
        self._places = (old, new)
        self._view.show_states(file, states, old, new)
        pair = (states[old], states[new])
        if pair == self._pair:
            return
        self._pair = pair
        self._diff.drop()
        for fetch in self._fetches:
            fetch.cancel()
        self._fetches = []
        if any(s.too_large for s in pair):
            size = byte_size(max(s.size for s in pair))
            self._view.show_message(self.tr("A version of {size} was too large to be kept.").format(size=size))
            return
        self._say_loading()
        self._contents(pair[0].hash, pair[1].hash, lambda a, b: self._diff.start(compare, a, b, file.path, self._space),
                       self._on_absent)

    def _say_loading(self) -> None:
        """A version that is not here comes as long as its server is reached."""
        lacks = any(s.hash and self._sight.holder(s.hash).held(s.hash) is None for s in self._pair or ())
        self._view.show_message((lacks and why_not_here(self._sight.desk.link.state)) or self.tr("Loading …"))

    def _on_link(self) -> None:
        if any(fetch.is_open for fetch in self._fetches):
            self._say_loading()

    def _on_absent(self) -> None:
        self._view.show_message(self.tr("The server does not hold this version: it was never sent there, or is gone."))

    def _contents(self, old: str, new: str, use: Callable[[bytes, bytes], None],
                  absent: Callable[[], None] | None = None) -> None:
        """Give both contents to `use` once they are here; `absent` is called where the server has none."""
        got: dict[str, bytes] = {"": b""}

        def take(name: str, data: bytes) -> None:
            got[name] = data
            if old in got and new in got:
                use(got[old], got[new])

        names = list(dict.fromkeys(h for h in (old, new) if h))
        if not names:
            use(b"", b"")
        for name in names:
            self._fetches.append(self._sight.holder(name).body(name, partial(take, name), absent))

    def _show_diff(self, diff: Diff) -> None:
        note = self.tr("first {size} compared").format(size=byte_size(MAX_BYTES)) if diff.cut else ""
        self._view.show_diff(diff, note)

    def _want_counts(self, change: FileChanged) -> None:
        self._counting.append(change)
        if self._counted is None:
            self._next_count()

    def _next_count(self) -> None:
        """One after the other: rows far down the list wait for their turn."""
        self._counted = self._counting.pop() if self._counting else None
        if self._counted is not None:
            change = self._counted
            held = [b"" if not h else self._sight.holder(h).held(h) for h in (change.before, change.after)]
            if None in held:
                self._fetch_and_count(change)
            else:
                self._count.start(counts, *held)

    def _fetch_and_count(self, change: FileChanged) -> None:
        def use(old: bytes, new: bytes) -> None:
            self._model.put_counts(change.before, change.after, counts(old, new))

        fetches = self._fetches
        self._fetches = []
        self._contents(change.before, change.after, use)
        self._fetches = fetches
        self._counted = None
        if self._counting:
            self._next_count()

    def _put_counts(self, counts: tuple[int, int] | None) -> None:
        if self._counted is not None:
            self._model.put_counts(self._counted.before, self._counted.after, counts)
        self._next_count()


def build(place: Workplace, parent: QWidget) -> FilesView:
    """The panel, wired."""
    model = FilesModel(parent)
    view = FilesView(model, {key: place.actions[f"files.{key}"] for key in OWN}, parent)
    FilesController(place, model, view)
    FilesGist(place, model, view.gist)
    return view
