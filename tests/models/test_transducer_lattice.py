"""Transducer sums over alignments match the sum of all alignments, and so do their gradients."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from regard.models.transducer.lattice import Lattice, best_frames, lattice_of, log_likelihood, steps_of

LABELS = 2  # the blank is the symbol after them


def logs_of(batch: int, frames: int, labels: int, seed: int = 5) -> Tensor:
    """Return log-probabilities of every symbol at every cell."""
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, frames, labels + 1, LABELS + 1)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).log_softmax(-1)


def alignments(frames: int, labels: int) -> list[tuple[int, ...]]:
    """Return all ways to place labels on frames, none before the previous label's frame."""
    return list(itertools.combinations_with_replacement(range(frames), labels))


def walk(logs: Tensor, labels: tuple[int, ...], at: tuple[int, ...]) -> Tensor:
    """Return log p of one alignment, step by step: at each frame its labels, then a blank."""
    total, written = logs.new_zeros(()), 0
    for frame in range(len(logs)):
        for _ in range(at.count(frame)):
            total = total + logs[frame, written, labels[written]]
            written += 1
        total = total + logs[frame, written, LABELS]
    return total


def by_hand(logs: Tensor, labels: tuple[int, ...]) -> Tensor:
    every = [walk(logs, labels, at) for at in alignments(len(logs), len(labels))]
    return torch.stack(every).logsumexp(0)


def lattice(logs: Tensor, *labels: int) -> Lattice:
    return lattice_of(
        logs[None],
        torch.tensor([labels], dtype=torch.long).reshape(1, -1),
        torch.tensor([len(logs)]),
        torch.tensor([len(labels)]),
    )


def test_two_frames_and_a_label_by_hand() -> None:
    """The label is at the first frame, 1/2 · 1/4 · 1/8, or after a blank at the second, 1/2 · 1/3 · 1/8."""
    logs = torch.tensor([[[0.5, 0.0, 0.5], [0.75, 0.0, 0.25]], [[1 / 3, 0.0, 2 / 3], [0.875, 0.0, 0.125]]]).log()
    assert log_likelihood(lattice(logs, 0)).exp().item() == pytest.approx(0.5 * 0.25 * 0.125 + 0.5 / 3 * 0.125)


@pytest.mark.parametrize("frames", [1, 2, 4])
@pytest.mark.parametrize("labels", [(), (0,), (1, 1), (0, 1, 0), (1, 0, 0, 1, 1)])
def test_the_sum_is_over_all_alignments_also_of_more_labels_than_frames(frames: int, labels: tuple[int, ...]) -> None:
    (logs,) = logs_of(1, frames, len(labels))
    logs.requires_grad_()
    expected, total = by_hand(logs, labels), log_likelihood(lattice(logs, *labels))[0]
    torch.testing.assert_close(total, expected)
    with torch.no_grad():
        torch.testing.assert_close(log_likelihood(lattice(logs, *labels))[0], expected)
    (gradient,), (by_paths,) = (torch.autograd.grad(sum_of_logs, logs) for sum_of_logs in (total, expected))
    torch.testing.assert_close(gradient, by_paths)


def test_all_labellings_of_a_frame_sum_to_one() -> None:
    """One frame writes at most three labels, since a fourth is never probable."""
    (logs,) = logs_of(1, 1, 3)
    logs[0, 3] = torch.tensor([0.0, 0.0, 1.0]).log()
    total = 0.0
    for count in range(4):
        for labels in itertools.product(range(LABELS), repeat=count):
            total += log_likelihood(lattice(logs[:, : count + 1], *labels)).exp().item()
    assert total == pytest.approx(1.0)


def random_rows(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return rows with different numbers of frames and labels, one without labels, one with more labels than frames."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, LABELS, (4, 5), generator=generator)
    return logs_of(4, 6, 5, seed), labels, torch.tensor([6, 3, 1, 2]), torch.tensor([3, 0, 5, 4])


@pytest.mark.parametrize("seed", range(2))
def test_padding_changes_nothing(seed: int) -> None:
    logs, labels, counts, label_counts = random_rows(seed)
    together = steps_of(lattice_of(logs, labels, counts, label_counts))
    for row, (count, written) in enumerate(zip(counts.tolist(), label_counts.tolist(), strict=True)):
        cells = logs[row, :count, : written + 1]
        alone = steps_of(lattice(cells, *labels[row, :written].tolist()))
        torch.testing.assert_close(together.score[row], alone.score[0])
        torch.testing.assert_close(together.score[row], by_hand(cells, tuple(labels[row, :written].tolist())))
        for part, expected in zip(together[1:], alone[1:], strict=True):
            torch.testing.assert_close(part[row, :count, : written + 1], expected[0])
            assert part[row, count:].abs().sum() + part[row, :, written + 1 :].abs().sum() == 0


def test_the_gradient_is_exact() -> None:
    """Rows with more frames than labels, and with more labels than frames."""
    logs, labels = logs_of(2, 3, 3), torch.tensor([[0, 1, 0], [1, 1, 0]])
    counts, label_counts = torch.tensor([3, 1]), torch.tensor([2, 3])

    def score(logits: Tensor) -> Tensor:
        return log_likelihood(lattice_of(logits.log_softmax(-1), labels, counts, label_counts))

    assert torch.autograd.gradcheck(score, (logs.clone().requires_grad_(),))


def test_each_frame_is_left_once_and_each_label_written_once() -> None:
    logs, labels, counts, label_counts = random_rows(3)
    _, waits, writes = steps_of(lattice_of(logs, labels, counts, label_counts))
    for row, (count, written) in enumerate(zip(counts.tolist(), label_counts.tolist(), strict=True)):
        torch.testing.assert_close(waits[row, :count].sum(-1), torch.ones(count, dtype=torch.float64))
        torch.testing.assert_close(writes[row, :, :written].sum(0), torch.ones(written, dtype=torch.float64))


def test_where_alignments_write_is_the_mean_over_all_of_them() -> None:
    labels = (1, 0, 1)
    (logs,) = logs_of(1, 3, 3)
    _, _, writes = steps_of(lattice(logs, *labels))
    whole, expected = by_hand(logs, labels), torch.zeros(3, 3, dtype=torch.float64)
    for at in alignments(3, 3):
        share = (walk(logs, labels, at) - whole).exp()
        for place, frame in enumerate(at):
            expected[frame, place] += share
    torch.testing.assert_close(writes[0, :, :3], expected)


def test_the_best_alignment_is_the_best_of_all() -> None:
    for seed in range(5):
        logs, labels, counts, label_counts = random_rows(seed)
        frames = best_frames(lattice_of(logs, labels, counts, label_counts))
        for row, (count, written) in enumerate(zip(counts.tolist(), label_counts.tolist(), strict=True)):
            cells, symbols = logs[row, :count], tuple(labels[row, :written].tolist())
            best = max(alignments(count, written), key=lambda at: float(walk(cells, symbols, at)))
            assert frames[row, :written].tolist() == list(best)


def test_long_rows_do_not_underflow_and_float32_is_summed_in_float64() -> None:
    logs = logs_of(1, 400, 60)
    labels = torch.arange(60)[None] % LABELS
    lengths = torch.tensor([400]), torch.tensor([60])
    exact = log_likelihood(lattice_of(logs, labels, *lengths))
    rounded = logs.float().requires_grad_()
    likelihood = log_likelihood(lattice_of(rounded, labels, *lengths))
    likelihood.sum().backward()
    assert math.isfinite(exact.item())
    assert likelihood.item() == pytest.approx(exact.item(), rel=1e-5)
    assert rounded.grad.dtype == torch.float32
    assert float(rounded.grad.sum()) == pytest.approx(460, rel=1e-4)  # a step for each frame and each label


def test_a_row_without_frames_has_no_labels() -> None:
    logs, labels, counts, _ = random_rows(1)
    logs.requires_grad_()
    scores = log_likelihood(lattice_of(logs, labels, torch.zeros_like(counts), torch.tensor([0, 1, 2, 3])))
    assert scores.tolist() == [0.0, -math.inf, -math.inf, -math.inf]
    scores.sum().backward()
    assert not logs.grad.any()
