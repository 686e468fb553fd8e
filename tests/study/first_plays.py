"""What a small policy is taught before it learns by itself: sessions of an environment, some played right, the others
with commands drawn at random, so that it knows the form and some of the way.

`python -m study.first_plays ENVIRONMENT FOLDER --items 5,45 --right 0.5` plays the items and trains the model in FOLDER
on them, in place. The same arguments give the same weights.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.domain.message import Message
from core.domain.task import Limits, Task
from core.environments.registry import environment_task, kind_of
from core.llm.model import Completion, Request, estimate_tokens
from core.llm.template_messages import template_messages
from core.rollouts.roll_out import roll_out
from core.rollouts.session_log import StoreLog
from core.store.home import Home


class FirstPlay:
    """Answers with the commands of a plan; without one, with some of `known` at random. `messages` are the session."""

    name = "first play"

    def __init__(self, plan: Sequence[str] | None, known: Sequence[str], dice: random.Random) -> None:
        self._plan, self._known, self._dice = plan, known, dice
        self.messages: list[Message] = []

    def command(self, request: Request) -> str:
        """What is done next."""
        return self._plan[request.step - 1] if self._plan is not None else self._dice.choice(self._known)

    async def complete(self, request: Request, on_text=None) -> Completion:
        now = datetime.now(UTC)
        answer = Message(role="assistant", content=f"Action: {self.command(request)}")
        self.messages = [*request.messages, answer]
        return Completion(message=answer, model=self.name, finish_reason="stop", started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        pass


def plays(kind: str, items: Sequence[int], *, right: float, each: int, limit: int, seed: int
          ) -> tuple[list[list[Message]], float]:
    """The messages of `each` sessions of every item, and the share of the sessions that reached the goal."""
    tasks = [environment_task(kind, item=item) for item in items]
    plans = {task.environment.item: kind_of(task.environment).plan(task.environment) for task in tasks}
    known = sorted({command for plan in plans.values() for command in plan})
    dice, made = random.Random(seed), []

    def player(task: Task) -> FirstPlay:
        plan = plans[task.environment.item] if dice.random() < right else None
        made.append(FirstPlay(plan, known, random.Random(dice.random())))
        return made[-1]

    async def played():
        with tempfile.TemporaryDirectory() as folder:
            async with StoreLog(Home(Path(folder))) as log:
                return await roll_out(player, tasks, group_size=each, log=log, limits=Limits(steps=limit), at_once=1)

    ended = asyncio.run(played())
    return [one.messages for one in made], sum(one.score == 100.0 for one in ended) / len(ended)


def rows(tokenizer, sessions: Sequence[Sequence[Message]]) -> list[tuple[list[int], list[int]]]:
    """Ids and labels: what the player wrote is trained, end marks included."""
    mark, end = tokenizer.convert_tokens_to_ids("<|assistant|>"), tokenizer.eos_token_id
    found = []
    for messages in sessions:
        text = tokenizer.apply_chat_template(template_messages(messages), tokenize=False)
        ids, labels, is_own = tokenizer(text, add_special_tokens=False)["input_ids"], [], False
        for one in ids:
            labels.append(one if is_own else -100)
            is_own = (is_own or one == mark) and one != end
        found.append((ids, labels))
    return found


def teach(folder: Path, sessions: Sequence[Sequence[Message]], *, epochs: int, rate: float, seed: int) -> float:
    """Train the model of a folder on sessions, in place. Gives the mean loss of the last epoch."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32)
    taught, dice = rows(tokenizer, sessions), random.Random(seed)
    adam, losses = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.0), []
    for _ in range(epochs):
        dice.shuffle(taught)
        losses = []
        for at in range(0, len(taught), 16):
            batch = taught[at : at + 16]
            width = max(len(ids) for ids, _ in batch)
            ids = torch.tensor([a + [tokenizer.pad_token_id] * (width - len(a)) for a, _ in batch])
            labels = torch.tensor([b + [-100] * (width - len(b)) for _, b in batch])
            loss = model(input_ids=ids, labels=labels).loss  # what fills a row up lies behind all that is trained
            loss.backward()
            adam.step()
            adam.zero_grad()
            losses.append(loss.item())
    model.save_pretrained(str(folder))
    return sum(losses) / len(losses)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", required=True, help="numbers with commas")
    for name, default in (("right", 0.5), ("each", 4), ("limit", 8), ("epochs", 6), ("rate", 2e-3), ("seed", 0)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    given = parser.parse_args()
    chosen = [int(one) for one in given.items.split(",")]
    shown, solved = plays(given.kind, chosen, right=given.right, each=given.each, limit=given.limit, seed=given.seed)
    left = teach(given.folder, shown, epochs=given.epochs, rate=given.rate, seed=given.seed)
    sys.stdout.write(f"{len(shown)} sessions, {solved:.0%} of them solved; loss at the end {left:.3f}\n")
