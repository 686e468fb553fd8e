"""`tiphys take-over`, `act` and `hand-back`: a person works in the agent's place for a while."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from core.cli.log_access import do, reading, trajectory
from core.cli.number import Number
from core.cli.output import emit, json_option, say
from core.domain.errors import Conflict, InvalidInput
from core.domain.events import Event, HandedBack, SessionStateChanged, StepAdded
from core.domain.session import FINAL_STATES
from core.domain.step import StepBody, decode_body
from core.domain.tool_form import argument_of
from core.domain.trajectory import Trajectory
from core.protocol.operations import Act, HandBack, TakeOver
from core.store import blobs, log
from core.store.home import Home

LOOK_S = 0.2
AT_ONCE = 200


@click.command()
@click.argument("session")
@click.option("--idle", default=15.0, show_default=True, type=Number(0.2, 1440),
              help="After so many minutes without a word the agent has the session back.")
@json_option
def take_over(session: str, idle: float, as_json: bool) -> None:
    """Write the next actions of SESSION yourself, with `tiphys act`, until `tiphys hand-back`.

    A model that is being asked is cut off; an action that runs goes on to its end.
    """
    do(session, TakeOver(idle_s=idle * 60))
    emit({"session": session, "asked": "take_over"}) if as_json else say(f"Session {session} is yours.")


@click.command()
@click.argument("session")
@json_option
def hand_back(session: str, as_json: bool) -> None:
    """Have the agent of SESSION go on, after what was asked before."""
    do(session, HandBack())
    emit({"session": session, "asked": "hand_back"}) if as_json else say(f"The agent of session {session} goes on.")


@click.command()
@click.argument("session")
@click.argument("tool", default="")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--json-arguments", "packed", default="", help="The arguments as one JSON object instead.")
@click.option("--thought", default="", help="Why: the agent reads it as its own thought.")
@json_option
def act(session: str, tool: str, arguments: Sequence[str], packed: str, thought: str, as_json: bool) -> int:
    """Carry TOOL out as the next step of SESSION, which you have taken over, and print what came back.

    A VALUE is text, or JSON where the tool wants a number, a list or the like. Without TOOL: list what there is.
    """
    if not tool:
        with reading(Home.default()) as conn:
            return _list_tools(trajectory(conn, session), as_json)
    text = packed or _packed(session, tool, arguments)
    done = do(session, Act(tool=tool, arguments=text, thought=thought))
    return _wait(session, done["seq"], as_json)


def _offered(shown: Trajectory) -> list[dict[str, Any]]:
    """The tools of a session that was taken over. Raises Conflict (not_taken_over)."""
    if shown.offered is None:
        raise Conflict("not_taken_over", f"Nobody has session {shown.session} yet: tiphys take-over {shown.session}, "
                       "and wait for the action that runs.", session=shown.session)
    with reading(Home.default()) as conn:
        return msgspec.json.decode(blobs.get(conn, shown.offered.tools), type=list[dict[str, Any]])


def _list_tools(shown: Trajectory, as_json: bool) -> int:
    for tool in _offered(shown):
        if as_json:
            emit(tool)
            continue
        required = tool["parameters"].get("required", [])
        fields = tool["parameters"].get("properties", {})
        words = " ".join(f"{n}=…" if n in required else f"[{n}=…]" for n in fields)
        say(f"{tool['name']} {words}".rstrip() + f"\n    {' '.join(tool.get('description', '').split())}")
    return 0


def _packed(session: str, tool: str, pairs: Sequence[str]) -> str:
    """The arguments as JSON: a value is read as the tool's schema wants it."""
    with reading(Home.default()) as conn:
        tools = _offered(trajectory(conn, session))
    known = next((one for one in tools if one["name"] == tool), None)
    if known is None:
        raise InvalidInput("bad_action", f"There is no tool {tool!r}; there are "
                           f"{', '.join(one['name'] for one in tools)}.")
    given = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark:
            raise click.BadParameter(f"{pair!r} is not NAME=VALUE.")
        given[name] = argument_of(known["parameters"], name, value)
    return msgspec.json.encode(given).decode()


def _wait(session: str, asked_at: int, as_json: bool) -> int:
    """Print the step that came of what was asked; 1 where it was not carried out or failed."""
    asked, after = "", asked_at - 1
    while True:
        with reading(Home.default()) as conn:
            found = [one.event for one in log.read(conn, session, after, AT_ONCE)]
            asked = asked or found[0].id
            after += len(found)
            step = next((e.fact for e in found if isinstance(e.fact, StepAdded) and e.fact.asked == asked), None)
            if step is not None:
                return _show_step(_body(conn, step.body), as_json)
        if any(isinstance(e.fact, HandedBack) and asked in e.fact.dropped for e in found) or _is_over(found):
            emit({"session": session, "done": False}) if as_json else say("It was not carried out: the agent has the "
                                                                         "session back, or it is over.")
            return 1
        time.sleep(LOOK_S)


def _is_over(events: Sequence[Event]) -> bool:
    return any(isinstance(e.fact, SessionStateChanged) and e.fact.state in FINAL_STATES for e in events)


def _body(conn: Any, name: str) -> StepBody:
    return decode_body(blobs.get(conn, name))


def _show_step(body: StepBody, as_json: bool) -> int:
    is_error = any(one.is_error for one in body.observations)
    for one in body.observations:
        text = one.output.text or (one.error.message if one.error else "")
        if as_json:
            emit({"step": body.number, "status": one.status, "is_error": one.is_error, "text": text,
                  "reward": one.reward, "done": one.done})
        else:
            say(f"step {body.number}: {one.status}\n{text}")
    return int(is_error)
