"""One browser for all tests of pages, or a word that there is none."""

import os
from collections.abc import Iterator

import pytest
from chromium import Browser, find_browser, start_browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = find_browser()
    if found is None:
        missing = "browser tests not run: there is no Chromium with its chromedriver here"
        if os.environ.get("REGARD_BROWSER") == "required":
            pytest.fail(f"{missing} (on Debian: apt-get install chromium chromium-driver)")
        pytest.skip(missing)
    browser = start_browser(*found)
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """The browser as a window of usual size that prefers light."""
    chromium.appear()
    return chromium
