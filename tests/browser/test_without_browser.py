"""Without a browser, the tests that need one are skipped, or fail if one is required."""

from pathlib import Path

import pytest
from chromium import browser_or_skip


@pytest.fixture(autouse=True)
def no_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def test_without_a_browser_they_are_passed_over_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGARD_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="browser tests not run: there is no Chromium"):
        browser_or_skip()


def test_where_a_browser_is_required_they_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium chromium-driver"):
        browser_or_skip()
