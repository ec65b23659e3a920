"""Batches: every row once, no batch above its budget, any position resumable, little padding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.corpora import batching
from regard.data.corpora.batching import BatchPlan

lengths = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60)


def planned(
    pairs: list[tuple[int, int]], budget: int, corpora: list[tuple[int, int, float]] | None = None
) -> BatchPlan:
    sides = np.array(pairs, np.int32).reshape(-1, 2)
    return BatchPlan(sides[:, 0], sides[:, 1], budget, corpora or [(0, len(pairs), 1.0)])


def as_lists(plan: BatchPlan, seed: int = 1, epoch: int = 0, start: int = 0) -> list[list[int]]:
    return [batch.tolist() for batch in plan.batches(seed, epoch, start)]


def test_a_batch_counted_on_paper() -> None:
    # Two short pairs cost 2 x (3 + 1) = 8 and fill the budget; the pair of 9 tokens costs 10 and is alone.
    batches = as_lists(planned([(3, 2), (9, 1), (1, 3)], budget=8))
    assert sorted(map(sorted, batches)) == [[0, 2], [1]]


@given(lengths, st.integers(1, 100), st.integers(0, 2**32), st.integers(0, 5))
def test_every_row_comes_once_and_within_the_budget(
    pairs: list[tuple[int, int]], budget: int, seed: int, epoch: int
) -> None:
    plan = planned(pairs, budget)
    batches = as_lists(plan, seed, epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(pairs)))
    for batch in batches:
        longest = max(max(pairs[row]) + 1 for row in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
    assert plan.size(seed, epoch).batches == len(batches)


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_WINDOW_ROWS", 30)


def random_pairs(count: int) -> list[tuple[int, int]]:
    numbers = np.random.default_rng(5).integers(1, 30, (count, 2))
    return [(int(source), int(target)) for source, target in numbers]


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("corpora", [[(0, 100, 1.0)], [(0, 70, 1.0), (70, 30, 4.0)]])
def test_any_position_can_be_resumed_at(corpora: list[tuple[int, int, float]]) -> None:
    plan = planned(random_pairs(100), 90, corpora)
    whole = as_lists(plan)
    assert len(whole) > 10
    for start in range(len(whole) + 2):
        assert as_lists(plan, start=start) == whole[start:]


@pytest.mark.usefixtures("small_windows")
def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    pairs = random_pairs(100)
    first = as_lists(planned(pairs, 90), seed=3, epoch=2)
    assert as_lists(planned(pairs, 90), seed=3, epoch=2) == first
    assert as_lists(planned(pairs, 90), seed=4, epoch=2) != first
    assert as_lists(planned(pairs, 90), seed=3, epoch=3) != first


@pytest.mark.usefixtures("small_windows")
def test_windows_mix_rows_from_everywhere_and_batches_come_in_no_order_of_length() -> None:
    pairs = sorted(random_pairs(300))
    batches = as_lists(planned(pairs, 90))
    widths = [max(max(pairs[row]) for row in batch) for batch in batches]
    assert widths != sorted(widths)
    assert max(row for batch in batches[:10] for row in batch) > 200
    assert min(row for batch in batches[:10] for row in batch) < 100


def drawn(plan: BatchPlan, epoch: int) -> np.ndarray:
    return np.bincount(np.concatenate(list(plan.batches(1, epoch))), minlength=len(plan.source_lengths))


def test_weights_as_large_as_the_corpora_are_every_row_once() -> None:
    plan = planned(random_pairs(100), 90, [(0, 90, 90.0), (90, 10, 10.0)])
    assert drawn(plan, 0).tolist() == [1] * 100


@pytest.mark.parametrize("weight", [1.0, 1.0001])
def test_equal_weights_are_equal_shares_and_nearly_equal_ones_nearly(weight: float) -> None:
    plan = planned(random_pairs(100), 90, [(0, 90, 1.0), (90, 10, weight)])
    assert drawn(plan, 0)[:90].sum() == 50
    assert drawn(plan, 0)[90:].tolist() == [5] * 10


def test_weights_share_out_an_epoch() -> None:
    # 100 draws at 1 : 3 take 25 of the 80 rows of one corpus, and 75 from the 20 of the other: 3 or 4 times each.
    plan = planned(random_pairs(100), 90, [(0, 80, 1.0), (80, 20, 3.0)])
    times = drawn(plan, 0)
    assert times[:80].sum() == 25
    assert times[:80].max() == 1
    assert times[80:].sum() == 75
    assert set(times[80:]) == {3, 4}
    assert drawn(plan, 1).tolist() != times.tolist()


def test_a_corpus_of_which_nothing_is_left_is_passed_over() -> None:
    plan = planned(random_pairs(50), 90, [(0, 50, 1.0), (50, 0, 7.0)])
    assert drawn(plan, 0).tolist() == [1] * 50


def test_padding_counted_on_paper() -> None:
    # With end tokens 3 + 2 and 2 + 4 places are needed, and 2 x (3 + 4) are used: 3 of 14 are padding.
    assert planned([(2, 1), (1, 3)], budget=8).size(1, 0).padding == pytest.approx(3 / 14)
    assert planned([(2, 1), (1, 3)], budget=1).size(1, 0).padding == 0
    assert planned([], budget=1).size(1, 0).padding == 0


@pytest.mark.usefixtures("small_windows")
def test_the_size_of_a_large_epoch_is_judged_by_its_first_windows() -> None:
    plan = planned(random_pairs(30 * 40), 90)
    size, batches = plan.size(1, 0), len(as_lists(plan, 1, 0))
    assert not size.is_exact
    assert str(size).startswith(f"about {size.batches:,} batches an epoch, ")
    assert abs(size.batches - batches) < 0.1 * batches
    assert str(planned([(2, 1), (1, 3)], budget=8).size(1, 0)) == "1 batch an epoch, 21.4% padding"


def test_an_order_found_in_ranges_is_the_order_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(random_pairs(200), 90, [(0, 150, 1.0), (150, 50, 2.0)])
    whole = as_lists(plan, 3, 1)
    monkeypatch.setattr(batching, "_BLOCK", 16)
    assert as_lists(planned(random_pairs(200), 90, [(0, 150, 1.0), (150, 50, 2.0)]), 3, 1) == whole


@pytest.mark.parametrize(("count", "mean", "budget"), [(30_000, 14, 4096), (60_000, 14, 8192), (200_000, 28, 16_384)])
def test_realistic_lengths_are_padded_by_less_than_a_twentieth(count: int, mean: float, budget: int) -> None:
    generator = np.random.default_rng(2)
    common = np.log(mean) + 0.4 * generator.standard_normal(count)
    sides = np.exp(common + 0.15 * generator.standard_normal((2, count))).clip(1, 200).astype(np.int32)
    plan = BatchPlan(sides[0], sides[1], budget, [(0, count, 1.0)])
    assert 0 < plan.size(1, 0).padding < 0.05
    full = (np.maximum(*sides) + 1).sum() / budget
    assert full < plan.size(1, 0).batches < 1.2 * full
