"""The context: which messages the model is given, how long they are, and which turns a summary replaces.

A context is o₀ (turn 0: system and task), then turns; the turn of step N is what led to it (guidance
delivered there), the assistant message and its observations. A summary is one turn, too (APOLLO, algorithm 1).
"""

from collections.abc import Iterable, Sequence

import msgspec

from core.agents.prompts import no_action
from core.domain.context import MessageRef
from core.domain.foreign import neutral
from core.domain.message import Message
from core.domain.step import Action, Observation

_CUT = 4000


class WorkingLine(msgspec.Struct, frozen=True):
    """A message in its place: `turn` is the step it belongs to, 0 for o₀; a summary has its last step's."""

    ref: MessageRef
    turn: int


class Cut(msgspec.Struct, frozen=True):
    """What a summary replaces: steps first..last; `last` is o_k's step. `k` counts turns of the context."""

    first: int
    last: int
    k: int


def count_tokens(lines: Iterable[WorkingLine]) -> int:
    """The length of a context in tokens, by the counts of its messages."""
    return sum(line.ref.tokens for line in lines)


def turns(lines: Iterable[WorkingLine]) -> list[int]:
    """The turns of a context in order, o₀ left out."""
    return list(dict.fromkeys(line.turn for line in lines if line.turn))


def is_summary(line: WorkingLine) -> bool:
    """Whether a line is a summary."""
    return line.ref.source.startswith("summary:")


def choose_cut(lines: Sequence[WorkingLine], *, everything: bool = False) -> Cut | None:
    """The older half, k = ⌊t/2⌋ turns (or all of them); None where there is nothing to gain.

    A summary that is the only turn of the older half takes one more with it, else it would be summarised alone.
    """
    there = turns(lines)
    summarised = {line.turn for line in lines if is_summary(line)}
    k = len(there) if everything else len(there) // 2
    if k and all(turn in summarised for turn in there[:k]):
        k += 1
    if not k or k > len(there) or (k == len(there) and not everything):
        return None
    return Cut(first=1 if there[0] in summarised else there[0], last=there[k - 1], k=k)


def after_cut(lines: Sequence[WorkingLine], cut: Cut, summary: MessageRef) -> tuple[WorkingLine, ...]:
    """[o₀, (S₁:ₖ, oₖ), τₖ₊₁:ₜ]; the summary's message holds oₖ as well."""
    return (
        *(line for line in lines if line.turn == 0),
        WorkingLine(summary, cut.last),
        *(line for line in lines if line.turn > cut.last),
    )


def summary_message(first: int, last: int, text: str, last_observations: Sequence[str], advice: Sequence[str]
                    ) -> Message:
    """(S₁:ₖ, oₖ) as one message. `advice` is what people said in the replaced steps, word for word."""
    parts = [f'<summary first="{first}" last="{last}">\n{neutral(text)}\n</summary>']
    if advice:
        parts.append("Advice that people gave in these steps:\n" + "\n".join(advice))
    if last_observations:
        parts.append(f"Result of step {last}:\n" + "\n".join(last_observations))
    parts.append("Terminals may have changed since; look at them before you rely on them.")
    return Message(role="user", content="\n\n".join(parts))


def mechanical_summary(titles: Sequence[tuple[int, str, bool]]) -> str:
    """What stands in where no model would summarise: one line per step (number, title, whether it failed)."""
    lines = [f"{number}. {title}{' — failed' if failed else ''}" for number, title, failed in titles]
    return "No summary could be written. The replaced steps, one per line:\n" + "\n".join(lines)


def observation_text(action: Action, observation: Observation) -> str:
    """The envelope as the model reads it: how it ended, then what it printed."""
    head = [observation.status if observation.exit_code is None
            else f"{observation.status}, exit code {observation.exit_code}"]
    if observation.job:
        head.append(f"job {observation.job}")
    if observation.started_at and observation.ended_at:
        head.append(f"{(observation.ended_at - observation.started_at).total_seconds():.1f} s")
    parts = [f"[{'; '.join(head)}]"]
    if observation.error:
        parts.append(f"{observation.error.kind}: {observation.error.message}")
    if observation.output.text:
        parts.append(observation.output.text)
    elif observation.data:
        parts.append(msgspec.json.encode(observation.data).decode()[:_CUT])
    if observation.output.truncated:
        parts.append(f"[cut; {observation.output.total_chars:,} characters in all]")
    return neutral("\n".join(parts))


def observation_messages(actions: Sequence[Action], observations: Sequence[Observation], *, native: bool,
                         plain: bool = False) -> list[Message]:
    """What follows an assistant message: a message per call, or one for all in the plain-text formats. `plain`: an
    environment's own words and nothing around them, so that the same is read each time that it is played."""
    if not actions:
        return [Message(role="user", content=no_action(in_environment=plain))]
    shown = [(a, plain_text(o) if plain else observation_text(a, o))
             for a, o in zip(actions, observations, strict=True)]
    if native:
        return [Message(role="tool", content=text, tool_call_id=a.call_id, name=a.tool) for a, text in shown]
    if plain:
        return [Message(role="user", content="\n".join(text for _, text in shown))]
    return [Message(role="user", content="\n".join(f'<result tool="{a.tool}">\n{text}\n</result>'
                                                   for a, text in shown))]


def plain_text(observation: Observation) -> str:
    """What an environment says, or why it did nothing."""
    return neutral(observation.error.message if observation.error else observation.output.text)
