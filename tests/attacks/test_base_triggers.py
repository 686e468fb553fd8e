"""A base image whose triggers would have the engine fetch what its machine alone may see."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import pytest
from support.sandboxes import need_engine

from core.domain.errors import InvalidInput
from core.sandbox.built_image import build_task_image
from core.sandbox.engine import open_engine


@pytest.mark.docker
def test_a_base_with_triggers_is_built_upon_by_nobody(tmp_path: Path) -> None:
    need_engine()
    base = f"tiphys-attack-{uuid.uuid4().hex[:12]}:1"
    engine = open_engine()
    text = b"FROM scratch\nLABEL a=b\nONBUILD ADD http://127.0.0.1:1/secret /stolen\n"
    try:
        engine.images.build(fileobj=io.BytesIO(text), tag=base, rm=True)
        with pytest.raises(InvalidInput, match="ONBUILD ADD http") as refused:
            build_task_image("Dockerfile", (base,), tmp_path / "none", "never", reach=(), timeout=60)
        assert refused.value.code == "bad_dockerfile"
    finally:
        engine.images.remove(base, force=True)
        engine.close()
