"""What the study of people begins with: advisers, an environment beside which one of them stands, and a small policy
that was taught the form, to do as it is advised, and some of the way."""

from __future__ import annotations

import asyncio
import random
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
from study.first_plays import FirstPlay
from study.people_design import Setting
from study.reading import near_commands, teach_to_read

from core.agents.playing import play
from core.domain.events import GuidanceQueued, SessionCreated, encode_event, make_event
from core.domain.ids import new_id
from core.domain.message import Message
from core.domain.step import Action, Observation
from core.domain.task import Limits, Task
from core.domain.verdict import Author
from core.environments.line_tool import line_of
from core.environments.registry import environment_task, kind_of, open_here
from core.llm.model import Request
from core.rollouts.roll_out import ROLLOUT_AGENT
from core.rollouts.session_log import JournaledSession, StoreLog
from core.store import log
from core.store.home import Home

ANY = 2 / 3
"""How often the advice that the first plays follow is not the right way: of three commands as often as by chance. The
start learns to do as it is advised, and little of the way: a start that was shown the way plays every held-out item
right when it takes its likeliest command, and has nothing to learn."""

PERSON = Author(kind="person", name="adviser")
_ADVICE = re.compile(r"Do: ([a-z0-9 ,]+)")


Speak = Callable[[str], Awaitable[None]]


class Adviser:
    """Knows the way, and errs at times."""

    def __init__(self, wrong: float, dice: random.Random) -> None:
        self.wrong, self.dice = wrong, dice

    def word(self, right: str, known: list[str]) -> str:
        """What it would do."""
        others = [one for one in known if one != right]
        return self.dice.choice(others) if others and self.dice.random() < self.wrong else right


class AdvisedEnvironment:
    """An environment beside which an adviser stands (None: nobody). `choices` hold for each step what was done, and
    what the adviser would have done; `say`, where it speaks, tells the agent before each step; `act_instead`, where it
    takes over, is called for each step after the first at which the agent did something else."""

    def __init__(self, environment, task: Task, adviser: Adviser | None, say: Speak | None = None,
                 act_instead: Speak | None = None) -> None:
        self._inner, self._task, self._adviser, self._say = environment, task, adviser, say
        self._act_instead, self._has_erred = act_instead, False
        self._plan = list(kind_of(task.environment).plan(task.environment)) if adviser is not None else []
        self._known: list[str] = []
        self._word = ""
        self.choices: dict[int, tuple[str, str]] = {}
        self.tools, self.read, self.score = environment.tools, environment.read, environment.score
        self.state, self.close = environment.state, environment.close

    async def reset(self, task: Task, seed: int) -> Observation:
        found = await self._inner.reset(task, seed)
        self._known = sorted({*self._plan, *(near_commands(found.output.text) or _MOVES)})
        await self._think()
        return found

    async def act(self, action: Action, step: int) -> Observation:
        line, word = line_of(action), self._word
        found = await self._inner.act(action, step)
        if self._adviser is not None:
            if word:
                self.choices[step] = (line, word)
                self._has_erred |= line != word
            if line in self._plan and found.error is None:  # what is got may be got in any order
                self._plan.remove(line)
            if not found.done:
                await self._think()
        return found

    async def _think(self) -> None:
        if self._adviser is None:
            return
        right = self._right()
        self._word = self._adviser.word(right, self._known) if right else ""
        if self._say is not None and self._word:
            await self._say(f"Do: {self._word}")
        if self._act_instead is not None and self._word and self._has_erred:
            await self._act_instead(self._word)

    def _right(self) -> str:
        """The next command of the way: BabyAI's bot from where the agent stands, else what the plan still holds."""
        if self._task.environment.kind != "babyai":
            return self._plan[0] if self._plan else ""
        from minigrid.utils.baby_ai_bot import BabyAIBot

        try:
            return next((w for w, n in COMMANDS.items() if n == int(BabyAIBot(self._inner._game).replan(None))), "")
        except (AssertionError, ValueError):
            return ""


COMMANDS = {"turn left": 0, "turn right": 1, "move forward": 2, "pick up": 3, "drop": 4, "toggle": 5}
_MOVES = ["move forward", "turn left", "turn right"]


class AdvisedPlay(FirstPlay):
    """Does what it was advised last; without advice a command of the plan, or one at random."""

    def __init__(self, plan: list[str], known: list[str], right: float, dice: random.Random) -> None:
        super().__init__(plan, known, dice)
        self._right = right

    def command(self, request: Request) -> str:
        last = [m for m in request.messages if m.role != "assistant"][-2:]
        told = next((found[1] for m in reversed(last) if (found := _ADVICE.search(m.content))), "")
        planned = self._plan[request.step - 1] if request.step <= len(self._plan) else ""
        return told.strip() or (planned if planned and self._dice.random() < self._right else
                                self._dice.choice(near_commands(request.messages[1].content) or self._known))


async def advise(store: StoreLog, place: JournaledSession, fact) -> None:
    """Put what a person says into a session's log, and have its agent hear of it."""
    session, cursor = place.journal.session, place.inbox.cursor
    body = encode_event(make_event(fact, PERSON))

    def write(conn) -> list[bytes]:
        log.append(conn, session, [body])
        return [one.body for one in log.read_all(conn, session, after=cursor)]

    place.inbox.take(cursor + 1, await store._writer.do(write))


async def _first_plays(setting: Setting, seed: int) -> list[list[Message]]:
    kind, items, limit = setting.kind, setting.learn.numbers, setting.limit
    dice, found = random.Random(seed), []
    plans = {item: kind_of(environment_task(kind, item=item).environment).plan(
        environment_task(kind, item=item).environment) for item in items}
    every = sorted({command for plan in plans.values() for command in plan})
    with tempfile.TemporaryDirectory() as folder:
        async with StoreLog(Home(Path(folder))) as store:
            async def one(item: int, is_advised: bool, game: int, number: int) -> None:
                task = msgspec.structs.replace(environment_task(kind, item=item, seed=game),
                                               limits=Limits(steps=limit, evaluations=None))
                created = SessionCreated(task=task, agent=ROLLOUT_AGENT)
                async with store.session(new_id(), created) as place:
                    async def say(text: str) -> None:
                        await advise(store, place, GuidanceQueued(guidance=new_id(), text=text))

                    adviser = Adviser(ANY, random.Random(number)) if is_advised else None
                    environment = AdvisedEnvironment(open_here(task.environment), task, adviser,
                                                     say if is_advised else None)
                    player = AdvisedPlay(plans[item], every, setting.shown, random.Random(number))
                    await play(place.journal, place.inbox, place.signals, task, ROLLOUT_AGENT, player,
                               environment=environment)
                    found.append(player.messages)

            for game in setting.games:
                for item in items:  # of four sessions two are advised; the others go the right way as often as is shown
                    await asyncio.gather(*(one(item, n < 2, game, dice.getrandbits(30)) for n in range(4)))
    return found


def people_start(folder: Path, setting: Setting, seed: int) -> Path:
    """The folder of the policy that every variant of a seed starts from."""
    from study.first_plays import teach
    from study.small_policy import make

    if (folder / "done").exists():
        return folder
    items = (*setting.learn.numbers, *setting.held.numbers)
    make(setting.kind, folder, width=64, items=items, seed=seed)
    plays = asyncio.run(_first_plays(setting, seed))
    if setting.kind == "textcraft":
        teach_to_read(folder, plays, items, epochs=8, rate=2e-3, seed=seed)
    else:
        teach(folder, plays, epochs=8, rate=2e-3, seed=seed)
    (folder / "done").touch()
    return folder
