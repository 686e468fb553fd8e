"""A model as the evaluator of what was handed in: it reads the task, a rubric and the files, and gives 0 to 100."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile

from core.domain.foreign import marked
from core.domain.message import Message
from core.llm.model import EndpointError, LanguageModel, Request
from core.store.home import resources
from core.tasks.rescoring import VERSION_DIGITS
from core.tasks.scoring import Outcome, failed, read_score

MAX_FILE, MAX_CHARS = 256 << 10, 120_000
"""Bytes of the largest file that is shown to a judge, and characters of all together."""

ATTEMPTS = 3


class RubricJudge:
    """Scores stored submissions by a model's reading (`rescoring.Rescorer`)."""

    def __init__(self, model: LanguageModel, task: str, rubric: str) -> None:
        """`task` is the task's description; `rubric` says what earns how much."""
        self._model = model
        self._prompt = (resources() / "prompts" / "rubric_judge.md").read_text(encoding="utf-8")
        self._asked = f"{marked('task', task)}\n\n{marked('rubric', rubric)}"
        self.name = model.name
        whole = "\0".join((model.name, self._prompt, self._asked)).encode()
        self.version = hashlib.sha256(whole).hexdigest()[:VERSION_DIGITS]

    async def score(self, packed: bytes) -> Outcome:
        """See Rescorer. An endpoint that fails, or a judge that does not answer in the form, gives no score."""
        try:
            shown = text_of_tar(packed)[:MAX_CHARS]
        except (tarfile.TarError, ValueError, EOFError) as error:
            return failed(f"What was handed in cannot be read: {error}", "submission_unreadable")
        if not shown.strip():
            return failed("There is no text in what was handed in that a judge could read.", "submission_unreadable")
        request = Request(messages=(Message(role="system", content=self._prompt), Message(
            role="user", content=f"{self._asked}\n\n{marked('submission', shown)}")), temperature=0.0)
        outcome = failed("Nothing was asked.")
        for _ in range(ATTEMPTS):
            try:
                answer = (await self._model.complete(request)).message.content
            except EndpointError as error:
                return failed(f"The judge did not answer: {error.sentence}")
            found = re.search(r"\{.*\}", answer, re.DOTALL)
            outcome = read_score(" ".join(found[0].splitlines()).encode() if found else answer.encode())
            if not outcome.failed:
                break
        return outcome


def text_of_tar(data: bytes) -> str:
    """The texts of a submission's files, each under its name. Raises tarfile.TarError."""
    parts = []
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for one in tar:
            file = tar.extractfile(one) if one.isreg() and one.size <= MAX_FILE else None
            if file is not None:
                parts.append(text_part(one.name, file.read()))
    return "\n\n".join(filter(None, parts))


def text_part(name: str, data: bytes) -> str:
    """A file as text under its name, "" for what is none."""
    try:
        return f"### {name}\n{data.decode('utf-8')}" if b"\0" not in data else ""
    except UnicodeDecodeError:
        return ""
