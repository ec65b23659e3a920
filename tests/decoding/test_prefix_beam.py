"""Prefix search finds the most probable labelling, which the most probable path may miss."""

import itertools
import math

import numpy as np
import pytest
import torch

from regard.decoding.prefix_beam import prefix_beam
from regard.models.ctc.paths import best_path, log_likelihood

LABELS = 3


def frames_of(count: int, seed: int) -> np.ndarray:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, LABELS + 1, dtype=torch.float64, generator=generator).log_softmax(-1).numpy()


def likelihood(frames: np.ndarray, labels: tuple[int, ...]) -> float:
    target = torch.tensor(labels, dtype=torch.long).reshape(1, -1)
    likelihood = log_likelihood(
        torch.from_numpy(frames)[None], torch.tensor([len(frames)]), target, torch.tensor([len(labels)])
    )
    return float(likelihood)


def every_labelling(longest: int) -> list[tuple[int, ...]]:
    return [labels for count in range(longest + 1) for labels in itertools.product(range(LABELS), repeat=count)]


def test_the_best_labelling_is_not_that_of_the_best_path() -> None:
    """Two frames of a 0.4 and a blank 0.6: the best path, two blanks, has 0.36; the labelling a has 0.16 + 2 · 0.24."""
    frames = np.log([[0.4, 0.6], [0.4, 0.6]])
    assert best_path(torch.from_numpy(frames)[None], torch.tensor([2])) == [[]]
    best, second = prefix_beam(frames.tolist(), 4)[:2]
    assert (best.labels, second.labels) == ((0,), ())
    assert math.exp(best.score) == pytest.approx(0.64)
    assert math.exp(second.score) == pytest.approx(0.36)


@pytest.mark.parametrize("seed", range(2))
def test_a_beam_for_all_prefixes_finds_the_sum_over_paths_of_every_labelling(seed: int) -> None:
    frames = frames_of(3, seed)
    scores = {labelling.labels: labelling.score for labelling in prefix_beam(frames.tolist(), 1000)}
    possible = {labels: likelihood(frames, labels) for labels in every_labelling(3)}
    for labels, score in possible.items():
        if score > -math.inf:
            assert scores[labels] == pytest.approx(score)
    assert max(scores, key=scores.__getitem__) == max(possible, key=possible.__getitem__)
    assert sum(map(math.exp, scores.values())) == pytest.approx(1.0)


class OnlyAfter:
    """Language model in which a label is followed by the next one or by the end."""

    def after(self, prefix: tuple[int, ...]) -> list[float]:
        follower = (prefix[-1] + 1) % LABELS if prefix else 0
        return [math.log(0.8 if label == follower else 0.05) for label in range(LABELS)] + [math.log(0.1)]


def test_a_language_model_is_added_with_its_weight() -> None:
    frames, model = frames_of(3, 7), OnlyAfter()

    def language_score(labels: tuple[int, ...]) -> float:
        places = [model.after(labels[:place])[label] for place, label in enumerate(labels)]
        return sum(places) + model.after(labels)[-1]

    for weight in (0.5, 3.0):
        best = prefix_beam(frames.tolist(), 1000, model, weight)[0]
        expected = max(
            every_labelling(3), key=lambda labels: likelihood(frames, labels) + weight * language_score(labels)
        )
        assert best.labels == expected
        assert best.language_score == pytest.approx(language_score(expected))
    assert prefix_beam(frames.tolist(), 4, model, 0.0)[0].labels == prefix_beam(frames.tolist(), 4)[0].labels


def test_what_cannot_be_said_is_never_found() -> None:
    frames = np.full((2, 2), -math.inf)
    frames[0, 0] = frames[1, 0] = 0.0
    (labelling,) = prefix_beam(frames.tolist(), 3)
    assert (labelling.labels, labelling.score) == ((0,), 0.0)
