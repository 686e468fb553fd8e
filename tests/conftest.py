"""Settings of the whole suite: property tests judge what is computed, not how busy the machine is."""

import gc
import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("tiphys", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tiphys")


def pytest_collection_finish() -> None:
    """What all modules imported stays: no collection during the tests goes over it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def nothing_stays_at_the_engine(tmp_path_factory):
    """A run would leave a gigabyte of volumes, and nobody who could ask for them."""
    yield
    if "support.sandboxes" in sys.modules or "docker" in sys.modules:
        from support.engine_leftovers import drop_volumes

        drop_volumes(tmp_path_factory.getbasetemp())
