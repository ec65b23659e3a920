"""Hybrids: an attention encoder with a recurrent decoder, and a recurrent encoder with a Transformer decoder."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.engines.ctranslate2.spec import check_expressible
from regard.engines.marian.export import export_marian
from regard.engines.onnx.export import export_onnx
from regard.models.recurrent.cells import unroll
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.models.transformer.packing import _fits

SIZES = {"width": 8, "dropout": 0.0}
BLOCKS = {"encoder_layers": 2, "decoder_layers": 1, "heads": 2, "feed_forward": 12}
GENERATOR = torch.Generator().manual_seed(2)
SOURCE, LENGTHS = torch.randint(4, 25, (3, 7), generator=GENERATOR), torch.tensor([7, 5, 2])
TARGET = torch.randint(4, 25, (3, 5), generator=GENERATOR)


def attentive(**table: Any) -> Seq2Seq:
    torch.manual_seed(1)
    options = {"encoder": "transformer", "encoder_layers": 2, "encoder_heads": 2, "feed_forward": 12, "embedding": 8}
    return Seq2Seq(check(Seq2SeqOptions, SIZES | options | table), 30, 25, False, 0).double().eval()


def recurrent(**table: Any) -> Transformer:
    torch.manual_seed(1)
    options = check(TransformerOptions, SIZES | BLOCKS | {"encoder": "recurrent"} | table)
    return Transformer(options, 30, 25, False, 0).double().eval()


def test_the_encoder_of_attention_is_that_of_a_transformer() -> None:
    model = attentive()
    theirs = Transformer(check(TransformerOptions, SIZES | BLOCKS | {"norm": "before"}), 30, 25, False, 0).double()
    blocks, weights = model.encoder.blocks, {"weight": model.source_embedding.weight}
    theirs.source_embedding.load_state_dict(weights)
    theirs.encoder.load_state_dict(blocks.blocks.state_dict())
    theirs.encoder_norm.load_state_dict(blocks.norm.state_dict())
    memory = model.read(SOURCE, LENGTHS)
    expected = theirs.eval().encode(SOURCE, LENGTHS)
    torch.testing.assert_close(memory.states, expected)
    torch.testing.assert_close(model.layers(SOURCE, LENGTHS)[-1], expected)


def test_the_decoder_begins_with_the_mean_of_the_places_that_are_real() -> None:
    model = attentive(decoder="bottleneck", embedding=6)  # a matrix maps embeddings of another width
    means = [
        model.encoder.layer_states(model.source_embedding(row[None, :length]), torch.tensor([length]))[-1][0].mean(0)
        for row, length in zip(SOURCE, LENGTHS.tolist(), strict=True)
    ]
    torch.testing.assert_close(model.read(SOURCE, LENGTHS).last, torch.stack(means))


@pytest.mark.parametrize("cell", ["lstm", "gru-reset-first"])
def test_a_recurrent_encoder_is_its_cells_written_out(cell: str) -> None:
    """Two stacked bidirectional layers over embeddings without positions."""
    model = recurrent(cell=cell)
    states = model.source_embedding(SOURCE)
    for block in model.encoder:
        both = [unroll(block.stack.layers[0], states, LENGTHS, backward=backward)[0] for backward in (False, True)]
        states = torch.cat([direction.hidden for direction in both], dim=-1)
    torch.testing.assert_close(model.encode(SOURCE, LENGTHS), states)
    memory = model.read(SOURCE, LENGTHS)
    torch.testing.assert_close(memory.blocks[0], model.decoder[0].cross.remember(states))


class _Logits(torch.nn.Module):
    """Logits of two short pairs, as a callable module."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self) -> Tensor:
        memory = self.model.read(SOURCE[:2, :3], torch.tensor([3, 2]))
        return self.model.logits(self.model.write(TARGET[:2, :3], memory, self.model.begin(memory))[0])


def test_gradients_of_a_recurrent_encoder_are_those_of_finite_differences() -> None:
    model = recurrent(width=4, heads=1, encoder_layers=1, cell="logistic", tied=False)
    names = [name for name, _ in model.named_parameters() if "embedding" not in name]
    weights = [model.get_parameter(name).detach().requires_grad_() for name in names]

    def logits(*weights: Tensor) -> Tensor:
        named = {f"model.{name}": weight for name, weight in zip(names, weights, strict=True)}
        return torch.func.functional_call(_Logits(model), named)

    assert torch.autograd.gradcheck(logits, weights, fast_mode=True)


def test_a_recurrent_encoder_has_no_weights_to_count() -> None:
    """One block and two recurrent layers: the decoder's two attentions have two heads each."""
    assert recurrent().cost(5)["weights"] == 2 * 2 * 25


def test_a_cell_is_for_a_recurrent_encoder() -> None:
    with pytest.raises(Fault, match="cell is for encoder = 'recurrent', not 'transformer'"):
        check(TransformerOptions, SIZES | BLOCKS | {"cell": "gru"})


def test_kernels_and_exports_know_blocks_alone(tmp_path: Path) -> None:
    network = recurrent()
    assert not _fits(network.options)
    assert _fits(network.options.model_copy(update={"encoder": "transformer", "width": 32}))
    loaded: Any = SimpleNamespace(task=SimpleNamespace(model=network), recipe=SimpleNamespace(family="transformer"))
    with pytest.raises(Fault, match=r"cannot compute model\.encoder = 'recurrent'; it supports 'transformer'"):
        check_expressible(network.options)
    with pytest.raises(Fault, match=r'cannot express model\.encoder = "recurrent"; it is always "transformer"'):
        export_marian(loaded, tmp_path / "marian")
    with pytest.raises(Fault, match=r"this model has model\.encoder = 'recurrent'"):
        export_onnx(loaded, tmp_path / "onnx")
