"""A task's Dockerfile, which is foreign: what it asks for is read and vetted before an engine sees any of it.

What reaches out of a build container (a mount, a device, another network, a file from an address, an image that is not
named as a base) is refused by name, and so is what a sandbox could not keep (a volume, a program of its own that is to
run with the container). The rest is written anew in the form that every engine's own builder takes; heredocs become
plain arguments (https://docs.docker.com/reference/dockerfile/).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

import msgspec

from core.domain.errors import InvalidInput

TAKEN = frozenset({"FROM", "ARG", "ENV", "RUN", "COPY", "ADD", "WORKDIR", "USER", "CMD", "ENTRYPOINT", "LABEL",
                   "EXPOSE", "SHELL", "STOPSIGNAL", "HEALTHCHECK", "MAINTAINER"})
_WHY = {
    "ONBUILD": "it would run in later builds",
    "VOLUME": "what lies in a volume is no part of the state that is scored",
}
_FLAGS = {"FROM": {"platform"}, "COPY": {"from", "chown", "link"}, "ADD": {"chown", "link"}, "HEALTHCHECK": None}
"""Options of an instruction that are taken; None: all."""

_PLATFORMS = {"linux/amd64", "linux/x86_64", "linux/arm64", "$BUILDPLATFORM", "$TARGETPLATFORM"}
IDLE = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|da)?sh(?: -l| --login)?\Z|sleep (?:infinity|\d+\w?)\Z|tail -f /dev/null\Z"
                   r"|python3?(?:\.\d+)?\Z|true\Z")
"""What a container runs only to be there."""

_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,299}")
_UNUSED = frozenset({"MAINTAINER", "EXPOSE"})
_OF_PROGRAMS = frozenset({"HEALTHCHECK", "STOPSIGNAL", "CMD", "ENTRYPOINT"})
"""What says nothing of files, and what only a container with a program of its own has."""

_FLAG = re.compile(r"--([a-z-]+)(?:=(\S*))?(?:\s+|\Z)")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))")
_DIRECTIVE = re.compile(r"#\s*(syntax|escape|check)\s*=\s*(\S+)", re.IGNORECASE)


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction: its word, options, argument as written, and the bodies of its heredocs with their ends."""

    word: str
    flags: tuple[tuple[str, str], ...]
    text: str
    body: str
    line: int


class Dockerfile:
    """A vetted Dockerfile."""

    def __init__(self, text: str, name: str, *, is_service: bool = False) -> None:
        """A service runs the image's own program; a host runs none. Raises InvalidInput (bad_dockerfile), which names
        the file, the line and what is refused."""
        self._name, self._is_service = name, is_service
        self._instructions = list(self._read(text.replace("\r\n", "\n")))
        self._stages: list[str] = []
        self.bases: tuple[str, ...] = ()
        """The images that it is built upon, or takes files of."""
        self._vet()

    @property
    def workdir(self) -> str:
        """The folder that the last stage ends in, "" where it names none."""
        folder = ""
        for one in self._last_stage():
            if one.word == "WORKDIR":
                plain = one.text.strip().strip("\"'")
                folder = plain if plain.startswith("/") else f"{folder.rstrip('/')}/{plain}"
        return "" if "$" in folder else folder

    @property
    def user(self) -> str:
        """The account that the last stage ends as, "" where it names none: then it is its base's, mostly root."""
        users = [one.text.strip().partition(":")[0] for one in self._last_stage() if one.word == "USER"]
        return users[-1] if users else ""

    @property
    def runs(self) -> bool:
        """Whether a container of it has a program of its own."""
        programs = [one.text for one in self._last_stage() if one.word in ("ENTRYPOINT", "CMD")]
        return any(program and not IDLE.match(program) for program in map(_command_line, programs))

    def plain(self) -> bytes:
        """The same for an engine's own builder."""
        shell = ["/bin/sh", "-c"]
        lines = []
        for one in self._instructions:
            if one.word == "FROM":
                shell = ["/bin/sh", "-c"]
            elif one.word == "SHELL":
                shell = json.loads(one.text)
            taken = ("from", "chown") if one.word != "HEALTHCHECK" else tuple(flag for flag, _ in one.flags)
            flags = "".join(f"--{flag}={value} " for flag, value in one.flags if flag in taken)
            text = one.text
            if one.body:
                text = json.dumps([*shell, _script(one)])
            if one.word not in _UNUSED and (self._is_service or one.word not in _OF_PROGRAMS):
                lines.append(f"{one.word} {flags}{text}")
        return "\n".join(lines).encode() + b"\n"

    # ---- reading -----------------------------------------------------------------------------------

    def _read(self, text: str) -> Iterator[Instruction]:
        lines = text.split("\n")
        at, starts = 0, True
        while at < len(lines):
            line = lines[at].strip()
            first, at = at + 1, at + 1
            if starts and (found := _DIRECTIVE.match(line)):
                self._check_directive(found[1].lower(), found[2], first)
                continue
            starts = False
            if not line or line.startswith("#"):
                continue
            parts = []
            while line.endswith("\\"):
                parts.append(line[:-1].rstrip())
                while at < len(lines) and lines[at].strip().startswith("#"):
                    at += 1
                line, at = (lines[at].strip() if at < len(lines) else ""), at + 1
            word, _, rest = " ".join([*parts, line]).strip().partition(" ")
            body, at = self._body(word.upper(), rest, lines, at)
            yield self._instruction(word.upper(), rest.strip(), body, first)

    def _body(self, word: str, rest: str, lines: list[str], at: int) -> tuple[str, int]:
        """The heredocs of an instruction, with the lines that end them."""
        body = []
        for found in _HEREDOC.finditer(rest) if word in ("RUN", "COPY", "ADD") else ():
            while at < len(lines) and lines[at].strip() != found[2]:
                body.append(lines[at])
                at += 1
            if at == len(lines):
                raise self._refuse(at, f"a heredoc without its end {found[2]}")
            body.append(found[2])
            at += 1
        return "\n".join(body), at

    def _instruction(self, word: str, rest: str, body: str, line: int) -> Instruction:
        flags = []
        while found := _FLAG.match(rest):
            flags.append((found[1], found[2] or ""))
            rest = rest[found.end():]
        return Instruction(word=word, flags=tuple(flags), text=rest, body=body, line=line)

    def _check_directive(self, name: str, value: str, line: int) -> None:
        if name == "escape" and value != "\\":
            raise self._refuse(line, f"escape={value}")
        if name == "syntax" and not value.startswith("docker/dockerfile:"):
            raise self._refuse(line, f"the builder {value}, which would run with the engine's rights")

    # ---- vetting -----------------------------------------------------------------------------------

    def _vet(self) -> None:
        arguments: dict[str, str] = {}
        for one in self._instructions:
            if one.word not in TAKEN:
                raise self._refuse(one.line, f"{one.word[:40]}{': ' + _WHY[one.word] if one.word in _WHY else ''}")
            self._vet_flags(one)
            if one.word == "ARG" and not self._stages:
                name, _, value = one.text.partition("=")
                arguments[name.strip()] = value.strip().strip("\"'")
            elif one.word == "FROM":
                self._vet_from(one, arguments)
            elif not self._stages:
                raise self._refuse(one.line, f"{one.word} before the first FROM")
            elif one.word in ("COPY", "ADD"):
                self._vet_copy(one)
            elif one.word in ("ENTRYPOINT", "CMD"):
                self._vet_program(one)
            elif one.word == "SHELL":
                self._words(one)
        if not self._stages:
            raise self._refuse(1, "a file without FROM")

    def _vet_flags(self, one: Instruction) -> None:
        taken = _FLAGS.get(one.word, set())
        for flag, value in one.flags:
            if taken is not None and flag not in taken:
                raise self._refuse(one.line, f"{one.word} --{flag}{'=' if value else ''}{value[:80]}")
            if flag == "platform" and value not in _PLATFORMS:
                raise self._refuse(one.line, f"the platform {value[:40]}")

    def _vet_from(self, one: Instruction, arguments: dict[str, str]) -> None:
        words = one.text.split()
        image = _VARIABLE.sub(lambda m: arguments.get(m[1] or m[3], m[2] or "") or "", words[0] if words else "")
        if not _IMAGE.fullmatch(image):
            raise self._refuse(one.line, f"FROM {one.text[:80]}: no image has that name")
        if image not in self._stages and image != "scratch":
            self.bases = tuple(dict.fromkeys((*self.bases, image)))
        self._stages.append(words[2].lower() if len(words) == 3 and words[1].upper() == "AS" else "")

    def _vet_copy(self, one: Instruction) -> None:
        source = dict(one.flags).get("from")
        earlier = {*filter(None, self._stages[:-1]), *map(str, range(len(self._stages) - 1))}
        if source is not None and source.lower() not in earlier:
            if not _IMAGE.fullmatch(source):
                raise self._refuse(one.line, f"files of {source[:80]}, which is neither an earlier stage nor an image")
            self.bases = tuple(dict.fromkeys((*self.bases, source)))
        if one.body:
            raise self._refuse(one.line, f"{one.word} of a heredoc")
        for word in self._words(one)[:-1] if source is None else ():
            if one.word == "ADD" and "$" in word:  # the engine itself would fetch it, past every way out
                raise self._refuse(one.line, f"{one.word} of {word[:80]}, which may be an address")
            if "://" in word or word.startswith("git@") or word.endswith(".git"):
                raise self._refuse(one.line, f"{one.word} of the address {word[:80]}")
            if ".." in word.split("/"):
                raise self._refuse(one.line, f"{one.word} of {word[:80]}, which lies outside")

    def _vet_program(self, one: Instruction) -> None:
        self._words(one)
        program = _command_line(one.text)
        if program and not self._is_service and not IDLE.match(program):
            raise self._refuse(one.line, f"{one.word} {program[:80]}: a host starts nothing but its terminals")

    def _words(self, one: Instruction) -> list[str]:
        try:
            words = json.loads(one.text) if one.text.startswith("[") else shlex.split(one.text)
            return [str(word) for word in words]
        except (ValueError, RecursionError) as error:
            raise self._refuse(one.line, f"{one.word} {one.text[:80]}, which cannot be read") from error

    def _last_stage(self) -> list[Instruction]:
        last = max(n for n, one in enumerate(self._instructions) if one.word == "FROM")
        return self._instructions[last:]

    def _refuse(self, line: int, what: str) -> InvalidInput:
        return InvalidInput("bad_dockerfile", f"{self._name}, line {line}, asks for what a task's image may not have: "
                            f"{what}.", path=self._name, line=line)


def _command_line(text: str) -> str:
    """A program as it is typed."""
    return " ".join(map(str, json.loads(text))) if text.startswith("[") else text.strip()


def _script(one: Instruction) -> str:
    """What a shell is given for an instruction with heredocs: it takes them apart itself."""
    is_whole = _HEREDOC.fullmatch(one.text.strip())
    if is_whole:
        return one.body.rpartition("\n")[0]
    return f"{one.text}\n{one.body}\n"
