"""Training batches with resampled tokenisation: by seed, epoch and row alone, with and without workers."""

import os
import shutil
from itertools import islice
from pathlib import Path

import pytest
from small import SETTINGS, write_corpus

from regard.base.faults import Fault
from regard.data.corpora.options import PairData
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import PreparedPairs, open_prepared
from regard.data.corpora.resampling import PairCutter, SampledPairs
from regard.families import check_recipe
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation
from regard.training.prefetch import prefetch

SAMPLING = 0.3


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedPairs:
    folder = tmp_path_factory.mktemp("corpus")
    source, target = write_corpus(folder)
    tokeniser = {"vocabulary": 400, "sampling": SAMPLING}
    options = PairData.model_validate({"train": [str(source), str(target)], "tokeniser": tokeniser})
    return prepare(options, folder / "prepared")


def learning_from(corpus: PreparedPairs, sampling: bool = True) -> Translation:
    """Return a translator of this corpus that resamples the tokenisation in every epoch, or keeps the prepared one."""
    sizes = {name.removeprefix("model."): size for name, size in SETTINGS.items() if name.startswith("model.")}
    tokeniser = {"vocabulary": 400, "sampling": SAMPLING if sampling else 0.0}
    data = {"train": [{"pairs": "not read again"}], "tokeniser": tokeniser, "cleaning": {"longest": 99}}
    training = {"batch_tokens": 256, "fast": False}
    recipe = check_recipe({"data": data, "model": sizes, "training": training})
    assert isinstance(recipe, TranslationRecipe)
    task = build_translation(recipe, corpus.source, corpus.target)
    task.learn_from(corpus, recipe)
    return task


def targets(task: Translation, epoch: int, start: int = 0) -> list[list[list[int]]]:
    return [batch.target.tolist() for batch in task.batches("train", 1, epoch, start)]


def test_every_epoch_is_cut_anew_and_can_be_begun_anywhere(corpus: PreparedPairs) -> None:
    task = learning_from(corpus)
    first, second = targets(task, 0), targets(task, 1)
    assert targets(task, 0, start=3) == first[3:]
    texts = [sorted(task.write(row) for batch in epoch for row in batch) for epoch in (first, second)]
    assert texts[0] == texts[1]
    assert sorted(row for batch in first for row in batch) != sorted(row for batch in second for row in batch)


def test_a_row_is_cut_by_seed_epoch_and_place(corpus: PreparedPairs) -> None:
    task = learning_from(corpus)
    batch, rows = next(task.batches("train", 5, 2, 0)), next(task.pairs.plan.batches(5, 2))
    for number, row in enumerate(rows.tolist()):
        expected = corpus.source.sample(corpus.train.text("source", row), (5, 2, row, 0))
        assert batch.source[number, : batch.source_lengths[number] - 1].tolist() == expected


def test_workers_are_for_a_gpu_and_change_no_batch(corpus: PreparedPairs) -> None:
    task = learning_from(corpus)
    assert task.pairs.workers == learning_from(corpus, sampling=False).pairs.workers == 0
    alone = [targets(task, epoch) for epoch in (0, 1)]
    task.pairs._sampled = SampledPairs(PairCutter(corpus.train, corpus.source, corpus.target, 100), 2)
    assert task.pairs.workers == 2
    assert [targets(task, epoch) for epoch in (0, 1)] == alone


@pytest.mark.long
def test_workers_outlive_the_thread_that_fetches_ahead(corpus: PreparedPairs) -> None:
    """A run that rolls back discards its prefetched batches and fetches again in another thread."""
    task = learning_from(corpus)
    expected = targets(task, 0)
    task.pairs._sampled = SampledPairs(PairCutter(corpus.train, corpus.source, corpus.target, 100), 2)
    for start in (0, 2):
        with prefetch(task.batches("train", 1, 0, start), ahead=2) as batches:
            target_tokens = [batch.target.tolist() for batch in islice(batches, 3)]
        assert target_tokens == expected[start : start + 3]


@pytest.mark.parametrize("sampling", [False, True])
def test_a_shard_that_is_cut_short_under_a_run_is_told(corpus: PreparedPairs, tmp_path: Path, sampling: bool) -> None:
    """A memory map of it would end the process."""
    copy = open_prepared(Path(shutil.copytree(corpus.folder, tmp_path / "copy")))
    batches = learning_from(copy, sampling).batches("train", 1, 0, 0)
    next(batches)
    os.truncate(next((tmp_path / "copy" / "shards").glob("*.bin")), 0)
    with pytest.raises(Fault, match=r"\.bin was truncated or removed while in use"):
        list(batches)
