"""One browser for all page tests, or a skip if there is none."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from chromium import Browser, browser_or_skip, start_browser
from desk import Opened, settle
from pretend import Pretending, pretending


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    browser = start_browser(*browser_or_skip())
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """Return the browser with a usual window size and a preference for light."""
    chromium.appear()
    return chromium


@pytest.fixture(scope="session")
def one_server() -> Iterator[Pretending]:
    """Return a fake server for all tests of the served page."""
    with pretending() as state:
        yield state


@pytest.fixture
def server(one_server: Pretending) -> Pretending:
    """Return the fake server, reset."""
    one_server.forget()
    return one_server


@pytest.fixture
def left_behind(browser: Browser) -> Iterator[None]:
    """Leave the page at the end; its models differ from those of other tests."""
    yield
    browser.driver.get("about:blank")


@pytest.fixture
def opened(browser: Browser, server: Pretending) -> Opened:
    """Show the page with this fragment and wait for its translations.

    It is reloaded, or only sent to its address where a test does not count the requests.
    """

    def show(anew: bool = True, **constraints: Any) -> Browser:
        fragment = f"#{urlencode({'models': 'plain', **constraints}, doseq=True)}"
        if anew or not browser.driver.current_url.startswith(server.address):
            browser.open(server.address, fragment)
            browser.wait("return !document.getElementById('desk').hidden")
        else:
            browser.lead("#")
            browser.wait("return document.getElementById('why').hidden")
            browser.lead(fragment)
        if constraints.get("text"):
            browser.wait("return document.getElementById('why').hidden", wanted=False)
            settle(browser)
        return browser

    return show
