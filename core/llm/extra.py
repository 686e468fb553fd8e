"""The training extra (torch, transformers, trl, …): whether it is there, asked without importing any of it."""

import importlib.util

from core.domain.errors import Unavailable


def has_extra(*modules: str) -> bool:
    """Whether these modules of the training extra are there."""
    return all(importlib.util.find_spec(m) is not None for m in modules)


def require_extra(*modules: str) -> None:
    """Raises Unavailable (train_extra_missing), which names the command to install it, where a module is missing."""
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    if missing:
        raise Unavailable(
            "train_extra_missing",
            f"This needs {', '.join(missing)}, which the training extra brings: tiphys train-setup.",
            missing=missing,
        )
