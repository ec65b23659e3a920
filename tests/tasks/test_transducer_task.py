"""Text to labels by a transducer: what it learns, writes and refuses."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.families import FAMILIES
from regard.models.transducer.lattice import lattice_of, steps_of
from regard.tasks.translation.forcing import forced_scores
from regard.tasks.translation.transducer_task import TransducerLoss, TransducerTranslation

PAIRS = [("ab", "xyzxy"), ("abcde", "yy"), ("c", "")]


def build(objective: TransducerLoss, **model: Any) -> TransducerTranslation:
    network, options = FAMILIES["transducer-text"].load()
    torch.manual_seed(2)
    sizes = {"layers": 1, "width": 8, "predictor_width": 6, "joint_width": 5, "dropout": 0.0}
    chosen, bytewise = check(options, sizes | model), ByteTokeniser()
    built = network(chosen, bytewise.size, bytewise.size, True, bytewise.pad)
    return TransducerTranslation(built, bytewise, bytewise, objective).double()


def test_the_loss_is_minus_the_score_of_the_targets() -> None:
    task = build(TransducerLoss())
    batch = task.pair_up(PAIRS)
    # A cell with the end token ends an output too, which the loss leaves out.
    task.model.joint.out.bias.data[task.end] = -1e4
    assert_close(task.loss(batch).total, -forced_scores(task, batch).sum())


def test_smoothing_is_by_how_often_each_cell_is_passed_and_equal_passes_lose_nothing() -> None:
    plain, smooth, twice = (build(TransducerLoss(*arguments)) for arguments in [(), (0.25,), (0.25, 3.0)])
    batch = plain.pair_up(PAIRS)
    labels, counts = batch.target[:, :-1], batch.target_lengths - 1
    with torch.no_grad():
        heard = plain.model.read(batch.source, batch.source_lengths)
        logs = plain.model.every_cell(heard, labels)
        _, waits, writes = steps_of(lattice_of(logs, labels, heard.counts, counts))
        # Each frame is left once, and each label is written once.
        assert_close((waits + writes).sum((1, 2)), (heard.counts + counts).double())
        even = -((waits + writes) * logs.mean(-1)).sum()
    assert_close(smooth.loss(batch).total, 0.75 * plain.loss(batch).total + 0.25 * even)
    assert_close(twice.loss(batch).total, smooth.loss(batch).total)  # without dropout both passes are equal
    twice.model.dropout.p = 0.5
    assert twice.loss(batch).total > smooth.loss(batch).total


def test_what_is_watched_is_where_each_label_is_written() -> None:
    """At each place the weights sum to one; the remainder for the end is at the end token."""
    task = build(TransducerLoss())
    batch = task.pair_up([("ab", "xy"), ("a", "x")])
    with torch.no_grad(), watching(task.model, where="alignment") as gazes:
        task.forced_log_probabilities(batch)
    (gaze,) = gazes
    weights = gaze.weights[:, 0]
    assert_close(weights.sum(-1), torch.ones(2, 3, dtype=torch.float64))
    assert (weights[1, :, 2] == 0).all()  # after the end of the shorter source


def test_padding_leaves_no_nan_in_the_gradients_of_two_passes() -> None:
    task = build(TransducerLoss(0.1, 2.0), dropout=0.5).train()
    task.loss(task.pair_up(PAIRS)).total.backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in task.parameters())
    assert task.model.joint.out.weight.grad.any()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"encoder": "transformer", "cell": "gru"}, "cell is for encoder = 'recurrent', not 'transformer'"),
        ({"heads": 2}, "heads is for encoder = 'transformer', not 'recurrent'"),
        ({"predictor_width": 0}, "predictor_width"),
        ({"frames": 2}, "has no 'frames'"),
    ],
)
def test_options_that_do_not_fit_are_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        build(TransducerLoss(), **given)
