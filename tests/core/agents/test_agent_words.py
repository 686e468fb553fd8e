"""What an agent says beside its model endpoint: shown as its own words, bounded, once, and never more than that."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from support.agents import Log, memory

from core.actions.follow import BURST
from core.agents.agent_words import MOST_A_STEP, AgentWords
from core.agents.delivery import Inbox
from core.agents.held_words import LeaveAsked
from core.agents.journal import Journal
from core.agents.line_session import MOST, LineSession, retold
from core.agents.line_sessions import LineSessions
from core.agents.signals import Signals
from core.agents.steps import StepJournal
from core.domain.errors import InvalidInput
from core.domain.events import Fact, FileChanged, NoteAdded, TerminalOutput
from core.domain.message import Message
from core.domain.task import AgentSettings, Task
from core.gateway.http_head import Head
from core.gateway.recipe import DIALECTS, recipe_named
from core.gateway.request import RequestReader
from core.llm.model import estimate_tokens


class Agent:
    """A session's journal, and the words of its agent."""

    def __init__(self, folder: Path, **more: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(folder / "journal.db", "s1")
        self.inbox = Inbox(self.journal)
        self.signals = Signals(self.inbox)
        settings = AgentSettings(kind="external", recipe="opencode")
        steps = StepJournal(self.journal, self.inbox, Task(id="t", title="T", description="D"), estimate_tokens)
        self.main = main = LineSession(self.journal, self.inbox, steps, settings, recipe_named("opencode"), dict)
        self.shown: list[LeaveAsked | None] = []
        flags = {"is_attached": True, "speaks_acp": False, "stays": False, **more}
        self.words = AgentWords(main, self.inbox, self.signals, host="main", is_over=lambda: False,
                                on_leave=self.shown.append, on_waits=lambda _: None, on_ended=lambda _: None, **flags)
        self.log = Log()

    def say(self, what: str, body: object, name: str = "") -> object:
        """One word; gives the answer."""
        return msgspec.json.decode(asyncio.run(self.words.take(f"/tiphys/{what}", msgspec.json.encode(body), name)))

    def facts(self, kind: type[Fact]) -> list[Fact]:
        return [fact for fact in self.journal.facts() if isinstance(fact, kind)]


@pytest.fixture
def agent() -> Iterator[Agent]:
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        made = Agent(Path(folder))
        yield made
        made.journal.close()


def test_an_agent_in_a_sandbox_tells_neither_its_end_nor_what_it_edited(tmp_path: Path) -> None:
    shown = {"note", "plan", "printed", "leave", "turn", "before"}
    for flags, known in (({"is_attached": False, "speaks_acp": True}, shown), ({"is_attached": False}, set())):
        made = Agent(tmp_path / str(len(known)), **flags)
        words = made.words
        assert {one for one in (*shown, "edit", "ended", "", "../note", "x")
                if words.knows(f"/tiphys/{one}")} == known
        made.journal.close()


def test_an_agent_whose_own_record_is_lost_is_told_what_it_did_and_the_log_says_so_once(agent: Agent) -> None:
    assert agent.say("before", "No record.") == {"text": ""} and not agent.facts(NoteAdded)
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    body = {"model": "m", "messages": [
        {"role": "system", "content": "You are a test."}, {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "calc.py"}],
        "tools": [{"type": "function", "function": call}]}
    request = RequestReader().read(DIALECTS["chat"], Head(method="POST", target="/v1/chat/completions"),
                                   msgspec.json.encode(body))
    _, sending = LineSessions(agent.main, lambda call: None, recipe_named("opencode")).arrive(request)
    agent.main.book.commit(sending)
    for _ in range(2):
        text = msgspec.convert(agent.say("before", "No record."), dict[str, str])["text"]
        assert 'You said: I look.\nYou called bash with {"command": "ls"}\n\nWhat came back: calc.py' in text
        assert "you have no record of it" in text and "You are a test." not in text and "Mend it." not in text
    (note,) = agent.facts(NoteAdded)
    assert note.step == 1 and note.text.endswith("No record.")


def test_of_a_long_conversation_the_newest_is_told_and_of_a_long_result_both_ends() -> None:
    many = [Message(role="tool", content=f"{n} " + "x" * 10_000 + f" {n}") for n in range(40)]
    text = retold(many)
    assert len(text) < MOST + 1_000 and "[what came before is left out]" in text and " 39\n\nGo on" in text
    assert "What came back: 39 x" in text and "What came back: 0 x" not in text


def test_a_word_that_is_said_again_counts_once_and_a_flood_is_cut(agent: Agent) -> None:
    for _ in range(3):
        agent.say("note", "The same.", "a-1")
    assert [fact.text for fact in agent.facts(NoteAdded)] == ["The same."]
    for n in range(3 * MOST_A_STEP):
        agent.say("note", f"{n}")
    assert len(agent.facts(NoteAdded)) == MOST_A_STEP
    for _ in range(12):
        agent.say("printed", "x" * (1 << 20))
    kept = agent.facts(TerminalOutput)
    assert sum(fact.size for fact in kept) <= BURST + (1 << 20)
    assert all(one.offset + one.size <= other.offset for one, other in itertools.pairwise(kept))


def test_an_edit_is_told_with_its_texts_wherever_its_path_leads_and_nothing_is_written_there(agent: Agent) -> None:
    agent.say("edit", {"path": "/etc/../x", "before": None, "after": "a\n", "size": 2})
    (fact,) = agent.facts(FileChanged)
    assert (fact.path, fact.before, agent.journal.blob(fact.after)) == ("/etc/../x", "", b"a\n")
    for wrong in ({"path": "", "after": ""}, {"path": "x"}, {"path": "x", "after": "", "size": -1}, [], "x" * 100_000):
        with pytest.raises(InvalidInput):
            agent.say("edit", wrong)
    with pytest.raises(InvalidInput):
        agent.say("note", "x" * 100_000)


@pytest.mark.parametrize(("answer", "allowed"), [("resume", True), ("interrupt", False), ("advice", False),
                                                 ("stop", False)])
def test_a_person_allows_by_going_on_and_refuses_by_anything_else(agent: Agent, answer: str, allowed: bool) -> None:
    async def main() -> object:
        asked = asyncio.create_task(agent.words.take("/tiphys/leave", b'"rm -rf build"', ""))  # noqa: TID251
        await asyncio.sleep(0)
        assert [one.what for one in agent.shown] == ["rm -rf build"]
        match answer:
            case "advice":
                agent.log.guide("g1", "No.")
            case "interrupt":
                assert agent.words.refuse()
            case _:
                agent.log.control(answer)
        agent.log.give(agent.inbox)
        agent.signals.ring()
        return msgspec.json.decode(await asked)

    assert asyncio.run(main()) == {"allow": allowed}
    assert agent.shown[-1] is None and not agent.words.refuse()


@pytest.mark.parametrize("late", ["resume", "interrupt"])
def test_an_answer_that_comes_after_another_one_is_none_to_the_next_question(agent: Agent, late: str) -> None:
    """Two people answer the first question; by the second one's word the agent asks for something else already."""
    async def asks(what: str) -> tuple[asyncio.Task[bytes], str]:
        asked = asyncio.create_task(agent.words.take("/tiphys/leave", f'"{what}"'.encode(), ""))  # noqa: TID251
        await asyncio.sleep(0)
        return asked, agent.shown[-1].question

    async def main() -> None:
        first, question = await asks("ls")
        agent.log.control("resume", question)
        agent.log.give(agent.inbox)
        agent.signals.ring()
        assert msgspec.json.decode(await first) == {"allow": True}
        second, other = await asks("ls")
        assert other != question, "also the very same text is another question"
        agent.log.control(late, question)
        assert agent.log.give(agent.inbox).controls == (), "nothing is done by it"
        agent.signals.ring()
        await asyncio.sleep(0.01)
        assert not second.done()
        agent.log.control("resume", other)
        agent.log.give(agent.inbox)
        agent.signals.ring()
        assert msgspec.json.decode(await second) == {"allow": True}

    asyncio.run(main())
