"""Sampling: which tokens it draws, how often, and what that depends on."""

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.chance import _mix, _to_signed, uniform
from regard.decoding.options import DecodingOptions, SamplingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.sampling import draw, sample

sys.path.insert(0, str(Path(__file__).parent))
from tables import END, Table, fixed, random_table


def drawn(
    task: Table, numbers: list[int], lines: list[int], limit: int = 12, demands: Demands | None = None, **options: float
) -> list[list[Hypothesis]]:
    sampling = {name: options.pop(name) for name in list(options) if name in SamplingOptions.model_fields}
    decoding = DecodingOptions(sampling=SamplingOptions(**sampling), **options)
    return sample(task, torch.tensor(numbers), torch.full((len(numbers),), limit), decoding, lines, demands)


def chi_squared(counts: list[int], expected: list[float]) -> float:
    return sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))


def test_splitmix_gives_its_published_numbers() -> None:
    """The first numbers of the stream with seed 1234567, as in every implementation."""
    state = torch.tensor([1234567]) + torch.arange(1, 4) * _to_signed(0x9E3779B97F4A7C15)
    numbers = [word % 2**64 for word in _mix(state).tolist()]
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("moving", ["seed", "line", "sample", "time"])
def test_chances_are_even_along_every_key(moving: str) -> None:
    """20 bins of 100: chi-squared with 19 degrees of freedom exceeds 43.8 once in a thousand times."""
    count = torch.arange(2000)
    keys = [count if moving == name else torch.full_like(count, 5) for name in ("line", "sample", "time")]
    if moving == "seed":
        chances = torch.cat([uniform(seed, *(key[:1] for key in keys)) for seed in range(2000)])
    else:
        chances = uniform(1, *keys)
    assert chances.min() >= 0
    assert chances.max() < 1
    bins = torch.bincount((chances * 20).long(), minlength=20).tolist()
    assert chi_squared(bins, [100.0] * 20) < 43.8
    neighbours = torch.corrcoef(torch.stack([chances[1:], chances[:-1]]))[0, 1]
    assert abs(neighbours) < 0.09  # four standard deviations


def test_draw_is_the_inverse_of_the_cumulated_probabilities() -> None:
    probabilities = torch.tensor([0.0, 0.25, 0.0, 0.5, 0.25, 0.0], dtype=torch.float64)
    chances = torch.tensor([0.0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2.0**-53], dtype=torch.float64)
    tokens = draw(probabilities.log().expand(6, -1), chances)
    assert tokens.tolist() == [1, 1, 3, 3, 4, 4]


def test_never_a_token_without_probability() -> None:
    """Seven sevenths do not sum to one in floating point; the highest chance must still find the last one."""
    probabilities = torch.full((1, 9), 1 / 7, dtype=torch.float64)
    probabilities[0, 7:] = 0.0
    highest = torch.tensor([1 - 2.0**-53], dtype=torch.float64)
    assert draw(probabilities.log(), highest).item() == 6


def test_frequencies_match_the_distribution() -> None:
    """First tokens of 4000 samples: chi-squared with 4 degrees of freedom exceeds 18.5 once in a thousand times."""
    task = random_table(5, 1, 5)
    samples = drawn(task, [0], [0], limit=2, samples=4000)[0]
    counts = Counter(hypothesis.tokens[0] if hypothesis.tokens else END for hypothesis in samples)
    expected = (4000 * task.table[0, 0, 0].exp()).tolist()
    assert chi_squared([counts[token] for token in range(5)], expected) < 18.5


def test_whole_outputs_are_as_frequent_as_their_score_says() -> None:
    samples = drawn(random_table(6, 1, 4), [0], [0], limit=3, samples=8000)[0]
    counts = Counter((tuple(hypothesis.tokens), round(hypothesis.score, 9)) for hypothesis in samples)
    for (_, score), count in counts.most_common(5):
        mean = 8000 * torch.tensor(score, dtype=torch.float64).exp().item()
        if mean > 200:
            assert abs(count - mean) < 4 * mean**0.5


def test_a_sample_depends_on_seed_line_and_number_alone() -> None:
    task = random_table(7, 5, 8)
    together = drawn(task, [0, 1, 2, 3, 4], [10, 11, 12, 13, 14], samples=3)
    backwards = drawn(task, [4, 3, 2, 1, 0], [14, 13, 12, 11, 10], samples=3)
    alone = [drawn(task, [number], [10 + number], samples=3)[0] for number in range(5)]
    assert together == backwards[::-1] == alone
    more = drawn(task, [0, 1, 2, 3, 4], [10, 11, 12, 13, 14], samples=5)
    assert [several[:3] for several in more] == together
    assert drawn(task, [0, 1, 2, 3, 4], [10, 11, 12, 13, 14], samples=3, seed=2) != together
    assert drawn(task, [0, 0], [10, 11], samples=3)[0] == together[0]
    assert drawn(task, [0, 0], [10, 11], samples=3)[1] != together[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rule", [{}, {"shortest": 4}, {"unrepeated": 2}, {"repetition_penalty": 1.5}])
def test_temperature_nothing_is_greedy_search(rule: dict[str, float]) -> None:
    for seed in range(20):
        task = random_table(seed, 1, 6)
        greedy = beam_search(task, torch.tensor([0]), torch.tensor([9]), DecodingOptions(beam=1, stop="first", **rule))[
            0
        ][0]
        for temperature in (0.0, 1e-12):
            hypothesis = drawn(task, [0], [seed], limit=9, temperature=temperature, **rule)[0][0]
            assert hypothesis.tokens == greedy.tokens
            assert hypothesis.token_scores == greedy.token_scores


def test_scores_are_the_models_own_whatever_is_left_to_draw_from() -> None:
    task = fixed(0.0, 0.1, 0.3, 0.6)
    for hypothesis in drawn(task, [0], [0], samples=20, temperature=0.3, top_k=2, repetition_penalty=3.0)[0]:
        scores = [task.table[0, 0, 0, token].item() for token in [*hypothesis.tokens, END]]
        assert hypothesis.token_scores == scores
        assert hypothesis.score == sum(scores)


def test_rules_hold() -> None:
    task = random_table(9, 1, 6)
    demands = Demands(prefixes=[[3, 2]], forbidden=[[4], [2, 5]])
    for hypothesis in drawn(task, [0], [0], samples=50, shortest=4, demands=demands)[0]:
        assert hypothesis.tokens[:2] == [3, 2]
        assert 4 not in hypothesis.tokens
        assert not any(pair == (2, 5) for pair in zip(hypothesis.tokens, hypothesis.tokens[1:], strict=False))
        assert 4 <= len(hypothesis.tokens) <= 11


def test_what_cannot_go_on_ends() -> None:
    """In this table no token can follow token 2."""
    task = fixed(0.0, 0.5, 0.5)
    task.table = task.table.clone()
    task.table[0, 0, 2] = float("-inf")
    outputs = {tuple(hypothesis.tokens) for hypothesis in drawn(task, [0], [0], samples=30)[0]}
    assert outputs == {(), (2,)}


def test_refusals() -> None:
    with pytest.raises(Fault, match="Sampling cannot guarantee phrases"):
        drawn(fixed(0.0, 0.5, 0.5), [0], [0], demands=Demands(required=[[[2]]]))
    with pytest.raises(ValueError, match="2 line numbers were given for 1 sentences"):
        drawn(fixed(0.0, 0.5, 0.5), [0], [0, 1])


def test_a_sample_is_cut_at_its_limit_or_must_end_there() -> None:
    """The draws are equal except for the end, which is forced and counted at the limit."""
    task, options = random_table(4, 3, 6), DecodingOptions(sampling=SamplingOptions(samples=50))
    forced, cut = (
        sample(task, torch.arange(3), torch.tensor(limits), options, must_end=must_end)
        for must_end, limits in ((True, [4, 6, 2]), (False, [3, 5, 1]))
    )
    ended = set()
    for limit, with_ends, without in zip([3, 5, 1], forced, cut, strict=True):
        for one, other in zip(with_ends, without, strict=True):
            assert other.tokens == one.tokens
            assert other.has_ended == (len(one.tokens) < limit)
            assert other.token_scores == (one.token_scores if other.has_ended else one.token_scores[:-1])
            assert other.score == sum(other.token_scores)
            ended.add(other.has_ended)
    assert ended == {True, False}
