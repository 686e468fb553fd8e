"""An Apptainer definition as the Dockerfile that makes the same image, as far as Endless Terminals' definitions go.

https://apptainer.org/docs/user/latest/definition_files.html
"""

from __future__ import annotations

import re

from core.domain.errors import InvalidInput

_LOCAL = re.compile(r"(?:\./)?([a-z0-9]+)_([A-Za-z0-9.]+)\.sif\Z")
"""Endless Terminals' own copy of a registry's image: ubuntu_22.04.sif."""

_END = "END_OF_POST"
_SILENT = ("help", "labels", "runscript", "test", "startscript")
"""Sections that do not change what the container holds; `startscript` would need a started instance."""


def dockerfile_of(definition: str) -> str:
    """The Dockerfile. Raises InvalidInput (bad_dockerfile) for what has no counterpart."""
    header, sections = _parts(definition)
    lines = [f"FROM {_base(header)}"]
    for name, body in sections:
        if name == "post":
            lines += [f"RUN <<'{_END}'", "set -e", *(line for line in body if line.strip() != _END), _END]
        elif name == "environment":
            lines += [f"ENV {assigned}" for line in body if (assigned := _assignment(line))]
        elif name not in _SILENT:
            raise _refused(f"the section %{name}")
    return "\n".join(lines) + "\n"


def _parts(definition: str) -> tuple[dict[str, str], list[tuple[str, list[str]]]]:
    header: dict[str, str] = {}
    sections: list[tuple[str, list[str]]] = []
    for line in definition.splitlines():
        if found := re.match(r"%(\w+)", line):
            sections.append((found[1].lower(), []))
        elif sections:
            sections[-1][1].append(line)
        elif ":" in line and not line.lstrip().startswith("#"):
            name, _, value = line.partition(":")
            header[name.strip().lower()] = value.strip()
    return header, sections


def _base(header: dict[str, str]) -> str:
    how, image = header.get("bootstrap", "").lower(), header.get("from", "")
    if how == "docker":
        return image
    if how == "localimage" and (found := _LOCAL.match(image)):
        return f"{found[1]}:{found[2]}"
    raise _refused(f"Bootstrap: {how[:40]}, From: {image[:80]}")


def _assignment(line: str) -> str:
    text = line.strip().removeprefix("export ").strip()
    if not text or text.startswith("#"):
        return ""
    if not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", text) or "`" in text or "$(" in text:
        raise _refused(f"%environment: {text[:80]}")
    return text


def _refused(what: str) -> InvalidInput:
    return InvalidInput("bad_dockerfile", f"container.def asks for what has no counterpart in an image: {what}.")
