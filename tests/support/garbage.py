"""Tests with widgets collect cycles on the main thread only, as the desktop does (`app.window.garbage`)."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def collected_here() -> Iterator[None]:
    """No thread of the module's tests may meet a widget's remains; they are cleared at the module's end. What was
    there before the module is not gone over again: late in a run that takes seconds."""
    was_on = gc.isenabled()
    gc.disable()
    gc.freeze()
    yield
    gc.collect()
    if was_on:
        gc.enable()
