"""Hostile files are refused in a sentence, within ten seconds and 200 MB beyond four times their size."""

import pytest
from hostile_readers import READERS
from hostile_runner import read_mutations, read_samples
from hostile_samples import SAMPLES


@pytest.mark.parametrize("reader", sorted({sample.reader for sample in SAMPLES.values()}))
def test_a_hostile_file_is_refused_at_little_cost(reader: str) -> None:
    outcomes = read_samples(reader)
    assert {outcome.name for outcome in outcomes} == {name for name, own in SAMPLES.items() if own.reader == reader}
    for outcome in outcomes:
        assert outcome.kind == "refused", outcome
        assert SAMPLES[outcome.name].words in outcome.reason, outcome
        assert outcome.is_bounded, outcome


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_read_or_refused(reader: str) -> None:
    assert [outcome for outcome in read_mutations(reader, 100, seed=1) if not outcome.is_right] == []
