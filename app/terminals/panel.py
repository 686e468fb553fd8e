"""Drives the Terminals panel: which terminal, live or as of the step, emulated a few milliseconds per frame."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.gist_words import say_unchosen
from app.desk.link_status import away_since
from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from app.terminals.tape import COLUMNS, ROWS, Player, TerminalTape, ends_at, first_with_terminal, written_in
from app.terminals.view import TerminalsView
from core.domain.outputs import Outputs
from core.domain.session import FINAL_STATES
from core.domain.trajectory import Trajectory

FRAME_MS = 16
BUDGET_S = 0.006
"""How long one frame may emulate; the rest of it belongs to the window."""

_PLAYERS = 8
_BLOBS = 16


class TerminalsController(QObject):
    """Only the terminal in sight is emulated, and only while the panel is visible."""

    def __init__(self, place: Workplace, view: TerminalsView) -> None:
        super().__init__(view)
        self._sight, self._view = place.sight, view
        self._key = ""
        self._shown: Player | None = None
        self._drawn = -1
        self._players: OrderedDict[tuple[str, str, bool], Player] = OrderedDict()
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._asked: set[str] = set()
        self._frame = single_shot(self, FRAME_MS, self._work)
        self._sight.stepped.connect(self._aim_player)
        self._sight.grew.connect(self._aim_player)
        place.desks.link_changed.connect(self._aim_player)
        view.chosen.connect(self._choose_terminal)
        view.gist.step_asked.connect(place.cursor.to_step)
        self._aim_player()

    def _choose_terminal(self, key: str) -> None:
        self._key = key
        self._aim_player()

    def _aim_player(self) -> None:
        """Take in where the cursor is and what there is; aim the player at it."""
        trajectory, step = self._sight.trajectory, self._sight.step
        ends = ends_at(trajectory, step) if trajectory else {}
        if trajectory is None or not ends:
            self._shown = None
            commands = commands_in(trajectory, step) if trajectory is not None else 0
            self._view.show_empty(step, commands)
            if trajectory is None:
                say_unchosen(self._view.gist)
            else:
                first = first_with_terminal(trajectory) if trajectory.seq else None
                self._view.say_gist(first, step, commands)
            return
        if self._key not in ends:
            written = written_in(trajectory, step)
            self._key = next((k for k in ends if k in written), next(iter(ends)))
        self._view.show_tabs(list(ends), written_in(trajectory, step), self._key)
        player = self._player((trajectory.session, self._key, step is None), trajectory.terminals[self._key])
        player.seek(ends[self._key])
        if player is not self._shown:
            self._shown, self._drawn = player, -1
            self._work(first=True)
        elif not self._frame.isActive():
            self._frame.start(FRAME_MS)

    def _player(self, key: tuple[str, str, bool], outputs: Outputs) -> Player:
        """The player of a session's terminal, live or not; another log of the session is other outputs."""
        player = self._players.get(key)
        if player is None or player.tape.outputs is not outputs:
            columns, rows = outputs[0].columns or COLUMNS, outputs[0].rows or ROWS
            player = self._players[key] = Player(TerminalTape(outputs, self._blob), columns, rows)
            while len(self._players) > _PLAYERS:
                self._players.popitem(last=False)
        self._players.move_to_end(key)
        return player

    def _work(self, first: bool = False) -> None:
        player = self._shown
        if player is None:
            return
        if not first and not self._view.isVisible():
            self._frame.start(250)
            return
        more = player.work(BUDGET_S)
        if first:
            self._view.terminal.show_emulator(player.emulator)
        elif player.changes != self._drawn:
            self._view.terminal.refresh()
        self._drawn = player.changes
        self._view.show_state(self._sight.step, away=away_since(self._sight.desk.link), over=self._is_over(),
                              busy=more and player.target - player.position > 16_384,
                              waiting=not more and player.position < player.target)
        if more:
            self._frame.start(FRAME_MS)

    def _is_over(self) -> bool:
        row = self._sight.row
        return row is not None and (row.origin != "live" or row.state in FINAL_STATES)

    def _blob(self, hash: str) -> bytes | None:
        if hash not in self._blobs and hash not in self._asked:
            self._asked.add(hash)

            def keep(data: bytes) -> None:
                self._asked.discard(hash)
                self._blobs[hash] = data
                while len(self._blobs) > _BLOBS:
                    self._blobs.popitem(last=False)
                self._frame.start(FRAME_MS)

            self._sight.holder(hash).body(hash, keep)
        return self._blobs.get(hash)


def commands_in(trajectory: Trajectory, step: int | None) -> int:
    """How many steps up to one (None: so far) ran a command."""
    steps = trajectory.steps
    last = steps.index_of(step) if step is not None else None
    shells = {number for number, shape in enumerate(steps.shapes) if shape.family == "command"}
    return sum(shape in shells for shape in islice(steps.shape_of, None if last is None else last + 1))


def build(place: Workplace, parent: QWidget) -> TerminalsView:
    """The panel, wired."""
    view = TerminalsView(parent)
    TerminalsController(place, view)
    return view
