"""Bash with marks: each command's start, end, real exit code and folder, told in escape sequences.

A command is written to a file and sourced, so any number of lines, heredocs and unbalanced quotes are safe,
and standard input stays the terminal. The marks carry a nonce per terminal, so that printing an old record
of a terminal does not end a command; terminals ignore the sequence. Both the typed line and PROMPT_COMMAND
report the end, whichever comes first: Ctrl-C drops the rest of the line, a program may unset the variable.
The prompt holds a mark too: a line typed before it would be echoed twice, or lost to an interrupt.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

MARK = b"\x1b]7717;"
LONGEST_MARK = 5000

RC = r"""# Written by the terminal daemon.
[ -f ~/.bashrc ] && . ~/.bashrc
PS1='\u@\h:\w\$ \[\033]7717;@NONCE@;prompt;-\007\]'
HISTCONTROL=ignorespace
bind 'set enable-bracketed-paste off' 2>/dev/null
__tiphys_job=
__tiphys_begin() {
  local __tiphys_status=$?
  { local -; set +eux; } 2>/dev/null
  __tiphys_job=$1 __tiphys_file=@DIR@/$1
  local text; text=$(<"$__tiphys_file"); history -s -- "$text"
  case "${PROMPT_COMMAND[*]-}" in
    *__tiphys_end*) ;;
    *) PROMPT_COMMAND="__tiphys_end${PROMPT_COMMAND:+;$PROMPT_COMMAND}" ;;
  esac
  local prompt=${PS1@P}; prompt=${prompt//[$'\001\002']/}; prompt=${prompt%%$'\033']7717*}
  printf '\033[A\033[2K\r%s%s\n\033]7717;@NONCE@;start;%s\007' "$prompt" "${text:0:4000}" "$1" >/dev/tty
  return $__tiphys_status
}
__tiphys_end() {
  local __tiphys_status=$?
  { local -; set +eux; } 2>/dev/null
  if [ -n "$__tiphys_job" ]; then
    printf '\033]7717;@NONCE@;end;%s;%s;%s\007' "$__tiphys_job" "$__tiphys_status" "${PWD//[^[:print:]]/?}" >/dev/tty
    __tiphys_job=
  fi
  return $__tiphys_status
}
PROMPT_COMMAND=__tiphys_end
"""


class ShellMark(NamedTuple):
    """A mark found in the stream: begin and end are its own byte offsets."""

    kind: str
    job: str
    exit_code: int
    cwd: str
    begin: int
    end: int


def write_rc(folder: str, nonce: str) -> str:
    """Write a terminal's start-up file and give its path."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, "rc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(RC.replace("@NONCE@", nonce).replace("@DIR@", folder))
    return path


def write_command(folder: str, job: str, text: str) -> bytes:
    """Write a command's file; gives the line to type that runs it. The blank keeps it out of the history."""
    with open(os.path.join(folder, job), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text if text.endswith("\n") else text + "\n")
    return f' __tiphys_begin {job}; . "$__tiphys_file"; __tiphys_end\n'.encode()


class MarkReader:
    """Finds marks in a stream that comes in pieces."""

    def __init__(self, nonce: str) -> None:
        self._pattern = re.compile(
            re.escape(MARK + nonce.encode())
            + rb";(start|end|prompt);([^;\x07]{1,100})(?:;(\d{1,3});([^\x07]{0,4096}))?\x07"
        )
        self._carry = b""

    def feed(self, data: bytes, offset: int) -> list[ShellMark]:
        """The marks that are complete with `data`, which lies at `offset` of the stream."""
        start = offset - len(self._carry)
        text = self._carry + data
        found = [_mark(m, start) for m in self._pattern.finditer(text)]
        begin = text.rfind(b"\x1b")
        open_end = begin >= 0 and b"\x07" not in text[begin:] and len(text) - begin < LONGEST_MARK
        self._carry = text[begin:] if open_end else b""
        return found


def _mark(match: re.Match[bytes], start: int) -> ShellMark:
    kind, job, code, cwd = (g.decode("utf-8", "replace") if g is not None else "" for g in match.groups())
    return ShellMark(kind, job, int(code or 0), cwd, start + match.start(), start + match.end())


def split_exit(status: int) -> tuple[bool, int]:
    """Whether a wait status tells of a signal, and the exit code in the shell's convention (128 + signal)."""
    if os.WIFSIGNALED(status):
        return True, 128 + os.WTERMSIG(status)
    return False, os.WEXITSTATUS(status)
