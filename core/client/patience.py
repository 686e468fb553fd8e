"""How long a link waits before it tries again: longer from time to time, and little once the server has answered."""

import random

FIRST_S, FACTOR, LAST_S = 0.2, 1.6, 5.0
"""The roofs under which waits are drawn. With the last one all are back within five seconds of a server's return."""

DENIED_S = 15.0
"""The last roof where the token is refused. (At first that may mean that a restored server admits it in a moment.)"""

ANSWERED_S = 1.0
"""The roof after a connection that the server greeted: it is there, and what ended the connection may be over."""

STABLE_S = 3.0
"""A connection that lived so long was a good one: begin anew."""


class Patience:
    """The waits of one link: full jitter, so that a server's return is not everybody's at once."""

    def __init__(self) -> None:
        self._roof = FIRST_S

    def wait(self, *, denied: bool = False) -> float:
        """Seconds to wait before the next attempt, after one that failed or whose token was refused."""
        roof = min(self._roof, DENIED_S if denied else LAST_S)
        self._roof = min(DENIED_S, roof * FACTOR)
        return random.uniform(0, roof)

    def ended(self, lived_s: float | None) -> None:
        """An attempt is over: the server greeted us so many seconds ago, or (None) never."""
        if lived_s is not None:
            self._roof = FIRST_S if lived_s > STABLE_S else min(self._roof, ANSWERED_S)
