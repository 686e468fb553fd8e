"""The solutions that `tiphys tasks novelty` compares, as texts; and the judge's answer in words."""

from __future__ import annotations

import tarfile
from pathlib import Path

from core.cli.log_access import reading, trajectory
from core.domain.errors import InvalidInput, NotFound
from core.store import blobs
from core.store.home import Home
from core.supervision.novelty import Novelty
from core.tasks.catalogue import Catalogue
from core.tasks.reader import CatalogueTask
from core.tasks.rubric import MAX_FILE, text_of_tar, text_part


def handed_in(home: Home, session: str) -> tuple[str, str]:
    """The task of a session, and the text of what it handed in last and was scored for.

    Raises NotFound where there is no such session, InvalidInput (no_solution) where nothing feasible was handed in.
    """
    with reading(home) as conn:
        found = trajectory(conn, session)
        scored = {s.ordinal for s in found.scores if s.total and not s.failed}
        last = next((s for s in reversed(found.submissions) if s.ordinal in scored and s.blob), None)
        if found.created is None:
            raise NotFound("no_session", f"There is no session {session}.", session=session)
        if last is None:
            raise InvalidInput("no_solution", f"Session {session} handed in nothing that is in its log and had a score "
                               "above 0: a solution that does not work is not new.", session=session)
        try:
            return found.created.task.id, text_of_tar(blobs.get(conn, last.blob))
        except tarfile.TarError as error:
            raise InvalidInput("no_solution", f"What session {session} handed in cannot be read: {error}",
                               session=session) from error


def text_of_files(files: list[tuple[str, Path]]) -> str:
    """The texts of files, each under its name."""
    found = (text_part(name, path.read_bytes()) for name, path in files if path.stat().st_size <= MAX_FILE)
    return "\n\n".join(filter(None, found))


def known_solutions(entry: CatalogueTask, catalogue: Catalogue) -> dict[str, str]:
    """The texts of a task's known solutions, by name: its reference solution, and what its proof names beside it."""
    proof = entry.proof
    places = [str(Path(proof.solution).parent)] if proof.solution else []
    texts = {name: text_of_files(catalogue.paths(entry.task, name)) for name in (*places, *proof.known)}
    return {name: text for name, text in texts.items() if text}


def novelty_words(session: str, novelty: Novelty) -> list[str]:
    """The answer, a line each."""
    if novelty.novelty is None:
        return [f"{session}: no solution of the task is known, so whatever works is new."]
    lines = [f"{session}: N {novelty.novelty:.1f} of 100, nearest to {novelty.nearest}"]
    lines += [f"  {one.known}: {one.distance:.1f} ({', '.join(f'{a.distance:.0f}' for a in one.answers)})"
              for one in novelty.distances]
    alpha = "not defined" if novelty.alpha is None else f"{novelty.alpha:.2f}"
    within = "not defined" if novelty.within_one is None else f"{novelty.within_one:.0%}"
    return [*lines, f"  agreement of the judge with itself: alpha {alpha}, within one of five: {within}"]
