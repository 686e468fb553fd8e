"""The payload of a step's sampled tokens: asked for when tokens are looked at, and where it is meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from app.desk.fetches import Fetch
from app.desk.in_sight import InSight
from app.kit.i18n import translate


class SampledBlob:
    """The tokens of the step that is looked at; `changed` is called when they came, or cannot come."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.name = ""
        self._data = b""
        self._is_absent = False
        self._fetch: Fetch | None = None

    def look_at(self, name: str) -> None:
        """Another step is looked at, whose payload has this name; "" for none."""
        if self._fetch is not None:
            self._fetch.cancel()
        self.name, self._data, self._is_absent, self._fetch = name, b"", False, None

    def read(self, sight: InSight) -> bytes:
        """The payload; b"" while it is not here, and then it is asked for."""
        if self.name and not self._data and self._fetch is None:
            self._fetch = sight.holder(self.name).body(self.name, self._take, self._miss)
        return self._data

    def words(self) -> str:
        """What stands below the text while no token is chosen."""
        if not self.name:
            return translate("SampledParts", "This step has no sampled tokens.")
        if self._is_absent:
            return translate("SampledParts", "The server does not hold this step's sampled tokens.")
        if not self._data:
            return translate("SampledParts", "The sampled tokens are fetched from the server…")
        return translate("SampledParts", "Point at a token, or move the text cursor to it.")

    def _take(self, data: bytes) -> None:
        is_late = self._fetch is not None
        self._data = data
        if is_late:
            self._changed()

    def _miss(self) -> None:
        self._is_absent = True
        self._changed()
