"""Fixtures for tests of runs."""

import pytest


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train students without a report, which takes as long as they do."""
    monkeypatch.setattr("regard.runs.distil.run.report_on", lambda *arguments: None)
