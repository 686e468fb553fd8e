"""When a session asks for a person's look: counts and shares that a person may set for one session."""

from typing import Annotated

import msgspec

from core.domain.errors import InvalidInput

DIVERSITY_LEAST = 20
"""Fewer commands say nothing about their diversity."""

DIVERSITY_LAST = 50
"""So many commands, the last since the first error, are looked at: a good beginning does not hide a loop."""

_InARow = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Thresholds(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From where on something is worth a look; 0 means never.

    `errors` failed steps, `same` equal actions, `waits` waiting steps: each in a row. `stall_min`: minutes in which no
    step ended. `budget`: the used share of a limit, 0 to 1. `diversity`: different commands by all commands since the
    first error, at or below which the agent goes round in circles (Endless Terminals §5: 0.49 where tasks were solved,
    0.18 in loops).
    """

    errors: _InARow = 3
    same: _InARow = 4
    waits: _InARow = 10
    stall_min: Annotated[float, msgspec.Meta(ge=0, le=100_000)] = 60.0
    budget: _Share = 0.9
    diversity: _Share = 0.2

    def check(self) -> None:
        """Raises InvalidInput (bad_thresholds) for what cannot be meant."""
        try:
            msgspec.convert(msgspec.to_builtins(self), Thresholds)
        except msgspec.ValidationError as error:
            raise InvalidInput("bad_thresholds", "Counts lie between 0 and 10,000, minutes up to 100,000, shares "
                               "between 0 and 1.") from error


def is_uniform(commands: tuple[int, ...], least: float) -> str:
    """Evidence that commands (their fingerprints, since the first error) repeat too much, or ""."""
    if not least or len(commands) < DIVERSITY_LEAST:
        return ""
    share = len(set(commands)) / len(commands)
    evidence = f"{len(set(commands))} different among the last {len(commands)} commands ({share:.2f})"
    return evidence if share <= least else ""
