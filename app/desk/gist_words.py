"""What thin lines say of something that comes at some step: nothing up to here, and where the first is."""

from __future__ import annotations

from collections.abc import Sequence

from app.kit import quantities
from app.kit.i18n import translate
from app.kit.thin_line import Gist


def say_unchosen(gist: Gist) -> None:
    """Say that there is no session to tell of."""
    gist.say(translate("Gist", "No session is chosen"))


def say_none(gist: Gist, up_to: str, at_all: str, steps: Sequence[int] | None, step: int | None) -> None:
    """Say that there is nothing: `up_to` (with {step}) where some of `steps` come later, and a link to the first, else
    `at_all`. None for the steps of a session of which nothing is on this computer yet: nobody knows."""
    if steps is None:
        gist.say(translate("Gist", "Not on this computer yet"))
        return
    first = min(steps, default=None)
    if step is None or first is None:
        gist.say(at_all)
        return
    link = translate("Gist", "first at {step}").format(step=quantities.number(first))
    gist.say(up_to.format(step=quantities.number(step)), link, step=first)
