"""Fixtures that all command-line tests share."""

from collections.abc import Iterator
from functools import partial

import pytest
from capital_translator import Capitals

from regard.metrics.significance import difference, interval
from regard.verbs.translate import line_translator, unfinished


@pytest.fixture(scope="module", autouse=True)
def few_trials() -> Iterator[None]:
    """Run two hundred significance trials instead of ten thousand, in module fixtures too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("regard.metrics.files.interval", partial(interval, resamples=200))
        for place in ("regard.metrics.files", "regard.runs.compare.findings"):
            patch.setattr(f"{place}.difference", partial(difference, resamples=200, trials=200))
        yield


@pytest.fixture
def capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every model translate into capitals, in portions of two lines."""
    monkeypatch.setattr(line_translator, "open_translator", Capitals)
    monkeypatch.setattr(line_translator, "PORTION", 2)
    monkeypatch.setattr(unfinished, "PORTION", 2)
