"""When a session asks for a look: how each threshold is named, bounded and stored in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.kit.i18n import translate
from core.domain.attention import Thresholds

if TYPE_CHECKING:
    from app.desk.settings import Settings


class Field(msgspec.Struct, frozen=True):
    """One threshold in a form; `decimals` 0 is a count."""

    name: str
    label: str
    high: float
    decimals: int = 0


def fields() -> tuple[Field, ...]:
    """Every threshold, in the reader's language."""
    return (
        Field("errors", translate("Thresholds", "Failed steps in a row"), 10_000),
        Field("same", translate("Thresholds", "Equal actions in a row"), 10_000),
        Field("waits", translate("Thresholds", "Waiting steps in a row"), 10_000),
        Field("stall_min", translate("Thresholds", "Minutes in which no step ends"), 100_000, 1),
        Field("budget", translate("Thresholds", "Used share of a limit"), 1, 2),
        Field("diversity", translate(
            "Thresholds", "Different commands of the last 50 since the first error: share, at most"), 1, 2),
    )


def from_settings(settings: Settings) -> Thresholds:
    """What new sessions get that are started here."""
    return Thresholds(**{f.name: settings.get(f"attention.{f.name}") for f in fields()})  # type: ignore[arg-type]
