"""How a model's folder, which somebody else may have made, is loaded: weights as safetensors, and no code of its own.

Pickled weights can run anything when they are loaded (CVE-2025-32434, CVE-2026-24747), and so can the Python files
that a folder's `auto_map` names. Both are refused, whatever the libraries' defaults become.
"""

from pathlib import Path
from typing import Any

from core.domain.errors import InvalidInput

SAFE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""For settings and tokenizers."""

SAFE_WEIGHTS: dict[str, Any] = {**SAFE, "use_safetensors": True}
"""For models."""

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")


def check_weights(folder: str | Path) -> None:
    """Raises InvalidInput (pickled_weights) where a folder has its weights as pickles only."""
    path = Path(folder)
    if any(path.glob("*.safetensors")):
        return
    if found := [p.name for pattern in _PICKLES for p in path.glob(pattern)]:
        raise InvalidInput("pickled_weights", f"{path} holds its weights as {sorted(found)[0]}, a pickle, which could "
                           "run anything; convert them to safetensors.", path=str(path))


def require_model(folder: str | Path) -> None:
    """Raise InvalidInput (no_model) for a folder that holds none."""
    if not (Path(folder) / "config.json").is_file():
        raise InvalidInput("no_model", f"The folder {str(folder)!r} holds no model.", path=str(folder))


def model_config(folder: str | Path) -> Any:
    """The config of a model's folder. Raises InvalidInput (no_model, pickled_weights) where none can be loaded."""
    from transformers import AutoConfig

    require_model(folder)
    check_weights(folder)
    try:
        return AutoConfig.from_pretrained(str(folder), **SAFE)
    except (OSError, ValueError) as error:
        problem = " ".join(str(error).split())[:300]
        raise InvalidInput("no_model", f"The model in {folder} cannot be read: {problem}", path=str(folder)) from error


def load_model(auto: Any, folder: str | Path, **more: Any) -> Any:
    """The model of a folder by an Auto class. Raises InvalidInput (pickled_weights, bad_model)."""
    check_weights(folder)
    try:
        return auto.from_pretrained(str(folder), **SAFE_WEIGHTS, **more)
    except (OSError, ValueError) as error:
        raise InvalidInput("bad_model", f"The model in {folder} cannot be loaded: {' '.join(str(error).split())[:300]}",
                           path=str(folder)) from error
