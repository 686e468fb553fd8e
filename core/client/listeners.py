"""Plain-callback signals: lists of callables that are called on the event loop."""

import logging
from collections.abc import Callable
from typing import Any

_log = logging.getLogger("wire")


def tell(listeners: list[Callable[..., None]], *arguments: Any) -> None:
    """Call every listener; one that fails is logged and hinders neither the others nor the sync."""
    for listener in list(listeners):
        try:
            listener(*arguments)
        except Exception as error:  # noqa: BLE001 - a listener's defect must not end the connection
            _log.exception("a listener failed: %r", error)
