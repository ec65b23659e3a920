"""CTC label by label: prefix probabilities match the sum over all paths of a few frames."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from regard.models.ctc.head import ctc_loss
from regard.models.ctc.paths import log_likelihood
from regard.models.ctc.prefixes import (
    Prefixes,
    empty_prefixes,
    extend,
    next_labels,
    next_starts,
    only_real_frames,
)

LABELS = 2  # the blank is the symbol after them


def frames_of(count: int, real: int) -> Tensor:
    """Return log-probabilities of one row with this many real frames."""
    torch.manual_seed(5)
    frames = torch.randn(1, count, LABELS + 1, dtype=torch.float64).log_softmax(-1)
    return only_real_frames(frames, torch.arange(count)[None] < real)


def labelling(path: tuple[int, ...]) -> tuple[int, ...]:
    """Apply B: a repeated label counts once, and blanks are dropped."""
    return tuple(label for label, _ in itertools.groupby(path) if label != LABELS)


def probabilities(frames: Tensor, real: int) -> dict[tuple[int, ...], float]:
    """Return the sum over all paths of every labelling."""
    sums: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(LABELS + 1), repeat=real):
        product = math.exp(sum(float(frames[0, time, symbol]) for time, symbol in enumerate(path)))
        sums[labelling(path)] = sums.get(labelling(path), 0.0) + product
    return sums


def after(frames: Tensor, labels: tuple[int, ...]) -> Prefixes:
    prefixes = empty_prefixes(frames)
    for label in labels:
        prefixes = extend(frames, prefixes, torch.tensor([label]))
    return prefixes


def test_two_frames_by_hand() -> None:
    """y¹ = (a 1/2, blank 1/2), y² = (a 1/4, blank 3/4): p() = 3/8, and p(a) = 1/8 + 3/8 + 1/8."""
    frames = torch.tensor([[[0.5, 0.5], [0.25, 0.75]]], dtype=torch.float64).log()
    labels, end = next_labels(frames, empty_prefixes(frames))
    torch.testing.assert_close(labels.exp(), torch.tensor([[5 / 8]], dtype=torch.float64))
    torch.testing.assert_close(end.exp(), torch.tensor([3 / 8], dtype=torch.float64))
    labels, end = next_labels(frames, after(frames, (0,)))
    assert float(labels.exp()) == 0.0  # a second a would need a blank before it, and there is no frame for one
    torch.testing.assert_close(end.exp(), torch.ones(1, dtype=torch.float64))


def test_step_by_step_is_the_sum_over_all_paths() -> None:
    for count, real in ((4, 4), (5, 3)):
        frames = frames_of(count, real)
        every = probabilities(frames, real)
        for labels, probability in every.items():
            prefixes, score = empty_prefixes(frames), 0.0
            for label in labels:
                score += float(next_labels(frames, prefixes)[0][0, label])
                prefixes = extend(frames, prefixes, torch.tensor([label]))
            whole = sum(share for other, share in every.items() if other[: len(labels)] == labels)
            assert math.isclose(float(prefixes.whole), math.log(whole), rel_tol=1e-9, abs_tol=1e-9)
            assert math.isclose(score + float(next_labels(frames, prefixes)[1]), math.log(probability), rel_tol=1e-9)


def test_the_score_of_a_prefix_that_ends_is_its_likelihood() -> None:
    frames, labels = frames_of(9, 9), torch.tensor([[0, 0, 1, 0]])
    prefixes = after(frames, (0, 0, 1, 0))
    totals = prefixes.whole + next_labels(frames, prefixes)[1]
    torch.testing.assert_close(totals, log_likelihood(frames, torch.tensor([9]), labels, torch.tensor([4])))


def test_what_may_follow_sums_to_one() -> None:
    frames = frames_of(6, 5)
    for prefix in ((), (0,), (0, 0), (1, 0, 1)):
        labels, end = next_labels(frames, after(frames, prefix))
        torch.testing.assert_close(torch.cat([labels[0], end]).exp().sum(), torch.ones((), dtype=torch.float64))


def test_the_loss_is_minus_the_logarithm_of_all_paths() -> None:
    frames, labels = frames_of(4, 3), torch.tensor([[0, 1]])
    expected = -math.log(probabilities(frames, 3)[0, 1])
    loss = ctc_loss(frames, torch.tensor([3]), labels, torch.tensor([2]))
    assert math.isclose(float(loss), expected, rel_tol=1e-9)


def test_labels_that_do_not_fit_their_frames_count_nothing() -> None:
    frames = frames_of(2, 2).requires_grad_()
    loss = ctc_loss(frames, torch.tensor([2]), torch.tensor([[0, 0]]), torch.tensor([2]))  # needs a blank between
    loss.backward()
    assert float(loss.detach()) == 0.0
    assert frames.grad is not None
    assert not frames.grad.any()


def long_rows() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return frames of a confident network, two rows shorter than the rest, with counts, labels and label counts."""
    torch.manual_seed(7)
    counts, label_counts = torch.tensor([1000, 800, 600]), torch.tensor([250, 200, 0])
    frames = (90 * torch.randn(3, 1000, 6, dtype=torch.float64)).log_softmax(-1)
    return frames, counts, torch.randint(0, 5, (3, 250)), label_counts


def score_of(frames: Tensor, labels: Tensor, label_counts: Tensor) -> Tensor:
    """Return log p(l | x) of each row, label by label: the sum of next_labels, the end last."""
    prefixes, blank = empty_prefixes(frames), frames.shape[-1] - 1
    total = frames.new_zeros(len(frames))
    for place in range(labels.shape[1] + 1):
        following, end = next_labels(frames, prefixes)
        total = total + torch.where(label_counts == place, end, 0.0)
        if place < labels.shape[1]:
            real = place < label_counts
            scores = following.gather(1, labels[:, place : place + 1]).squeeze(1)
            total = total + torch.where(real, scores, 0.0)
            prefixes = extend(frames, prefixes, labels[:, place].masked_fill(~real, blank))
    return total


@pytest.mark.long
def test_long_and_improbable_labellings_score_as_torch_scores_them() -> None:
    """A path of a thousand frames is less probable than any constant that stands for never."""
    frames, counts, labels, label_counts = long_rows()
    expected = -torch.nn.functional.ctc_loss(
        frames.transpose(0, 1), labels, counts, label_counts, blank=5, reduction="none"
    )
    assert float(expected.min()) < -30_000
    real = torch.arange(1000) < counts[:, None]
    torch.testing.assert_close(score_of(only_real_frames(frames, real), labels, label_counts), expected)


def test_gradients_are_those_of_the_likelihood() -> None:
    """Padding, zeros among the frames and impossible beginnings produce no NaN."""
    torch.manual_seed(3)
    logits = torch.randn(2, 8, 4, dtype=torch.float64)
    logits[:, 3, 1] = -math.inf  # a frame in mid-row that cannot emit a label
    counts, label_counts = torch.tensor([8, 6]), torch.tensor([3, 2])
    labels = torch.tensor([[0, 0, 1], [1, 2, 0]])
    real = torch.arange(8) < counts[:, None]
    slopes = []
    for likelihood in (
        lambda frames: score_of(frames, labels, label_counts),
        lambda frames: log_likelihood(frames, counts, labels, label_counts),
    ):
        leaf = logits.clone().requires_grad_()
        likelihood(only_real_frames(leaf.log_softmax(-1), real)).sum().backward()
        slopes.append(leaf.grad)
    assert slopes[0] is not None
    assert slopes[0].isfinite().all()
    torch.testing.assert_close(slopes[0], slopes[1])


def test_nothing_follows_what_cannot_be_written() -> None:
    """Three labels do not fit two frames: the result is -inf, not NaN."""
    frames = frames_of(2, 2)
    labels, end = next_labels(frames, after(frames, (0, 1)))
    assert (labels == -math.inf).all()
    prefixes = after(frames, (0, 1, 0))
    labels, end = next_labels(frames, prefixes)
    assert float(prefixes.whole) == -math.inf
    assert (torch.cat([labels[0], end]) == -math.inf).all()
    assert not next_starts(frames, prefixes).any()
