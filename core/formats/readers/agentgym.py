"""AgentGym: AgentTraj and AgentInstruct rows, and the logs of WebShop's human demonstrations.

Rows are `{item_id | id, conversations: [{from | role, value | content, loss}]}` of ReAct texts, in which the human's
turns after the first are the environment's answers. A demonstration is a file of pages that a person visited, one a
line. Rewards are scores; there are no times, tokens or marks of failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.domain.events import SearchMade, SearchResult
from core.domain.step import Action
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.dialogue import DialogueTurn, add_turns, react
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.records import records
from core.formats.rows import SourceRow, canonical, read_rows
from core.formats.source import Source
from core.formats.values import as_json, dict_of, dicts_of, float_of, text_of

NAME = "agentgym"
_ASSISTANT = ("gpt", "assistant")
_USER = ("human", "user")
_REWARD = "reward of the environment"


def _is_row(value: Any) -> bool:
    """Whether a row is a conversation with losses or an item."""
    turns = value.get("conversations") if isinstance(value, dict) else None
    if not isinstance(turns, list) or not turns or not all(isinstance(t, dict) and _role_and_text(t) for t in turns):
        return False
    return any("loss" in t for t in turns) or "item_id" in value or all("role" in t for t in turns)


def _role_and_text(turn: dict[str, Any]) -> tuple[str, str] | None:
    role, text = turn.get("from", turn.get("role")), turn.get("value", turn.get("content"))
    if isinstance(role, str) and role in (*_ASSISTANT, *_USER, "system") and isinstance(text, str):
        return role, text
    return None


def _is_page(value: Any) -> bool:
    return isinstance(value, dict) and {"page", "url", "goal"} <= value.keys()


def read(source: Source) -> Iterator[Imported]:
    """A session per row, or the one of a demonstration."""
    if any(map(_is_page, source.samples)):
        return _demonstration(source)
    return read_rows(source, _is_row, "conversation", lambda row: _row(source, row))


def _row(source: Source, row: SourceRow) -> Imported | str:
    turns: list[DialogueTurn] = []
    for turn in dicts_of(row.value.get("conversations")):
        role, text = _role_and_text(turn) or ("", "")
        if role in _ASSISTANT:
            found = react(text)
            loss = turn.get("loss")
            turns.append(DialogueTurn(role="assistant", text=text, thought=found[0] if found else None,
                                      actions=found[1] if found else None,
                                      learn=loss if isinstance(loss, bool) else None))
        elif role == "system":
            turns.append(DialogueTurn(role="system", text=text))
        else:
            acted = bool(turns) and turns[-1].role == "assistant" and bool(turns[-1].actions)
            turns.append(DialogueTurn(role="user", text=text,
                                      result=CallResult(text=text, role="user") if acted else None))
    if not any(t.role == "assistant" for t in turns):
        return "no turn is the agent's."
    builder = SessionBuilder(NAME, source.name, row.data)
    name = row.value.get("item_id", row.value.get("id", ""))
    add_turns(builder, turns, title=as_json(name), task=as_json(name))
    builder.reward(float_of(row.value.get("reward")), _REWARD)
    return builder.build_without_end()


def _demonstration(source: Source) -> Iterator[Imported]:
    found = records(source)
    pages = [p for p in found.items if _is_page(p)]
    if not pages:
        raise source.without_steps("visited page")
    goal = dict_of(pages[0].get("goal"))
    asked = text_of(goal.get("instruction_text"))
    builder = SessionBuilder(NAME, source.name, canonical([pages[0].get("url"), goal]), found.warnings)
    builder.create(asked[:400], asked, task=text_of(goal.get("asin")))
    conversation = Conversation(builder)
    for page in pages:
        content = dict_of(page.get("content"))
        action = Action(call_id="1", tool=text_of(page.get("page")) or "page", family="browse",
                        arguments={"url": text_of(page.get("url"))})
        results = [CallResult(text=as_json(content))] if content else []
        conversation.add_step(ForeignStep(actions=(action,), results=results))
        _search(builder, page, content)
    builder.reward(float_of(pages[-1].get("reward")), _REWARD)
    builder.end("finished" if pages[-1].get("page") == "done" else "stopped",
                "done" if pages[-1].get("page") == "done" else "end_not_recorded")
    yield builder.build()


def _search(builder: SessionBuilder, page: dict[str, Any], content: dict[str, Any]) -> None:
    words, found = content.get("keywords"), content.get("search_result_asins")
    if page.get("page") == "search_results" and isinstance(words, list) and isinstance(found, list):
        results = tuple(SearchResult(title=text_of(a), link="", position=n) for n, a in enumerate(found, 1))
        builder.fact(SearchMade(query=" ".join(map(text_of, words)), engine="webshop", step=builder.steps,
                                results=results))


FORMAT = Format(name=NAME, title="AgentGym trajectories", read=read,
                recognises=any_sample(lambda value: _is_row(value) or _is_page(value)))
