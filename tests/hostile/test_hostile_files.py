"""Hostile files are refused in a sentence, within ten seconds and 200 MB beyond four times their size."""

import pytest
from hostile_readers import READERS
from hostile_runner import Outcome, read_mutations, read_samples
from hostile_samples import SAMPLES


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[str, Outcome]:
    """Read the samples of all tests that run in one process and return the outcomes."""
    tests = [item for item in request.session.items if item.path == request.path]
    chosen = [item.callspec.params.get("sample") for item in tests if isinstance(item, pytest.Function)]
    return {outcome.name: outcome for outcome in read_samples(*filter(None, chosen))}


@pytest.mark.one_in(9)
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_hostile_file_is_refused_at_little_cost(outcomes: dict[str, Outcome], sample: str) -> None:
    outcome = outcomes[sample]
    assert outcome.kind == "refused", outcome
    assert SAMPLES[sample].words in outcome.reason, outcome
    assert outcome.is_bounded, outcome


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_read_or_refused(reader: str) -> None:
    assert [outcome for outcome in read_mutations(reader, 100, seed=1) if not outcome.is_right] == []
