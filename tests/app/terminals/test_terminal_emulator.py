"""The terminal's screen: grid, history, escapes without effect, snapshots, floods."""

import random

import pytest

from app.kit.terminal_cells import columns_text, pieces, plain_lines, row_of, row_text
from app.terminals.emulator import Emulator
from app.terminals.tape import FLOOD, Player, TerminalTape
from core.domain.events import TerminalOutput
from core.domain.outputs import Outputs


def screen(emulator: Emulator) -> list[str]:
    return [row_text(r) for r in emulator.screen_rows()]


def outputs(*parts: bytes, blob: bool = False) -> Outputs:
    made, offset = Outputs(), 0
    for i, part in enumerate(parts):
        made.add(i, TerminalOutput(host="h", terminal="t", offset=offset, size=len(part),
                                   data=b"" if blob else part, blob=str(i) if blob else ""))
        offset += len(part)
    return made


def test_text_wraps_scrolls_into_history_and_keeps_its_colour() -> None:
    emulator = Emulator(10, 3)
    emulator.feed(b"one\r\n\x1b[31mtwo\x1b[m\r\nabcdefghijKL\r\nlast")
    assert [row_text(r) for r in emulator.history] == ["one", "two"]
    assert emulator.history[1][0].style.fg == "red"
    assert screen(emulator) == ["abcdefghij", "KL", "last"]


def test_chinese_characters_take_two_cells() -> None:
    emulator = Emulator(20, 3)
    emulator.feed("训练 ok".encode())
    row = emulator.screen_rows()[0]
    assert [(r.column, r.text, r.cells) for r in row] == [(0, "训", 2), (2, "练", 2), (4, " ok", 3)]


@pytest.mark.parametrize("hostile", [
    b"\x1b]0;title\x07", b"\x1b]52;c;ZXZpbA==\x1b\\", b"\x1b]8;;http://x\x1b\\", b"\x1bPq#0\x1b\\", b"\x1b_apc\x1b\\",
    b"\x1b[?3h", b"\x1b[>4;1m", b"\x1b[" + b"1;" * 100_000 + b"m", b"\x1b[?5J", b"\x1b[?1A",
    "\u202e".encode() + b"\b \b",
])
def test_escapes_that_reach_outside_leave_nothing(hostile: bytes) -> None:
    for cut in (1, 3, 7, len(hostile)):
        emulator = Emulator(40, 4)
        emulator.feed(b"a" + hostile[:cut])
        emulator.feed(hostile[cut:] + b"b")
        assert set("".join(screen(emulator))) <= set("ab \ufffd")
        assert screen(emulator)[0].strip()[-1] == "b"
        assert (emulator.columns, emulator._screen.columns, emulator._screen.title) == (40, 40, "")


def test_any_bytes_are_survived_quickly() -> None:
    chance = random.Random(7)
    alphabet = b"\x1b\x9b[]()?;0123456789ABCDHJKmhlrsu\r\n\t\x07 abc\xe8\xae\xad"
    for _ in range(300):
        data = bytes(chance.choice(alphabet) for _ in range(300))
        emulator = Emulator(20, 5)
        emulator.feed(data)
        emulator.screen_rows()


def test_a_full_screen_program_leaves_the_lines_before_it() -> None:
    emulator = Emulator(20, 4)
    emulator.feed(b"$ top\r\n\x1b[?1049h\x1b[HCPU 3%")
    assert screen(emulator)[0] == "CPU 3%"
    emulator.feed(b"\x1b[?1049l$ ")
    assert screen(emulator) == ["$ top", "$"]


def test_any_step_back_and_forth_shows_the_same_screen_as_emulating_from_the_start() -> None:
    lines = [f"\x1b[3{i % 8}mline {i} 训练\x1b[m\r\n".encode() for i in range(9000)]
    tape = TerminalTape(outputs(*lines), lambda _: None)
    player = Player(tape, 40, 6)
    ends = [o.offset + o.size for o in tape.outputs]
    for target in (ends[8999] - 200_000, ends[10], ends[7000], ends[3], ends[8999] - 100_000):
        player.seek(target)
        while player.work(1.0):
            pass
        fresh = Emulator(40, 6)
        data = b"".join(lines)[max(0, target - 60_000) : target]
        fresh.feed(data)
        assert [row_text(r) for r in player.emulator.screen_rows()] == screen(fresh)


def test_a_flood_is_passed_over_and_its_last_lines_are_there() -> None:
    lines = b"".join(f"step {i} loss 0.83\r\n".encode() for i in range(200_000))
    assert len(lines) > 10 * FLOOD
    parts = [lines[i : i + 100_000] for i in range(0, len(lines), 100_000)]
    player = Player(TerminalTape(outputs(*parts), lambda _: None), 80, 24)
    player.seek(10**9)
    emulated: list[int] = []
    feed = player.emulator.feed
    player.emulator.feed = lambda data: (emulated.append(len(data)), feed(data))
    while player.work(0.005):
        pass
    assert sum(emulated) < 2 * FLOOD
    assert row_text(player.emulator.screen_rows()[-2]) == "step 199999 loss 0.83"
    assert row_text(player.emulator.history[-1]).startswith("step 1999")
    numbers = [int(row_text(r).split()[1]) for r in player.emulator.history[-5000:]]
    assert numbers == list(range(numbers[0], numbers[0] + 5000))


def test_bytes_in_a_blob_are_waited_for() -> None:
    held: dict[str, bytes] = {}
    player = Player(TerminalTape(outputs(b"hello ", b"world", blob=True), held.get), 20, 2)
    player.seek(11)
    assert not player.work(1.0)
    assert player.position == 0
    held.update({"0": b"hello ", "1": b"world"})
    player.work(1.0)
    assert row_text(player.emulator.screen_rows()[0]) == "hello world"


def test_skipped_lines_keep_their_columns_too() -> None:
    (line,) = plain_lines("old\r训练 ok é e\u0301", 80)
    row = row_of(line)
    assert [(r.column, r.text, r.cells) for r in row][:3] == [(0, "训练", 4), (4, " ok ", 4), (8, "é", 1)]
    assert [p for r in row for p in pieces(r)][:3] == [(0, "训", 2), (2, "练", 2), (4, " ", 1)]
    assert columns_text(row, 2, 7) == "练 ok"
    assert list(plain_lines("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
