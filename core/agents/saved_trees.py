"""The files of a host as they rest in a snapshot: folders as trees of content-addressed pieces."""

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.domain.blob import BlobRef
from core.domain.errors import InvalidInput
from core.store.pieces import PieceStore

LATIN = Annotated[str, Meta(max_length=65_536)]
"""A name or path whose characters are the bytes that the sandbox has."""


class TreeEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One name in a folder: a file of `pieces`, a folder whose content is `tree`, a link to `target`."""

    name: LATIN
    kind: Literal["f", "d", "l"]
    mode: int
    time_ns: int
    size: int = 0
    pieces: tuple[BlobRef, ...] = ()
    tree: BlobRef = ""
    target: LATIN = ""


class SavedHost(msgspec.Struct, frozen=True, kw_only=True):
    """A host's folders (name to tree), how many files and bytes they hold, and what could not be saved."""

    trees: dict[str, BlobRef]
    files: int = 0
    bytes: int = 0
    problems: tuple[str, ...] = ()


_TREE: msgspec.json.Decoder[list[TreeEntry]] = msgspec.json.Decoder(list[TreeEntry])


def read_tree(store: PieceStore, tree: str) -> list[TreeEntry]:
    """The names in a folder of a snapshot. Raises NotFound, InvalidInput (bad_tree)."""
    try:
        entries = _TREE.decode(store.get(tree))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("bad_tree", f"A folder of a snapshot cannot be read: {error}.") from error
    for entry in entries:
        check_name(entry.name)
    return entries


def pieces_of(store: PieceStore, tree: str, known: set[bytes]) -> None:
    """Add the names of all pieces below a tree to those that are known; a tree that is known is not looked into."""
    name = bytes.fromhex(tree)
    if name in known:
        return
    known.add(name)
    for entry in read_tree(store, tree):
        known.update(bytes.fromhex(piece) for piece in entry.pieces)
        if entry.kind == "d":
            pieces_of(store, entry.tree, known)


def paths_of(store: PieceStore, tree: str, above: str = "") -> Iterable[tuple[str, TreeEntry]]:
    """Every file and link below a tree, with its path."""
    for entry in read_tree(store, tree):
        if entry.kind == "d":
            yield from paths_of(store, entry.tree, f"{above}{shown(entry.name)}/")
        else:
            yield f"{above}{shown(entry.name)}", entry


def check_name(name: str) -> None:
    """Nothing that leads out of its folder. Raises InvalidInput (bad_tree)."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise InvalidInput("bad_tree", f"{name[:100]!r} cannot name a file.")


def shown(path: str) -> str:
    """A path as a sandbox tells it, byte for byte, as text for people."""
    return path[:1000].encode("latin-1", "replace").decode("utf-8", "replace")
