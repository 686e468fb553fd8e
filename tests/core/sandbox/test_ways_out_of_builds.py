"""The ways out of builds on a real engine."""

from __future__ import annotations

from contextlib import closing

import docker.errors
import pytest
from support.sandboxes import need_engine

from core.domain.ids import new_id
from core.sandbox.built_image import _drop_left, _way_out
from core.sandbox.engine import open_engine

pytestmark = pytest.mark.docker


def test_builds_of_one_image_at_once_have_each_its_own_and_what_was_left_goes() -> None:
    need_engine()
    tag = f"test-{new_id()}"
    with closing(open_engine()) as engine:
        with _way_out(engine, tag, ("example.org",)) as one:
            with _way_out(engine, tag, ("example.org",)):
                pass
            network = engine.networks.get(one["network_mode"])
            names = [container["Name"] for container in network.attrs["Containers"].values()]
            assert names == [f"{network.name}-egress"], "the other build's end left it alone"
        with pytest.raises(docker.errors.NotFound):
            engine.networks.get(network.name)
        engine.networks.create(tag, labels={tag: "x"})
        _drop_left(engine, tag, 600.0)
        assert engine.networks.list(names=[tag])
        _drop_left(engine, tag, -1.0)
        assert not engine.networks.list(names=[tag])
