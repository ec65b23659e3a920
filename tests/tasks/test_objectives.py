"""Training objectives of translators."""

import pytest
import torch

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.tasks.translation.objectives import Consistent, CrossEntropy, objective_for
from regard.tasks.translation.task import Translation

PAIRS = [("a man", "ein Mann"), ("dogs", "Hunde"), ("it rains", "es regnet")]


def build(dropout: float, consistency: float) -> Translation:
    options = check(TransformerOptions, {"preset": "tiny", "dropout": dropout})
    letters = ByteTokeniser()
    torch.manual_seed(0)
    network = Transformer(options, letters.size, letters.size, True, letters.pad)
    return Translation(network, letters, letters, objective_for(options, 0.1, consistency)).double()


def test_a_batch_twice_has_its_rows_and_real_tokens_two_times() -> None:
    batch = build(0.0, 0.0).pair_up(PAIRS)
    twice = batch.twice()
    assert (twice.rows, twice.tokens) == (6, 2 * batch.tokens)
    real = twice.target.flatten()[twice.places]
    assert real.tolist() == 2 * batch.target.flatten()[batch.places].tolist()
    assert twice.source_lengths.tolist() == 2 * batch.source_lengths.tolist()


def test_consistency_costs_nothing_without_dropout_and_something_with_it() -> None:
    batch = build(0.0, 0.0).pair_up(PAIRS)
    plain, agreeing = (build(0.0, weight).loss(batch) for weight in (0.0, 5.0))
    torch.testing.assert_close(agreeing.total, plain.total)
    assert agreeing.count == plain.count
    losses = []
    for weight in (1e-9, 5.0):
        task = build(0.5, weight).train()
        torch.manual_seed(1)
        losses.append(float(task.loss(batch).total.detach()))
    assert losses[1] > losses[0] * 1.01


def test_the_objective_follows_the_options() -> None:
    assert isinstance(objective_for(check(TransformerOptions, {}), 0.1), CrossEntropy)
    assert isinstance(objective_for(check(TransformerOptions, {}), 0.1, 1.0), Consistent)
    for options in ({"own_tokens": 0.5}, {"decoder": "bahdanau", "hard": "reinforce"}):
        with pytest.raises(Fault, match=r"cannot be combined with model\.own_tokens or model\.hard = 'reinforce'"):
            objective_for(check(Seq2SeqOptions, options), 0.1, 1.0)
