"""Settings of the whole suite: property tests judge what is computed, not how busy the machine is."""

import gc

from hypothesis import HealthCheck, settings

settings.register_profile("tiphys", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tiphys")


def pytest_collection_finish() -> None:
    """What all modules imported stays: no collection during the tests goes over it."""
    gc.collect()
    gc.freeze()
