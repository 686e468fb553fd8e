"""Each kernel of attention against rows computed one by one: boundaries between rows are exact, and so are gradients.

On a processor torch 2.13 refuses FlexAttention's gradient, though it has the formula: here its refusal is set aside, so
that our masks go through it forwards and backwards. For FlashAttention's packages their documented rule stands, row by
row: what they are given is checked. The kernels themselves run where there is a GPU (test_on_a_gpu.py)."""

from __future__ import annotations

import importlib.machinery
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest
from support.packed_states import ALONE, BRANCHES, LENGTHS, packed_states, row_by_row
from support.tiny_model import make_model
from support.updates import plain_gradient, session_rows, trainer_gradient, worst_error, write_rows

from core.domain.errors import InvalidInput, Unavailable
from core.training.settings import TrainSettings

torch = pytest.importorskip("torch")
flex_attention = pytest.importorskip("torch.nn.attention.flex_attention")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

def varlen(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, softmax_scale=None, causal=False):
    """FlashAttention's rule (its README, from 2.1 on): row by row, the last key is the last query's; needs 16 bits."""
    assert causal and q.dtype == k.dtype == v.dtype == torch.bfloat16 and cu_seqlens_q.dtype == torch.int32
    sizes = [[b - a for a, b in pairwise(places.tolist())] for places in (cu_seqlens_q, cu_seqlens_k)]
    assert (max(sizes[0]), max(sizes[1])) == (max_seqlen_q, max_seqlen_k)
    assert (sum(sizes[0]), sum(sizes[1])) == (len(q), len(k)) == (len(q), len(v))
    found = []
    for a, b, c in zip(q.split(sizes[0]), k.split(sizes[1]), v.split(sizes[1]), strict=True):
        b, c = (x.repeat_interleave(a.shape[1] // x.shape[1], 1) for x in (b, c))
        a, b, c = (x.float().transpose(0, 1) for x in (a, b, c))
        hidden = torch.ones(a.shape[1], b.shape[1], dtype=torch.bool).triu(b.shape[1] - a.shape[1] + 1)
        scores = (a @ b.transpose(1, 2) * (softmax_scale or a.shape[2] ** -0.5)).masked_fill(hidden, -torch.inf)
        found.append((scores.softmax(-1) @ c).transpose(0, 1))
    return torch.cat(found)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules in the place of FlashAttention's, of which the third version gives its sums as well; and FlexAttention
    without its refusal of a gradient on a processor."""
    monkeypatch.setattr(flex_attention, "_validate_device", lambda *_: None)
    both = SimpleNamespace(flash_attn_varlen_func=lambda *a, **k: (varlen(*a, **k), None))
    one = SimpleNamespace(flash_attn_varlen_func=varlen)
    for name, module in (("flash_attn", one), ("flash_attn_interface", both)):
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("heads", [2, 4])
@pytest.mark.parametrize("branches", [ALONE, BRANCHES], ids=["rows", "branches"])
@pytest.mark.parametrize(("kernel", "close"), [
    ("auto", 1e-5), ("math", 1e-5), ("flash", 1e-5), ("flex", 1e-5),
    ("flash_attention_2", 0.03), ("flash_attention_3", 0.03)])
def test_a_row_attends_to_itself_alone_and_so_does_its_gradient(packages, kernel, close, branches, heads) -> None:
    from core.training.kernels import attention_kernel
    from core.training.segments import segment_attention

    module = torch.nn.Module()
    module.num_key_value_groups, module.is_causal = heads // 2, True
    given = packed_states(heads, torch.float32)
    with attention_kernel(kernel):
        ours, _ = segment_attention(module, *given, None, segment_lengths=LENGTHS, segment_prefixes=branches,
                                    kernel=kernel, scaling=0.25)
    wanted = row_by_row(*given, branches)
    assert torch.allclose(ours.double(), wanted, atol=1e-5)
    factor = torch.randn_like(wanted)
    for got, right in zip(torch.autograd.grad((ours * factor).sum(), given),
                          torch.autograd.grad((wanted * factor).sum(), given), strict=True):
        assert (got - right).abs().max() <= close * right.abs().max()


def test_an_update_by_flex_has_the_gradient_of_plain_transformers(packages, made, tmp_path, monkeypatch) -> None:
    from core.training import packed_kernels

    model, data, rows, (loss, gradient) = made
    packs = []
    whole = packed_kernels.by_flex
    monkeypatch.setattr(packed_kernels, "by_flex",
                        lambda q, k, v, *rest: packs.append(rest[0]) or whole(q, k, v, *rest))
    told, ours, _ = trainer_gradient(model, data, tmp_path, batch=len(rows), attention="flex")
    assert packs and all(len(lengths) > 1 for lengths in packs)
    assert told == pytest.approx(loss, rel=1e-5)
    assert worst_error(ours, gradient) <= 5e-6


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, rows, and their gradient by plain transformers."""
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("kernels")
    model = make_model(folder / "model")
    rows = session_rows(2, 120, 300, stop=AutoTokenizer.from_pretrained(model).pad_token_id)
    return model, write_rows(folder / "data.jsonl", rows), rows, plain_gradient(model, rows)


@pytest.mark.parametrize("kernel", ["flash_attention_2", "flash_attention_3"])
def test_an_update_is_computed_by_the_package(packages, made, tmp_path, kernel, monkeypatch) -> None:
    from core.training import packed_kernels

    model, data, rows, (loss, gradient) = made
    packs = []
    whole = packed_kernels.by_lengths
    monkeypatch.setattr(packed_kernels, "by_lengths", lambda f, q, k, v, *rest: packs.append(rest[0]) or whole(
        f, q, k, v, *rest))
    told, ours, _ = trainer_gradient(model, data, tmp_path, batch=len(rows), attention=kernel)
    assert packs and all(len(lengths) > 1 for lengths in packs)
    assert told == pytest.approx(loss, rel=1e-3)
    assert worst_error(ours, gradient) <= 0.03


def test_the_quickest_kernel_is_measured_once_for_a_run(made, tmp_path, monkeypatch) -> None:
    from core.training import kernels

    model, data, rows, (_, gradient) = made
    _, ours, trainer = trainer_gradient(model, data, tmp_path / "run", batch=len(rows), attention="measured")
    (note,) = tmp_path.rglob("attention-0.txt")
    assert trainer.attention == note.read_text().strip() in ("math", "flash")
    assert worst_error(ours, gradient) <= 5e-6
    config = SimpleNamespace(num_attention_heads=4, num_key_value_heads=2, hidden_size=64)
    net = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: config))
    settings = TrainSettings(data="d", model="m", out=str(tmp_path / "other"), device="cpu", attention="measured")
    for took, first in (({"math": 1.0, "flash": 2.0}, "math"), ({"math": 2.0, "flash": 1.0}, "math")):
        monkeypatch.setattr(kernels, "_pass", lambda _, name, *rest, seconds=took: seconds[name])
        assert kernels.kernel_of(settings, net, 300) == first
    (tmp_path / "other/attention-0.txt").unlink()
    assert kernels.kernel_of(settings, net, 300) == "flash"


@pytest.mark.parametrize(("values", "error", "why"), [
    ({"attention": "flex"}, Unavailable, "a GPU only"), ({"attention": "flash_attention_2"}, Unavailable, "a GPU only"),
    ({"attention": "flash_attention_3", "packing": False}, InvalidInput, "packed rows only"),
    ({"attention": "flash_attention_2", "precision": "fp32"}, InvalidInput, "bfloat16 only")])
def test_what_a_kernel_cannot_compute_is_refused(values, error, why) -> None:
    from core.training.kernels import check_kernels

    with pytest.raises(error, match=why):
        check_kernels(TrainSettings(data="d", model="m", out="o", device="cpu", **values), on_gpu=False)


def test_a_package_that_is_not_installed_is_named(monkeypatch) -> None:
    from core.training.kernels import check_kernels

    with pytest.raises(Unavailable, match="flash-attn"):
        check_kernels(TrainSettings(data="d", model="m", out="o", attention="flash_attention_2"), on_gpu=True)
