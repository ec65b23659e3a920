"""Resampled tokenisation: by (seed, epoch, row, side) alone, in any process and from any start."""

from pathlib import Path

import numpy as np
import pytest

from regard.data.corpora.options import PairData
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import PreparedPairs
from regard.data.corpora.resampling import Flat, PairCutter, SampledPairs, workers_beside_gpu

NAMES = ("Ana", "O professor", "A menina", "Мальчик")
LINES = [f"{name} reads the {number}. newspaper" for number in range(100) for name in NAMES]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedPairs:
    folder = tmp_path_factory.mktemp("corpus")
    for name, lines in (("train.en", LINES), ("train.pt", [line.upper() for line in LINES])):
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    options = PairData.model_validate(
        {
            "source_language": "en",
            "target_language": "pt",
            "train": [str(folder / "train.en"), str(folder / "train.pt")],
            "tokeniser": {"kind": "bpe", "vocabulary": 420, "sampling": 0.3},
        }
    )
    return prepare(options, folder / "prepared")


def cutter(corpus: PreparedPairs, longest: int = 100) -> PairCutter:
    return PairCutter(corpus.train, corpus.source, corpus.target, longest)


def batches(corpus: PreparedPairs) -> list[np.ndarray]:
    """Return small batches, and one that is cut in several pieces."""
    rows = np.arange(len(corpus.train))[::-1]
    return [rows[:1], rows[1:20], rows[20:], rows[:7]]


def cut(pairs: SampledPairs, rows: list[np.ndarray], seed: int, epoch: int) -> list[list[list[list[int]]]]:
    batches_found = pairs.batches(rows, seed, epoch)
    return [[[row.tolist() for row in side] for side in batch] for batch in batches_found]


def test_a_row_is_cut_by_its_key(corpus: PreparedPairs) -> None:
    (rows,) = cut(SampledPairs(cutter(corpus), 0), [np.array([5, 2])], seed=3, epoch=4)
    for side, tokeniser, number in (("source", corpus.source, 0), ("target", corpus.target, 1)):
        expected = [tokeniser.sample(corpus.train.text(side, row), (3, 4, row, number)) for row in (5, 2)]
        assert rows[number] == expected


def test_a_side_with_one_way_to_split_a_text_is_not_sampled(tmp_path: Path) -> None:
    for name in ("train.en", "train.pt"):
        (tmp_path / name).write_text("\n".join(LINES), encoding="utf-8")
    tokeniser = {"kind": "bpe", "target_kind": "words", "shared": False, "vocabulary": 420, "sampling": 0.3}
    table = {"source_language": "en", "target_language": "pt", "tokeniser": tokeniser}
    files = [str(tmp_path / "train.en"), str(tmp_path / "train.pt")]
    pairs = prepare(PairData.model_validate(table | {"train": files}), tmp_path / "prepared")
    rows = np.arange(50)
    first, second = (cut(SampledPairs(cutter(pairs), 0), [rows], 1, epoch)[0] for epoch in (0, 1))
    assert first[0] != second[0]
    assert first[1] == second[1] == [pairs.target.encode(pairs.train.text("target", row)) for row in rows]


def test_what_comes_out_too_long_stays_as_it_was_prepared(corpus: PreparedPairs) -> None:
    rows = np.arange(len(corpus.train))
    limit = int(max(corpus.train.source_lengths.max(), corpus.train.target_lengths.max()))
    free, bound = (cut(SampledPairs(cutter(corpus, longest), 0), [rows], 1, 0)[0] for longest in (1000, limit))
    for number, side in enumerate(("source", "target")):
        assert max(map(len, free[number])) > limit
        for row, tokens in enumerate(free[number]):
            expected = tokens if len(tokens) <= limit else corpus.train.tokens(side, row).tolist()
            assert bound[number][row] == expected


def test_workers_change_nothing(corpus: PreparedPairs) -> None:
    alone, helped = SampledPairs(cutter(corpus), 0), SampledPairs(cutter(corpus), 2)
    everything = batches(corpus)
    first = cut(alone, everything, 1, 0)
    assert cut(helped, everything, 1, 0) == first
    assert cut(helped, everything[2:], 1, 0) == first[2:]  # as a resumed run begins
    assert cut(helped, everything, 1, 1) == cut(alone, everything, 1, 1) != first
    assert cut(helped, everything, 2, 0) != first
    assert cut(helped, [], 1, 0) == []


def test_no_sentence_is_lost_on_the_way() -> None:
    for sentences in ([[1, 2], [], [3]], [[]], [[], [4]]):
        assert [row.tolist() for row in Flat.of(sentences).rows()] == sentences


@pytest.mark.parametrize(("cores", "workers"), [(1, 0), (2, 1), (8, 7), (128, 12)])
def test_a_core_is_left_to_the_trainer(monkeypatch: pytest.MonkeyPatch, cores: int, workers: int) -> None:
    monkeypatch.setattr("regard.data.corpora.resampling.cores", lambda: cores)
    assert workers_beside_gpu() == workers
