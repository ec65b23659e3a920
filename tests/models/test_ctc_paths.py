"""Sums over paths match the sum of all paths, torch's result, and the mean over sampled paths."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.models.ctc.paths import best_alignment, best_path, frames_needed, log_likelihood, occupancy

LABELS = 2  # the blank is the symbol after them


def frames_of(batch: int, count: int, labels: int = LABELS, seed: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, count, labels + 1, dtype=torch.float64, generator=generator).log_softmax(-1)


def labelling(path: tuple[int, ...]) -> tuple[int, ...]:
    """Apply B: a repeated symbol counts once, and blanks are dropped."""
    return tuple(symbol for symbol, _ in itertools.groupby(path) if symbol != LABELS)


def paths_of(frames: Tensor, labels: tuple[int, ...] | None = None) -> dict[tuple[int, ...], Tensor]:
    """Return log p of every path, or of every path of a labelling: B⁻¹(l)."""
    every = itertools.product(range(LABELS + 1), repeat=len(frames))
    return {
        path: torch.stack([frames[time, symbol] for time, symbol in enumerate(path)]).sum()
        for path in every
        if labels is None or labelling(path) == labels
    }


def likelihood(frames: Tensor, *labels: int) -> Tensor:
    target = torch.tensor([labels], dtype=torch.long).reshape(1, -1)
    return log_likelihood(frames[None], torch.tensor([len(frames)]), target, torch.tensor([len(labels)]))[0]


def test_two_frames_by_hand() -> None:
    """y¹ = (a 1/2, blank 1/2), y² = (a 1/4, blank 3/4): p() = 3/8, p(a) = 1/8 + 3/8 + 1/8, and never aa."""
    frames = torch.tensor([[0.5, 0.5], [0.25, 0.75]], dtype=torch.float64).log()
    assert likelihood(frames).exp().item() == pytest.approx(3 / 8)
    assert likelihood(frames, 0).exp().item() == pytest.approx(5 / 8)
    assert likelihood(frames, 0, 0).item() == -math.inf


@pytest.mark.parametrize("labels", [(), (0,), (1, 1), (0, 1, 0)])
def test_the_sum_is_over_all_paths_of_a_labelling(labels: tuple[int, ...]) -> None:
    (frames,) = frames_of(1, 4)
    every = torch.stack(list(paths_of(frames, labels).values()))
    torch.testing.assert_close(likelihood(frames, *labels), every.logsumexp(0))


def random_rows(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return rows of different lengths with different numbers of labels, one of them with none."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(5, 12, 4, dtype=torch.float64, generator=generator)
    labels = torch.randint(0, 3, (5, 4), generator=generator)
    return logits, torch.tensor([12, 9, 7, 12, 4]), labels, torch.tensor([4, 3, 1, 0, 2])


def test_value_and_gradient_are_those_of_torch_in_rows_of_different_lengths() -> None:
    logits, counts, labels, label_counts = random_rows(3)
    gradients, values = [], []
    for ours in (True, False):
        leaf = logits.clone().requires_grad_()
        frames = leaf.log_softmax(-1)
        if ours:
            nats = -log_likelihood(frames, counts, labels, label_counts)
        else:
            nats = F.ctc_loss(frames.transpose(0, 1), labels, counts, label_counts, blank=3, reduction="none")
        nats.sum().backward()
        assert leaf.grad is not None
        values.append(nats.detach())
        gradients.append(leaf.grad)
    torch.testing.assert_close(*values)
    torch.testing.assert_close(*gradients)


def test_occupancy_is_the_share_of_paths_that_are_there_and_the_gradient_of_the_sum() -> None:
    logits, counts, labels, label_counts = random_rows(4)
    frames = logits.log_softmax(-1).requires_grad_()
    log_likelihood(frames, counts, labels, label_counts).sum().backward()
    shares = occupancy(frames.detach(), counts, labels, label_counts)
    for row, count in enumerate(counts.tolist()):
        torch.testing.assert_close(shares[row, :count].sum(-1), torch.ones(count, dtype=torch.float64))
        assert not shares[row, count:].any()
        symbols = torch.full((shares.shape[2],), 3)
        symbols[1 : 2 * label_counts[row] : 2] = labels[row, : label_counts[row]]
        of_symbols = torch.zeros_like(logits[row]).index_add_(1, symbols, shares[row])
        assert frames.grad is not None
        torch.testing.assert_close(
            frames.grad[row], of_symbols
        )  # ∂ log p / ∂ log y^t_k = Σ over s with l′_s = k of γ_t(s)


def test_the_best_alignment_is_the_most_probable_path() -> None:
    (frames,) = frames_of(1, 5)
    for labels in ((0,), (1, 1), (0, 1, 0)):
        states, score = best_alignment(
            frames[None], torch.tensor([5]), torch.tensor([labels]), torch.tensor([len(labels)])
        )
        along = [LABELS if state % 2 == 0 else labels[state // 2] for state in states[0].tolist()]
        paths = paths_of(frames, labels)
        best = max(paths, key=lambda path: float(paths[path]))
        assert tuple(along) == best
        torch.testing.assert_close(score[0], paths[best])


def test_alignments_in_rows_of_different_lengths_are_those_of_each_alone() -> None:
    logits, counts, labels, label_counts = random_rows(6)
    frames = logits.log_softmax(-1)
    together, scores = best_alignment(frames, counts, labels, label_counts)
    for row, (count, label_count) in enumerate(zip(counts.tolist(), label_counts.tolist(), strict=True)):
        alone, score = best_alignment(
            frames[row : row + 1, :count], counts[row : row + 1], labels[row : row + 1, :label_count],
            label_counts[row : row + 1],
        )  # fmt: skip
        assert together[row, :count].tolist() == alone[0].tolist()
        assert together[row, count:].tolist() == [-1] * (12 - count)
        torch.testing.assert_close(scores[row], score[0])


def test_the_best_path_loses_repeats_then_blanks_and_all_behind_its_frames() -> None:
    symbols = torch.tensor([[0, 0, 2, 0, 1, 1, 2], [2, 2, 1, 0, 0, 1, 1]])
    frames = F.one_hot(symbols, 3).double().log()
    assert best_path(frames, torch.tensor([7, 4])) == [[0, 0, 1], [1, 0]]


def test_labels_that_do_not_fit_are_impossible_and_leave_no_nan() -> None:
    frames = frames_of(2, 3).requires_grad_()
    labels, label_counts, counts = torch.tensor([[0, 0, 1], [0, 1, 0]]), torch.tensor([3, 2]), torch.tensor([3, 3])
    assert frames_needed(labels, label_counts).tolist() == [4, 2]
    result = log_likelihood(frames, counts, labels, label_counts)
    assert result[0] == -math.inf
    result[1].backward()
    assert frames.grad is not None
    assert frames.grad.isfinite().all()
    assert not occupancy(frames.detach(), counts, labels, label_counts)[0].any()
    assert (best_alignment(frames.detach(), counts, labels, label_counts)[0][0] == -1).all()


def test_the_exact_gradient_is_the_mean_of_reinforce_gradients_over_the_same_alignments() -> None:
    """∇ log p(l | x) = E over π ~ p(π | x) of [R(π) ∇ log p(π | x)], with R = 1 / p(l | x) for alignments of l, else 0.

    That is REINFORCE with the alignment as its action. Over all alignments, weighted by probability, it is exact.
    """
    logits = torch.randn(4, LABELS + 1, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    labels = (0, 1)
    leaf = logits.clone().requires_grad_()
    log_p = likelihood(leaf.log_softmax(-1), *labels)
    (exact,) = torch.autograd.grad(log_p, leaf)
    mean = torch.zeros_like(exact)
    for path in itertools.product(range(LABELS + 1), repeat=4):
        leaf = logits.clone().requires_grad_()
        frames = leaf.log_softmax(-1)
        log_path = torch.stack([frames[time, symbol] for time, symbol in enumerate(path)]).sum()
        reward = (labelling(path) == labels) / log_p.detach().exp()
        (of_path,) = torch.autograd.grad(log_path, leaf)
        mean += log_path.detach().exp() * reward * of_path
    torch.testing.assert_close(mean, exact)


def test_draws_of_alignments_find_the_gradient_on_average_and_the_more_the_nearer() -> None:
    """The same by sampling, as REINFORCE does where sums are impossible: the error falls as the root of the draws."""
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(4, LABELS + 1, dtype=torch.float64, generator=generator)
    leaf = logits.clone().requires_grad_()
    log_p = likelihood(leaf.log_softmax(-1), 0)
    (exact,) = torch.autograd.grad(log_p, leaf)
    y = logits.softmax(-1)
    draws = torch.multinomial(y, 20_000, replacement=True, generator=generator).T  # (draw, frame)
    reward = torch.tensor([labelling(tuple(path)) == (0,) for path in draws.tolist()]) / log_p.detach().exp()
    score = F.one_hot(draws, LABELS + 1) - y  # ∂ log p(π) / ∂ logits
    estimates = reward[:, None, None] * score
    for count, bound in ((500, 0.2), (20_000, 0.03)):
        assert (estimates[:count].mean(0) - exact).abs().max() < bound
