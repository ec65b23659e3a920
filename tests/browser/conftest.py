"""One browser for all tests of pages, or a word that there is none."""

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
    """The browser as a window of usual size that prefers light."""
    chromium.appear()
    return chromium


@pytest.fixture(scope="session")
def one_server() -> Iterator[Pretending]:
    """A server that pretends, for all tests of the served page."""
    with pretending() as state:
        yield state


@pytest.fixture
def server(one_server: Pretending) -> Pretending:
    """The same as if it had just begun."""
    one_server.forget()
    return one_server


@pytest.fixture
def left_behind(browser: Browser) -> Iterator[None]:
    """Leave the page in the end, which has other models than those of other tests."""
    yield
    browser.driver.get("about:blank")


@pytest.fixture
def opened(browser: Browser, server: Pretending) -> Opened:
    """Show the page with this in its fragment; wait for the translations there will be.

    It is loaded anew, or, where a test only looks and does not count what the server is asked, led to its address.
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
