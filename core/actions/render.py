"""A terminal's raw bytes as the plain text that a model reads: what a screen would have shown at the end.

Colours and other escapes go, progress bars that overwrite themselves collapse to their last state, and
cursor movement within the last lines is followed. Full-screen programs are not emulated.
"""

import re

FRONT = 0.2
"""The share of a cut text that is taken from its beginning; errors stand at the end."""
_ROWS_UP = 200
_WIDTH = 100_000
_LONGEST = 5_000
"""Lines longer than this are only appended to: overwriting them again and again would take for ever."""

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f\x80-\x9f]+)"
    r"|\x1b\[(?P<params>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]PX^_](?:[^\x07\x1b\x9c]|\x1b(?!\\))*(?:\x07|\x1b\\|\x9c|\Z)"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<control>[\x00-\x1f\x7f\x80-\x9f])"
)


class _Screen:
    """Lines without a bottom or a right border; the cursor may go back up some rows."""

    def __init__(self) -> None:
        self.lines = [""]
        self.row = 0
        self.column = 0
        self._pieces: list[str] = []
        self._added = 0

    def write(self, text: str) -> None:
        line = self.lines[self.row]
        length = len(line) + self._added
        if self.column == length or length > _LONGEST:  # the usual case, kept linear in the length of a line
            self._pieces.append(text)
            self._added += len(text)
            self.column = length + len(text)
            return
        self.settle()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + text + line[self.column + len(text) :]
        self.column += len(text)

    def settle(self) -> None:
        """Put what was appended to the line into it."""
        if self._pieces:
            self.lines[self.row] += "".join(self._pieces)
            self._pieces.clear()
            self._added = 0

    def control(self, char: str) -> None:
        if char == "\n":
            self.settle()
            self._down(1)
            self.column = 0  # the terminal's own translation may be off; a line break is a line break
        elif char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char == "\t":
            self.column = min(_WIDTH, self.column + 8 - self.column % 8)

    def sequence(self, params: str, final: str) -> None:
        if final not in "ABCDGKJP":
            return
        self.settle()
        numbers = [min(int(p), _WIDTH) if p.isdigit() and len(p) < 8 else 0 for p in params.split(";")]
        n = numbers[0]
        if final == "A":
            self.row = max(0, self.row - min(max(1, n), _ROWS_UP))
        elif final == "B":
            self._down(min(max(1, n), _ROWS_UP))
        elif final == "C":
            self.column = min(_WIDTH, self.column + max(1, n))
        elif final == "D":
            self.column = max(0, self.column - max(1, n))
        elif final == "G":
            self.column = max(0, n - 1)
        elif final == "K":
            self._erase(n)
        elif final == "J" and n == 0:
            self._erase(0)
            del self.lines[self.row + 1 :]
        elif final == "P":
            line = self.lines[self.row]
            self.lines[self.row] = line[: self.column] + line[self.column + max(1, n) :]

    def _erase(self, how: int) -> None:
        line = self.lines[self.row]
        if how == 0:
            self.lines[self.row] = line[: self.column]
        elif how == 1:
            self.lines[self.row] = " " * min(self.column, len(line)) + line[self.column :]
        else:
            self.lines[self.row] = ""

    def _down(self, rows: int) -> None:
        self.row += rows
        while self.row >= len(self.lines):
            self.lines.append("")


def plain_text(data: bytes) -> str:
    """What a terminal would have shown, without trailing blanks. Bytes that are not UTF-8 become U+FFFD."""
    screen = _Screen()
    text = data.decode("utf-8", "replace")
    if "\x1b" not in text and not re.search(r"\r(?!\n)|[\b\t\x00-\x08\x0b-\x0c\x0e-\x1f]", text):
        return text.replace("\r\n", "\n").rstrip()
    for token in _TOKEN.finditer(text.replace("\r\n", "\n")):
        if token["text"] is not None:
            screen.write(token["text"])
        elif token["control"] is not None:
            screen.control(token["control"])
        elif token["final"] is not None:
            screen.sequence(token["params"], token["final"])
    screen.settle()
    return "\n".join(line.rstrip() for line in screen.lines).rstrip()


def cut(text: str, limit: int) -> tuple[str, bool]:
    """A text of at most about `limit` characters: its front and its back with a line between; whether it was cut."""
    if len(text) <= limit:
        return text, False
    front = int(limit * FRONT)
    back = limit - front
    return f"{text[:front]}\n[… {len(text) - limit:,} characters left out …]\n{text[len(text) - back :]}", True
