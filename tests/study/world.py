"""A small shell world: a few files and a dozen commands, deterministic and without any process or disk.

It stands where an agent's host stands: `Shell` runs commands, `ShellHost` lets the product collect a submission.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from fnmatch import fnmatch

import msgspec

from core.domain.errors import NotFound
from core.domain.step import ActionError, Observation, Output
from core.domain.task import Host
from core.sandbox.values import FileStat
from core.tasks.submission import pack

WORKSPACE = "/workspace"
VERSIONS = "versions.txt"
INSTALLED = "installed.txt"


class Reply(msgspec.Struct, frozen=True):
    """How a command ended, and what it printed."""

    code: int
    text: str = ""


class _Refused(Exception):
    """A command that fails with exit code 1 and a sentence."""


class Shell:
    """Files by relative path, and the commands that look at or change them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)

    def run(self, command: str) -> Reply:
        """Carry one command line out; never raises. No pipes, no variables: what is not known fails as in a shell."""
        try:
            words = shlex.split(command)
        except ValueError as error:
            return Reply(2, f"sh: {error}")
        carry = _COMMANDS.get(words[0]) if words else None
        if carry is None:
            return Reply(127, f"sh: {words[0] if words else command}: not found")
        try:
            return Reply(0, carry(self, words[1:]))
        except _Refused as refused:
            return Reply(1, f"{words[0]}: {refused}")

    def _read(self, name: str) -> str:
        path = _normal(name)
        if path not in self.files:
            raise _Refused(f"{name}: {'Is a directory' if self._is_folder(path) else 'No such file'}")
        return self.files[path]

    def _is_folder(self, path: str) -> bool:
        return path == "." or any(f.startswith(f"{path}/") for f in self.files)

    def _target(self, name: str, source: str) -> str:
        path = _normal(name)
        if name.endswith("/") or self._is_folder(path):
            if not self._is_folder(path):
                raise _Refused(f"{name}: No such directory")
            if not source:
                raise _Refused(f"{name}: Is a directory")
            return _normal(f"{path}/{posixpath.basename(source)}")
        if any(path.startswith(f"{file}/") for file in self.files):
            raise _Refused(f"{name}: Not a directory")
        return path

    def _names(self, words: list[str]) -> list[str]:
        """File names, with * where a name holds one."""
        found: list[str] = []
        for word in words:
            matching = sorted(f for f in self.files if "/" not in f and fnmatch(f, word)) if "*" in word else [word]
            found += matching or [word]
        return found

    # ---- commands

    def _ls(self, words: list[str]) -> str:
        folder = _normal(words[0]) if words else "."
        if not self._is_folder(folder):
            raise _Refused(f"{folder}: No such file")
        inside = [posixpath.relpath(f, folder) for f in self.files if folder == "." or f.startswith(f"{folder}/")]
        entries = {f"{name.split('/')[0]}/" if "/" in name else name for name in inside}
        return "\n".join(sorted(e for e in entries if not e.startswith(".")))

    def _cat(self, words: list[str]) -> str:
        return "\n".join(self._read(w) for w in self._names(words))

    def _grep(self, words: list[str]) -> str:
        names_only = "-l" in words
        plain = [w for w in words if not w.startswith("-")]
        if len(plain) < 2:
            raise _Refused("a word and a file are needed")
        found = []
        names = self._names(plain[1:])
        for name in names:
            lines = [line for line in self._read(name).splitlines() if plain[0] in line]
            found += [name] if names_only and lines else lines
        if not found:
            raise _Refused("no match")
        return "\n".join(found)

    def _echo(self, words: list[str]) -> str:
        if ">" not in words[:-1]:
            return " ".join(words)
        at = words.index(">")
        self.files[self._target(words[at + 1], "")] = " ".join(words[:at])
        return ""

    def _mv(self, words: list[str]) -> str:
        source, target = _two(words)
        text, place = self._read(source), self._target(target, source)
        del self.files[_normal(source)]
        self.files[place] = text
        return ""

    def _cp(self, words: list[str]) -> str:
        source, target = _two(words)
        self.files[self._target(target, source)] = self._read(source)
        return ""

    def _rm(self, words: list[str]) -> str:
        for word in words:
            self._read(word)
            del self.files[_normal(word)]
        return ""

    def _sed(self, words: list[str]) -> str:
        """`sed -i s/OLD/NEW/ FILE`; as the real one it says nothing where nothing matches."""
        if len(words) != 3 or words[0] != "-i" or len(parts := words[1].split("/")) != 4 or parts[0] != "s":
            raise _Refused("cannot read this")
        text = self._read(words[2])
        self.files[_normal(words[2])] = text.replace(parts[1], parts[2]) if parts[1] else text
        return ""

    def _install(self, words: list[str]) -> str:
        """`install NAME VERSION`, of what versions.txt lists."""
        lines = [line.split() for line in self.files.get(VERSIONS, "").splitlines()]
        known = {line[0]: line[1] for line in lines if len(line) == 2}
        if not words or words[0] not in known:
            raise _Refused("no such package")
        if len(words) == 1:
            raise _Refused(f"which version of {words[0]}?")
        if words[1] != known[words[0]]:
            raise _Refused(f"{words[0]} has no version {words[1]}")
        self.files[INSTALLED] = " ".join(words[:2])
        return "done"


_COMMANDS: dict[str, Callable[[Shell, list[str]], str]] = {
    name: getattr(Shell, f"_{name}") for name in ("ls", "cat", "grep", "echo", "mv", "cp", "rm", "sed", "install")}


def observed(shell: Shell, command: str) -> Observation:
    """What comes of a command, as the agent is told it."""
    reply = shell.run(command)
    if reply.code:
        return Observation(call_id="", exit_code=reply.code, error=ActionError(kind="error", message=reply.text))
    return Observation(call_id="", exit_code=0, output=Output(text=reply.text, total_chars=len(reply.text)))


class ShellHost:
    """The part of a sandbox through which the product takes a submission out."""

    workspace = WORKSPACE
    host = Host(name="main")

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def pack(self, names: Sequence[str], base: str = "") -> AsyncGenerator[bytes, None]:
        """Files and folders as one tar."""
        chosen = {file: text.encode() for file, text in self._shell.files.items()
                  if any(name in (".", file) or file.startswith(f"{name}/") for name in names)}
        yield pack(chosen)

    async def stat(self, path: str) -> FileStat:
        """What lies at a path. Raises NotFound."""
        name = self._inside(path)
        if name in self._shell.files:
            return FileStat(path=path, size=len(self._shell.files[name].encode()))
        if name == "." or any(f.startswith(f"{name}/") for f in self._shell.files):
            return FileStat(path=path, kind="dir")
        raise NotFound("no_file", f"There is no file {name}.", path=name)

    @staticmethod
    def _inside(path: str) -> str:
        return _normal(posixpath.relpath(path, WORKSPACE))


def _normal(name: str) -> str:
    return posixpath.normpath(name)


def _two(words: list[str]) -> tuple[str, str]:
    if len(words) != 2:
        raise _Refused("two names are needed")
    return words[0], words[1]
