"""Frozen parts keep their bits, and a family without such parts says so."""

import pytest
import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.families import FAMILIES
from regard.models.freezing import check_parts, freeze

SMALL = {
    "transformer": {"encoder_layers": 1, "decoder_layers": 1, "width": 8, "feed_forward": 8, "heads": 2},
    "seq2seq": {"embedding": 8, "width": 8},
}


def build(family: str, tied: bool, shared: bool = True) -> nn.Module:
    network, options = FAMILIES[family].load()
    return network(check(options, SMALL[family] | {"tied": tied}), 9, 9, shared, 0)


def frozen(network: nn.Module) -> set[str]:
    return {name for name, parameter in network.named_parameters() if not parameter.requires_grad}


@pytest.mark.parametrize("family", SMALL)
@pytest.mark.parametrize("tied", [True, False])
def test_the_parts_together_are_the_whole_and_share_nothing(family: str, tied: bool) -> None:
    network, names = build(family, tied), []
    for part in network.PARTS:
        freeze(network, [part])
        assert frozen(network)
        names += frozen(network)
    assert sorted(names) == sorted(name for name, _ in network.named_parameters())


def test_a_tied_output_layer_is_frozen_with_the_embeddings_and_not_with_the_decoder() -> None:
    network = build("transformer", tied=True)
    freeze(network, ["decoder"])
    assert network.out.weight.requires_grad
    freeze(network, ["embeddings"])
    assert frozen(network) == {"source_embedding.weight"}  # the first name of the matrix that all three share
    network = build("transformer", tied=False, shared=False)
    freeze(network, ["embeddings"])
    assert frozen(network) == {"source_embedding.weight", "target_embedding.weight"}
    freeze(network, ["decoder"])
    assert not network.out.weight.requires_grad


def test_what_cannot_be_frozen_is_refused_by_name() -> None:
    network, _ = FAMILIES["seq2seq"].load()
    with pytest.raises(Fault, match=r"but the parts of this model \(seq2seq\) are embeddings, encoder, decoder"):
        check_parts("seq2seq", network, ["encoder", "heads"])
    with pytest.raises(Fault, match="so nothing would learn"):
        check_parts("seq2seq", network, ["decoder", "encoder", "embeddings"])
    check_parts("seq2seq", network, ["encoder", "embeddings"])


def test_freezing_leaves_no_optimiser_state() -> None:
    from regard.training import optimizers
    from regard.training.options import OptimizerOptions

    network = build("transformer", tied=True)
    freeze(network, ["embeddings", "encoder"])
    optimizer = optimizers.build(network, OptimizerOptions())
    for parameter in network.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    learning = sum(parameter.requires_grad for parameter in network.parameters())
    assert len(optimizer.state_dict()["state"]) == learning
