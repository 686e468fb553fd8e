"""One draft on its way through the four phases: what was given, what the gates said of it, what is wanted next."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from core.domain.drafts import PHASES, DraftAnswer, DraftRecord, Phase
from core.domain.errors import InvalidInput
from core.tasks.generation.authored import check_final, check_idea, check_image, check_tests
from core.tasks.generation.bench import DraftBench
from core.tasks.generation.draft import Draft, FinalTests, Idea, Image
from core.tasks.generation.folders import TRAILER
from core.tasks.generation.gates import GateRefusal, Originality, gives_away, prove_draft

Answer = Idea | str | Image | FinalTests


class DraftInProgress:
    """The draft of a number. Each answer goes through the gates of its phase at once."""

    def __init__(self, number: int, bench: DraftBench, originality: Originality,
                 on_answer: Callable[[DraftAnswer], None], *, tries: int, base: str) -> None:
        """`tries` answers are taken for each phase; `base` is what Harbor's image builds upon."""
        self.number, self._bench, self._originality, self._on_answer = number, bench, originality, on_answer
        self._tries, self._base = tries, base
        self._passed = self._refused = self._mended = 0
        self._refusal: GateRefusal | None = None
        self.idea: Idea | None = None
        self._given: Idea | None = None
        self.initial, self.image, self.final = "", Image(), FinalTests(tests="")

    @property
    def phase(self) -> Phase | None:
        """The phase whose answer is wanted; None once all gates were passed."""
        return PHASES[self._passed] if self._passed < len(PHASES) else None

    @property
    def is_over(self) -> bool:
        """Whether no answer is wanted any more."""
        return self.phase is None or self._refused >= self._tries

    @property
    def tries_left(self) -> int:
        """How many answers of this phase may still be refused."""
        return self._tries - self._refused

    @property
    def id(self) -> str:
        """The name of the draft, with its folder where it has one."""
        idea = self.idea
        return f"gen-{self.number:04d}-{idea.folder[:40]}" if idea else f"gen-{self.number:04d}"

    async def take(self, answer: Answer) -> GateRefusal | None:
        """Try the answer to the phase that is open; None where it passed. Raises Unavailable where the engine does not
        answer."""
        self._mended += self._refused > 0
        try:
            refusal = await self._tried(answer)
        except InvalidInput as error:
            refusal = GateRefusal("form", error.sentence)
        if refusal is not None:
            return self.refuse(refusal, text_of(answer))
        self._note(text_of(answer), GateRefusal("", ""))
        self._passed, self._refused, self._refusal = self._passed + 1, 0, None
        return None

    def refuse(self, refusal: GateRefusal, text: str) -> GateRefusal:
        """Count an answer that did not pass, or that was none."""
        self._note(text, refusal)
        self._refused, self._refusal = self._refused + 1, refusal
        return refusal

    def draft(self) -> Draft:
        """The draft as far as it was given. Raises InvalidInput (bad_draft) before the first phase was passed."""
        if self.idea is None:
            raise InvalidInput("bad_draft", f"Draft {self.number} has no description.")
        return Draft(id=self.id, idea=self.idea, initial=self.initial, image=self.image, final=self.final)

    def record(self) -> DraftRecord:
        """What became of it."""
        idea = self.idea or self._given
        title, phase = idea.title if idea else "", self.phase
        if phase is None:
            return DraftRecord(number=self.number, id=self.id, state="accepted", title=title, mended=self._mended)
        refusal = self._refusal or GateRefusal("unfinished", f"its author ended before the {phase}")
        return DraftRecord(number=self.number, id=self.id, state="refused", title=title, phase=phase,
                           gate=refusal.gate, reason=refusal.reason, mended=self._mended)

    async def _tried(self, answer: Answer) -> GateRefusal | None:
        match self.phase, answer:
            case "description", Idea() as idea:
                return self._idea_gate(idea)
            case "initial tests", str() as source:
                check_tests(source)
                self.initial = source
            case "image", Image() as image:
                return await self._image_gate(image)
            case "final tests", FinalTests() as final:
                return await self._final_gate(final)
            case phase, _:
                return GateRefusal("form", f"the {phase or 'end'} is wanted now")
        return None

    def _idea_gate(self, idea: Idea) -> GateRefusal | None:
        self._given = idea
        check_idea(idea)
        refusal = gives_away(idea) or self._originality.admit(f"gen-{self.number:04d}-{idea.folder[:40]}", idea)
        if refusal is None:
            self.idea = idea
        return refusal

    async def _image_gate(self, image: Image) -> GateRefusal | None:
        assert self.idea is not None
        check_image(image)
        made = await self._bench.make(image, self.idea.folder)
        check_image(made)
        problem = await self._bench.initial_problem(made, self.idea.folder, self.initial + TRAILER)
        self.image = made
        return GateRefusal("initial tests pass", problem) if problem else None

    async def _final_gate(self, final: FinalTests) -> GateRefusal | None:
        check_final(final)
        refusal = await prove_draft(msgspec.structs.replace(self.draft(), final=final), self._bench, self._base)
        self.final = final
        return refusal

    def _note(self, text: str, refusal: GateRefusal) -> None:
        if self.phase is not None:
            self._on_answer(DraftAnswer(number=self.number, phase=self.phase, attempt=self._refused + 1, text=text,
                                        gate=refusal.gate, reason=refusal.reason))


def text_of(answer: Answer) -> str:
    """An answer as a person reads it, and as two of them are held against each other."""
    match answer:
        case str():
            return answer
        case Idea():
            head = [f"title: {answer.title}", f"folder: {answer.folder}", f"category: {answer.category}",
                    f"difficulty: {answer.difficulty}"]
            return "\n".join([*head, "", answer.description.strip(), "", "--- truth", answer.truth.strip(), ""])
        case Image():
            parts = _files({name: data.decode("utf-8", "replace") for name, data in answer.files.items()})
            return "\n".join([*parts, *(("--- setup", answer.setup.strip(), "") if answer.setup.strip() else ())])
        case FinalTests():
            return "\n".join([answer.tests.strip(), "", *_files({f"cheat {n}": t for n, t in answer.cheats.items()})])


def _files(files: Mapping[str, str]) -> list[str]:
    return [line for name, text in sorted(files.items()) for line in (f"--- {name}", text.rstrip("\n"), "")]
